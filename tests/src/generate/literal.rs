//! Literals as source text: the edges of each type, and text that functions take or refuse.

use super::rng::Rng;
use celero_frontend::Type;
use celero_frontend::stdlib::Builtin;

const INTS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "10",
    "64",
    "-9223372036854775808",
    "9223372036854775807",
    "9007199254740993",
    "-9007199254740993",
    "253402300799",
    "-62135596800",
    "253402300800",
    "2147483648",
    "0x7f",
    "1700000000",
];
const SMALL: &[&str] = &["0", "1", "2", "3", "-1", "0", "1"];
const UINTS: &[&str] = &[
    "0u",
    "1u",
    "2u",
    "3u",
    "7u",
    "10u",
    "9223372036854775808u",
    "18446744073709551615u",
    "9007199254740993u",
    "0xFFu",
];
const DOUBLES: &[&str] = &[
    "0.0",
    "-0.0",
    "1.0",
    "2.0",
    "-1.5",
    "0.1",
    "1e308",
    "5e-324",
    "9007199254740992.0",
    "9007199254740993.0",
    "9223372036854775807.0",
    "-9223372036854775808.0",
    "18446744073709551615.0",
    "1e19",
    "1e-7",
    "123456789.25",
    "(0.0 / 0.0)",
    "(1.0 / 0.0)",
    "(-1.0 / 0.0)",
];
const STRINGS: &[&str] = &[
    "''",
    "'a'",
    "'b'",
    "'abc'",
    "'é'",
    "'日本語'",
    r"'\u0000'",
    r"'\U0001F600'",
    "'A'",
    "'aé日😀'",
    r"'\n\t\''",
    "'abcabcabc'",
    "'the quick brown fox jumps over the lazy dog'",
    "'\\u00e9'",
    "'e\\u0301'",
    "'\\ufffd'",
];
const NUMBERS: &[&str] = &[
    "'0'",
    "'1'",
    "'-1'",
    "'1.5'",
    "'1e3'",
    "'NaN'",
    "'inf'",
    "'-Infinity'",
    "'true'",
    "'False'",
    "'t'",
    "'TrUe'",
    "'0x10'",
    "' 1'",
    "'9223372036854775807'",
    "'9223372036854775808'",
    "'18446744073709551615'",
    "'18446744073709551616'",
    "'1u'",
    "''",
    "'-0'",
    "'+1'",
    "'1_000'",
];
const PATTERNS: &[&str] = &[
    "'a'",
    "'^a'",
    "'b+$'",
    "'(?i)ABC'",
    "'[a-c]{2,}'",
    "'é.'",
    "'^$'",
    "''",
    "'['",
    "'(a'",
    r"r'\d+'",
    r"r'\w*'",
    "'a|b|'",
    r"r'\C'",
    r"r'(?P<n>a)'",
    "'(?<!a)b'",
    "'a{1000}{1000}'",
];
const TIMES: &[&str] = &[
    "'2023-11-14T22:13:20Z'",
    "'1970-01-01T00:00:00Z'",
    "'0001-01-01T00:00:00Z'",
    "'9999-12-31T23:59:59.999999999Z'",
    "'2024-02-29T12:30:45.123456789Z'",
    "'2009-02-13T23:31:30+05:30'",
    "'2024-03-31T01:30:00Z'",
    "'10000-01-01T00:00:00Z'",
    "'0000-12-31T23:59:59Z'",
    "'2023-02-29T00:00:00Z'",
    "'2023-01-01'",
    "''",
    "'2016-12-31T23:59:60Z'",
    "'9999-12-31T23:59:59-01:00'",
];
const DURATIONS: &[&str] = &[
    "'0'",
    "'0s'",
    "'1s'",
    "'-1.5h'",
    "'1h30m15s'",
    "'100ms'",
    "'1us'",
    "'1ns'",
    "'-1ns'",
    "'2562047h47m16.854775807s'",
    "'2562048h'",
    "'320000000000s'",
    "'1d'",
    "'h'",
    "''",
    "'1.5'",
    "'.5s'",
    "'-2562047h47m16.854775808s'",
];
const ZONES: &[&str] = &[
    "'UTC'",
    "'Europe/Berlin'",
    "'America/New_York'",
    "'Asia/Kolkata'",
    "'+05:30'",
    "'-08:00'",
    "'02:00'",
    "'+14:00'",
    "'Nowhere/City'",
    "''",
    "'Z'",
    "'-23:59'",
    "'+25:00'",
];
const ADDRESSES: &[&str] = &[
    "'10.0.0.1'",
    "'192.168.1.255'",
    "'::1'",
    "'2001:db8::1'",
    "'0.0.0.0'",
    "'::ffff:10.0.0.1'",
    "'::ffff:a00:1'",
    "'::FFFF:c0a8:1ff'",
    "'10.0.0'",
    "''",
    "'256.0.0.1'",
    "'fe80::1%eth0'",
];
const NETWORKS: &[&str] = &[
    "'10.0.0.0/8'",
    "'0.0.0.0/0'",
    "'192.168.1.0/24'",
    "'2001:db8::/32'",
    "'::/0'",
    "'10.0.0.1/32'",
    "'10.0.0.0/33'",
    "'10.0.0.0'",
    "''",
    "'10.0.0.1/8'",
    "'::ffff:a00:0/104'",
    "'::ffff:c0a8:1ff/95'",
];
const FORMATS: &[&str] = &[
    "'%s'",
    "'%d'",
    "'%f'",
    "'%e'",
    "'%b'",
    "'%o'",
    "'%x'",
    "'%X'",
    "'%.2f %s'",
    "'%.0e|%s|%s'",
    "'%%'",
    "'%s %s %s'",
    "'%'",
    "'%q'",
    "'%.9999f'",
];
const ENCODED: &[&str] = &[
    "''",
    "'aGVsbG8='",
    "'aGVsbG8'",
    "'//79'",
    "'a'",
    "'00ff'",
    "'0G'",
    "'a%20b'",
    "'%C3%A9'",
    "'%ff'",
    "'%'",
    "'-_=='",
];
const DOCUMENTS: &[&str] = &[
    "'{}'",
    r#"r'{"a":{"b":[1,{"c":"x"}],"c":2.5},"b":"\u0041","c":null}'"#,
    r#"r'{"a":1,"b":[],"a":{"b":true},"c":18446744073709551615}'"#,
    r#"'[{"a":1},[0,"b"],1e2]'"#,
    "'1'",
    r#"'"a"'"#,
    "'null'",
    r#"'{"a":1'"#,
    r#"'{"a":01}'"#,
    r#"r'{"a":1,"b":"\ud800"}'"#,
    r#"'{"a":1e999}'"#,
    "''",
];
const DOCUMENT_BYTES: &[&str] =
    &["b'{}'", r#"b'{"a":{"b":[1]},"b":"x"}'"#, r#"b'[[0,{"a":null}],"b"]'"#, r#"b'{"a":"\xff"}'"#, "b'['", "b''"];
/// The last three have `{"a":{"b":"x","c":[1]},"b":null}`, `{"a":1}` cut short, and `"a"` as their payloads.
const TOKENS: &[&str] = &[
    "'h.eyJhIjoxLCJiIjpbXX0.s'",
    "'h.e30.'",
    "'h.W10.s'",
    "'h.e30'",
    "'h.e30=.s'",
    "''",
    "'h.eyJhIjp7ImIiOiJ4IiwiYyI6WzFdfSwiYiI6bnVsbH0.s'",
    "'h.eyJhIjox.s'",
    "'h.ImEi.s'",
];
/// JSON Web Tokens.
const JWTS: &[&str] = &[
    "'eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3VlciIsInN1YiI6ImFkYSIsImF1ZCI6WyJhcHAiLCJhcGkiXSwiZXhwIjoxNzAwMDAzNjAwLCJpYXQiOjE3MDAwMDAwMDAsInRlbmFudCI6ImJsdWUiLCJuIjo3LCJyb2xlcyI6WyJhIiwiYiJdLCJudWxsIjpudWxsLCJkZWVwIjp7IngiOlsxLjVdfX0.c2ln'",
    "'Bearer eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJhIiwic3ViIjoiYiIsImF1ZCI6ImMiLCJleHAiOjEsImlhdCI6MSwiYXpwIjoieCIsImEiOnsiYiI6MX19.c2ln'",
    "'e30.e30'",
    "'h.e30.s'",
    "'..'",
];
const JWT_VALUES: &[&str] = &[
    "jwt.parse('eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3VlciIsInN1YiI6ImFkYSIsImF1ZCI6WyJhcHAiLCJhcGkiXSwiZXhwIjoxNzAwMDAzNjAwLCJpYXQiOjE3MDAwMDAwMDAsInRlbmFudCI6ImJsdWUiLCJuIjo3LCJyb2xlcyI6WyJhIiwiYiJdLCJudWxsIjpudWxsLCJkZWVwIjp7IngiOlsxLjVdfX0.c2ln').value()",
    "jwt.parse('eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJhIiwic3ViIjoiYiIsImF1ZCI6ImMiLCJleHAiOjEsImlhdCI6MSwiYXpwIjoieCIsImEiOnsiYiI6MX19').value()",
];
const YAMLS: &[&str] = &[
    "'a: 1'",
    r"'- a\n- b: [1, 2.5, ~, yes]\n'",
    r"'a: &x {b: true}\nc: *x'",
    "'2023-01-01'",
    "'\"1\"'",
    "'[1, 0x1f, 1e3, \"x\"]'",
    "'{a: 1, a: 2}'",
    "'[1'",
    "'null'",
    "'text'",
    "'true'",
    "'12'",
    "'1.5'",
    "'aGk='",
];
const REPLACEMENTS: &[&str] = &["''", "'-'", r"r'<\0>'", r"r'\1'", r"'\\'", r"r'\'", r"r'\x'"];
const DOLLARS: &[&str] = &["''", "'-'", "'<$0>'", "'$1'", "'${n}$$'", "'$none'", "'${'", "'$'"];
const WILDCARDS: &[&str] =
    &["'*'", "'a*'", "'*C'", "'A*c'", "'*b*'", "''", "'abc'", r"r'\\*'", "'**'", r"r'\\a'", "'*é*'", "'\u{fffd}*'"];
const ALGORITHMS: &[&str] =
    &["'SHA256'", "'sha-384'", "'HS512'", "'SHA512'", "'SHA-512/224'", "'hs224'", "'MD5'", "''"];
/// Codes of 'abc' by SHA-256: with the key 'a' in hexadecimal and in base64, with the key '' and its algorithm.
const CODES: &[&str] = &[
    "'b4ffe67d267d9eb19f81ccd6ffcde1443294d00892d5b648f03e590b56250ced'",
    "'tP/mfSZ9nrGfgczW/83hRDKU0AiS1bZI8D5ZC1YlDO0='",
    "'sha256=FD7ADB152C05EF80DCCF50A1FA4C05D5A3EC6DA95575FC312AE7C5D091836351'",
    "'v1=00'",
    "'md5=00'",
    "'='",
    "''",
];
const FORMS: &[&str] = &["''", "'a=1&b=2'", "'a=1&a=2&a'", "'b=%C3%A9+x&=&&c'", "'a=%ff&%61=%zz'"];
const FIELD_VALUES: &[&str] =
    &["{'b': [1, 'x y', null], 'a': true, 'c': null}", "{'a': 'é&=', 'b': -1.5, 'c': 7u}", "{'a': {}}"];
const LIMITS: &[&str] = &["0", "1", "2", "-1", "100"];
const BYTES: &[&str] = &["b''", "b'a'", "b'abc'", r"b'\xff'", r"b'\000\377'", "b'é'", "b'ab'", r"b'\xe2\x82'"];
const IPS: &[&str] = &["ip('10.0.0.1')", "ip('::1')", "ip('192.168.1.7')", "ip('2001:db8::5')"];
const CIDRS: &[&str] = &["cidr('10.0.0.0/8')", "cidr('::/0')", "cidr('192.168.1.0/24')", "cidr('2001:db8::/32')"];
const DURATION_VALUES: &[&str] = &[
    "duration('0s')",
    "duration('1s')",
    "duration('-1h')",
    "duration('1ns')",
    "duration('90m')",
    "duration('9223372036.854775807s')",
    "duration('-9223372036.854775808s')",
    "duration('86400s')",
];
const TIMESTAMP_VALUES: &[&str] = &[
    "timestamp('2023-11-14T22:13:20Z')",
    "timestamp(0)",
    "timestamp('0001-01-01T00:00:00Z')",
    "timestamp('9999-12-31T23:59:59.999999999Z')",
    "timestamp('2024-02-29T12:30:45.5Z')",
    "timestamp(253402300799)",
];

/// The fields that maps have, or not.
pub(super) const FIELDS: &[&str] = &["a", "b", "c", "missing"];

/// A literal of a type that has literals of its own; `None` for the others.
pub(super) fn scalar(rng: &mut Rng, ty: &Type) -> Option<&'static str> {
    let choice: &[&'static str] = match ty {
        Type::Null => &["null"],
        Type::Bool => &["true", "false"],
        Type::Int if rng.chance(50) => SMALL,
        Type::Int => INTS,
        Type::Uint => UINTS,
        Type::Double => DOUBLES,
        Type::String => match rng.below(20) {
            0 => NUMBERS,
            1 => TIMES,
            2 => DURATIONS,
            3 => ADDRESSES,
            _ => STRINGS,
        },
        Type::Bytes => BYTES,
        Type::Duration => DURATION_VALUES,
        Type::Timestamp => TIMESTAMP_VALUES,
        Type::Opaque(name, _) if &**name == "net.IP" => IPS,
        Type::Opaque(name, _) if &**name == "net.CIDR" => CIDRS,
        Type::Opaque(name, _) if &**name == "jwt.Token" => JWT_VALUES,
        _ => return None,
    };
    Some(*rng.pick::<&'static str>(choice))
}

/// A key for a map: few, so that they meet.
pub(super) fn key(rng: &mut Rng, ty: &Type) -> &'static str {
    let choice: &[&'static str] = match ty {
        Type::Int => &["0", "1", "2", "-1"],
        Type::Uint => &["0u", "1u", "2u"],
        Type::Bool => &["true", "false"],
        Type::String => &["'a'", "'b'", "'c'", "''"],
        _ => &["0", "1u", "'a'", "true", "'b'"],
    };
    rng.pick::<&'static str>(choice)
}

/// A literal that suits a parameter of a function better than any of its type.
pub(super) fn argument(rng: &mut Rng, builtin: Builtin, position: usize) -> Option<&'static str> {
    use Builtin as B;
    let choice: &[&'static str] = match (builtin, position) {
        (B::Matches | B::RegexExtract | B::RegexExtractAll, 1) => PATTERNS,
        (B::RegexReplace | B::RegexReplaceFirst | B::RegexReplaceOnce, 1) => PATTERNS,
        (B::RegexReplaceOnce, 2) => DOLLARS,
        (B::Wildcard | B::StrictWildcard, 1) => WILDCARDS,
        (B::HmacVerifyString | B::HmacVerifyBytes, 3) | (B::HmacComputeString | B::HmacComputeBytes, 2) => ALGORITHMS,
        (B::HmacVerifyString, 1) => CODES,
        (B::HmacVerifyString, 0) => &["'abc'"],
        (B::HmacVerifyString, 2) => &["'a'", "''"],
        (B::FormDecode, _) => FORMS,
        (B::FormEncode, _) => FIELD_VALUES,
        (B::RegexReplace | B::RegexReplaceFirst, 2) => REPLACEMENTS,
        (B::Base64Decode | B::Base64DecodeUrl | B::HexDecode | B::UrlDecode, _) => ENCODED,
        (B::JsonFromString, _) | (B::JsonParse | B::JsonParseAs, 0) => DOCUMENTS,
        (B::YamlParse | B::YamlParseAs, 0) => YAMLS,
        (B::JwtParse, _) => JWTS,
        (B::JwtClaim | B::JwtClaimOfOptional, 1) => &["'iss'", "'aud'", "'exp'", "'a'", "'none'", "'deep'"],
        (B::JwtPresentedBy | B::JwtPresentedByOfOptional, 1) => &["'a'", "'https://issuer'"],
        (B::JwtPresentedBy | B::JwtPresentedByOfOptional, 2) => &["'x'", "'app'", "'c'"],
        (B::JsonFromBytes, _) => DOCUMENT_BYTES,
        (B::UnvalidatedJwtPayload, _) => TOKENS,
        (B::Range, 0) | (B::Slice | B::FlattenDepth, 1) | (B::Slice, 2) | (B::RegexReplaceFirst, 3) => LIMITS,
        (B::BitShiftLeftInt | B::BitShiftLeftUint | B::BitShiftRightInt | B::BitShiftRightUint, 1) => {
            &["0", "1", "63", "64", "-1"]
        }
        (B::TimestampFromString, _) => TIMES,
        (B::DurationFromString, _) => DURATIONS,
        (B::IntFromString | B::UintFromString | B::DoubleFromString | B::BoolFromString, _) => NUMBERS,
        (B::IpFromString, _) | (B::CidrContainsIpString, 1) => ADDRESSES,
        (B::CidrFromString | B::IsCidr, _) | (B::CidrContainsCidrString, 1) => NETWORKS,
        (B::IsIp | B::IpIsCanonical, _) => ADDRESSES,
        (B::Format, 0) => FORMATS,
        (B::CharAt, 1) | (B::IndexOfFrom | B::LastIndexOfFrom | B::SplitFirst, 2) => LIMITS,
        (B::Substring | B::SubstringTo, 1) | (B::SubstringTo, 2) | (B::ReplaceFirst, 3) => LIMITS,
        (
            B::FullYearIn
            | B::MonthIn
            | B::DayOfYearIn
            | B::DayOfMonthIn
            | B::DateIn
            | B::DayOfWeekIn
            | B::HoursIn
            | B::MinutesIn
            | B::SecondsIn
            | B::MillisecondsIn,
            1,
        ) => ZONES,
        (B::IndexList | B::OptionalIndexList | B::OptionalIndexOptionalList | B::IndexOptionalList, 1) => SMALL,
        _ => return None,
    };
    Some(*rng.pick::<&'static str>(choice))
}

/// The name of a type, as a value.
pub(super) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::List(_) => Some("list".into()),
        Type::Map(_) => Some("map".into()),
        Type::Type(_) => Some("type".into()),
        Type::Optional(_) => Some("optional_type".into()),
        Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_) | Type::Wrapper(_) => None,
        other => Some(other.to_string()),
    }
}
