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
    /// Cost in units of the budget's static estimate; an integer comparison is 1.
    pub cost: u32,
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

/// Calls `$macro!` with all rows: `name(operand: type, ..) -> [try] type, cost N;`. Rows that the compiler itself emits
/// (everything with a `word`) are not reachable by [`Op::Call`](crate::Op::Call).
#[macro_export]
macro_rules! for_each_helper {
    ($macro:ident) => {
        $macro! {
            // The host's data.
            /// An optional or boxed field of the host by index; absent is "no such key".
            field_get(index: word) -> try value, cost 10;
            /// Whether a field of the host is present.
            field_has(index: word) -> bool, cost 10;
            /// Looks a prepared header name up in a header map at an address. A null address with a length of 0 is
            /// absence; with another length, failure of that code.
            header_get(map: word, name: word) -> maybe, cost 15;
            /// Looks all names of a prepared table up in a header map at an address, and leaves two words for each, in the
            /// table's order: what `header_get` answers.
            headers_get(map: word, names: word, answers: word) -> nothing, cost 40;
            /// Valid UTF-8 as it is, else with replacement characters.
            text_decode(text: raw) -> try str, cost 5;
            /// An address as text.
            ip_text(address: ip) -> try str, cost 30;

            // Prepared constants.
            /// Bytes against bytes of the same length.
            bytes_equal(a: bytes, b: bytes) -> bool, cost 2;
            /// -1, 0 or 1.
            bytes_compare(a: bytes, b: bytes) -> int, cost 2;
            searcher_find(searcher: word, haystack: bytes) -> try bool, cost 10;
            regex_find(regex: word, text: str) -> try bool, cost 25;
            str_set_has(set: word, text: bytes) -> bool, cost 10;
            int_set_has(set: word, number: int) -> bool, cost 10;
            /// The parts of a document that a projection names.
            json_project(parts: word, json: bytes) -> try value, cost 500;
            /// Where the one way that a projection names ends in a document, in a word of
            /// [`layout::found`](crate::layout::found).
            json_find(parts: word, json: bytes) -> try word, cost 500;

            // Values, lists, maps.
            /// A value of this tag and these words, in the arena.
            value_new(tag: word, first: word, second: word) -> try value, cost 3;
            value_equal(a: value, b: value) -> try bool, cost 5;
            /// The value itself, which must be a map.
            map_only(value: value) -> try value, cost 1;
            /// The elements of a list or the keys of a map, as a list.
            range_items(range: value) -> try value, cost 5;
            /// index, element, .. of a list or key, value, .. of a map, as a list.
            range_pairs(range: value) -> try value, cost 5;
            list_len(list: value) -> int, cost 2;
            /// An element; the index is in bounds.
            list_at(list: value, index: word) -> try value, cost 3;
            list_begin(capacity: word) -> try word, cost 5;
            list_push(builder: word, element: value) -> try nothing, cost 3;
            list_finish(builder: word) -> try value, cost 5;
            map_begin(capacity: word) -> try word, cost 5;
            map_insert(builder: word, key: value, element: value) -> try nothing, cost 10;
            map_merge(builder: word, entries: value) -> try nothing, cost 20;
            map_finish(builder: word) -> try value, cost 5;
            /// A function by the types of its operands, whose addresses lie one after the other at an address.
            dispatch(function: word, operands: word, count: word) -> try value, cost 20;

            // Containers.
            index_list(list: value, index: int) -> try value, cost 5;
            index_map(map: value, key: value) -> try value, cost 10;
            select(map: value, field: str) -> try value, cost 10;
            has(map: value, field: str) -> try bool, cost 10;
            in_container(element: value, container: value) -> try bool, cost 10;
            size(value: value) -> try int, cost 3;

            // Strings and bytes.
            string_add(a: str, b: str) -> try str, cost 10;
            bytes_add(a: bytes, b: bytes) -> try bytes, cost 10;
            string_size(text: str) -> try int, cost 5;
            string_contains(text: str, needle: str) -> try bool, cost 15;
            string_starts_with(text: str, prefix: str) -> bool, cost 5;
            string_ends_with(text: str, suffix: str) -> bool, cost 5;
            string_matches(text: str, pattern: str) -> try bool, cost 1000;

            // Documents.
            json_parse(json: bytes) -> try value, cost 1000;

            // Time.
            timestamp_add(time: timestamp, duration: duration) -> try timestamp, cost 5;
            timestamp_sub(time: timestamp, duration: duration) -> try timestamp, cost 5;
            timestamp_diff(a: timestamp, b: timestamp) -> try duration, cost 5;
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
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+, cost $cost:literal;)*) => {
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
                        cost: $cost,
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
