//! The memory layout on which compiler and runtime must agree to the byte. The runtime asserts each
//! offset against its own types at compile time. Offsets and sizes are in bytes.

use crate::domain::Domain;
use crate::ty::Ty;

/// The evaluation frame: the second argument of a compiled function, after the address of the
/// host's data, and the first of every helper.
pub mod frame {
    /// Steps left of the budget, 64 bit signed. The evaluation fails when it falls below zero.
    pub const FUEL: i32 = 0;
    /// Second word of a helper's result, if the helper can fail and returns two words that are not text.
    pub const OUT: i32 = 32;
    /// Whether a call into the host panicked, one byte. The result of the evaluation is not used then.
    pub const PANICKED: i32 = 40;
    /// Result of a function that does not return it in registers: the words of its type, or a whole
    /// value (32 bytes) for [`Ty::Value`](crate::Ty::Value).
    pub const RESULT: i32 = 48;
}

/// Input and output of a function that evaluates several rules, in the place of [`frame::RESULT`].
/// Offsets from the start of the frame. The caller clears [`MATCHED`](group::MATCHED) and
/// [`FAILED`](group::FAILED).
pub mod group {
    use super::frame::RESULT;

    /// Maximum number of rules in a function: one bit for each.
    pub const MAX_RULES: usize = 64;
    /// The rules that are true: 64 bits, the lowest for the first rule.
    pub const MATCHED: i32 = RESULT;
    /// The rules that failed, likewise.
    pub const FAILED: i32 = RESULT + 8;
    /// Address of one [`ErrorWord`](crate::ErrorWord) for each rule. Only those of failed rules are written.
    pub const ERRORS: i32 = RESULT + 16;
    /// Whether to return after a rule that is true, 32 bits.
    pub const STOP_ON_MATCH: i32 = RESULT + 24;
    /// Whether to return after a rule that failed, 32 bits.
    pub const STOP_ON_ERROR: i32 = RESULT + 28;
}

/// Whether a function with a root of this type returns text in two registers: address and length;
/// if it failed, a null address and an [`ErrorWord`](crate::ErrorWord).
#[must_use]
pub const fn returns_text(root: Ty) -> bool {
    matches!(root, Ty::Str | Ty::Bytes | Ty::Raw)
}

/// The words of a [`Ty::Ip`]: the address as an IPv6 number, high word first; an IPv4 address in its mapped
/// form (RFC 4291, section 2.5.5.2).
#[must_use]
pub const fn ip_words(ip: std::net::IpAddr) -> [u64; 2] {
    let number = match ip {
        std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
        std::net::IpAddr::V6(ip) => ip.to_bits(),
    };
    [(number >> 64) as u64, number as u64]
}

/// A network as words, with which addresses in the form of [`ip_words`] are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The bits that all its addresses share.
    pub bits: [u64; 2],
    /// A mask of these bits.
    pub mask: [u64; 2],
    /// Whether it is an IPv6 network whose bits mapped IPv4 addresses have too. They are not in the network.
    pub around_ipv4: bool,
}

impl Network {
    /// The bits that all IPv4 addresses share.
    pub const IPV4: Self = Self {
        bits: ip_words(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)),
        mask: [u64::MAX, !0xffff_ffff],
        around_ipv4: false,
    };

    /// The network of this address and prefix length.
    #[must_use]
    pub fn new(ip: std::net::IpAddr, prefix: u8) -> Self {
        let free = if ip.is_ipv4() { 32_u32 } else { 128 };
        let mask = u128::MAX.checked_shl(free.saturating_sub(u32::from(prefix))).unwrap_or(0);
        let (bits, mask) = (ip_words(ip), [(mask >> 64) as u64, mask as u64]);
        let words = bits.into_iter().zip(Self::IPV4.bits).zip(mask.into_iter().zip(Self::IPV4.mask));
        let apart = words.into_iter().any(|((bits, ipv4), (mask, block))| (bits ^ ipv4) & mask & block != 0);
        Self { bits, mask, around_ipv4: !ip.is_ipv4() && !apart }
    }
}

/// The parameter row: the constants of one rule, in code that several rules share (a template). The
/// words of the constants are contiguous. The result of such code is a truth value, so the row's
/// address is in the place of [`frame::RESULT`].
pub mod parameter_row {
    /// The address of the row, from the start of the frame.
    pub const ADDRESS: i32 = super::frame::RESULT;
}

/// A value of any type: 32 bytes, aligned to 8.
pub mod value {
    /// Size in bytes.
    pub const SIZE: u32 = 32;
    /// Offset of the tag, one byte.
    pub const TAG: i32 = 0;
    /// Offset of the first payload word. A bool is one byte here.
    pub const FIRST: i32 = 8;
    /// Offset of the second payload word (length of text, nanoseconds of a timestamp).
    pub const SECOND: i32 = 16;

    /// Tags, in the first byte.
    #[expect(missing_docs, reason = "the names say it")]
    pub mod tag {
        pub const NULL: u8 = 0;
        pub const BOOL: u8 = 1;
        pub const INT: u8 = 2;
        pub const UINT: u8 = 3;
        pub const DOUBLE: u8 = 4;
        pub const STRING: u8 = 5;
        pub const BYTES: u8 = 6;
        pub const DURATION: u8 = 7;
        pub const TIMESTAMP: u8 = 8;
    }

    /// The tag of values of this type, if [`Op::Unbox`](crate::Op::Unbox) accepts the type.
    #[must_use]
    pub const fn tag_of(ty: crate::Ty) -> Option<u8> {
        match ty {
            crate::Ty::Bool => Some(tag::BOOL),
            crate::Ty::Int => Some(tag::INT),
            crate::Ty::Uint => Some(tag::UINT),
            crate::Ty::Double => Some(tag::DOUBLE),
            crate::Ty::Str => Some(tag::STRING),
            crate::Ty::Bytes => Some(tag::BYTES),
            crate::Ty::Duration => Some(tag::DURATION),
            crate::Ty::Timestamp => Some(tag::TIMESTAMP),
            _ => None,
        }
    }
}

/// The result of following a path of keys into a document: the address of a value, or, with the
/// lowest bit set, the step that failed and the kind of the error.
pub mod found {
    /// The bit that marks a failure. Values are aligned, so no address has it.
    pub const FAILED: u64 = 1;
    /// Position of the error kind's code, eight bits.
    pub const KIND_SHIFT: u32 = 1;
    /// Position of the number of the step: all bits above.
    pub const STEP_SHIFT: u32 = 9;

    /// The word of a failure.
    #[must_use]
    pub const fn failed(step: u32, kind: crate::ErrorKind) -> u64 {
        ((step as u64) << STEP_SHIFT) | ((kind as u64) << KIND_SHIFT) | FAILED
    }
}

/// The result of the helper `literals_find`: one bit for each literal of a set that a text contains.
pub mod literals {
    /// Most literals of a set. No result has all 64 bits.
    pub const MAX: usize = 62;
    /// The bit of a result that is not complete: a literal without its bit may be in the text too.
    pub const INCOMPLETE: u64 = 1 << 63;
}

/// The path from the address of the host's data to a place in it: add the first offset; for each
/// further offset, load an address there and add the offset to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Path(pub Vec<u32>);

/// How a field's bytes are read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the Rust types")]
pub enum Repr {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Bool,
    /// Text or bytes: their address; their length is this many bytes further.
    Slice(i32),
    /// A value of any type, in the layout of [`value`].
    Value,
}

/// How native code reads a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Loads at the end of the path.
    Load(Path, Repr),
    /// Calls the C function at this address with the address at the end of the path. It returns
    /// address and length of text; a null address means that the field is absent.
    Text(Path, usize),
    /// As [`Text`](Access::Text), for a field whose text exists in memory for most values of the
    /// host, and has to be made for others. For those the accessor returns the address
    /// [`TO_BE_MADE`], and the helper `text_made` calls the second function, whose type is the
    /// runtime's: only its own types are read like this.
    MostlyText(Path, usize, usize),
    /// As [`Text`](Access::Text), for a field most of whose values are one of a few texts, which a
    /// tag byte shows without a call.
    Tagged(Path, EnumTags, usize),
    /// For [`Ty::Ip`] and [`Ty::Value`]: calls the C function at this address with the address at
    /// the end of the path and that of memory, which it fills with the words of the address or with
    /// the value. It returns whether the field is present.
    Filled(Path, usize),
    /// For a truth value, a number, a duration or a timestamp: calls a C function with the address
    /// at the end of the path and that of two words, which it fills with the value.
    Scalar(Path, ScalarAccessor),
    /// The helpers `field_get` and `field_has`.
    Get,
}

/// A C function that reads a scalar. It returns 0, or the code of an [`ErrorKind`](crate::ErrorKind),
/// which is not [final](crate::ErrorKind::is_final): [`NoSuchKey`](crate::ErrorKind::NoSuchKey) means
/// that the field is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarAccessor {
    /// Its address.
    pub address: usize,
    /// Whether it fails for another reason than absence.
    pub fails: bool,
    /// Whether it contains panics of the host: it returns [`PANICKED`](Self::PANICKED) then.
    pub contains: bool,
}

impl ScalarAccessor {
    /// What an accessor returns after a panic of the host: no code of an error, but its lowest byte is one.
    pub const PANICKED: u64 = 1 << 8 | crate::ErrorKind::Host as u64;
}

/// The address that stands for a text that has to be made: see [`Access::MostlyText`]. No text is there.
pub const TO_BE_MADE: usize = 1;

/// Texts that native code knows by one byte of the host's value: the discriminant of an enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnumTags {
    /// Offset of the byte from the end of the path.
    pub tag: u32,
    /// Address of 256 pairs of address and length, indexed by the byte: the text. For a null
    /// address the accessor must be called.
    pub table: usize,
    /// The texts of the table, each with its byte. No value with another byte has one of these texts.
    pub texts: &'static [(u8, &'static str)],
}

/// A field of the host, as native code sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The type that [`Op::Field`](crate::Op::Field) gives.
    pub ty: Ty,
    /// Whether it may be absent.
    pub optional: bool,
    /// How to read it.
    pub access: Access,
    /// Tests that find out whether the field is absent, in this order, before `access`. If one says
    /// so, the paths of later ones and that of `access` lead nowhere. What `access` says of absence
    /// comes after them.
    pub absent_if: Vec<AbsentIf>,
    /// For a header map, the path to it, for [`Op::Header`](crate::Op::Header).
    pub headers: Option<Path>,
    /// For a list whose elements are contiguous, how to read them, for [`Op::Elements`](crate::Op::Elements).
    pub elements: Option<Elements>,
    /// For a map or a set, how its entries are found, for [`Op::Entry`](crate::Op::Entry).
    pub entries: Option<Entries>,
    /// For a list, a map or a set whose elements are not contiguous, how loops go over them, for
    /// [`Op::Cursor`](crate::Op::Cursor).
    pub cursor: Option<Cursor>,
    /// Which values it can have, if its type has more. Nothing that is compiled depends on it.
    pub domain: Option<Domain>,
}

impl Field {
    /// A field that is neither a header map, a list, a map nor a set.
    #[must_use]
    pub const fn new(ty: Ty, optional: bool, access: Access) -> Self {
        Self {
            ty,
            optional,
            access,
            absent_if: Vec::new(),
            headers: None,
            elements: None,
            entries: None,
            cursor: None,
            domain: None,
        }
    }

    /// Whether native code reads it in place, and it is never absent.
    #[must_use]
    pub const fn is_in_place(&self) -> bool {
        !self.optional && matches!(self.access, Access::Load(..) | Access::Text(..) | Access::Tagged(..))
    }

    /// Whether reading it gives a value for every host, unless that exceeds the budget.
    #[must_use]
    pub const fn is_sure(&self) -> bool {
        !self.optional && !matches!(self.access, Access::Get | Access::Scalar(_, ScalarAccessor { fails: true, .. }))
    }

    /// The same field, which has only these values.
    #[must_use]
    pub fn of_domain(self, domain: Domain) -> Self {
        Self { domain: Some(domain), ..self }
    }
}

/// A test of the host's data that says that a field is absent: the unsigned number at the end of the path is this one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbsentIf {
    /// Where the number is.
    pub path: Path,
    /// One of the unsigned forms.
    pub repr: Repr,
    /// The number of a field that is absent.
    pub number: u64,
}

/// How native code reads the elements of a list that are contiguous in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Elements {
    /// The path to the list.
    pub path: Path,
    /// Where the elements are, from the end of the path. If the field is optional, the address of
    /// the first element is null where the field is absent, so it is never [`Place::Here`].
    pub place: Place,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The type of an element.
    pub ty: Ty,
    /// How to read an element; paths start at its address. [`Access::Get`] for a [`Ty::Record`]
    /// only, whose members are read.
    pub access: Access,
    /// The members of a [`Ty::Record`].
    pub members: Option<Members>,
}

/// Where the elements of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The list is a word with the address of the first element; the number of elements is this
    /// many bytes further.
    Words(i32),
    /// The list is its elements, of which there are this many.
    Here(u32),
    /// The C function at this address is called with that of the list. It returns the address of
    /// the first element and the number of elements.
    Call(usize),
}

/// The members of a struct, each with its name. A function, because a struct may have lists of itself.
#[derive(Clone, Copy, Debug)]
pub struct Members(pub fn() -> Vec<(String, Field)>);

// Functions of one address are the same; the same function at two addresses is told apart, which
// costs no more than code that is not shared.
impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Members {}

impl std::hash::Hash for Members {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0 as usize).hash(state);
    }
}

impl Elements {
    /// The member of this number, if the elements are records and native code reads it in place.
    #[must_use]
    pub fn member(&self, number: u32) -> Option<Field> {
        let members = self.members?.0();
        members.into_iter().nth(number as usize).map(|(_, field)| field).filter(Field::is_in_place)
    }
}

/// How native code finds the entries of a map or of a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entries {
    /// The path to the map.
    pub path: Path,
    /// The type of the keys: `str`, `int`, `uint` or `bool`.
    pub key: Ty,
    /// The function that the helpers `entry_of_text` and `entry_of_number` call with the address of
    /// the map and a key. Its type is the runtime's.
    pub find: usize,
    /// What an entry of a map is read as; a set has none.
    pub value: Option<EntryValue>,
}

impl Entries {
    /// The most steps that finding a key of this many bytes takes, among any number of entries.
    #[must_use]
    pub const fn most_steps(bytes: u32) -> i64 {
        // 64 comparisons at most, of 64 bytes a step, and a step for every four.
        (bytes as i64).saturating_add(16)
    }
}

/// How native code reads the value of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryValue {
    /// The type that [`Op::EntryValue`](crate::Op::EntryValue) gives.
    pub ty: Ty,
    /// How to read it; paths start at the address of the value. [`Access::Get`]: by the helper
    /// `entry_value`. Never [`Access::MostlyText`], [`Access::Filled`] or
    /// [`Access::Scalar`].
    pub access: Access,
    /// The function that the helper `entry_value` calls with the address of the value. Its type is the runtime's.
    pub make: usize,
}

/// How native code goes over a list, a map or a set, one item after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The path to the list, the map or the set.
    pub path: Path,
    /// The C function at this address is called with that of the list and that of `state` bytes,
    /// which it fills. It returns the number of items, at most `i64::MAX`, or [`Cursor::ABSENT`] for
    /// an optional field that is absent.
    pub begin: usize,
    /// The C function at this address is called with that of the state, once for each item. It
    /// returns the address of the element, or those of a key and its value.
    pub next: usize,
    /// Bytes of memory, aligned to 8, that the functions need.
    pub state: u32,
    /// What the items are.
    pub items: Items,
}

/// What a cursor goes over, and how native code reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Items {
    /// The elements of a list or a set.
    Elements(Item),
    /// The keys of a map whose values are not read in place.
    Keys(Item),
    /// The keys and the values of a map.
    Entries(Item, Item),
}

impl Items {
    /// The element or the key.
    #[must_use]
    pub const fn first(&self) -> &Item {
        match self {
            Self::Elements(first) | Self::Keys(first) | Self::Entries(first, _) => first,
        }
    }

    /// The types of the variables of a loop; the first one twice without `pairs`. `None` for pairs
    /// whose values are not read.
    #[must_use]
    pub const fn variables(&self, pairs: bool) -> Option<(Ty, Ty)> {
        match self {
            Self::Elements(element) if pairs => Some((Ty::Int, element.ty)),
            Self::Entries(key, value) if pairs => Some((key.ty, value.ty)),
            Self::Keys(_) if pairs => None,
            _ => Some((self.first().ty, self.first().ty)),
        }
    }
}

impl Cursor {
    /// The number of items of a field that is absent.
    pub const ABSENT: usize = usize::MAX;
}

/// How native code reads what a cursor gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// The type that variables of loops have.
    pub ty: Ty,
    /// How to read it; paths start at its address.
    pub access: Access,
}
