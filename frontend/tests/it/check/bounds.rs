//! Bounds of the checker: diagnostics, types, inference, stack.

use super::{chain, check, host, outcome};
use celero_frontend::{Declarations, Type};

#[test]
fn diagnostics_are_limited_and_in_source_order() {
    let text = (0..40).map(|i| format!("zzz{i}.foo")).collect::<Vec<_>>().join(" + ");
    let errors = check(&host(), &text).unwrap_err();
    assert_eq!(errors.len(), 16);
    assert!(errors.windows(2).all(|w| w[0].span.start < w[1].span.start));
}

#[test]
fn types_have_bounds() {
    let d = host();
    // Doubles the type each time.
    let wide = chain("{x: x}", 60);
    let errors = check(&d, &wide).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        (errors[0].code, errors[0].message.as_str()),
        ("type-too-complex", "the type of this has more than 1024 parts")
    );
    let deep = chain("[[[[[x]]]]]", 60);
    let errors = check(&d, &deep).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].message, "the type of this is nested more than 64 levels deep");
    let nested = |n| outcome(&d, &format!("{}{}", "[".repeat(n), "]".repeat(n)));
    assert!(nested(63).ends_with(&")".repeat(63)));
    assert!(nested(64).starts_with("type-too-complex"));
}

#[test]
fn variables_cannot_make_a_type_explode() {
    // Each list's element type is a pair of the next one's, all unknown until the last is compared with a list.
    let mut text = "v60 == [1]".to_owned();
    for i in (0..60).rev() {
        text = format!("cel.bind(v{}, [], v{i} == [{{v{}: v{}}}] && {text})", i + 1, i + 1, i + 1);
    }
    let text = format!("cel.bind(v0, [], {text})");
    assert!(outcome(&Declarations::new(), &text).starts_with("type-too-complex"));
}

/// Comparing large types again and again runs out of steps, also where the answer is a mere `bool`.
#[test]
fn inference_has_a_bound() {
    let compare = vec!["x == x"; 6000].join(" || ");
    let text = format!("cel.bind(x, {}, {compare})", chain("{x: x}", 8));
    let errors = check(&host(), &text).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].message.starts_with("inferring types takes more than "), "{}", errors[0].message);
}

/// Trees of the greatest depth, on a thread whose own stack would not do.
#[test]
fn the_deepest_trees_fit_the_stack() {
    let nest =
        |open: &str, middle: &str, close: &str, times| format!("{}{middle}{}", open.repeat(times), close.repeat(times));
    let texts = [
        nest("[", "1", "][0]", 120),
        nest("{1: ", "1", "}[1]", 120),
        nest("dyn(", "1", ")", 240),
        nest("(true ? ", "1", " : 2)", 240),
        nest("true ? 1 : ", "1", "", 240),
        nest("[1].map(x, ", "x", ")[0]", 80),
        nest("optional.of(1).optMap(x, ", "x", ").value()", 80),
        nest("cel.bind(x, 1, ", "x", ")", 240),
        nest("cel.bind(x, ", "1", ", x)", 240),
        nest("", "any", ".a", 240),
        nest("", "any", ".?a", 240),
        nest("", "any", "[0]", 240),
        nest("any.f(", "1", ")", 120),
    ];
    let mut d = host();
    d.add_function("f", true, vec![Type::Dyn, Type::Dyn], Type::Dyn);
    let run = move || texts.iter().map(|text| outcome(&d, text)).collect::<Vec<_>>();
    let outcomes = std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
    for outcome in outcomes {
        assert!(!outcome.contains(" at "), "{outcome}");
    }
}
