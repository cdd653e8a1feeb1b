//! Reading fields of the host in place, as compiled code reads them, where there is no compiled
//! code: in the index of a rule set.

use super::ip_of_words;
use crate::accessors::text::Words;
use crate::context::{Context, Host};
use celero_ir::Ty;
use celero_ir::layout::{AbsentIf, Access, EnumTags, Field, Path, Repr, TO_BE_MADE};
use std::mem::transmute;
use std::net::IpAddr;
use std::ptr::{from_ref, with_exposed_provenance};

/// The data of one evaluation: what fields are read from.
#[derive(Clone, Copy)]
pub(crate) struct HostData<'a>(&'a dyn Host);

/// How a field is read in place. Made from the field's layout.
#[derive(Clone, Debug)]
pub(crate) struct InPlace {
    /// When there is no value, and nothing at the end of the path.
    absent_if: Box<[AbsentIf]>,
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
    /// The same; the text may have to be made.
    MostlyTextOf(usize),
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
pub(crate) enum Seen<T> {
    Absent,
    There(T),
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
            (Access::Text(path, accessor), Ty::Str) => (path, AtEnd::TextOf(*accessor)),
            (Access::MostlyText(path, accessor, _), Ty::Str) => (path, AtEnd::MostlyTextOf(*accessor)),
            (Access::Tagged(path, tags, accessor), Ty::Str) => (path, AtEnd::Tagged(*tags, *accessor)),
            (Access::Filled(path, accessor), Ty::Ip) => (path, AtEnd::Ip(*accessor)),
            (Access::Load(path, Repr::Bool), Ty::Bool) => (path, AtEnd::Truth),
            (Access::Load(path, repr), Ty::Int | Ty::Uint) if !matches!(repr, Repr::Slice(_) | Repr::Value) => {
                (path, AtEnd::Number(*repr))
            }
            _ => return None,
        };
        Some(Self { absent_if: field.absent_if.clone().into(), path: path.clone(), at_end })
    }

    /// How the header map of a field is read; `None` if the field is none, or only [`Host::field`] reads it.
    #[cfg(feature = "http")]
    pub(crate) fn of_headers(field: &Field) -> Option<Self> {
        field.headers.clone().map(|path| Self { absent_if: Box::default(), path, at_end: AtEnd::Headers })
    }

    #[cfg(not(feature = "http"))]
    pub(crate) fn of_headers(_: &Field) -> Option<Self> {
        None
    }
}

// Inlined, so that values stay in registers: passing them through memory takes longer than reading them.
impl<'a> HostData<'a> {
    #[inline]
    pub(crate) fn new<C: Context>(context: &'a C) -> Self {
        Self(context)
    }

    /// The host, for fields that are not read in place.
    pub(crate) fn host(self) -> &'a dyn Host {
        self.0
    }

    /// The address at the end of a field's path, if the field is present.
    #[inline(always)]
    fn end(self, field: &InPlace) -> Option<*const u8> {
        let start = from_ref(self.0).cast();
        // SAFETY: the context is of the type whose layouts the index was planned with, as `RuleSet`
        // knows, and its layouts are right: the contract of `Context`. It is borrowed for `'a`. No
        // test says that the field is absent, so the next path leads to something.
        unsafe {
            let absent = |test: &AbsentIf| whole(end(start, &test.path), test.repr) == Some(test.number.into());
            if field.absent_if.iter().any(absent) { None } else { Some(end(start, &field.path)) }
        }
    }

    /// Reads a field of text.
    #[inline(always)]
    pub(crate) fn text(self, field: &InPlace) -> Seen<&'a [u8]> {
        let Some(at) = self.end(field) else { return Seen::Absent };
        // SAFETY: as for `end`: the layout says what is there. Addresses of accessors and tables
        // were exposed when they became numbers.
        unsafe {
            match &field.at_end {
                AtEnd::Text(after) => text(Words {
                    address: at.cast::<*const u8>().read(),
                    length: at.offset(*after as isize).cast::<usize>().read(),
                }),
                AtEnd::TextOf(accessor) => text(words_of(*accessor, at)),
                AtEnd::MostlyTextOf(accessor) => {
                    let words = words_of(*accessor, at);
                    // Only here: the address of any other text of no bytes may be this number.
                    if words.address.addr() == TO_BE_MADE && words.length == 0 { Seen::ToBeMade } else { text(words) }
                }
                AtEnd::Tagged(tags, accessor) => {
                    let table = with_exposed_provenance::<[*const u8; 2]>(tags.table);
                    let [address, length] = table.add(usize::from(at.add(tags.tag as usize).read())).read();
                    text(match address.is_null() {
                        true => words_of(*accessor, at),
                        false => Words { address, length: length.addr() },
                    })
                }
                _ => Seen::ToBeMade,
            }
        }
    }

    /// Reads a field of an IP address.
    #[inline(always)]
    pub(crate) fn address(self, field: &InPlace) -> Seen<IpAddr> {
        let AtEnd::Ip(accessor) = field.at_end else { return Seen::ToBeMade };
        let Some(at) = self.end(field) else { return Seen::Absent };
        let mut words = [0; 2];
        // SAFETY: as for `text`.
        let there = unsafe {
            let accessor = transmute::<*const (), IpAccessor>(with_exposed_provenance(accessor));
            accessor(at, &raw mut words)
        };
        if there == 0 { Seen::Absent } else { Seen::There(ip_of_words(words)) }
    }

    /// Reads a field of a number.
    #[inline(always)]
    pub(crate) fn number(self, field: &InPlace) -> Seen<i128> {
        let AtEnd::Number(repr) = field.at_end else { return Seen::ToBeMade };
        let Some(at) = self.end(field) else { return Seen::Absent };
        // SAFETY: as for `text`.
        unsafe { whole(at, repr) }.map_or(Seen::ToBeMade, Seen::There)
    }

    /// Reads a field of truth.
    #[inline(always)]
    pub(crate) fn truth(self, field: &InPlace) -> Seen<bool> {
        let AtEnd::Truth = field.at_end else { return Seen::ToBeMade };
        let Some(at) = self.end(field) else { return Seen::Absent };
        // SAFETY: as for `text`.
        Seen::There(unsafe { at.read() } != 0)
    }

    /// The header map in a field.
    #[cfg(feature = "http")]
    #[inline(always)]
    pub(crate) fn headers(self, field: &InPlace) -> Option<&'a http::HeaderMap> {
        let AtEnd::Headers = field.at_end else { return None };
        // SAFETY: as for `text`.
        self.end(field).map(|at| unsafe { &*at.cast() })
    }

    /// Whether a field that is no header map has a value.
    #[inline]
    pub(crate) fn presence(self, field: &InPlace) -> Seen<()> {
        fn there<T>(seen: Seen<T>) -> Seen<()> {
            match seen {
                Seen::Absent => Seen::Absent,
                Seen::There(_) => Seen::There(()),
                Seen::ToBeMade => Seen::ToBeMade,
            }
        }
        match field.at_end {
            AtEnd::Ip(_) => there(self.address(field)),
            AtEnd::Number(_) => there(self.number(field)),
            AtEnd::Truth => there(self.truth(field)),
            _ => there(self.text(field)),
        }
    }
}

/// The address at the end of a path.
///
/// # Safety
/// The path describes the data at `from`.
#[inline(always)]
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

/// The number in this form at an address.
///
/// # Safety
/// There is one.
#[inline(always)]
unsafe fn whole(at: *const u8, repr: Repr) -> Option<i128> {
    // SAFETY: the contract.
    Some(unsafe {
        match repr {
            Repr::I8 => at.cast::<i8>().read().into(),
            Repr::I16 => at.cast::<i16>().read().into(),
            Repr::I32 => at.cast::<i32>().read().into(),
            Repr::I64 => at.cast::<i64>().read().into(),
            Repr::U8 => at.read().into(),
            Repr::U16 => at.cast::<u16>().read().into(),
            Repr::U32 => at.cast::<u32>().read().into(),
            Repr::U64 => at.cast::<u64>().read().into(),
            Repr::F32 | Repr::F64 | Repr::Bool | Repr::Slice(_) | Repr::Value => return None,
        }
    })
}

/// What an accessor of text returns.
///
/// # Safety
/// The accessor is one of text, for the value at `at`.
#[inline(always)]
unsafe fn words_of(accessor: usize, at: *const u8) -> Words {
    // SAFETY: the contract; the accessor's address was exposed when it became a number.
    unsafe { transmute::<*const (), TextAccessor>(with_exposed_provenance(accessor))(at) }
}

/// # Safety
/// These are the words of a text that lives for `'a`, or the null address.
#[inline(always)]
unsafe fn text<'a>(words: Words) -> Seen<&'a [u8]> {
    if words.address.is_null() {
        return Seen::Absent;
    }
    // SAFETY: the contract.
    Seen::There(unsafe { std::slice::from_raw_parts(words.address, words.length) })
}
