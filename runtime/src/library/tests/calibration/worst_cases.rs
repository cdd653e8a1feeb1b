//! The slowest arguments of functions, found by reading how the functions work.

use super::entries::Calls;
use super::values::Values;
use super::*;
use crate::value::{View, ViewForm};

pub(super) fn one<'v>(args: &[Value<'v>]) -> Calls<'v> {
    vec![args.to_vec()]
}

fn list_of<'v>(values: &Values<'v>, elements: &[Value<'v>]) -> Value<'v> {
    Value::List(List::Slice(values.arena.alloc_slice(elements).unwrap()))
}

pub(super) fn text<'v>(values: &Values<'v>, text: &str) -> &'v str {
    values.arena.alloc_str(text).unwrap()
}

/// Values whose comparison goes deep or long before it ends.
pub(super) fn equality<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let deep = values.nested(500);
    let longs: Vec<_> = (0..30).map(|n| S(text(values, &format!("{}{n:02}", "x".repeat(62))))).collect();
    let shorts: Vec<_> = (0..300).map(|n| S(text(values, &format!("{}{n:03}", "x".repeat(60))))).collect();
    let empty = list_of(values, &[]);
    let lists = [vec![deep; 20], longs, shorts, vec![list_of(values, &[empty; 3]); 100], vec![D(f64::NAN); 300]];
    lists
        .map(|elements| list_of(values, &elements))
        .into_iter()
        .map(|list| one(&[list, list]))
        .chain([one(&[deep, deep])])
        .collect()
}

/// The same in an optional.
pub(super) fn equality_in_optionals<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let arena = values.arena;
    let in_optional = |args: Vec<Value<'v>>| match args.as_slice() {
        &[one, other] => vec![Value::Optional(Some(arena.alloc(one).unwrap())), other],
        _ => args,
    };
    equality(values).into_iter().map(|calls| calls.into_iter().map(in_optional).collect()).collect()
}

/// Maps in which a key is hard to find, or its value is computed.
fn maps<'v>(values: &mut Values<'v>) -> Vec<(Value<'v>, Value<'v>)> {
    let build = |entries: Vec<(Value<'v>, Value<'v>)>| {
        let mut builder = MapBuilder::new(values.arena, entries.len()).unwrap();
        entries.iter().for_each(|(key, value)| builder.insert(*key, *value).unwrap());
        builder.finish(&Cx::new(i64::MAX, values.arena)).unwrap()
    };
    let prefix = "x".repeat(55);
    let mut maps = vec![
        (Value::Map(build((0..50_000).map(|n| (I(n), N)).collect())), I(49_999)),
        (
            Value::Map(build((0..20_000).map(|n| (S(text(values, &format!("{prefix}{n:06}"))), N)).collect())),
            S(text(values, &format!("{prefix}019999"))),
        ),
    ];
    for value in
        [",".repeat(20_000), "\",".repeat(10_000), "a,".repeat(10_000), " \t".repeat(10_000), "é".repeat(10_000)]
    {
        let base = build(vec![(S("k"), S(text(values, &value)))]);
        for form in [ViewForm::Raw, ViewForm::Join, ViewForm::Split] {
            let view = values.arena.alloc(View { base, form, redacted: false }).unwrap();
            maps.push((Value::Map(Map::Host(view)), S("k")));
        }
    }
    let empties = list_of(values, &vec![S(""); 5_000]);
    let base = build(vec![(S("k"), empties)]);
    for form in [ViewForm::Join, ViewForm::Split] {
        let view = values.arena.alloc(View { base, form, redacted: false }).unwrap();
        maps.push((Value::Map(Map::Host(view)), S("k")));
    }
    #[cfg(feature = "http")]
    for line in ["", "é", "a,b"] {
        let mut headers = http::HeaderMap::new();
        for _ in 0..5_000 {
            headers.append("k", http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        let base = Map::Host(Box::leak(Box::new(headers)));
        maps.push((Value::Map(base), S("k")));
        for form in [ViewForm::Raw, ViewForm::Join, ViewForm::Split] {
            let view = values.arena.alloc(View { base, form, redacted: false }).unwrap();
            maps.push((Value::Map(Map::Host(view)), S("k")));
        }
    }
    maps
}

pub(super) fn lookups<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    // `in` has the key first.
    maps(values).into_iter().flat_map(|(map, key)| [one(&[map, key]), one(&[key, map])]).collect()
}

pub(super) fn messages<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    [10, 1_000, 100_000].map(|records| one(&[values.message(records), S("key")])).into()
}

pub(super) fn lookups_in_optionals<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let maps = maps(values);
    let optional = |map| Value::Optional(Some(values.arena.alloc(map).unwrap()));
    maps.into_iter().map(|(map, key)| one(&[optional(map), key])).collect()
}

/// Texts and needles that nearly occur.
fn pairs<'v>(values: &mut Values<'v>) -> Vec<[Value<'v>; 2]> {
    let a = |count: usize| "a".repeat(count);
    let all = [
        (a(500), a(60) + "b"),
        (a(500), format!("{}b{}", a(30), a(30))),
        (a(500), String::from("b") + &a(60)),
        (a(63), a(60) + "b"),
        (a(63), a(63)),
        (a(512), a(511) + "b"),
        (a(20_000), a(500) + "b"),
        (a(20_000), String::from("b") + &a(500)),
        (a(20_000), a(10_000) + "b"),
        ("ab".repeat(10_000), "ab".repeat(300) + "aab"),
        ("é".repeat(10_000), "è".to_owned()),
        (a(20_000), String::new()),
        ("é".repeat(200), String::new()),
        (a(20_000), a(1)),
        (a(60), a(1)),
    ];
    all.map(|(haystack, needle)| [S(text(values, &haystack)), S(text(values, &needle))]).into()
}

pub(super) fn searches<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    pairs(values).into_iter().map(|pair| one(&pair)).collect()
}

pub(super) fn replacements<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    pairs(values).into_iter().flat_map(|[text, from]| [S(""), S("xyz")].map(|to| one(&[text, from, to]))).collect()
}

pub(super) fn formats<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let many = |piece: &str, count: usize, value: Value<'v>| {
        let args = list_of(values, &vec![value; count]);
        one(&[S(text(values, &piece.repeat(count))), args])
    };
    let bytes = text(values, &"\u{7f}".repeat(10_000));
    let entries: Vec<_> = (0..300).map(|n| (S(text(values, &format!("{}{n}", "k".repeat(59)))), N)).collect();
    let mut builder = MapBuilder::new(values.arena, 300).unwrap();
    entries.iter().for_each(|(key, value)| builder.insert(*key, *value).unwrap());
    let map = Value::Map(builder.finish(&Cx::new(i64::MAX, values.arena)).unwrap());
    let time = Value::Timestamp(Timestamp::new(Timestamp::MAX_SECONDS, 999_999_999).unwrap());
    vec![
        many("%s", 100, D(5e-324)),
        many("%s", 100, D(-1.797_693_134_862_315_7e308)),
        many("%s", 100, time),
        many("%s", 100, Value::Duration(Duration(i64::MIN))),
        many("%s", 100, I(i64::MIN)),
        many("%s", 3, map),
        many("%s", 3, S(bytes)),
        many("%x", 3, S(bytes)),
        many("%X", 100, S("abc")),
        many("%.1000f", 20, D(1.797_693_134_862_315_7e308)),
        many("%.1000f", 20, D(5e-324)),
        many("%.1000e", 20, D(5e-324)),
        many("%.17e", 100, D(1.3e-308)),
        many("%.500e", 20, D(1.3e-160)),
        many("%.20f", 100, D(1.3e300)),
        many("%b", 100, I(i64::MIN)),
        many("%o", 100, U(u64::MAX)),
    ]
}

/// Numbers that are hard to round: their digits are beside the middle between two doubles.
fn hard_numbers() -> Vec<String> {
    let zeros = "0".repeat(700);
    vec![
        format!("9007199254740993.{zeros}1"),
        format!("{}1e-700", "0.".to_owned() + &zeros),
        format!("2.4703282292062327208{}1e-324", zeros.split_at(300).0),
        format!("1{}e-10", zeros.split_at(250).0),
        format!("{}.5e-290", "9".repeat(290)),
        "8.442911973260991817129021e-309".to_owned(),
        "2.2250738585072011e-308".to_owned(),
        "9007199254740993".to_owned(),
        "179769313486231580793728971405301e276".to_owned(),
    ]
}

pub(super) fn numbers<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    hard_numbers().iter().map(|number| one(&[S(text(values, number))])).collect()
}

pub(super) fn json_texts() -> Vec<String> {
    let many = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
    let members = |key: &dyn Fn(usize) -> String, count: usize| {
        let members: Vec<_> = (0..count).map(|n| format!("{}:1", key(n))).collect();
        format!("{{{}}}", members.join(","))
    };
    let mut all: Vec<String> = hard_numbers().iter().map(|number| many(number, 20)).collect();
    all.extend([
        many("1", 5_000),
        many("1.5", 3_000),
        many("1e5", 3_000),
        many("-0.1e-300", 2_000),
        many("[]", 5_000),
        many("{}", 5_000),
        many("\"\"", 5_000),
        many("null", 3_000),
        many("\"\\u00e9\\n\"", 2_000),
        many("\"\\ud83d\\ude00\"", 2_000),
        many("{\"a\":1}", 2_000),
        "[".repeat(128) + &"]".repeat(128),
        many(&("[".repeat(120) + &"]".repeat(120)), 50),
        many(&("{\"\":".repeat(120) + "1" + &"}".repeat(120)), 50),
        members(&|n| format!("\"{n}\""), 3_000),
        members(&|n| format!("\"{}{n}\"", "k".repeat(60)), 500),
        members(&|n| format!("\"\\u0061{n}\""), 2_000),
        members(&|_| "\"\"".to_owned(), 3_000),
        format!("\"{}\"", "\\u0061".repeat(3_000)),
        format!("\"{}\"", "é".repeat(5_000)),
        format!("\"{}\"", "\\n".repeat(5_000)),
        "9".repeat(20_000),
        format!("0.{}", "9".repeat(20_000)),
        format!("1e{}", "0".repeat(20_000)),
        " ".repeat(20_000),
    ]);
    all
}

pub(super) fn documents<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    json_texts().iter().map(|json| one(&[S(text(values, json))])).collect()
}

pub(super) fn documents_in_bytes<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    json_texts().iter().map(|json| one(&[Y(text(values, json).as_bytes())])).collect()
}

/// Texts and patterns: those that threads keep, and new ones each time.
fn searched<'v>(values: &mut Values<'v>) -> Vec<Vec<[Value<'v>; 2]>> {
    let a = |count: usize| "a".repeat(count);
    let sql = "union select a, b ".repeat(300);
    let words = "some words of a text ".repeat(300);
    let kept: &[(&str, &str)] = &[
        ("", ""),
        ("a", "a"),
        (&a(60), "(a*)*b"),
        (&a(2_000), "(a*)*b"),
        (&a(2_000), "a{0,50}$"),
        (&a(300), "(a|aa)+$"),
        (&a(2_000), "a"),
        (&a(2_000), ""),
        (&a(2_000), "(a)"),
        (&a(2_000), "((a)|b)"),
        (&a(500), "a.*b|a"),
        (&sql, "(?i)(union|select).{0,100}from "),
        (&sql, r"(\w+) "),
        (&words, r"\w+$"),
        (&words, r"\bte?xt\b"),
        (&words, "[a-z]+"),
        (&"é".repeat(1_000), r"\w"),
        (&"é".repeat(1_000), r"\w+\b"),
        (&"é".repeat(200), "(?i)É"),
        ("x", "(a(b(c(d(e)))))?"),
    ];
    let mut all: Vec<_> =
        kept.iter().map(|(t, pattern)| vec![[S(text(values, t)), S(text(values, pattern))]]).collect();
    for pattern in [
        "{n}",
        "a{n}[0-9]+",
        "(a|b|c)?{n}(x|y)",
        r"\w{n}",
        r"[^a]{5}{n}",
        r"\pL{n}",
        "(?i)[a-z]{n}k",
        "a{40}{n}",
        r"(?i)\w{n}",
    ] {
        let new = |n| [S("aaa"), S(text(values, &pattern.replace("{n}", &format!("{n:03}"))))];
        all.push((0..20).map(new).collect());
    }
    all
}

pub(super) fn patterns<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    searched(values).into_iter().map(|calls| calls.into_iter().map(|pair| pair.to_vec()).collect()).collect()
}

/// Patterns of many pieces, and of pieces that nearly occur at every place.
pub(super) fn wildcards<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let a = S(values.repeated("a", 20_000));
    let pieces = S(values.repeated("a*", 10_000));
    let nearly = S(text(values, &format!("*{}b*", "a".repeat(5_000))));
    let plain = S(values.repeated("A", 20_000));
    let stars = S(text(values, &format!("{}a", r"\\*".repeat(10_000))));
    [
        [a, pieces],
        [a, nearly],
        [a, plain],
        [a, S("*A*b*")],
        [a, stars],
        [S(""), pieces],
        [S("a"), S("*A*b*c")],
        [S(""), S("")],
    ]
    .map(|call| one(&call))
    .into()
}

pub(super) fn extractions<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    patterns(values)
}

fn with_replacement<'v>(values: &mut Values<'v>, more: &[Value<'v>]) -> Vec<Calls<'v>> {
    let searched = searched(values);
    let calls = |by: &'static str| {
        searched.iter().map(move |calls| {
            calls.iter().map(|[text, pattern]| [&[*text, *pattern, S(by)][..], more].concat()).collect::<Calls<'v>>()
        })
    };
    calls("").chain(calls("-\\0-$0-")).collect()
}

pub(super) fn pattern_replacements<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    with_replacement(values, &[])
}

pub(super) fn first_pattern_replacements<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    with_replacement(values, &[I(3)])
}

/// More zones than a thread keeps, texts that are none, and offsets.
pub(super) fn zones<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let names = [
        "Europe/Berlin",
        "America/New_York",
        "Asia/Tokyo",
        "Australia/Sydney",
        "Africa/Cairo",
        "America/Sao_Paulo",
        "Asia/Kolkata",
        "Europe/London",
        "Europe/Paris",
        "Asia/Shanghai",
        "America/Chicago",
        "America/Denver",
        "America/Los_Angeles",
        "Pacific/Auckland",
        "Asia/Dubai",
        "Asia/Singapore",
        "Europe/Moscow",
        "Asia/Seoul",
        "America/Toronto",
        "Africa/Lagos",
        "Atlantic/Reykjavik",
    ];
    let times = [0, Timestamp::MAX_SECONDS, Timestamp::MIN_SECONDS, 1_234_567_890];
    let long = text(values, &"Europe/".repeat(3_000));
    let all: Vec<Vec<&str>> =
        vec![names.into(), names[..1].into(), vec!["Nowhere/Else"], vec![""], vec!["+05:30"], vec![long], vec![":"]];
    times
        .into_iter()
        .flat_map(|seconds| {
            let time = Value::Timestamp(Timestamp::new(seconds, 0).unwrap());
            all.iter().map(move |zones| zones.iter().map(|zone| vec![time, S(zone)]).collect())
        })
        .collect()
}

/// Headers with long, many and malformed cookies.
pub(super) fn cookies<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let texts = [
        ";".repeat(10_000),
        "a=b;".repeat(5_000),
        "=".repeat(10_000),
        " ;".repeat(5_000),
        " \t".repeat(5_000),
        "é=".repeat(3_000),
    ];
    let mut all = Vec::new();
    for line in texts {
        let entry = (S("cookie"), S(text(values, &line)));
        let base = Map::Sorted(values.arena.alloc_slice(&[entry]).unwrap());
        all.push(one(&[Value::Map(base), S("k")]));
    }
    #[cfg(feature = "http")]
    for line in ["", "a", "a=b"] {
        let mut headers = http::HeaderMap::new();
        for _ in 0..5_000 {
            headers.append("cookie", http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        all.push(one(&[Value::Map(Map::Host(Box::leak(Box::new(headers)))), S("k")]));
    }
    all
}

/// Long texts whose ends differ, in the worst order for a sort.
pub(super) fn sorts<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    [1_usize, 40, 63, 200]
        .map(|length| {
            let prefix = "x".repeat(length);
            let texts: Vec<_> =
                (0..1_000_u32).map(|n| S(text(values, &format!("{prefix}{:03}", n * 7919 % 1000)))).collect();
            one(&[list_of(values, &texts)])
        })
        .into()
}

/// Maps that alternate, and one of which each entry is looked at.
pub(super) fn merges<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let maps = maps(values);
    maps.iter().map(|(map, _)| one(&[*map, *map])).collect()
}

pub(super) fn joins<'v>(values: &mut Values<'v>) -> Vec<Calls<'v>> {
    let list = list_of(values, &vec![S("x"); 2_000]);
    let empty = list_of(values, &vec![S(""); 2_000]);
    vec![one(&[list]), one(&[empty]), one(&[list, S(",")]), one(&[empty, S("")])]
}
