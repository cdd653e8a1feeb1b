//! How each function of the table is calibrated. A row without an entry does not compile.

use super::documents::*;
use super::values::Values;
use super::worst_cases::*;
use super::*;

/// The arguments of calls that are made one after another.
pub(super) type Calls<'v> = Vec<Vec<Value<'v>>>;

/// How a function is calibrated.
pub(super) enum Entry<'v> {
    /// With values of the types of its parameters.
    ByType,
    /// Also with worst cases that follow from how the function works.
    Derived(Vec<Calls<'v>>),
    /// Not at all, for a reason.
    #[expect(dead_code, reason = "no function is excepted at present")]
    Excepted(&'static str),
}

/// Returns the entry of a function.
pub(super) fn entry<'v>(builtin: Builtin, values: &mut Values<'v>) -> Entry<'v> {
    use Builtin::*;
    match builtin {
        Equal | NotEqual | InList | Distinct | HasAll | HasAny | HasOnly | HasExactly | SetsContains
        | SetsEquivalent | SetsIntersects => Entry::Derived(equality(values)),
        OptionalHasEqual => Entry::Derived(equality_in_optionals(values)),
        IndexMap | InMap | OptionalIndexMap | OptionalSelectMap => Entry::Derived(lookups(values)),
        OptionalSelectMessage => Entry::Derived(messages(values)),
        OptionalIndexOptionalMap | IndexOptionalMap | OptionalSelectOptional => {
            Entry::Derived(lookups_in_optionals(values))
        }
        Contains | IndexOf | LastIndexOf | Split => Entry::Derived(searches(values)),
        Replace => Entry::Derived(replacements(values)),
        Format => Entry::Derived(formats(values)),
        DoubleFromString => Entry::Derived(numbers(values)),
        JsonFromString | JsonParse => Entry::Derived(documents(values)),
        JsonParseAs => Entry::Derived(typed_documents(values)),
        YamlParse => Entry::Derived(yaml_documents(values)),
        YamlParseAs => Entry::Derived(typed_yaml_documents(values)),
        YamlEncode => Entry::Derived(written_documents(values)),
        JwtParse => Entry::Derived(tokens(values)),
        JwtClaim => Entry::Derived(claims(values)),
        JwtClaimOfOptional => Entry::Derived(claims_of_optionals(values)),
        JwtPresentedBy => Entry::Derived(presented(values)),
        JwtPresentedByOfOptional => Entry::Derived(presented_of_optionals(values)),
        JsonFromBytes => Entry::Derived(documents_in_bytes(values)),
        Matches => Entry::Derived(patterns(values)),
        Wildcard | StrictWildcard => Entry::Derived(wildcards(values)),
        RegexExtract | RegexExtractAll => Entry::Derived(extractions(values)),
        RegexReplace | RegexReplaceOnce => Entry::Derived(pattern_replacements(values)),
        RegexReplaceFirst => Entry::Derived(first_pattern_replacements(values)),
        FullYearIn | MonthIn | DayOfYearIn | DayOfMonthIn | DateIn | DayOfWeekIn | HoursIn | MinutesIn | SecondsIn
        | MillisecondsIn => Entry::Derived(zones(values)),
        CookieOfMap | CookieOfLists => Entry::Derived(cookies(values)),
        SortString => Entry::Derived(sorts(values)),
        Merge => Entry::Derived(merges(values)),
        Join | JoinWith => Entry::Derived(joins(values)),
        // Values of the types of their parameters are enough: what they do depends on the size and
        // the shape of each argument alone.
        Not
        | AddInt
        | AddUint
        | AddDouble
        | AddString
        | AddBytes
        | AddList
        | AddDurations
        | AddTimestampDuration
        | AddDurationTimestamp
        | SubInt
        | SubUint
        | SubDouble
        | SubDurations
        | SubTimestampDuration
        | SubTimestamps
        | MulInt
        | MulUint
        | MulDouble
        | DivInt
        | DivUint
        | DivDouble
        | RemInt
        | RemUint
        | NegInt
        | NegDouble
        | LessBool
        | LessInt
        | LessUint
        | LessDouble
        | LessIntUint
        | LessIntDouble
        | LessUintInt
        | LessUintDouble
        | LessDoubleInt
        | LessDoubleUint
        | LessString
        | LessBytes
        | LessTimestamp
        | LessDuration
        | LessEqualBool
        | LessEqualInt
        | LessEqualUint
        | LessEqualDouble
        | LessEqualIntUint
        | LessEqualIntDouble
        | LessEqualUintInt
        | LessEqualUintDouble
        | LessEqualDoubleInt
        | LessEqualDoubleUint
        | LessEqualString
        | LessEqualBytes
        | LessEqualTimestamp
        | LessEqualDuration
        | GreaterBool
        | GreaterInt
        | GreaterUint
        | GreaterDouble
        | GreaterIntUint
        | GreaterIntDouble
        | GreaterUintInt
        | GreaterUintDouble
        | GreaterDoubleInt
        | GreaterDoubleUint
        | GreaterString
        | GreaterBytes
        | GreaterTimestamp
        | GreaterDuration
        | GreaterEqualBool
        | GreaterEqualInt
        | GreaterEqualUint
        | GreaterEqualDouble
        | GreaterEqualIntUint
        | GreaterEqualIntDouble
        | GreaterEqualUintInt
        | GreaterEqualUintDouble
        | GreaterEqualDoubleInt
        | GreaterEqualDoubleUint
        | GreaterEqualString
        | GreaterEqualBytes
        | GreaterEqualTimestamp
        | GreaterEqualDuration
        | IndexList
        | StartsWith
        | EndsWith
        | BoolFromBool
        | BoolFromString
        | BytesFromBytes
        | BytesFromString
        | DoubleFromDouble
        | DoubleFromInt
        | DoubleFromUint
        | DurationFromDuration
        | DurationFromString
        | IntFromInt
        | IntFromUint
        | IntFromDouble
        | IntFromString
        | IntFromTimestamp
        | StringFromString
        | StringFromBool
        | StringFromInt
        | StringFromUint
        | StringFromDouble
        | StringFromBytes
        | StringFromTimestamp
        | StringFromDuration
        | TimestampFromTimestamp
        | TimestampFromString
        | TimestampFromInt
        | UintFromUint
        | UintFromInt
        | UintFromDouble
        | UintFromString
        | ToDyn
        | TypeOf
        | FullYear
        | Month
        | DayOfYear
        | DayOfMonth
        | Date
        | DayOfWeek
        | Hours
        | HoursOfDuration
        | Minutes
        | MinutesOfDuration
        | Seconds
        | SecondsOfDuration
        | Milliseconds
        | MillisecondsOfDuration
        | OptionalOf
        | OptionalOfNonZero
        | OptionalNone
        | OptionalHasValue
        | OptionalValue
        | OptionalOr
        | OptionalOrValue
        | OptionalIndexList
        | OptionalIndexOptionalList
        | IndexOptionalList
        | OptionalUnwrap
        | OptionalUnwrapMember
        | StringFromIp
        | StringFromCidr
        | IpFromString
        | CidrFromString
        | CidrContainsIp
        | CidrContainsIpString
        | CidrContainsCidr
        | CidrContainsCidrString
        | CidrIp
        | CidrMasked
        | CidrIsMask
        | CidrPrefixLength
        | IsIp
        | IsCidr
        | IpIsCanonical
        | IpFamily
        | IpIsUnspecified
        | IpIsLoopback
        | IpIsGlobalUnicast
        | IpIsLinkLocalMulticast
        | IpIsLinkLocalUnicast
        | CharAt
        | IndexOfFrom
        | LastIndexOfFrom
        | LowerAscii
        | UpperAscii
        | ReplaceFirst
        | SplitFirst
        | Substring
        | SubstringTo
        | Trim
        | ReverseString
        | Quote
        | GreatestInt
        | GreatestUint
        | GreatestDouble
        | GreatestInts
        | GreatestIntUint
        | GreatestIntDouble
        | GreatestUintInt
        | GreatestUints
        | GreatestUintDouble
        | GreatestDoubleInt
        | GreatestDoubleUint
        | GreatestDoubles
        | GreatestIntList
        | GreatestUintList
        | GreatestDoubleList
        | LeastInt
        | LeastUint
        | LeastDouble
        | LeastInts
        | LeastIntUint
        | LeastIntDouble
        | LeastUintInt
        | LeastUints
        | LeastUintDouble
        | LeastDoubleInt
        | LeastDoubleUint
        | LeastDoubles
        | LeastIntList
        | LeastUintList
        | LeastDoubleList
        | Ceil
        | Floor
        | Round
        | Trunc
        | AbsInt
        | AbsUint
        | AbsDouble
        | SignInt
        | SignUint
        | SignDouble
        | SqrtDouble
        | SqrtInt
        | SqrtUint
        | IsNan
        | IsInf
        | IsFinite
        | BitAndInt
        | BitAndUint
        | BitOrInt
        | BitOrUint
        | BitXorInt
        | BitXorUint
        | BitNotInt
        | BitNotUint
        | BitShiftLeftInt
        | BitShiftLeftUint
        | BitShiftRightInt
        | BitShiftRightUint
        | Base64Encode
        | Base64Decode
        | Base64EncodeUrl
        | Base64DecodeUrl
        | HexEncode
        | HexDecode
        | UrlEncode
        | UrlDecode
        | FormEncode
        | FormDecode
        | Slice
        | Flatten
        | FlattenDepth
        | SortInt
        | SortUint
        | SortDouble
        | SortBool
        | SortDuration
        | SortTimestamp
        | SortBytes
        | SortByInt
        | SortByUint
        | SortByDouble
        | SortByBool
        | SortByDuration
        | SortByTimestamp
        | SortByString
        | SortByBytes
        | Range
        | ReverseList
        | First
        | Last
        | ToJson
        | UnvalidatedJwtPayload
        | Fail
        | StripPrefix
        | StripSuffix
        | Sha1String
        | Sha1Bytes
        | Sha256String
        | Sha256Bytes
        | Md5String
        | Md5Bytes
        | HmacVerifyString
        | HmacVerifyBytes
        | HmacComputeString
        | HmacComputeBytes
        | JsonEncode
        | Uuid
        | Random
        | RawMap
        | RawLists
        | JoinMap
        | JoinLists
        | SplitMap
        | SplitLists
        | RedactedMap
        | RedactedLists
        | Query
        | SizeString
        | SizeBytes
        | SizeList
        | SizeMap => Entry::ByType,
    }
}
