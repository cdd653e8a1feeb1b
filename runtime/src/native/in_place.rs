//! Reading fields of the host in place, as compiled code reads them, where there is no compiled code: in the index of a rule set.

use super::ip_of_words;
use crate::accessors::text::Words;
use crate::context::{Context, Host};
use celero_ir::Ty;
use celero_ir::layout::{Access, EnumTags, Field, Path, Repr, TO_BE_MADE};
use std::mem::transmute;
use std::net::IpAddr;
use std::ptr::{from_ref, with_exposed_provenance};

/// The data of one evaluation: what fields are read from.
#[derive(Clone, Copy)]
pub(crate) struct HostData<'a> {
    host: &'a dyn Host,
    /// The address of the context.
    address: *const u8,
}

/// How a field is read in place. Made from the field's layout.
#[derive(Clone, Debug)]
pub(crate) struct InPlace {
    path: Path,
    at_end: AtEnd,
}

/// What is at the end of the path.
#[derive(Clone, Copy, Debug)]
enum AtEnd {
    /// The address of a text; its length is this many bytes further.
    Text(i32),
    /// A value whose text this accessor returns.
    TextOf(usize),
    /// A value whose text the tag byte shows, or else the accessor returns.
    Tagged(EnumTags, usize),
    /// A value whose IP address this accessor writes.
    Ip(usize),
    Number(Repr),
    Truth,
    #[cfg(feature = "http")]
    Headers,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    Absent,
    Text(&'a [u8]),
    Number(i128),
    Truth(bool),
    Ip(IpAddr),
    #[cfg(feature = "http")]
    Headers(&'a http::HeaderMap),
    /// The value has to be made: [`Host::field`] does.
    ToBeMade,
}

type TextAccessor = unsafe extern "C" fn(*const u8) -> Words;
type IpAccessor = unsafe extern "C" fn(*const u8, *mut [u64; 2]) -> u64;

impl InPlace {
    /// How the value of a field of text, numbers, truth or an address is read; `None` if only [`Host::field`] reads it.
    pub(crate) fn new(field: &Field) -> Option<Self> {
        let (path, at_end) = match (&field.access, field.ty) {
            (Access::Load(path, Repr::Slice(after)), Ty::Str) => (path, AtEnd::Text(*after)),
            (Access::Text(path, accessor) | Access::MostlyText(path, accessor, _), Ty::Str) => {
                (path, AtEnd::TextOf(*accessor))
            }
            (Access::Tagged(path, tags, accessor), Ty::Str) => (path, AtEnd::Tagged(*tags, *accessor)),
            (Access::Ip(path, accessor), Ty::Ip) => (path, AtEnd::Ip(*accessor)),
            (Access::Load(path, Repr::Bool), Ty::Bool) => (path, AtEnd::Truth),
            (Access::Load(path, repr), Ty::Int | Ty::Uint) if !matches!(repr, Repr::Slice(_)) => {
                (path, AtEnd::Number(*repr))
            }
            _ => return None,
        };
        Some(Self { path: path.clone(), at_end })
    }

    /// How the header map of a field is read; `None` if the field is none, or only [`Host::field`] reads it.
    #[cfg(feature = "http")]
    pub(crate) fn of_headers(field: &Field) -> Option<Self> {
        field.headers.clone().map(|path| Self { path, at_end: AtEnd::Headers })
    }

    #[cfg(not(feature = "http"))]
    pub(crate) fn of_headers(_: &Field) -> Option<Self> {
        None
    }
}

impl<'a> HostData<'a> {
    #[inline]
    pub(crate) fn new<C: Context>(context: &'a C) -> Self {
        Self { host: context, address: from_ref(context).cast() }
    }

    /// The host, for fields that are not read in place.
    pub(crate) fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// Reads a field of the context's type.
    #[inline]
    pub(crate) fn read(&self, field: &InPlace) -> Seen<'a> {
        // SAFETY: the context is of the type whose layouts the index was planned with, as `RuleSet` knows, and its layouts are right: the
        // contract of `Context`. The context is borrowed for `'a`.
        unsafe { field.read(self.address) }
    }
}

impl InPlace {
    /// Reads the field of the context at this address.
    ///
    /// # Safety
    /// The context has the type whose field this is, and is neither moved nor changed during `'a`.
    #[inline]
    unsafe fn read<'a>(&self, context: *const u8) -> Seen<'a> {
        // SAFETY: the contract: the layout describes the context. Addresses of accessors and tables were exposed when they became numbers.
        unsafe {
            let at = end(context, &self.path);
            match &self.at_end {
                AtEnd::Text(after) => text(Words {
                    address: at.cast::<*const u8>().read(),
                    length: at.offset(*after as isize).cast::<usize>().read(),
                }),
                AtEnd::TextOf(accessor) => text_of(*accessor, at),
                AtEnd::Tagged(tags, accessor) => {
                    let table = with_exposed_provenance::<[*const u8; 2]>(tags.table);
                    let [address, length] = table.add(usize::from(at.add(tags.tag as usize).read())).read();
                    if address.is_null() {
                        text_of(*accessor, at)
                    } else {
                        text(Words { address, length: length.addr() })
                    }
                }
                AtEnd::Ip(accessor) => {
                    let accessor = transmute::<*const (), IpAccessor>(with_exposed_provenance(*accessor));
                    let mut words = [0; 2];
                    if accessor(at, &raw mut words) == 0 { Seen::Absent } else { Seen::Ip(ip_of_words(words)) }
                }
                AtEnd::Number(repr) => number(*repr, at),
                AtEnd::Truth => Seen::Truth(at.read() != 0),
                #[cfg(feature = "http")]
                AtEnd::Headers => Seen::Headers(&*at.cast()),
            }
        }
    }
}

/// The address at the end of a path.
///
/// # Safety
/// The path describes the data at `from`.
#[inline]
unsafe fn end(from: *const u8, path: &Path) -> *const u8 {
    let mut steps = path.0.iter();
    // SAFETY: the contract: each step but the last leads to an address.
    unsafe {
        let mut at = from.add(steps.next().map_or(0, |step| *step as usize));
        for step in steps {
            at = at.cast::<*const u8>().read().add(*step as usize);
        }
        at
    }
}

/// The text that an accessor returns.
///
/// # Safety
/// The accessor is one of text, for the value at `at`.
unsafe fn text_of<'a>(accessor: usize, at: *const u8) -> Seen<'a> {
    // SAFETY: the contract; the accessor's address was exposed when it became a number.
    unsafe { text(transmute::<*const (), TextAccessor>(with_exposed_provenance(accessor))(at)) }
}

/// # Safety
/// These are the words of a text that lives for `'a`, or such as an accessor returns.
#[inline]
unsafe fn text<'a>(words: Words) -> Seen<'a> {
    match words.address.addr() {
        0 => Seen::Absent,
        TO_BE_MADE if words.length == 0 => Seen::ToBeMade,
        // SAFETY: the contract.
        _ => Seen::Text(unsafe { std::slice::from_raw_parts(words.address, words.length) }),
    }
}

/// # Safety
/// There is a number of this form at `at`.
unsafe fn number<'a>(repr: Repr, at: *const u8) -> Seen<'a> {
    // SAFETY: the contract.
    unsafe {
        Seen::Number(match repr {
            Repr::I8 => at.cast::<i8>().read().into(),
            Repr::I16 => at.cast::<i16>().read().into(),
            Repr::I32 => at.cast::<i32>().read().into(),
            Repr::I64 => at.cast::<i64>().read().into(),
            Repr::U8 => at.read().into(),
            Repr::U16 => at.cast::<u16>().read().into(),
            Repr::U32 => at.cast::<u32>().read().into(),
            Repr::U64 => at.cast::<u64>().read().into(),
            Repr::F32 | Repr::F64 | Repr::Bool | Repr::Slice(_) => return Seen::ToBeMade,
        })
    }
}
