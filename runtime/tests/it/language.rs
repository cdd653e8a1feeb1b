//! A second rule language, from its text to results in both tiers. The language is that of the front end's own tests.
#![expect(clippy::unwrap_used, reason = "tests")]

#[expect(clippy::arithmetic_side_effects, clippy::string_slice, reason = "tests")]
#[path = "../../../frontend/tests/it/plain.rs"]
mod plain;

use celero::{Bindings, Engine, Env, ErrorPolicy, Rule, Scratch, Tier, Type, Value};
use plain::Plain;

fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("path", Type::String).variable("agent", Type::String).language(Plain)
}

fn call<'a>(env: &Env<Bindings<'static>>, path: &'a str, agent: &'a str) -> Bindings<'a> {
    let mut call = Bindings::new(env);
    call.set("path", Value::String(path)).unwrap();
    call.set("agent", Value::String(agent)).unwrap();
    call
}

const ADMIN: &str = r#"path is "/admin" and agent has "curl""#;

#[test]
fn both_tiers_evaluate_it() {
    let env = env();
    for tier in [Tier::Interpret, Tier::Native] {
        let rule = Engine::builder().tier(tier).build().compile(&env, ADMIN).unwrap();
        assert_eq!(rule.is_native(), tier == Tier::Native);
        assert_eq!(rule.source(), ADMIN);
        for (path, agent, expected) in [("/admin", "curl/8", true), ("/admin", "wget", false), ("/", "curl/8", false)] {
            assert_eq!(rule.test(&call(&env, path, agent)), Ok(expected), "{tier:?} {path} {agent}");
        }
    }
}

#[test]
fn sets_and_standalone_rules_are_of_the_language() {
    let env = env();
    for tier in [Tier::Interpret, Tier::Native] {
        let mut rules = Engine::builder().tier(tier).build().rules(&env).on_error(ErrorPolicy::NoMatch);
        for number in 0..40 {
            rules = rules.with_rule(Rule::new(&format!("r{number}"), &format!(r#"path is "/{number}""#), ()));
        }
        let set = rules.build().unwrap();
        let (mut scratch, call) = (Scratch::new(), call(&env, "/7", "curl"));
        assert_eq!(set.indices(&call, &mut scratch), Ok(&[7][..]), "{tier:?}");
        // Parsed again, by the same language.
        assert_eq!(set.test(7, &call, &mut scratch), Some(Ok(true)), "{tier:?}");
        assert_eq!(set.test(8, &call, &mut scratch), Some(Ok(false)), "{tier:?}");
    }
}

#[test]
fn its_diagnostics_are_shown_with_the_source() {
    let error = Engine::new().compile(&env(), r#"pth is "/admin""#).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("there is no text `pth`") && shown.contains("did you mean `path`?"), "{shown}");
    assert!(shown.contains("1 | pth is \"/admin\"\n  | ^^^\n"), "{shown}");
}
