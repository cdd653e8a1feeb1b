//! Optionals that are not built, because what is asked of them is known: `optional.of(n).value()`,
//! `nums[?1].optMap(x, x * 2).orValue(0)`.

use crate::field_types::results;
use celero::{Context, Engine, Env};

#[derive(Context)]
struct Data {
    nums: Vec<i64>,
    tags: Vec<String>,
    n: i64,
    zero: i64,
    absent: Option<i64>,
}

/// Rules, their result in both tiers, and whether native code builds no optional.
const RULES: &[(&str, &str, bool)] = &[
    ("optional.of(n).value() + optional.of(1).orValue(1 / zero)", "Int(4)", true),
    ("optional.of(1 / zero).value()", "divide_by_zero", true),
    ("optional.of(1 / zero).orValue(2)", "divide_by_zero", true),
    ("optional.of(n).hasValue() && !optional.none().hasValue()", "Bool(true)", true),
    // Whether there is a value is known only after the value is.
    ("optional.of(1 / zero).hasValue()", "divide_by_zero", false),
    ("optional.of(absent).hasValue()", "no_such_key", false),
    ("optional.of(absent).value()", "no_such_key", true),
    ("optional.none().orValue(n)", "Int(3)", true),
    ("optional.none().value()", "invalid_argument", true),
    ("optional.of(tags[1]).value() == 'b'", "Bool(true)", true),
    ("nums[?1].optMap(x, x * 2).value() + nums[?9].optMap(x, x / zero).orValue(n)", "Int(13)", true),
    ("nums[?1].optMap(x, x / zero).orValue(n)", "divide_by_zero", true),
    ("nums[?9].optMap(x, x / zero).value()", "invalid_argument", true),
    ("nums[?1].optMap(x, x / zero).hasValue()", "divide_by_zero", false),
    ("tags.last().optMap(t, t + '!').optMap(t, t.size()).orValue(0) == 2", "Bool(true)", true),
    ("nums.exists(n, nums[?1].optMap(x, x == n).orValue(false))", "Bool(true)", true),
    ("nums[?0].optMap(x, nums[?x].optMap(y, x + y).orValue(x)).value()", "Int(9)", false),
    ("nums[?0].optMap(x, nums[?1].optMap(y, x + y).orValue(x)).value()", "Int(9)", true),
    ("nums[?0].optMap(x, dyn('x')).value() == 'x'", "Bool(true)", true),
    ("nums[?0].optFlatMap(x, nums[?x]).value()", "Int(5)", false),
];

#[test]
fn optionals_that_are_not_built() {
    let data = Data { nums: vec![4, 5, 6, 7, 5], tags: vec!["a".into(), "b".into()], n: 3, zero: 0, absent: None };
    let expected: Vec<_> = RULES.iter().map(|&(rule, expected, _)| (rule, expected)).collect();
    results(&data, &expected);
    for &(rule, _, in_place) in RULES {
        let explained = Engine::new().explain(&Env::<Data>::new(), rule).unwrap();
        let (_, graph) = explained.sections().find(|(title, _)| *title == "optimized graph").unwrap();
        let built = ["dispatch", "invoke"].into_iter().any(|call| graph.contains(call));
        assert_eq!(built, !in_place, "{rule}\n{graph}");
    }
}
