//! The functions that native code calls: one table, from which this crate makes the declarations that the compiler reads,
//! and the runtime the functions themselves. A row without an implementation does not compile.
//!
//! How a helper is called: the evaluation frame's address, then the operands' words in order (`double` in a floating-point
//! register, all others as 64 bit integers, `bool` zero-extended). How it answers:
//!
//! | result | cannot fail | can fail (`try`) |
//! |---|---|---|
//! | one word | that word | status, then the word (a double as its bits) |
//! | text or bytes | address and length | address and length; if it failed, a null address and the status |
//! | other two words | both words | status, then the first word; the second in [`frame::OUT`](crate::layout::frame::OUT) |
//!
//! Two words come back in the two integer result registers of the C ABI. The status is 0 or the code of an
//! [`ErrorKind`](crate::ErrorKind). A helper never unwinds and never keeps the address of an operand.

use crate::ty::Ty;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperDecl {
    /// Name in the text form, and of the function in the runtime.
    pub name: &'static str,
    /// What the operands are.
    pub params: &'static [Param],
    /// What comes back.
    pub result: Param,
    /// Whether it can fail.
    pub fails: bool,
}

/// An operand of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A node's value.
    Node(Ty),
    /// One word that only generated code produces: the address of a prepared constant, of a builder, of operands, or a
    /// small number.
    Word,
    /// No result.
    Nothing,
}

/// Calls `$macro!` with all rows: `name(operand: type, ..) -> [try] type;`. Rows that the compiler itself emits
/// (everything with a `word`) are not reachable by [`Op::Call`](crate::Op::Call).
#[macro_export]
macro_rules! for_each_helper {
    ($macro:ident) => {
        $macro! {
            // The host's data.
            /// An optional or boxed field of the host by index; absent is "no such key".
            field_get(index: word) -> try value;
            /// Whether a field of the host is present.
            field_has(index: word) -> bool;
            /// Looks a prepared header name up in a header map at an address. A null address with a length of 0 is
            /// absence; with another length, failure of that code.
            header_get(map: word, name: word) -> maybe;
            /// Looks all names of a prepared table up in a header map at an address, and leaves two words for each, in the
            /// table's order: what `header_get` answers.
            headers_get(map: word, names: word, answers: word) -> nothing;
            /// Valid UTF-8 as it is, else with replacement characters.
            text_decode(text: raw) -> try str;
            /// An address as text.
            ip_text(address: ip) -> try str;

            // Prepared constants.
            /// Bytes against bytes of the same length.
            bytes_equal(a: bytes, b: bytes) -> bool;
            /// -1, 0 or 1.
            bytes_compare(a: bytes, b: bytes) -> int;
            searcher_find(searcher: word, haystack: bytes) -> try bool;
            regex_find(regex: word, text: str) -> try bool;
            str_set_has(set: word, text: bytes) -> bool;
            int_set_has(set: word, number: int) -> bool;
            /// The parts of a document that a projection names.
            json_project(parts: word, json: bytes) -> try value;
            /// Where the one way that a projection names ends in a document, in a word of
            /// [`layout::found`](crate::layout::found).
            json_find(parts: word, json: bytes) -> try word;

            // Values, lists, maps.
            /// A value of this tag and these words, in the arena.
            value_new(tag: word, first: word, second: word) -> try value;
            value_equal(a: value, b: value) -> try bool;
            /// The value itself, which must be a map.
            map_only(value: value) -> try value;
            /// The elements of a list or the keys of a map, as a list.
            range_items(range: value) -> try value;
            /// index, element, .. of a list or key, value, .. of a map, as a list.
            range_pairs(range: value) -> try value;
            list_len(list: value) -> int;
            /// An element; the index is in bounds.
            list_at(list: value, index: word) -> try value;
            list_begin(capacity: word) -> try word;
            list_push(builder: word, element: value) -> try nothing;
            list_finish(builder: word) -> try value;
            map_begin(capacity: word) -> try word;
            map_insert(builder: word, key: value, element: value) -> try nothing;
            map_merge(builder: word, entries: value) -> try nothing;
            map_finish(builder: word) -> try value;
            /// A function by the types of its operands, whose addresses lie one after the other at an address.
            dispatch(function: word, operands: word, count: word) -> try value;

            // Containers.
            index_list(list: value, index: int) -> try value;
            index_map(map: value, key: value) -> try value;
            select(map: value, field: str) -> try value;
            has(map: value, field: str) -> try bool;
            in_container(element: value, container: value) -> try bool;
            size(value: value) -> try int;

            // Strings and bytes.
            string_add(a: str, b: str) -> try str;
            bytes_add(a: bytes, b: bytes) -> try bytes;
            string_size(text: str) -> try int;
            string_contains(text: str, needle: str) -> try bool;
            string_starts_with(text: str, prefix: str) -> bool;
            string_ends_with(text: str, suffix: str) -> bool;
            string_matches(text: str, pattern: str) -> try bool;

            // Documents.
            json_parse(json: bytes) -> try value;

            // Time.
            timestamp_add(time: timestamp, duration: duration) -> try timestamp;
            timestamp_sub(time: timestamp, duration: duration) -> try timestamp;
            timestamp_diff(a: timestamp, b: timestamp) -> try duration;
        }
    };
}

macro_rules! param {
    (word) => {
        Param::Word
    };
    (nothing) => {
        Param::Nothing
    };
    (bool) => {
        Param::Node(Ty::Bool)
    };
    (int) => {
        Param::Node(Ty::Int)
    };
    (uint) => {
        Param::Node(Ty::Uint)
    };
    (double) => {
        Param::Node(Ty::Double)
    };
    (str) => {
        Param::Node(Ty::Str)
    };
    (bytes) => {
        Param::Node(Ty::Bytes)
    };
    (raw) => {
        Param::Node(Ty::Raw)
    };
    (maybe) => {
        Param::Node(Ty::Maybe)
    };
    (duration) => {
        Param::Node(Ty::Duration)
    };
    (timestamp) => {
        Param::Node(Ty::Timestamp)
    };
    (ip) => {
        Param::Node(Ty::Ip)
    };
    (value) => {
        Param::Node(Ty::Value)
    };
}

macro_rules! declare {
    (@result try $ty:ident) => { (param!($ty), true) };
    (@result $ty:ident) => { (param!($ty), false) };
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+;)*) => {
        /// A function of the runtime that native code calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(non_camel_case_types, reason = "named as the functions are")]
        #[expect(missing_docs, reason = "the rows without a word of their own are the functions of that name")]
        #[repr(u16)]
        pub enum Helper { $($(#[doc = $doc])* $name),* }

        impl Helper {
            /// All helpers, in the order of the table.
            pub const ALL: &'static [Helper] = &[$(Helper::$name),*];

            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The row.
            #[must_use]
            pub const fn decl(self) -> &'static HelperDecl {
                match self {
                    $(Self::$name => &HelperDecl {
                        name: stringify!($name),
                        params: &[$(param!($ty)),*],
                        result: declare!(@result $($result)+).0,
                        fails: declare!(@result $($result)+).1,
                    }),*
                }
            }

            /// The helper of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|h| h.decl().name == name)
            }
        }
    };
}

for_each_helper!(declare);
