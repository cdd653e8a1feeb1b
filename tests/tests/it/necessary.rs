//! Necessary conditions, as their sources: what a rule implies of the variables that are known. `partial.rs` tests that
//! they hold wherever the rule does.

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::settings::Unknowns;
use celero::{Engine, Env};

#[test]
fn a_necessary_condition_is_what_is_known_of_a_rule() {
    let env = Env::dynamic()
        .variable("a", celero::Type::Bool)
        .variable("b", celero::Type::Bool)
        .variable("n", celero::Type::Int)
        .variable("d", celero::Type::Dyn)
        .function("load", |of: i64| of)
        .define("both(x: bool, y: bool) -> bool", "x && y")
        .alias("v.small", "n < 4 // a comment")
        .alias("v.bad", "v.small && (b || d == 'x' && n > 2)")
        .alias("v.known", "both(a, v.small)")
        .alias("v.unknown", "both(a, b)");
    let unknowns = Unknowns::new(&env, &["b"]).unwrap();
    let engine = Engine::new();
    for (source, necessary) in [
        ("a && n > 2", Some("a && n > 2")),
        ("a && b", Some("a")),
        ("b && a && n > 2", Some("(a) && (n > 2)")),
        ("a || b", None),
        ("b", None),
        ("!b", None),
        ("has(b) && a", Some("a")),
        ("(a && b) || (n > 2 && b)", Some("(a) || (n > 2)")),
        ("(a && b) || b", None),
        ("!(a || b)", Some("!(a)")),
        ("!(a && b)", None),
        ("!(!(a && b) || n > 2)", Some("!((!(a)) || (n > 2))")),
        ("(a ? b : n > 2) && true", Some("((a) ? (true) : (n > 2)) && (true)")),
        ("!(a ? b : n > 2)", Some("!((a) ? (false) : (n > 2))")),
        ("b ? a : a", None),
        ("a && [n].exists(a, a == 1 && b)", Some("a")),
        ("[true].exists(a, a && n == 1) && b", Some("[true].exists(a, a && n == 1)")),
        ("cel.bind(a, b, a) && n > 2", Some("n > 2")),
        ("v.bad", Some("v.small")),
        ("!v.bad", Some("!((v.small) && (d == 'x' && n > 2))")),
        ("v.known && b", Some("v.known")),
        ("v.unknown && n > 2", Some("n > 2")),
        ("both(a, b) && both(a, a)", Some("both(a, a)")),
        ("coalesce(a, b) && n > 2", Some("n > 2")),
        ("a && load(1) > 2 && random() > 0.5", Some("a")),
        ("d && b", Some("d")),
    ] {
        let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{error}"));
        let found = engine.necessary(&env, &rule, &unknowns);
        assert_eq!(found.as_ref().map(celero::settings::CheckedRule::source), necessary, "{source}");
    }
    let other = Env::dynamic().variable("b", celero::Type::Bool);
    let rule = engine.check(&env, "a && b").unwrap();
    assert!(engine.necessary(&other, &rule, &unknowns).is_none());
    assert!(engine.necessary(&env, &rule, &Unknowns::new(&other, &["b"]).unwrap()).is_none());
    let filter = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let unknowns = Unknowns::new(&filter, &["request.path"]).unwrap();
    for (source, necessary) in [
        ("http.request.uri.path eq \"/\" and (http.host eq \"a\" or ssl)", Some("http.host eq \"a\" or ssl")),
        ("not (http.request.uri.path eq \"/\" or http.host eq \"a\")", Some("not (http.host eq \"a\")")),
        ("lower(http.request.uri.path) eq \"/\" and ssl and http.host ne \"\"", Some("(ssl) and (http.host ne \"\")")),
        ("http.request.uri.path eq \"/\" xor ssl", None),
        (
            "any(http.request.headers.names[*] eq \"x\") and http.request.uri.path eq \"/\"",
            Some("any(http.request.headers.names[*] eq \"x\")"),
        ),
    ] {
        let rule = engine.check(&filter, source).unwrap_or_else(|error| panic!("{error}"));
        let found = engine.necessary(&filter, &rule, &unknowns);
        assert_eq!(found.as_ref().map(celero::settings::CheckedRule::source), necessary, "{source}");
    }
}

/// Definitions that use each other twice would make a text of exponential length.
#[test]
fn a_necessary_condition_is_bounded() {
    let mut env = Env::dynamic().variable("b", celero::Type::Bool).variable("a0", celero::Type::Bool);
    for number in 1..14 {
        let before = if number == 1 { "a0".to_owned() } else { format!("v.a{}", number - 1) };
        env = env.alias(&format!("v.a{number}"), &format!("(b || {before}) && ({before} || b)"));
    }
    let engine = Engine::new();
    let rule = engine.check(&env, "v.a13 && a0 && b").unwrap();
    let necessary = engine.necessary(&env, &rule, &Unknowns::new(&env, &["b"]).unwrap()).unwrap();
    assert!(necessary.source().len() < 8192, "{}", necessary.source().len());
}
