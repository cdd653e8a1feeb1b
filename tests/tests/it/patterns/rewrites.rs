//! A pattern stays what it is when its rule is written anew: canonical text, layout, JSON, and the other language.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use super::random_patterns::Random;
use celero::filter::{
    Comparison, FilterExpr, FilterLanguage, FilterOptions, FilterTree, FilterType, Scheme, check_filter,
};
use celero::{Bindings, Engine, Env, Scratch, Tier, Type, Value};
use celero_frontend::{Ast, Expr, Limits, Literal, layout, parse, unparse};
use celero_tests::filter::round_trip;
use std::sync::Arc;

const PATTERNS: usize = 3_000;

/// Texts that end, begin or escape something in one of the notations.
const SIGNS: &[&str] = &[
    "\"", "'", "#", "\"#", "\\\"", "[\"]", "[\\\"#]", "[^\"]", "${", "\n", "\r\n", "\r", " \u{b} ", "\t", "\u{7f}",
    "\u{202e}", "//", "\\x{22}",
];

/// A random pattern of some depth with such texts in it.
fn with_signs(random: &mut Random, depth: usize) -> String {
    let mut pattern = random.pattern(depth);
    for sign in SIGNS {
        if random.chance(6) {
            let ends: Vec<usize> = pattern.char_indices().map(|(at, _)| at).chain([pattern.len()]).collect();
            let place = if random.chance(2) { ends.len() - 1 } else { ends.len() / 2 };
            pattern.insert_str(ends[place], sign);
        }
    }
    pattern
}

fn scheme() -> Arc<Scheme> {
    let mut scheme = Scheme::new();
    scheme.add_field("b", FilterType::Bytes).unwrap();
    Arc::new(scheme)
}

fn tree(source: &str, scheme: &Arc<Scheme>) -> Option<FilterTree> {
    check_filter(source, scheme, &FilterOptions::default()).ok().map(|(tree, _)| tree)
}

/// The pattern of a rule that consists of `matches`.
fn pattern_of(tree: &FilterTree) -> &str {
    match tree.expr(tree.root()) {
        FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => &pattern.text,
        other => panic!("{other:?}"),
    }
}

/// The text of the last literal of a CEL rule.
fn literal_of(ast: &Ast) -> &str {
    let mut texts = ast.nodes().iter().filter_map(|node| match &node.expr {
        Expr::Literal(Literal::String(text)) => Some(&**text),
        _ => None,
    });
    texts.next_back().unwrap()
}

fn cel(source: &str) -> Ast {
    parse(source, &Limits::default()).unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
}

#[test]
fn patterns_stay_in_canonical_texts() {
    let (mut random, scheme) = (Random(3), scheme());
    let (mut raw, mut quoted, mut texts) = (0, 0, 0);
    for _ in 0..PATTERNS {
        let pattern = with_signs(&mut random, 2);
        // No pattern has three hashes after a quote: what is between is the pattern.
        if let Some(tree) = tree(&format!("b matches r###\"{pattern}\"###"), &scheme) {
            assert_eq!(pattern_of(&tree), pattern);
            round_trip(&tree, false).unwrap_or_else(|error| panic!("{pattern}\n{error}"));
            let again = self::tree(&celero::filter::unparse_filter(&tree), &scheme).unwrap();
            assert_eq!(pattern_of(&again), pattern);
            raw += 1;
        }
        // Which pattern a quoted one is the published Wirefilter says (`filter::published`); here,
        // that it stays the same.
        if let Some(tree) = tree(&format!("b matches \"{pattern}\""), &scheme) {
            round_trip(&tree, false).unwrap_or_else(|error| panic!("{pattern}\n{error}"));
            let again = self::tree(&celero::filter::unparse_filter(&tree), &scheme).unwrap();
            assert_eq!(pattern_of(&again), pattern_of(&tree));
            quoted += 1;
        }
        // What JSON escapes, CEL does too.
        let ast = cel(&format!("b.matches({})", serde_json::to_string(&pattern).unwrap()));
        for text in [unparse(&ast), layout(&ast, 40)] {
            assert_eq!(literal_of(&cel(&text)), pattern, "{text}");
            texts += 1;
        }
    }
    assert!(raw > PATTERNS / 3 && quoted > PATTERNS / 4 && texts == 2 * PATTERNS, "{raw} {quoted} {texts}");
}

#[test]
fn patterns_stay_in_translations() {
    let env = Env::dynamic().variable("b", Type::String);
    let filter = env.clone().filter_language(FilterLanguage::new());
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut random = Random(5);
    let (mut to_cel, mut to_filter) = (0, 0);
    let large = [
        format!("{}a{}", "(".repeat(150), ")".repeat(150)),
        "ab".repeat(9_000),
        "(a{100}){300}".to_owned(),
        "(b{2})?".to_owned(),
    ];
    // Few random patterns mean the same in both languages.
    let patterns: Vec<String> = (0..5 * PATTERNS).map(|_| with_signs(&mut random, 1)).chain(large).collect();
    let mut texts: Vec<String> = (0..40).map(|_| random.text()).collect();
    texts.extend(["\"#'", "a\nb", "a b", "\r\n", "b\r", " \u{b} ", "\t\u{7f}"].map(str::to_owned));
    for pattern in patterns {
        let raw = format!("b matches r###\"{pattern}\"###");
        let test = |env: &Env<Bindings<'static>>, source: &str, expected: &dyn Fn(&str) -> bool| {
            let program = engine.compile(env, source).unwrap_or_else(|error| panic!("{source}\n{error}"));
            let mut scratch = Scratch::new();
            for text in &texts {
                let mut bindings = Bindings::new(env);
                bindings.set("b", Value::String(text)).unwrap();
                let found = program.eval(&bindings, &mut scratch);
                assert!(
                    matches!(found, Ok(Value::Bool(found)) if found == expected(text)),
                    "{source} on {text:?}: {found:?}"
                );
            }
        };
        if let Ok(regex) = super::judge::on_bytes(&pattern)
            && let Ok(source) = engine.to_cel(&filter, &raw)
        {
            test(&env, &source, &|text| regex.is_match(text.as_bytes()));
            to_cel += 1;
        }
        let source = format!("b.matches({})", serde_json::to_string(&pattern).unwrap());
        if let Ok(regex) = regex::Regex::new(&pattern)
            && let Ok(translated) = engine.to_filter(&filter, &source)
        {
            test(&filter, translated.text(), &|text| regex.is_match(text));
            let is_one_line = !translated.text().trim_end().contains(char::is_control);
            assert!(is_one_line || pattern.len() > 40, "{:?}", translated.text());
            to_filter += 1;
        }
    }
    assert!(to_cel > 100 && to_filter > 100, "{to_cel} {to_filter}");
}
