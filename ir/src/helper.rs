//! The functions of the runtime that native code calls. From one table this crate makes the
//! declarations that the compiler reads, and the runtime makes the C functions and their addresses.
//!
//! # How to add a helper
//!
//! 1. Here: a row of [`for_each_helper`](crate::for_each_helper), with a doc comment if the name
//!    does not say everything.
//! 2. In `runtime/src/library/calls/helper_functions.rs`: a safe function of that name. The wrapper that native code
//!    calls is generated from the row; a row without a function does not compile.
//! 3. Emit calls: `Op::Call` in the lowering or in a pass, for rows without a `word`; otherwise in `jit/src/emit/`.
//! 4. `ir/src/passes/` and the runtime's constant evaluator, if a call on constants should be folded.
//!
//! # Calling convention
//!
//! Arguments: the evaluation frame's address, or 0 if the helper is `frameless` and the budget of the function suffices
//! for sure; then the operands' words in order (`double` in a floating-point register, all others as 64 bit integers,
//! `bool` zero-extended). Results:
//!
//! | result | cannot fail | can fail (`try`) |
//! |---|---|---|
//! | one word | that word | status, then the word (a double as its bits) |
//! | text or bytes | address and length | address and length; if it failed, a null address and the status |
//! | other two words | both words | status, then the first word; the second in [`frame::OUT`](crate::layout::frame::OUT) |
//!
//! Two words are returned in the two integer result registers of the C ABI. The status is 0 or the code of an
//! [`ErrorKind`](crate::ErrorKind). A helper never unwinds and never keeps the address of an operand.

use crate::ty::Ty;

/// The declaration of a helper: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperDecl {
    /// Name in the text form, and of the function in the runtime.
    pub name: &'static str,
    /// The operands.
    pub params: &'static [Param],
    /// The result.
    pub result: Param,
    /// Whether it can fail.
    pub fails: bool,
    /// Whether it works without a frame, which it only uses to spend budget and to note a panic of the host. Without
    /// one it spends none, and the status of a panic is [`PANICKED`](crate::layout::ScalarAccessor::PANICKED).
    pub frameless: bool,
}

/// An operand of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A node's value.
    Node(Ty),
    /// One word that only the compiler provides: the address of a prepared constant, of a builder, of operands, or a
    /// small number.
    Word,
    /// No result.
    Nothing,
}

/// Calls `$macro!` with all rows: `name(operand: type, ..) -> [frameless] [try] type;`, where `try` marks helpers that
/// can fail, and `frameless` those that [work without a frame](HelperDecl::frameless). Rows with a `word` are called by
/// the compiler only; the verifier refuses them in [`Op::Call`](crate::Op::Call).
#[macro_export]
macro_rules! for_each_helper {
    ($macro:ident) => {
        $macro! {
            // The host's data.
            /// An optional or boxed field of the host, by index; an absent field is the error "no such key".
            field_get(index: word) -> try value;
            /// Whether a field of the host is present.
            field_has(index: word) -> bool;
            /// The text of a value at an address, made by a function of the host's types:
            /// [`layout::Access::MostlyText`](crate::layout::Access::MostlyText).
            text_made(make: word, source: word) -> try str;
            /// Looks a text up in a map or a set at an address, by a function of the host's types:
            /// [`layout::Entries`](crate::layout::Entries). The address of the entry's value, or 0.
            entry_of_text(find: word, map: word, key: str) -> frameless try word;
            /// The same of a number or truth value, whose tag is one of [`layout::value`](crate::layout::value).
            entry_of_number(find: word, map: word, tag: word, key: word) -> frameless try word;
            /// The value at an address, made by a function of the host's types.
            entry_value(make: word, value: word) -> try value;
            /// Looks a prepared header name up in a header map at an address. A null address with a length of 0 is
            /// absence; with another length, failure of that code.
            header_get(map: word, name: word) -> maybe;
            /// As `header_get`, with U+FFFD in place of invalid UTF-8.
            header_text(map: word, name: word) -> maybe;
            /// Looks all names of a prepared table up in a header map at an address, and writes two
            /// words for each, in the table's order: the result of `header_get`.
            headers_get(map: word, names: word, answers: word) -> nothing;
            /// The text, with U+FFFD in place of invalid UTF-8.
            text_decode(text: raw) -> try str;
            /// An address as text.
            ip_text(address: ip) -> try str;

            // Prepared constants.
            /// Whether bytes of the same length are equal.
            bytes_equal(a: bytes, b: bytes) -> frameless bool;
            /// The order: -1, 0 or 1.
            bytes_compare(a: bytes, b: bytes) -> frameless int;
            bytes_starts_with(bytes: bytes, prefix: bytes) -> frameless bool;
            bytes_ends_with(bytes: bytes, suffix: bytes) -> frameless bool;
            searcher_find(searcher: word, haystack: bytes) -> try bool;
            /// Which literals of a prepared set a text contains, as bits of
            /// [`layout::literals`](crate::layout::literals); none, if its address is null. Takes
            /// from the budget what one search of the text takes; if that exhausts it, the result
            /// is not complete.
            literals_find(set: word, text: bytes) -> int;
            regex_find(regex: word, text: str) -> try bool;
            byte_regex_find(regex: word, bytes: bytes) -> try bool;
            wildcard_matches(wildcard: word, bytes: bytes) -> try bool;
            str_set_has(set: word, text: bytes) -> frameless bool;
            int_set_has(set: word, number: int) -> frameless bool;
            /// The parts of a document that a projection names.
            json_project(parts: word, json: bytes) -> try value;
            /// Follows the only path of keys of a projection into a document; the word is one of
            /// [`layout::found`](crate::layout::found).
            json_find(parts: word, json: bytes) -> try word;

            // Values, lists, maps.
            /// A value of this tag and these words, in the arena.
            value_new(tag: word, first: word, second: word) -> try value;
            value_equal(a: value, b: value) -> try bool;
            /// Whether `a < b`; values of types that are in no order are "no such overload".
            value_less(a: value, b: value) -> try bool;
            value_less_equal(a: value, b: value) -> try bool;
            value_greater(a: value, b: value) -> try bool;
            value_greater_equal(a: value, b: value) -> try bool;
            /// The value itself, which must be a map.
            map_only(value: value) -> try value;
            /// The elements of a list or the keys of a map, as a list.
            range_items(range: value) -> try value;
            /// Index, element, .. of a list, or key, value, .. of a map, as a list.
            range_pairs(range: value) -> try value;
            list_len(list: value) -> int;
            /// The address of the first of a list's values, which follow one another; 0 if the host makes them, or the
            /// value is no list.
            list_first(list: word) -> int;
            /// An element; the index is in bounds.
            list_at(list: value, index: word) -> try value;
            /// Memory for this many values.
            list_block(count: word) -> try word;
            /// The list of the values in such memory, which are all written.
            list_of_block(block: word, count: word) -> try value;
            list_begin(capacity: word) -> try word;
            list_push(builder: word, element: value) -> try nothing;
            list_finish(builder: word) -> try value;
            map_begin(capacity: word) -> try word;
            map_insert(builder: word, key: value, element: value) -> try nothing;
            map_merge(builder: word, entries: value) -> try nothing;
            map_finish(builder: word) -> try value;
            /// Calls a function whose overload the operands' types choose. `operands` is the
            /// address of the operands' addresses.
            dispatch(function: word, operands: word, count: word) -> try value;

            // Containers.
            index_list(list: value, index: int) -> try value;
            index_map(map: value, key: value) -> try value;
            select(map: value, field: str) -> try value;
            has(map: value, field: str) -> try bool;
            /// As `select` and `has`, with the number of the field in messages of the value's static type.
            message_field(message: value, field: str, number: int) -> try value;
            message_has(message: value, field: str, number: int) -> try bool;
            /// The message with several fields read in one pass: those whose numbers are set in the bits, of which the
            /// lowest is the number 1. Fails with [`OutOfBudget`](crate::ErrorKind::OutOfBudget) only.
            message_fields(message: value, numbers: int) -> try value;
            /// `container[index]` of a list, a map, or an optional of one.
            index_value(container: value, index: value) -> try value;
            /// `container[key]` of a map, or an optional of a list or a map.
            index_key(container: value, key: value) -> try value;
            in_container(element: value, container: value) -> try bool;
            size(value: value) -> try int;

            // Strings and bytes.
            string_add(a: str, b: str) -> try str;
            bytes_add(a: bytes, b: bytes) -> try bytes;
            string_size(text: str) -> try int;
            string_contains(text: str, needle: str) -> try bool;
            string_matches(text: str, pattern: str) -> try bool;
            /// The number of parts of a text between separators.
            split_count(text: str, separator: str) -> try int;
            /// One of these parts; without it, the error "invalid argument".
            split_part(text: str, separator: str, index: int) -> try str;

            // Named lists of the host, by number. They change between evaluations.
            /// Whether a list contains a value of any type.
            list_has(list: int, value: value) -> try bool;
            list_has_address(list: int, address: ip) -> try bool;
            list_has_text(list: int, text: str) -> try bool;
            list_has_bytes(list: int, bytes: bytes) -> try bool;
            list_has_integer(list: int, number: int) -> try bool;
            /// The entry that a list has for a key of any type, as a number; -1 if there is none.
            list_find(list: int, key: value) -> try int;
            list_find_address(list: int, address: ip) -> try int;
            list_find_text(list: int, text: str) -> try int;
            list_find_integer(list: int, number: int) -> try int;
            /// The entry itself; -1 is the error "no such key".
            list_entry(entry: int) -> try int;
            /// A field of the value of an entry; no entry, or one that leaves the field out, is the
            /// error "no such key". A text is the list's own, which the evaluation keeps: nothing
            /// is copied.
            list_value_text(list: int, field: int, entry: int) -> try str;
            list_value_int(list: int, field: int, entry: int) -> try int;
            list_value_bool(list: int, field: int, entry: int) -> try bool;
            /// Whether there is an entry and it has the field.
            list_value_has(list: int, field: int, entry: int) -> try bool;
            /// The field as an optional.
            list_value_optional(list: int, field: int, entry: int) -> try value;

            // Documents.
            json_parse(json: bytes) -> try value;
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
    (ip) => {
        Param::Node(Ty::Ip)
    };
    (value) => {
        Param::Node(Ty::Value)
    };
}

macro_rules! declare {
    (@result try $ty:ident) => { (param!($ty), true, false) };
    (@result frameless try $ty:ident) => { (param!($ty), true, true) };
    (@result frameless $ty:ident) => { (param!($ty), false, true) };
    (@result $ty:ident) => { (param!($ty), false, false) };
    ($($(#[doc = $doc:literal])* $name:ident($($param:ident: $ty:ident),*) -> $($result:ident)+;)*) => {
        /// A function of the runtime that native code calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(non_camel_case_types, reason = "named as the functions are")]
        #[expect(missing_docs, reason = "helpers without documentation are the library functions of that name")]
        #[repr(u16)]
        pub enum Helper { $($(#[doc = $doc])* $name),* }

        impl Helper {
            /// All helpers, in the order of the table.
            pub const ALL: &'static [Helper] = &[$(Helper::$name),*];

            /// The number of helpers.
            pub const COUNT: usize = Self::ALL.len();

            /// The declaration.
            #[must_use]
            pub const fn decl(self) -> &'static HelperDecl {
                match self {
                    $(Self::$name => &HelperDecl {
                        name: stringify!($name),
                        params: &[$(param!($ty)),*],
                        result: declare!(@result $($result)+).0,
                        fails: declare!(@result $($result)+).1,
                        frameless: declare!(@result $($result)+).2,
                    }),*
                }
            }

            /// Whether it asks named lists of the host, which change between evaluations, though
            /// not within one: its calls can't be folded.
            #[must_use]
            pub const fn asks_lists(self) -> bool {
                matches!(
                    self,
                    Self::list_has
                        | Self::list_has_address
                        | Self::list_has_text
                        | Self::list_has_bytes
                        | Self::list_has_integer
                        | Self::list_find
                        | Self::list_find_address
                        | Self::list_find_text
                        | Self::list_find_integer
                        | Self::list_value_text
                        | Self::list_value_int
                        | Self::list_value_bool
                        | Self::list_value_has
                        | Self::list_value_optional
                )
            }

            /// The helper of this name, if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|h| h.decl().name == name)
            }
        }
    };
}

for_each_helper!(declare);
