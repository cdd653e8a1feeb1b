//! What patterns that ignore case take is bounded for a rule and a set together, not for each pattern alone.

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Bindings, Engine, Env, Limits, Scratch, Type, Value};
use std::num::NonZeroUsize;

/// Steps of one class of all letters, and of one of all characters in a pattern on bytes.
const CLASS: usize = 1_000;
const BYTE_CLASS: usize = 75_000;

fn engine(case_steps: usize, threads: usize) -> Engine {
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    Engine::builder()
        .limits(Limits { case_steps, ..Limits::default() })
        .threads(threads)
        .tier(celero::Tier::Interpret)
        .build()
}

fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("t", Type::String)
}

/// A condition with a pattern for each number.
fn condition(numbers: std::ops::Range<usize>) -> String {
    let patterns = numbers.map(|number| format!(r#"t.matches(r"(?i){number}\PLx")"#));
    patterns.collect::<Vec<_>>().join(" || ")
}

#[test]
fn the_patterns_of_a_rule_share_one_bound() {
    let engine = engine(3 * CLASS, 1);
    engine.compile(&env(), &condition(0..2)).unwrap();
    // The same pattern is counted once.
    engine.compile(&env(), &[condition(0..2), condition(0..2)].join(" || ")).unwrap();
    let source = condition(0..4);
    let error = engine.compile(&env(), &source).unwrap_err();
    let found = &error.diagnostics()[0];
    assert_eq!(found.code, "too-many-cases");
    assert!(found.message.contains("3000 steps (`case_steps`)"), "{}", found.message);
    // At the pattern that exceeds it.
    let span = found.span.start as usize..found.span.end as usize;
    assert_eq!(source.get(span).unwrap(), r#"r"(?i)3\PLx""#);
}

#[test]
fn every_way_to_write_a_pattern_is_counted() {
    let engine = engine(CLASS / 2, 1);
    for source in [
        r#"t.matches(r"(?i)\PL")"#,
        r#"matches(t, r"(?i)\PL")"#,
        r#"t.matches("(?i)" + r"\P" + "L")"#,
        r#"t.matches(true ? r"(?i)\PL" : "")"#,
        r#"regex.extract(t, r"(?i)\PL").hasValue()"#,
        r#"regex.replace(t, r"(?i)\PL", "") == """#,
        r#"[t].exists(x, x.matches(r"(?i)\PL"))"#,
        r#"dyn(t).matches(r"(?i)\PL")"#,
        r#"all_of(t)"#,
    ] {
        let env = env().define("all_of(text: string)", r#"text.matches(r"(?i)\PL")"#);
        let error = engine.compile(&env, source).map(drop).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, "too-many-cases", "{source}: {error}");
    }
}

#[test]
fn the_rules_of_a_set_share_one_bound() {
    for threads in [1, 2] {
        let (engine, env) = (engine(375 * CLASS, threads), env());
        // Large enough for several threads.
        let set = |rules: usize| {
            let builder = engine.rules(&env);
            (0..rules)
                .fold(builder, |set, n| set.rule(&format!("r{n}"), &format!(r#"t.matches(r"(?i){n}\PL")"#), ()))
                .build()
        };
        set(300).unwrap();
        let error = set(2 * 300).unwrap_err();
        let found: Vec<_> = error.diagnostics().map(|(rule, found)| (rule, found.code)).collect();
        assert_eq!(found, [(375, "too-many-cases")], "{error}");
    }
}

#[test]
fn patterns_of_the_filter_language_are_bounded() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let condition = |count: usize| {
        let parts = (0..count).map(|n| format!(r#"http.host matches r"(?iu){n}[\s\S]""#));
        parts.collect::<Vec<_>>().join(" or ")
    };
    let limited = engine(2 * BYTE_CLASS + BYTE_CLASS / 2, 1);
    limited.compile(&env, &condition(2)).unwrap();
    let error = limited.compile(&env, &condition(3)).map(drop).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "too-many-cases", "{error}");
    // With the limits that an engine has, a rule of many such classes is refused before they are
    // looked up: that would take half a minute.
    let source = condition(3_000);
    let error = Engine::new().compile(&env, source.get(..60_000).unwrap().rsplit_once(" or ").unwrap().0);
    assert_eq!(error.map(drop).unwrap_err().diagnostics()[0].code, "too-many-cases");
    let one = format!(r#"http.host matches r"(?iu){}""#, r"[\s\S]".repeat(2_000));
    assert!(Engine::new().compile(&env, &one).is_err());
}

#[test]
fn texts_made_of_expressions_are_bounded() {
    use celero::settings::TextPiece;
    let (engine, env) = (engine(CLASS + CLASS / 2, 1), env());
    let pieces: Vec<_> = (0..2).map(|n| engine.check(&env, &condition(n..n + 1)).unwrap()).collect();
    assert!(pieces.iter().all(|piece| (CLASS..CLASS + 10_000).contains(&piece.case_steps())));
    let pieces: Vec<_> = pieces.iter().map(TextPiece::Result).collect();
    let error = engine.text(&env, &pieces).unwrap_err();
    assert_eq!(error.diagnostics()[0].code, "too-many-cases");
    let text = engine.text(&env, &pieces[..1]).unwrap();
    let mut call = Bindings::new(&env);
    call.set("t", Value::String("0?x")).unwrap();
    let program = engine.compile_checked(&env, &text).unwrap();
    assert!(matches!(program.eval(&call, &mut Scratch::new()).unwrap(), Value::String("true")));
}
