//! Numbers, and times, which have the same rules.

use super::rules::NUMBERS;
use super::{Case, case};
use std::time::{SystemTime, UNIX_EPOCH};

/// Rules of a value with an order, values that they accept, and values that they refuse with the identifiers.
type Ordered = (&'static str, &'static [u32], &'static [(u32, &'static str)]);

/// Numbers stand for values.
const ORDERED: &[Ordered] = &[
    ("const: 5", &[5], &[(4, "const"), (6, "const")]),
    ("lt: 5", &[4, 1], &[(5, "lt"), (6, "lt")]),
    ("lte: 5", &[5, 1], &[(6, "lte")]),
    ("gt: 5", &[6, 9], &[(5, "gt"), (1, "gt")]),
    ("gte: 5", &[5, 9], &[(4, "gte")]),
    ("gt: 2 lt: 5", &[3, 4], &[(2, "gt_lt"), (5, "gt_lt"), (9, "gt_lt")]),
    ("gt: 5 lt: 2", &[1, 6], &[(2, "gt_lt_exclusive"), (3, "gt_lt_exclusive"), (5, "gt_lt_exclusive")]),
    ("gt: 2 lte: 5", &[3, 5], &[(2, "gt_lte"), (6, "gt_lte")]),
    ("gt: 5 lte: 2", &[2, 6], &[(3, "gt_lte_exclusive"), (5, "gt_lte_exclusive")]),
    ("gte: 2 lt: 5", &[2, 4], &[(1, "gte_lt"), (5, "gte_lt")]),
    ("gte: 5 lt: 2", &[1, 5], &[(2, "gte_lt_exclusive"), (4, "gte_lt_exclusive")]),
    ("gte: 2 lte: 5", &[2, 5], &[(1, "gte_lte"), (6, "gte_lte")]),
    ("gte: 5 lte: 2", &[2, 5], &[(3, "gte_lte_exclusive"), (4, "gte_lte_exclusive")]),
    // The ends are the same value.
    ("gt: 5 lt: 5", &[], &[(5, "gt_lt"), (4, "gt_lt")]),
    ("gte: 5 lte: 5", &[5], &[(4, "gte_lte"), (6, "gte_lte")]),
    ("in: [2, 5]", &[2, 5], &[(3, "in")]),
    ("not_in: [2, 5]", &[3], &[(2, "not_in"), (5, "not_in")]),
    ("example: [2, 5]", &[2, 9], &[]),
];

/// The cases of a kind whose values are written as `value` writes them.
fn ordered(kind: &'static str, ty: &str, value: impl Fn(&str) -> String) -> Vec<Case> {
    let written = |rules: &str| {
        let numbers = rules.split_inclusive(|c: char| !c.is_ascii_digit());
        let one = |part: &str| match part.trim_end_matches(|c: char| !c.is_ascii_digit()) {
            "" => part.to_owned(),
            digits => part.replace(digits, &value(digits)),
        };
        numbers.map(one).collect::<String>()
    };
    let of = |number: &u32| format!("v: {}", value(&number.to_string()));
    let one = |(rules, valid, invalid): &Ordered| Case {
        kind,
        ty: ty.to_owned(),
        rules: written(rules),
        valid: valid.iter().map(of).collect(),
        invalid: invalid.iter().map(|(number, id)| (of(number), *id)).collect(),
    };
    // Timestamps have no lists.
    let has_lists = kind != "timestamp";
    ORDERED.iter().filter(|(rules, ..)| has_lists || !rules.contains("in: ")).map(one).collect()
}

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for kind in NUMBERS {
        all.extend(ordered(kind, kind, str::to_owned));
        // Zero is a value like others, also where it is not written.
        let mut zero = case(kind, kind, "gt: 0", &["1"], &[("0", "gt")]);
        zero.invalid.push((String::new(), "gt"));
        all.push(zero);
        // A field that tracks presence is tested where it is set.
        let mut optional = case(kind, &format!("optional {kind}"), "gt: 0", &["1"], &[("0", "gt")]);
        optional.valid.push(String::new());
        all.push(optional);
    }
    for (kind, wrapper) in [
        ("float", "FloatValue"),
        ("double", "DoubleValue"),
        ("int32", "Int32Value"),
        ("int64", "Int64Value"),
        ("uint32", "UInt32Value"),
        ("uint64", "UInt64Value"),
    ] {
        let ty = format!("google.protobuf.{wrapper}");
        let mut wrapped = case(kind, &ty, "gt: 5", &["{value: 6}"], &[("{value: 5}", "gt"), ("{}", "gt")]);
        wrapped.valid.push(String::new());
        all.push(wrapped);
    }
    for kind in ["int32", "int64", "sint32", "sint64", "sfixed32", "sfixed64"] {
        all.push(case(kind, kind, "gt: -5 lt: -1", &["-4", "-2"], &[("-5", "gt_lt"), ("0", "gt_lt")]));
    }
    for (kind, least, most) in [
        ("int32", "-2147483648", "2147483647"),
        ("int64", "-9223372036854775808", "9223372036854775807"),
        ("uint32", "0", "4294967295"),
        ("uint64", "0", "18446744073709551615"),
        ("sfixed64", "-9223372036854775808", "9223372036854775807"),
        ("fixed64", "0", "18446744073709551615"),
    ] {
        let ends = format!("gte: {most}");
        all.push(case(kind, kind, &ends, &[most], &[(least, "gte")]));
    }
    // What is no number is in no range; it equals nothing.
    for kind in ["float", "double"] {
        all.push(case(kind, kind, "finite: true", &["1", "-0.0"], &[("nan", "finite"), ("inf", "finite")]));
        all.push(case(kind, kind, "finite: false", &["nan", "-inf"], &[]));
        for (rules, id) in [
            ("const: 5", "const"),
            ("lt: 5", "lt"),
            ("lte: 5", "lte"),
            ("gt: 5", "gt"),
            ("gte: 5", "gte"),
            ("gt: 1 lt: 5", "gt_lt"),
            ("gt: 5 lt: 1", "gt_lt_exclusive"),
            ("gte: 5 lte: 1", "gte_lte_exclusive"),
            ("in: [1, nan]", "in"),
        ] {
            all.push(case(kind, kind, rules, &[], &[("nan", id)]));
        }
        all.push(case(kind, kind, "not_in: [1, nan]", &["nan", "0.5"], &[("1", "not_in")]));
        all.push(case(kind, kind, "lt: inf", &["1", "-inf"], &[("inf", "lt")]));
    }
    let seconds = |number: &str| format!("{{seconds: {number}}}");
    for (kind, ty) in [("duration", "google.protobuf.Duration"), ("timestamp", "google.protobuf.Timestamp")] {
        all.extend(ordered(kind, ty, seconds));
        let precise = "lt: {seconds: 1 nanos: 5}";
        let mut precise = case(
            kind,
            ty,
            precise,
            &["{seconds: 1 nanos: 4}"],
            &[("{seconds: 1 nanos: 5}", "lt"), ("{seconds: 2}", "lt")],
        );
        // A message that is not set is not tested.
        precise.valid.push(String::new());
        all.push(precise);
    }
    all.extend(of_now());
    all
}

/// Rules about the time of the validation.
fn of_now() -> [Case; 6] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (early, late, now) = ("{seconds: 5}", "{seconds: 253402300799}", format!("{{seconds: {now}}}"));
    let of = |rules, valid: &[&str], invalid: &[(&str, &'static str)]| {
        case("timestamp", "google.protobuf.Timestamp", rules, valid, invalid)
    };
    [
        of("lt_now: true", &[early, &now], &[(late, "lt_now")]),
        of("lt_now: false", &[early, late], &[]),
        of("gt_now: true", &[late], &[(early, "gt_now")]),
        of("gt_now: false", &[early, late], &[]),
        of("within: {seconds: 3600}", &[&now], &[(early, "within"), (late, "within")]),
        of("lt_now: true gt: {seconds: 5}", &[&now], &[(early, "gt"), (late, "lt_now")]),
    ]
}
