//! Rules in the filter language, interpreted: comparisons of every type, missing values with both
//! settings, many values, every function.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use celero::filter::{
    ArgumentKind, Filter, FilterFunction, FilterHost, FilterOptions, FilterParameter, FilterType, FilterValue, Scheme,
};
use celero::{ErrorKind, Limits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fields by name, and a list.
#[derive(Default)]
struct Host {
    names: Vec<&'static str>,
    values: Vec<FilterValue>,
}

impl FilterHost for Host {
    fn field(&self, index: u32) -> Option<&FilterValue> {
        let (name, _) = FIELDS[index as usize];
        self.values.get(self.names.iter().position(|given| *given == name)?)
    }

    fn list_contains(&self, list: &str, value: &FilterValue) -> bool {
        list == "bad" && *value == FilterValue::Ip("192.0.2.1".parse().unwrap())
    }

    fn call(&self, _: u32, args: &[Option<&FilterValue>]) -> Option<FilterValue> {
        Some((*args[0]?).clone())
    }
}

const FIELDS: [(&str, &str); 12] = [
    ("t", "Bool"),
    ("f", "Bool"),
    ("n", "Int"),
    ("v4", "Ip"),
    ("v6", "Ip"),
    ("s", "Bytes"),
    ("raw", "Bytes"),
    ("list", "Array<Bytes>"),
    ("bools", "Array<Bool>"),
    ("map", "Map<Array<Bytes>>"),
    ("lacking", "Bytes"),
    ("lacking_bools", "Array<Bool>"),
];

fn scheme(nil_not_equal: bool) -> Arc<Scheme> {
    let mut scheme = Scheme::new();
    for (name, ty) in FIELDS {
        scheme.add_field(name, ty.parse().unwrap()).unwrap();
    }
    scheme.add_list("bad", FilterType::Ip).unwrap();
    let text = FilterParameter::new(ArgumentKind::Any, FilterType::Bytes);
    scheme.add_function(FilterFunction::new("host", [text], FilterType::Bytes)).unwrap();
    scheme.set_nil_not_equal(nil_not_equal);
    Arc::new(scheme)
}

fn host() -> Host {
    let texts = |texts: &[&str]| texts.iter().copied().collect::<FilterValue>();
    let map = BTreeMap::from([(b"a".to_vec(), texts(&["x", "y"])), (b"b".to_vec(), texts(&["z"]))]);
    let given: Vec<(&str, FilterValue)> = vec![
        ("t", true.into()),
        ("f", false.into()),
        ("n", 12.into()),
        ("v4", FilterValue::Ip("192.0.2.1".parse().unwrap())),
        ("v6", FilterValue::Ip("2001:db8::1".parse().unwrap())),
        ("s", "Hello/World".into()),
        ("raw", vec![0xff, 0, b'a'].into()),
        ("list", texts(&["one", "Two", "three"])),
        ("bools", [true, false].into_iter().collect()),
        ("map", FilterValue::Map(map)),
    ];
    let (names, values) = given.into_iter().unzip();
    Host { names, values }
}

fn test_with(source: &str, nil_not_equal: bool) -> bool {
    let options = FilterOptions::default();
    let filter = Filter::compile(source, &scheme(nil_not_equal), &options).unwrap_or_else(|error| panic!("{error}"));
    filter.test(&host()).unwrap()
}

fn value(source: &str) -> Option<FilterValue> {
    let options = FilterOptions::default();
    let filter = Filter::compile_value(source, &scheme(false), &options).unwrap_or_else(|error| panic!("{error}"));
    filter.eval(&host()).unwrap()
}

#[test]
fn comparisons_hold() {
    for source in [
        "t and not f and (f or t) and (t xor f) and not (t xor t)",
        "n eq 12 and n ne 13 and n gt 11 and n ge 12 and n lt 13 and n le 12",
        "n & 4 and not n & 3",
        "n in {1 10..12} and not n in {13 1..11} and not n in {}",
        "v4 eq 192.0.2.1 and v4 in {192.0.2.0/24} and v4 in {192.0.2.0..192.0.2.1} and v4 in $bad and not v6 in $bad",
        "v6 in {2001:db8::/32 ::1} and not v6 in {0.0.0.0/0} and not v4 in {::/0}",
        "v4 ne ::1 and not v4 lt ::1 and not v4 ge ::1 and v4 gt 10.0.0.0",
        "s eq \"Hello/World\" and s ne \"hello/World\" and s lt \"I\" and s ge \"Hello\"",
        "s contains \"/W\" and s contains \"\" and not s contains \"/w\"",
        "raw eq ff:00:61 and raw contains ff:00 and raw matches r\"^\\xff\\x00a$\"",
        "s matches \"^H.*d$\" and not s matches \"^h\" and s matches \"(?i)^h\"",
        "s wildcard \"hello/*\" and s wildcard \"*\" and not s wildcard \"hello\" and not s wildcard \"*x*\"",
        "s strict wildcard \"*/World\" and not s strict wildcard \"*/world\" and s strict wildcard \"H*o*l*\"",
    ] {
        assert!(test_with(source, false), "{source}");
    }
}

#[test]
fn missing_values_make_comparisons_false() {
    for (source, without, with) in [
        ("lacking eq \"a\"", false, false),
        ("lacking ne \"a\"", false, true),
        ("not lacking eq \"a\"", true, true),
        ("lacking contains \"\"", false, false),
        ("list[3] eq \"a\" or list[3] lt \"z\"", false, false),
        ("list[3] ne \"a\"", false, true),
        ("map[\"c\"][0] ne \"a\"", false, true),
        ("lower(lacking) ne \"a\"", false, true),
        ("any(map[\"c\"][*] ne \"a\")", false, false),
        ("all(map[\"c\"][*] eq \"a\")", true, true),
        ("any(lacking_bools) or all(lacking_bools)", false, false),
        ("all(not lacking_bools)", true, true),
    ] {
        assert_eq!(test_with(source, false), without, "{source}");
        assert_eq!(test_with(source, true), with, "{source}");
    }
}

#[test]
fn many_values_have_many_results() {
    for source in [
        "any(list[*] eq \"one\") and not all(list[*] eq \"one\") and not any(list[*] eq \"four\")",
        "any(map[\"a\"][*] eq \"y\") and any(map[*][0] eq \"z\") and all(map[*][*] in {\"x\" \"y\" \"z\"})",
        // The second element of `b` is left out.
        "all(map[*][1] eq \"y\")",
        "any((list[*] eq \"Two\" and not list[*] eq \"one\"))",
        "all((list[*] contains \"o\" or list[*] contains \"h\"))",
        // Up to the shorter of the two.
        "all((bools xor (not bools and list[*] eq \"one\" or not bools)))",
        "any(bools) and not all(bools) and any(not bools)",
        "any(lower(list[*])[*] eq \"two\") and lower(list[*])[1] eq \"two\" and len(lower(list[*])) eq 3",
        // A decoding that fails leaves its element out: only `Two` is base64.
        "len(decode_base64(list[*])) eq 1",
        "bools[0] and not bools[1]",
    ] {
        assert!(test_with(source, false), "{source}");
    }
}

#[test]
fn functions_compute_what_is_documented() {
    let text = |source: &str| match value(source) {
        Some(FilterValue::Bytes(bytes)) => String::from_utf8(bytes).unwrap(),
        other => panic!("{source}: {other:?}"),
    };
    for (source, expected) in [
        ("concat(s, \"-\", lacking, list[0])", "Hello/World-one"),
        ("lower(s)", "hello/world"),
        ("upper(s)", "HELLO/WORLD"),
        ("substring(s, 6)", "World"),
        ("substring(s, -5, -1)", "Worl"),
        ("substring(s, 8, 2)", ""),
        ("substring(s, 0, 100)", "Hello/World"),
        ("remove_bytes(s, \"lo\")", "He/Wrd"),
        ("join(list, \", \")", "one, Two, three"),
        ("split(s, \"l\", 2)[1]", "lo/World"),
        ("split(s, \"l\", 64)[1]", ""),
        ("to_string(n)", "12"),
        ("to_string(t)", "true"),
        ("to_string(v6)", "2001:db8::1"),
        ("encode_base64(raw)", "/wBh"),
        ("encode_base64(raw, \"u\")", "_wBh"),
        ("encode_base64(\"a\", \"p\")", "YQ=="),
        ("decode_base64(concat(lacking, \"MTIzYWJj\"))", "123abc"),
        ("decode_base64(concat(lacking, \"YQ\"))", "a"),
        ("regex_replace(s, \"l+\", \"[${0}]$$\")", "He[ll]$o/World"),
        ("regex_replace(s, \"^(.*)/(.*)$\", \"${2}/${1}\")", "World/Hello"),
        ("regex_replace(s, \"x\", \"y\")", "Hello/World"),
        ("wildcard_replace(s, \"h*o/*\", \"${2}:${1}\")", "World:ell"),
        ("wildcard_replace(s, \"h*o/*\", \"x\", \"s\")", "Hello/World"),
        ("wildcard_replace(s, \"*\", \"$$${1}\")", "$Hello/World"),
        ("url_decode(concat(list[0], \"%20+%2520%zz%\"))", "one  %20%zz%"),
        ("url_decode(concat(list[0], \"%2520%252520\"), \"r\")", "one  "),
        ("url_decode(concat(list[0], \"%u2601%ud83d%ude00%u\"), \"u\")", "one\u{2601}\u{1f600}%u"),
        ("remove_query_args(concat(list[0], \"=1&b=2&one=3&c\"), \"one\", \"c\")", "b=2"),
        (
            "lookup_json_string(concat(lacking, \"{\\\"a\\\":[1,{\\\"b\\\":\\\"x\\\\u0041\\\"}]}\"), \"a\", 1, \"b\")",
            "xA",
        ),
        ("uuidv4(sha256(\"\"))", "e3b0c442-98fc-4c14-9afb-f4c8996fb924"),
        ("host(s)", "Hello/World"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
    for source in [
        "starts_with(s, \"Hello\") and ends_with(s, \"World\") and not starts_with(s, \"hello\")",
        "len(s) eq 11 and len(list) eq 3",
        "cidr(v4, 24, 32) eq 192.0.2.0 and cidr(v6, 24, 32) eq 2001:db8:: and cidr6(v4, 8) eq 192.0.2.1",
        "cidr6(v6, 128) eq 2001:db8::1",
        "sha256(\"abc\") eq ba:78:16:bf:8f:01:cf:ea:41:41:40:de:5d:ae:22:23:b0:03:61:a3:96:17:7a:9c:b4:10:ff:61:f2:00:15:ad",
        "lookup_json_integer(concat(lacking, \"{\\\"a\\\": -7}\"), \"a\") eq -7",
        "not lookup_json_integer(concat(lacking, \"{\\\"a\\\": 7.0}\"), \"a\") eq 7",
        "not lookup_json_string(s, \"a\") eq \"\"",
        "to_string((t and f)) eq \"false\"",
    ] {
        assert!(test_with(source, false), "{source}");
    }
}

#[test]
fn timed_codes_are_verified() {
    // As documented: path, separator of eight bytes, time, and the code of path and time, computed by another program.
    let token = "/download/cat.jpg?verify=1484063787-JcOQEFurDwNF66OcDJLopQxjsg3cB1KVO5%2BBFS9zZZ0%3D";
    let rule = |key: &str, token: &str, ttl: i64, now: i64, length: usize| {
        let source = format!("is_timed_hmac_valid_v0(\"{key}\", \"{token}\", {ttl}, {now}, {length})");
        test_with(&source, false)
    };
    assert!(rule("mysecretkey", token, 100, 1_484_063_800, 8));
    let url_safe = "/download/cat.jpg?verify=1484063787-JcOQEFurDwNF66OcDJLopQxjsg3cB1KVO5-BFS9zZZ0";
    let safe = format!("is_timed_hmac_valid_v0(\"mysecretkey\", \"{url_safe}\", 100, 1484063800, 8, \"s\")");
    assert!(test_with(&safe, false));
    assert!(!rule("mysecretkey", url_safe, 100, 1_484_063_800, 8));
    assert!(!rule("mysecretkey", token, 10, 1_484_063_800, 8));
    assert!(!rule("mysecretkex", token, 100, 1_484_063_800, 8));
    assert!(!rule("mysecretkey", token, 100, 1_484_063_800, 7));
    assert!(!rule("mysecretkey", "nothing", 100, 1_484_063_800, 8));
    assert!(!rule("mysecretkey", "", 100, 1, 8));
}

#[test]
fn budgets_are_kept() {
    let grow = "regex_replace(".repeat(8) + "s" + &", \"(.*)\", \"${1}${1}${1}${1}${1}${1}${1}${1}\")".repeat(8);
    let filter = Filter::compile_value(&grow, &scheme(false), &FilterOptions::default()).unwrap();
    let error = filter.eval(&host()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutOfBudget);
    let small = Limits { steps: 3, ..Limits::default() };
    let filter = Filter::compile("t and t and t and t and t", &scheme(false), &FilterOptions::default()).unwrap();
    assert!(filter.test(&host()).unwrap());
    assert_eq!(filter.with_limits(small).test(&host()).unwrap_err().kind, ErrorKind::OutOfBudget);
}

#[test]
fn patterns_that_are_too_large_are_reported() {
    let errors =
        Filter::compile("s matches \"(a{1000}){1000}\"", &scheme(false), &FilterOptions::default()).unwrap_err();
    assert!(errors.diagnostics()[0].message.contains("size limit"), "{errors}");
}

#[test]
fn a_value_of_another_type_than_declared_is_missing() {
    let host = Host { names: vec!["n", "list"], values: vec!["12".into(), FilterValue::Array(vec![1.into()])] };
    for source in ["n eq 12", "any(list[*] ne \"a\")"] {
        let filter = Filter::compile(source, &scheme(true), &FilterOptions::default()).unwrap();
        assert!(!filter.test(&host).unwrap(), "{source}");
    }
}
