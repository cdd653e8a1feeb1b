//! The table of functions: library, implementation, form, name, signature.
//!
//! Source: the language definition's "List of Standard Definitions", and the extensions of cel-spec and cel-go. A comment
//! above a row is the documentation of the function, for all rows of that name; the rows of a name in one library follow each
//! other. A row's library is the one that can be turned off with it. `impure` stands before the name of a function whose
//! calls differ though their arguments don't.

use super::{Library, Row, Style};
use crate::types::Type;
use std::sync::Arc;

macro_rules! ty {
    (bool) => {
        Type::Bool
    };
    (int) => {
        Type::Int
    };
    (uint) => {
        Type::Uint
    };
    (double) => {
        Type::Double
    };
    (string) => {
        Type::String
    };
    (bytes) => {
        Type::Bytes
    };
    (duration) => {
        Type::Duration
    };
    (timestamp) => {
        Type::Timestamp
    };
    (dyn) => {
        Type::Dyn
    };
    (message) => {
        Type::message(Type::ANY_MESSAGE)
    };
    (ip) => {
        Type::Opaque("net.IP".into(), Arc::new([]))
    };
    (cidr) => {
        Type::Opaque("net.CIDR".into(), Arc::new([]))
    };
    (token) => {
        Type::Opaque("jwt.Token".into(), Arc::new([]))
    };
    ([$t:tt]) => {
        Type::list(ty!($t))
    };
    ({$k:tt $v:tt}) => {
        Type::map(ty!($k), ty!($v))
    };
    ((optional $t:tt)) => {
        Type::optional(ty!($t))
    };
    ((type $t:tt)) => {
        Type::Type(Arc::new(ty!($t)))
    };
    ($p:ident) => {
        Type::Param(stringify!($p).into())
    };
}

macro_rules! builtins {
    (@pure) => { true };
    (@pure impure) => { false };
    ($($library:ident { $($(#[doc = $doc:literal])? $variant:ident $style:ident $($impure:ident)? $name:literal
        ($($param:tt),*) -> $result:tt;)* })*) => {
        /// The implementation of a row: one variant for each overload of each function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each variant is the row of the table that names it")]
        pub enum Builtin { $($($variant),*),* }

        impl Builtin {
            /// Every row's implementation, in the order of the table.
            pub const ALL: &'static [Builtin] = &[$($(Builtin::$variant),*),*];
        }

        /// Rows without documentation of their own have none here.
        pub(super) fn rows() -> Vec<Row> {
            vec![$($(Row {
                builtin: Builtin::$variant,
                library: Library::$library,
                name: $name,
                doc: concat!($($doc)?).trim_ascii(),
                style: Style::$style,
                pure: builtins!(@pure $($impure)?),
                params: Arc::new([$(ty!($param)),*]),
                result: ty!($result),
            }),*),*]
        }
    };
}

/// Calls `$macro!` with all rows of the table of functions, by library: `Variant Style ["impure"] "name"(types) -> type;`.
#[macro_export]
macro_rules! for_each_builtin {
    ($macro:ident) => {
        $macro! {
            Standard {

                // Logic. `&&`, `||` and `?:` are syntax: they don't evaluate all operands.
                /// Negation.
                Not Global "!_"(bool) -> bool;
                /// Equality of any two values; numbers of different types are equal when they are the same number.
                Equal Global "_==_"(A, A) -> bool;
                /// The opposite of `==`.
                NotEqual Global "_!=_"(A, A) -> bool;

                // Arithmetic.
                /// Sum of numbers and spans of time; concatenation of strings, bytes and lists.
                AddInt Global "_+_"(int, int) -> int;
                AddUint Global "_+_"(uint, uint) -> uint;
                AddDouble Global "_+_"(double, double) -> double;
                AddString Global "_+_"(string, string) -> string;
                AddBytes Global "_+_"(bytes, bytes) -> bytes;
                AddList Global "_+_"([A], [A]) -> [A];
                AddDurations Global "_+_"(duration, duration) -> duration;
                AddTimestampDuration Global "_+_"(timestamp, duration) -> timestamp;
                AddDurationTimestamp Global "_+_"(duration, timestamp) -> timestamp;
                /// Difference.
                SubInt Global "_-_"(int, int) -> int;
                SubUint Global "_-_"(uint, uint) -> uint;
                SubDouble Global "_-_"(double, double) -> double;
                SubDurations Global "_-_"(duration, duration) -> duration;
                SubTimestampDuration Global "_-_"(timestamp, duration) -> timestamp;
                SubTimestamps Global "_-_"(timestamp, timestamp) -> duration;
                /// Product.
                MulInt Global "_*_"(int, int) -> int;
                MulUint Global "_*_"(uint, uint) -> uint;
                MulDouble Global "_*_"(double, double) -> double;
                /// Quotient; that of integers is rounded toward zero.
                DivInt Global "_/_"(int, int) -> int;
                DivUint Global "_/_"(uint, uint) -> uint;
                DivDouble Global "_/_"(double, double) -> double;
                /// Remainder, with the sign of the dividend.
                RemInt Global "_%_"(int, int) -> int;
                RemUint Global "_%_"(uint, uint) -> uint;
                /// Sign change.
                NegInt Global "-_"(int) -> int;
                NegDouble Global "-_"(double) -> double;

                // Ordering. Numbers of different types compare on one number line.
                /// Order of numbers on one line, of text by code points, of bytes, times and bools.
                LessBool Global "_<_"(bool, bool) -> bool;
                LessInt Global "_<_"(int, int) -> bool;
                LessUint Global "_<_"(uint, uint) -> bool;
                LessDouble Global "_<_"(double, double) -> bool;
                LessIntUint Global "_<_"(int, uint) -> bool;
                LessIntDouble Global "_<_"(int, double) -> bool;
                LessUintInt Global "_<_"(uint, int) -> bool;
                LessUintDouble Global "_<_"(uint, double) -> bool;
                LessDoubleInt Global "_<_"(double, int) -> bool;
                LessDoubleUint Global "_<_"(double, uint) -> bool;
                LessString Global "_<_"(string, string) -> bool;
                LessBytes Global "_<_"(bytes, bytes) -> bool;
                LessTimestamp Global "_<_"(timestamp, timestamp) -> bool;
                LessDuration Global "_<_"(duration, duration) -> bool;
                /// `<` or `==`.
                LessEqualBool Global "_<=_"(bool, bool) -> bool;
                LessEqualInt Global "_<=_"(int, int) -> bool;
                LessEqualUint Global "_<=_"(uint, uint) -> bool;
                LessEqualDouble Global "_<=_"(double, double) -> bool;
                LessEqualIntUint Global "_<=_"(int, uint) -> bool;
                LessEqualIntDouble Global "_<=_"(int, double) -> bool;
                LessEqualUintInt Global "_<=_"(uint, int) -> bool;
                LessEqualUintDouble Global "_<=_"(uint, double) -> bool;
                LessEqualDoubleInt Global "_<=_"(double, int) -> bool;
                LessEqualDoubleUint Global "_<=_"(double, uint) -> bool;
                LessEqualString Global "_<=_"(string, string) -> bool;
                LessEqualBytes Global "_<=_"(bytes, bytes) -> bool;
                LessEqualTimestamp Global "_<=_"(timestamp, timestamp) -> bool;
                LessEqualDuration Global "_<=_"(duration, duration) -> bool;
                /// Order, reversed.
                GreaterBool Global "_>_"(bool, bool) -> bool;
                GreaterInt Global "_>_"(int, int) -> bool;
                GreaterUint Global "_>_"(uint, uint) -> bool;
                GreaterDouble Global "_>_"(double, double) -> bool;
                GreaterIntUint Global "_>_"(int, uint) -> bool;
                GreaterIntDouble Global "_>_"(int, double) -> bool;
                GreaterUintInt Global "_>_"(uint, int) -> bool;
                GreaterUintDouble Global "_>_"(uint, double) -> bool;
                GreaterDoubleInt Global "_>_"(double, int) -> bool;
                GreaterDoubleUint Global "_>_"(double, uint) -> bool;
                GreaterString Global "_>_"(string, string) -> bool;
                GreaterBytes Global "_>_"(bytes, bytes) -> bool;
                GreaterTimestamp Global "_>_"(timestamp, timestamp) -> bool;
                GreaterDuration Global "_>_"(duration, duration) -> bool;
                /// `>` or `==`.
                GreaterEqualBool Global "_>=_"(bool, bool) -> bool;
                GreaterEqualInt Global "_>=_"(int, int) -> bool;
                GreaterEqualUint Global "_>=_"(uint, uint) -> bool;
                GreaterEqualDouble Global "_>=_"(double, double) -> bool;
                GreaterEqualIntUint Global "_>=_"(int, uint) -> bool;
                GreaterEqualIntDouble Global "_>=_"(int, double) -> bool;
                GreaterEqualUintInt Global "_>=_"(uint, int) -> bool;
                GreaterEqualUintDouble Global "_>=_"(uint, double) -> bool;
                GreaterEqualDoubleInt Global "_>=_"(double, int) -> bool;
                GreaterEqualDoubleUint Global "_>=_"(double, uint) -> bool;
                GreaterEqualString Global "_>=_"(string, string) -> bool;
                GreaterEqualBytes Global "_>=_"(bytes, bytes) -> bool;
                GreaterEqualTimestamp Global "_>=_"(timestamp, timestamp) -> bool;
                GreaterEqualDuration Global "_>=_"(duration, duration) -> bool;

                // Containers.
                /// An element of a list by position, a value of a map by key.
                IndexList Global "_[_]"([A], int) -> A;
                IndexMap Global "_[_]"({A B}, A) -> B;
                /// Whether a list has an element, or a map a key.
                InList Global "@in"(A, [A]) -> bool;
                InMap Global "@in"(A, {A B}) -> bool;
                /// Code points of a string, bytes, elements or entries.
                SizeString Both "size"(string) -> int;
                SizeBytes Both "size"(bytes) -> int;
                SizeList Both "size"([A]) -> int;
                SizeMap Both "size"({A B}) -> int;

                // Strings.
                /// Whether text occurs in text.
                Contains Member "contains"(string, string) -> bool;
                /// Whether text starts with text.
                StartsWith Member "startsWith"(string, string) -> bool;
                /// Whether text ends with text.
                EndsWith Member "endsWith"(string, string) -> bool;
                /// Whether a regular expression matches somewhere in text.
                Matches Both "matches"(string, string) -> bool;

                // Conversions.
                /// Conversion to a truth value.
                BoolFromBool Global "bool"(bool) -> bool;
                BoolFromString Global "bool"(string) -> bool;
                /// Conversion to bytes; text in UTF-8.
                BytesFromBytes Global "bytes"(bytes) -> bytes;
                BytesFromString Global "bytes"(string) -> bytes;
                /// Conversion to a double.
                DoubleFromDouble Global "double"(double) -> double;
                DoubleFromInt Global "double"(int) -> double;
                DoubleFromUint Global "double"(uint) -> double;
                DoubleFromString Global "double"(string) -> double;
                /// Conversion to a span of time: `1h30m`, `1.5s`.
                DurationFromDuration Global "duration"(duration) -> duration;
                DurationFromString Global "duration"(string) -> duration;
                /// Conversion to a signed integer; doubles are rounded toward zero, times are seconds since 1970.
                IntFromInt Global "int"(int) -> int;
                IntFromUint Global "int"(uint) -> int;
                IntFromDouble Global "int"(double) -> int;
                IntFromString Global "int"(string) -> int;
                IntFromTimestamp Global "int"(timestamp) -> int;
                /// Conversion to text.
                StringFromString Global "string"(string) -> string;
                StringFromBool Global "string"(bool) -> string;
                StringFromInt Global "string"(int) -> string;
                StringFromUint Global "string"(uint) -> string;
                StringFromDouble Global "string"(double) -> string;
                StringFromBytes Global "string"(bytes) -> string;
                StringFromTimestamp Global "string"(timestamp) -> string;
                StringFromDuration Global "string"(duration) -> string;
                /// Conversion to a point in time: RFC 3339 text, or seconds since 1970.
                TimestampFromTimestamp Global "timestamp"(timestamp) -> timestamp;
                TimestampFromString Global "timestamp"(string) -> timestamp;
                TimestampFromInt Global "timestamp"(int) -> timestamp;
                /// Conversion to an unsigned integer.
                UintFromUint Global "uint"(uint) -> uint;
                UintFromInt Global "uint"(int) -> uint;
                UintFromDouble Global "uint"(double) -> uint;
                UintFromString Global "uint"(string) -> uint;
                /// The same value, of a type that is known at evaluation only.
                ToDyn Global "dyn"(A) -> dyn;
                /// The type of a value.
                TypeOf Global "type"(A) -> (type A);

                // Time. Without a zone the getters are in UTC; those of a duration convert it to the unit.
                /// The year, in UTC or a time zone.
                FullYear Member "getFullYear"(timestamp) -> int;
                FullYearIn Member "getFullYear"(timestamp, string) -> int;
                /// The month, from 0.
                Month Member "getMonth"(timestamp) -> int;
                MonthIn Member "getMonth"(timestamp, string) -> int;
                /// The day of the year, from 0.
                DayOfYear Member "getDayOfYear"(timestamp) -> int;
                DayOfYearIn Member "getDayOfYear"(timestamp, string) -> int;
                /// The day of the month, from 0.
                DayOfMonth Member "getDayOfMonth"(timestamp) -> int;
                DayOfMonthIn Member "getDayOfMonth"(timestamp, string) -> int;
                /// The day of the month, from 1.
                Date Member "getDate"(timestamp) -> int;
                DateIn Member "getDate"(timestamp, string) -> int;
                /// The day of the week, Sunday is 0.
                DayOfWeek Member "getDayOfWeek"(timestamp) -> int;
                DayOfWeekIn Member "getDayOfWeek"(timestamp, string) -> int;
                /// The hour; of a span of time, all of it in hours.
                Hours Member "getHours"(timestamp) -> int;
                HoursIn Member "getHours"(timestamp, string) -> int;
                HoursOfDuration Member "getHours"(duration) -> int;
                /// The minute; of a span of time, all of it in minutes.
                Minutes Member "getMinutes"(timestamp) -> int;
                MinutesIn Member "getMinutes"(timestamp, string) -> int;
                MinutesOfDuration Member "getMinutes"(duration) -> int;
                /// The second; of a span of time, all of it in seconds.
                Seconds Member "getSeconds"(timestamp) -> int;
                SecondsIn Member "getSeconds"(timestamp, string) -> int;
                SecondsOfDuration Member "getSeconds"(duration) -> int;
                /// The millisecond; of a span of time, the milliseconds beyond its whole seconds.
                Milliseconds Member "getMilliseconds"(timestamp) -> int;
                MillisecondsIn Member "getMilliseconds"(timestamp, string) -> int;
                MillisecondsOfDuration Member "getMilliseconds"(duration) -> int;
            }

            Optionals {
                // `a.?b` and `a[?b]` are calls of the last rows.
                /// An optional that holds a value.
                OptionalOf Global "optional.of"(A) -> (optional A);
                /// An optional that holds a value, or nothing if that is the zero or empty value of its type.
                OptionalOfNonZero Global "optional.ofNonZeroValue"(A) -> (optional A);
                /// An optional that holds nothing.
                OptionalNone Global "optional.none"() -> (optional A);
                /// Whether an optional holds a value.
                OptionalHasValue Member "hasValue"((optional A)) -> bool;
                /// Whether an optional holds a value that is equal to another one.
                OptionalHasEqual Member "hasValue"((optional A), A) -> bool;
                /// What an optional holds; an error if that is nothing.
                OptionalValue Member "value"((optional A)) -> A;
                /// The optional, or another one if it holds nothing.
                OptionalOr Member "or"((optional A), (optional A)) -> (optional A);
                /// What an optional holds, or another value if that is nothing.
                OptionalOrValue Member "orValue"((optional A), A) -> A;
                /// A field of a map, if it is there.
                OptionalSelectMap Global "_?._"({string A}, string) -> (optional A);
                /// A field of a message, if it is set.
                OptionalSelectMessage Global "_?._"(message, string) -> (optional dyn);
                OptionalSelectOptional Global "_?._"((optional {string A}), string) -> (optional A);
                /// An element or a value, if it is there.
                OptionalIndexList Global "_[?_]"([A], int) -> (optional A);
                OptionalIndexMap Global "_[?_]"({A B}, A) -> (optional B);
                OptionalIndexOptionalList Global "_[?_]"((optional [A]), int) -> (optional A);
                OptionalIndexOptionalMap Global "_[?_]"((optional {A B}), A) -> (optional B);
                /// What an optional list or map has at an index, as an optional.
                IndexOptionalList Global "_[_]"((optional [A]), int) -> (optional A);
                IndexOptionalMap Global "_[_]"((optional {A B}), A) -> (optional B);
                /// What the optionals of a list hold, without those that hold nothing.
                OptionalUnwrap Global "optional.unwrap"([(optional A)]) -> [A];
                /// What the optionals of a list hold, without those that hold nothing.
                OptionalUnwrapMember Member "unwrapOpt"([(optional A)]) -> [A];
            }

            Network {
                /// An address or a network as text.
                StringFromIp Global "string"(ip) -> string;
                StringFromCidr Global "string"(cidr) -> string;
                /// The address that text writes; the address of a network.
                IpFromString Global "ip"(string) -> ip;
                /// The network that text writes, as `10.0.0.0/8`.
                CidrFromString Global "cidr"(string) -> cidr;
                /// Whether a network contains an address.
                CidrContainsIp Member "containsIP"(cidr, ip) -> bool;
                CidrContainsIpString Member "containsIP"(cidr, string) -> bool;
                /// Whether a network contains all of another one.
                CidrContainsCidr Member "containsCIDR"(cidr, cidr) -> bool;
                CidrContainsCidrString Member "containsCIDR"(cidr, string) -> bool;
                CidrIp Member "ip"(cidr) -> ip;
                /// The network without the bits after its prefix.
                CidrMasked Member "masked"(cidr) -> cidr;
                /// Whether a network has only zeros behind its prefix.
                CidrIsMask Member "isMask"(cidr) -> bool;
                /// How many bits of a network's address are fixed.
                CidrPrefixLength Member "prefixLength"(cidr) -> int;
                /// Whether text writes an address.
                IsIp Global "isIP"(string) -> bool;
                /// Whether text writes a network.
                IsCidr Global "isCIDR"(string) -> bool;
                /// Whether text writes an address in the one form that `string(ip(..))` gives.
                IpIsCanonical Global "ip.isCanonical"(string) -> bool;
                /// 4 or 6.
                IpFamily Member "family"(ip) -> int;
                /// Whether an address is `0.0.0.0` or `::`.
                IpIsUnspecified Member "isUnspecified"(ip) -> bool;
                /// Whether an address is in `127.0.0.0/8` or is `::1`.
                IpIsLoopback Member "isLoopback"(ip) -> bool;
                /// Whether an address is one of a single host that is reached through routers, private ones included.
                IpIsGlobalUnicast Member "isGlobalUnicast"(ip) -> bool;
                /// Whether an address is in `224.0.0.0/24`, or in `ff00::/8` with the scope 2.
                IpIsLinkLocalMulticast Member "isLinkLocalMulticast"(ip) -> bool;
                /// Whether an address is in `169.254.0.0/16` or `fe80::/10`.
                IpIsLinkLocalUnicast Member "isLinkLocalUnicast"(ip) -> bool;
            }

            Strings {
                /// The character at a position, as text; empty at the end of the text.
                CharAt Member "charAt"(string, int) -> string;
                /// Where text first occurs, from a position on if one is given; -1 if nowhere.
                IndexOf Member "indexOf"(string, string) -> int;
                IndexOfFrom Member "indexOf"(string, string, int) -> int;
                /// Where text last occurs, starting at a position or before it if one is given; -1 if nowhere.
                LastIndexOf Member "lastIndexOf"(string, string) -> int;
                LastIndexOfFrom Member "lastIndexOf"(string, string, int) -> int;
                /// The elements as one text, with a separator between them if one is given.
                Join Member "join"([string]) -> string;
                JoinWith Member "join"([string], string) -> string;
                /// The text with the letters A to Z made small.
                LowerAscii Member "lowerAscii"(string) -> string;
                /// The text with the letters a to z made capital.
                UpperAscii Member "upperAscii"(string) -> string;
                /// The text with occurrences of one text replaced by another, the first few of them if a number is given.
                Replace Member "replace"(string, string, string) -> string;
                ReplaceFirst Member "replace"(string, string, string, int) -> string;
                /// The parts of text between the occurrences of another, at most `n` parts if a number `n` is given.
                Split Member "split"(string, string) -> [string];
                SplitFirst Member "split"(string, string, int) -> [string];
                /// The text from a position on, up to another one if it is given.
                Substring Member "substring"(string, int) -> string;
                SubstringTo Member "substring"(string, int, int) -> string;
                /// The text without the blanks at its ends.
                Trim Member "trim"(string) -> string;
                /// The characters of text in reverse order.
                ReverseString Member "reverse"(string) -> string;
                /// The text in double quotes, with what can't be printed in between escaped.
                Quote Global "strings.quote"(string) -> string;
                /// The text with values in the places of its verbs: `%s %d %f %e %b %o %x %X`, and `%%` for a percent sign.
                Format Member "format"(string, [dyn]) -> string;
            }

            Math {
                /// The greatest of numbers, or of the numbers of a list. The first of those that are equal.
                GreatestInt Global "math.greatest"(int) -> int;
                GreatestUint Global "math.greatest"(uint) -> uint;
                GreatestDouble Global "math.greatest"(double) -> double;
                GreatestInts Global "math.greatest"(int, int) -> int;
                GreatestIntUint Global "math.greatest"(int, uint) -> dyn;
                GreatestIntDouble Global "math.greatest"(int, double) -> dyn;
                GreatestUintInt Global "math.greatest"(uint, int) -> dyn;
                GreatestUints Global "math.greatest"(uint, uint) -> uint;
                GreatestUintDouble Global "math.greatest"(uint, double) -> dyn;
                GreatestDoubleInt Global "math.greatest"(double, int) -> dyn;
                GreatestDoubleUint Global "math.greatest"(double, uint) -> dyn;
                GreatestDoubles Global "math.greatest"(double, double) -> double;
                GreatestIntList Global "math.greatest"([int]) -> int;
                GreatestUintList Global "math.greatest"([uint]) -> uint;
                GreatestDoubleList Global "math.greatest"([double]) -> double;
                /// The least of numbers, or of the numbers of a list. The first of those that are equal.
                LeastInt Global "math.least"(int) -> int;
                LeastUint Global "math.least"(uint) -> uint;
                LeastDouble Global "math.least"(double) -> double;
                LeastInts Global "math.least"(int, int) -> int;
                LeastIntUint Global "math.least"(int, uint) -> dyn;
                LeastIntDouble Global "math.least"(int, double) -> dyn;
                LeastUintInt Global "math.least"(uint, int) -> dyn;
                LeastUints Global "math.least"(uint, uint) -> uint;
                LeastUintDouble Global "math.least"(uint, double) -> dyn;
                LeastDoubleInt Global "math.least"(double, int) -> dyn;
                LeastDoubleUint Global "math.least"(double, uint) -> dyn;
                LeastDoubles Global "math.least"(double, double) -> double;
                LeastIntList Global "math.least"([int]) -> int;
                LeastUintList Global "math.least"([uint]) -> uint;
                LeastDoubleList Global "math.least"([double]) -> double;
                /// The least whole number that is not less.
                Ceil Global "math.ceil"(double) -> double;
                /// The greatest whole number that is not greater.
                Floor Global "math.floor"(double) -> double;
                /// The nearest whole number; of two as near, the one farther from zero.
                Round Global "math.round"(double) -> double;
                /// The whole number without the fraction.
                Trunc Global "math.trunc"(double) -> double;
                /// The size of a number without its sign.
                AbsInt Global "math.abs"(int) -> int;
                AbsUint Global "math.abs"(uint) -> uint;
                AbsDouble Global "math.abs"(double) -> double;
                /// -1, 0 or 1: the sign of a number, in its type.
                SignInt Global "math.sign"(int) -> int;
                SignUint Global "math.sign"(uint) -> uint;
                SignDouble Global "math.sign"(double) -> double;
                /// The square root; NaN of a negative number.
                SqrtDouble Global "math.sqrt"(double) -> double;
                SqrtInt Global "math.sqrt"(int) -> double;
                SqrtUint Global "math.sqrt"(uint) -> double;
                /// Whether a double is NaN.
                IsNan Global "math.isNaN"(double) -> bool;
                /// Whether a double is an infinity.
                IsInf Global "math.isInf"(double) -> bool;
                /// Whether a double is neither NaN nor an infinity.
                IsFinite Global "math.isFinite"(double) -> bool;
                /// The bits that both numbers have.
                BitAndInt Global "math.bitAnd"(int, int) -> int;
                BitAndUint Global "math.bitAnd"(uint, uint) -> uint;
                /// The bits that either number has.
                BitOrInt Global "math.bitOr"(int, int) -> int;
                BitOrUint Global "math.bitOr"(uint, uint) -> uint;
                /// The bits that one of two numbers has.
                BitXorInt Global "math.bitXor"(int, int) -> int;
                BitXorUint Global "math.bitXor"(uint, uint) -> uint;
                /// The bits that a number does not have.
                BitNotInt Global "math.bitNot"(int) -> int;
                BitNotUint Global "math.bitNot"(uint) -> uint;
                /// The bits moved up; 0 from 64 places on, an error below 0.
                BitShiftLeftInt Global "math.bitShiftLeft"(int, int) -> int;
                BitShiftLeftUint Global "math.bitShiftLeft"(uint, int) -> uint;
                /// The bits moved down, zeros put in; 0 from 64 places on, an error below 0.
                BitShiftRightInt Global "math.bitShiftRight"(int, int) -> int;
                BitShiftRightUint Global "math.bitShiftRight"(uint, int) -> uint;
            }

            Encoders {
                /// The text that stands for bytes in base64, with padding.
                Base64Encode Global "base64.encode"(bytes) -> string;
                /// The bytes that text in base64 stands for, with padding or without.
                Base64Decode Global "base64.decode"(string) -> bytes;
                /// As `base64.encode`, with `-` and `_` in place of `+` and `/`, which mean something in a URL.
                Base64EncodeUrl Global "base64.encodeUrl"(bytes) -> string;
                /// The bytes that text of `base64.encodeUrl` stands for, with padding or without.
                Base64DecodeUrl Global "base64.decodeUrl"(string) -> bytes;
                /// The text that stands for bytes in hexadecimal, in small letters.
                HexEncode Global "hex.encode"(bytes) -> string;
                /// The bytes that text in hexadecimal stands for.
                HexDecode Global "hex.decode"(string) -> bytes;
                /// The text with all that is not a letter, a digit or one of `-._~` percent-encoded.
                UrlEncode Global "url.encode"(string) -> string;
                /// The text that percent-encoded text stands for.
                UrlDecode Global "url.decode"(string) -> string;
                /// A map as the text of a form or a query, in the order of its keys; the elements of a list repeat the key, nulls are left out.
                FormEncode Global "form.encode"({string dyn}) -> string;
                /// The text of a form or a query as a map; the values of a key that is repeated are a list.
                FormDecode Global "form.decode"(string) -> {string dyn};
                /// A value as JSON text; `<`, `>` and `&` are escaped, and integers beyond 2^53 are text.
                JsonEncode Global "json.encode"(dyn) -> string;
                /// The value that JSON text stands for, if it is JSON, and of the type if one is given.
                JsonParse Global "json.parse"(string) -> (optional dyn);
                JsonParseAs Global "json.parse"(string, (type A)) -> (optional A);
            }

            Lists {
                /// The elements from one position up to another.
                Slice Member "slice"([A], int, int) -> [A];
                /// The list with its inner lists replaced by their elements, `n` levels deep if a number `n` is given, else one.
                Flatten Member "flatten"([[A]]) -> [A];
                FlattenDepth Member "flatten"([dyn], int) -> [dyn];
                /// The elements in order, which must be of one type that has an order.
                SortInt Member "sort"([int]) -> [int];
                SortUint Member "sort"([uint]) -> [uint];
                SortDouble Member "sort"([double]) -> [double];
                SortBool Member "sort"([bool]) -> [bool];
                SortDuration Member "sort"([duration]) -> [duration];
                SortTimestamp Member "sort"([timestamp]) -> [timestamp];
                SortString Member "sort"([string]) -> [string];
                SortBytes Member "sort"([bytes]) -> [bytes];
                /// The elements in the order of the keys that a transform gives: `list.sortBy(x, key)`.
                SortByInt Global "@sortBy"([A], [int]) -> [A];
                SortByUint Global "@sortBy"([A], [uint]) -> [A];
                SortByDouble Global "@sortBy"([A], [double]) -> [A];
                SortByBool Global "@sortBy"([A], [bool]) -> [A];
                SortByDuration Global "@sortBy"([A], [duration]) -> [A];
                SortByTimestamp Global "@sortBy"([A], [timestamp]) -> [A];
                SortByString Global "@sortBy"([A], [string]) -> [A];
                SortByBytes Global "@sortBy"([A], [bytes]) -> [A];
                /// The elements without those that are equal to an earlier one.
                Distinct Member "distinct"([A]) -> [A];
                /// The numbers from 0 up to one less than a number, which must not be negative.
                Range Global "lists.range"(int) -> [int];
                /// The elements in reverse order.
                ReverseList Member "reverse"([A]) -> [A];
                /// The first element, as an optional.
                First Member "first"([A]) -> (optional A);
                /// The last element, as an optional.
                Last Member "last"([A]) -> (optional A);
                /// Whether the list has an element equal to each one of another list.
                HasAll Member "hasAll"([A], [A]) -> bool;
                /// Whether the list has an element in common with another list.
                HasAny Member "hasAny"([A], [A]) -> bool;
                /// Whether another list has an element equal to each one of the list.
                HasOnly Member "hasOnly"([A], [A]) -> bool;
                /// Whether each of two lists has an element equal to each one of the other.
                HasExactly Member "hasExactly"([A], [A]) -> bool;
            }

            Sets {
                /// Whether a list has an element equal to each one of another list.
                SetsContains Global "sets.contains"([A], [A]) -> bool;
                /// Whether each of two lists has an element equal to each one of the other.
                SetsEquivalent Global "sets.equivalent"([A], [A]) -> bool;
                /// Whether two lists have an element in common.
                SetsIntersects Global "sets.intersects"([A], [A]) -> bool;
            }

            Regex {
                /// The first match of a regular expression, or what its group matches, as an optional.
                RegexExtract Global "regex.extract"(string, string) -> (optional string);
                /// All matches of a regular expression, or what its group matches in them.
                RegexExtractAll Global "regex.extractAll"(string, string) -> [string];
                /// The text with the matches replaced, the first few if a number is given; `\1` stands for what a group matches.
                RegexReplace Global "regex.replace"(string, string, string) -> string;
                RegexReplaceFirst Global "regex.replace"(string, string, string, int) -> string;
            }

            Json {
                /// The value that JSON text stands for. Of keys that occur twice the last one counts.
                JsonFromString Global "json"(string) -> dyn;
                JsonFromBytes Global "json"(bytes) -> dyn;
                /// A value as JSON text, in the way of protocol buffers where JSON has no such type.
                ToJson Global "toJson"(dyn) -> string;
                /// The claims of a JSON Web Token whose signature is NOT checked: what a client says of itself.
                UnvalidatedJwtPayload Global "unvalidatedJwtPayload"(string) -> {string dyn};
            }

            Gateway {
                /// Ends the evaluation with the error `failed`; the text is for those who read the rule.
                Fail Global "fail"(string) -> dyn;
                /// The entries of both maps; of a key that both have, that of the second.
                Merge Member "merge"({A B}, {A B}) -> {A B};
                /// The text with the first match of a regular expression replaced; `$1` and `${name}` stand for what a group matches.
                RegexReplaceOnce Member "regexReplace"(string, string, string) -> string;
                /// The text without another one at its start, if that is there.
                StripPrefix Member "stripPrefix"(string, string) -> string;
                /// The text without another one at its end, if that is there.
                StripSuffix Member "stripSuffix"(string, string) -> string;
                /// Whether a pattern matches the whole text, ASCII letters in either case: `*` stands for any text, `\*` and `\\` for themselves.
                Wildcard Member "wildcard"(string, string) -> bool;
                /// As `wildcard`, but letters match in their own case only.
                StrictWildcard Member "strictWildcard"(string, string) -> bool;
                /// The SHA-1 digest of text or bytes, in hexadecimal.
                Sha1String Global "sha1.encode"(string) -> string;
                Sha1Bytes Global "sha1.encode"(bytes) -> string;
                /// The SHA-256 digest of text or bytes, in hexadecimal.
                Sha256String Global "sha256.encode"(string) -> string;
                Sha256Bytes Global "sha256.encode"(bytes) -> string;
                /// The MD5 digest of text or bytes, in hexadecimal.
                Md5String Global "md5.encode"(string) -> string;
                Md5Bytes Global "md5.encode"(bytes) -> string;
                /// A new random UUID (version 4). It cannot be predicted.
                Uuid Global impure "uuid"() -> string;
                /// A random number from 0 up to but not including 1. Not for secrets.
                Random Global impure "random"() -> double;
            }

            Hmac {
                /// Whether a message has this code: message, code, key, algorithm. Of texts the code may be in hexadecimal or base64, after `sha256=`.
                HmacVerifyString Global "hmac.verify"(string, string, string, string) -> bool;
                HmacVerifyBytes Global "hmac.verify"(bytes, bytes, bytes, string) -> bool;
                /// The code of a message: message, key, algorithm, which is SHA224, SHA256, SHA384, SHA512, SHA512_224 or SHA512_256.
                HmacComputeString Global "hmac.compute"(string, string, string) -> bytes;
                HmacComputeBytes Global "hmac.compute"(bytes, bytes, string) -> bytes;
            }

            Yaml {
                /// A value as a YAML document.
                YamlEncode Global "yaml.encode"(dyn) -> string;
                /// The value that a YAML document stands for, if it is one, and of the type if one is given.
                YamlParse Global "yaml.parse"(string) -> (optional dyn);
                YamlParseAs Global "yaml.parse"(string, (type A)) -> (optional A);
            }

            Jwt {
                /// The JSON Web Token that text is. Its signature is NOT verified: anybody can write such a token.
                JwtParse Global "jwt.parse"(string) -> (optional token);
                /// A claim of a token.
                JwtClaim Member "claim"(token, string) -> (optional dyn);
                JwtClaimOfOptional Member "claim"((optional token), string) -> (optional dyn);
                /// Whether a token is of this issuer, and for this party: `azp`, or without it one of `aud`.
                JwtPresentedBy Member "presentedBy"(token, string, string) -> bool;
                JwtPresentedByOfOptional Member "presentedBy"((optional token), string, string) -> bool;
            }

            Http {
                /// Each value as a list: the lines that a request or response has of a header; text or a list of an ordinary map as it is.
                RawMap Member "raw"({string string}) -> {string [string]};
                RawLists Member "raw"({string [string]}) -> {string [string]};
                /// Each value as text: the lines of a header, or the elements of a list, with commas in between.
                JoinMap Member "join"({string string}) -> {string string};
                JoinLists Member "join"({string [string]}) -> {string string};
                /// Each value as the list of its members, which are between commas that are not in quoted strings; the lines of `set-cookie` as they are.
                SplitMap Member "split"({string string}) -> {string [string]};
                SplitLists Member "split"({string [string]}) -> {string [string]};
                /// The map with `<redacted>` in the place of the values of `authorization`, `cookie`, `set-cookie`, `proxy-authorization` and `x-api-key`.
                RedactedMap Member "redacted"({string string}) -> {string string};
                RedactedLists Member "redacted"({string [string]}) -> {string [string]};
                /// The value of a cookie that the header `cookie` of a map has; of several with the name, the first.
                CookieOfMap Member "cookie"({string string}, string) -> string;
                CookieOfLists Member "cookie"({string [string]}, string) -> string;
                /// The values of a parameter in the query of a URI, or in text that is a query, decoded and in order.
                Query Member "query"(string, string) -> [string];
            }
        }
    };
}

for_each_builtin!(builtins);
