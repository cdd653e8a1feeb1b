//! Rules that are checked once and compiled in several ways, and texts made of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::settings::{CheckedRule, TextPiece};
use celero::{Bindings, Engine, Env, ErrorKind, Live, Rule, Scratch, Tier, Type, Value};

const TIERS: [Tier; 2] = [Tier::Native, Tier::Interpret];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn env() -> Env<Bindings<'static>> {
    Env::dynamic()
        .variable("n", Type::Int)
        .variable("s", Type::String)
        .variable("any", Type::Dyn)
        .variable("names", Type::list(Type::String))
        .define("twice(x: int) -> int", "x * 2")
}

fn call(env: &Env<Bindings<'static>>) -> Bindings<'static> {
    let mut call = Bindings::new(env);
    call.set("n", Value::Int(7)).unwrap();
    call.set("s", Value::String("text")).unwrap();
    call.set("any", Value::Double(1.5)).unwrap();
    call
}

/// The text of these pieces, evaluated.
fn text(
    tier: Tier,
    env: &Env<Bindings<'static>>,
    pieces: &[Result<&str, &str>],
) -> Result<String, (ErrorKind, String)> {
    let engine = engine(tier);
    let checked: Vec<Option<CheckedRule>> =
        pieces.iter().map(|piece| piece.err().map(|source| engine.check(env, source).unwrap())).collect();
    let pieces: Vec<TextPiece<'_>> = pieces
        .iter()
        .zip(&checked)
        .map(|(piece, checked)| match checked {
            Some(checked) => TextPiece::Result(checked),
            None => TextPiece::Literal(piece.unwrap()),
        })
        .collect();
    let whole = engine.text(env, &pieces).unwrap();
    assert_eq!(whole.result_type(), &Type::String);
    // The source that is shown means the same.
    let again = engine.compile(env, whole.source()).unwrap();
    let program = engine.compile_checked(env, &whole).unwrap();
    assert_eq!(program.to_source(), again.to_source());
    let (mut scratch, mut other) = (Scratch::new(), Scratch::new());
    let call = call(env);
    let value = program.eval(&call, &mut scratch);
    assert_eq!(format!("{value:?}"), format!("{:?}", again.eval(&call, &mut other)));
    match value {
        Ok(Value::String(text)) => Ok(text.to_owned()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            let at = whole.source().get(error.start as usize..error.end as usize).unwrap();
            Err((error.kind, at.to_owned()))
        }
    }
}

#[test]
fn a_checked_rule_is_compiled_without_its_source() {
    for tier in TIERS {
        let (engine, env) = (engine(tier), env());
        let rule = engine.check(&env, "twice(n) > 10").unwrap();
        assert_eq!((rule.result_type(), rule.fields().reads("n")), (&Type::Bool, true));
        let program = engine.compile_checked(&env, &rule).unwrap();
        assert_eq!(program.test(&call(&env)), Ok(true));
        assert_eq!(program.source(), rule.source());
        let set = engine.rules(&env).with_rules([Rule::checked("a", rule.clone(), 1), Rule::new("b", "n == 1", 2)]);
        let set = set.standalone(true).build().unwrap();
        let mut scratch = Scratch::new();
        assert_eq!(set.indices(&call(&env), &mut scratch), Ok(&[0][..]));
        assert_eq!(set.test(0, &call(&env), &mut scratch), Some(Ok(true)));
        let live = Live::new(engine.clone(), env.clone());
        live.insert(Rule::checked("a", rule, 1)).unwrap();
        assert_eq!(live.load().count(&call(&env), &mut scratch), Ok(1));
    }
}

#[test]
fn a_checked_rule_belongs_to_its_environment() {
    let engine = Engine::new();
    let plain = || Env::dynamic().variable("n", Type::Int);
    let rule = engine.check(&plain(), "n == 7").unwrap();
    assert!(engine.compile_checked(&plain(), &rule).is_ok(), "equal declarations");
    let others = [
        plain().variable("m", Type::Int),
        plain().function("f", |n: i64| n),
        plain().container("x"),
        plain().library(celero::settings::Library::Strings, false),
        plain().define("g() -> int", "1"),
    ];
    for other in &others {
        let error = engine.compile_checked(other, &rule).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, "environment");
        let error = engine.rules(other).with_rule(Rule::checked("a", rule.clone(), ())).build().unwrap_err();
        assert!(error.to_string().contains("another environment"), "{error}");
        assert!(engine.text(other, &[TextPiece::Result(&rule)]).is_err());
    }
    let with = plain().function("f", |n: i64| n);
    let rule = engine.check(&with, "f(n) == 7").unwrap();
    assert!(engine.compile_checked(&with.clone(), &rule).is_ok());
    assert!(engine.compile_checked(&plain().function("f", |n: i64| n), &rule).is_err(), "another closure");
}

#[test]
fn results_become_text() {
    for tier in TIERS {
        let env = env();
        let text = |pieces: &[Result<&str, &str>]| text(tier, &env, pieces);
        assert_eq!(text(&[]), Ok(String::new()));
        assert_eq!(text(&[Ok("a\"\\\n\u{e9}")]), Ok("a\"\\\n\u{e9}".to_owned()));
        assert_eq!(text(&[Err("n")]), Ok("7".to_owned()));
        assert_eq!(text(&[Err("s // a comment")]), Ok("text".to_owned()));
        assert_eq!(text(&[Err("any")]), Ok("1.5".to_owned()));
        assert_eq!(
            text(&[
                Ok("<"),
                Err("n == 7 ? 'x' : 'y'"),
                Ok("|"),
                Err("twice(n) + 1 // more"),
                Ok("|"),
                Err("duration('90s')")
            ]),
            Ok("<x|15|90s".to_owned())
        );
        assert_eq!(
            text(&[Err("[1, 2].map(i, i + n).exists(i, i == 9)"), Err("cel.bind(a, n, [3].all(b, a > b))")]),
            Ok("truetrue".to_owned())
        );
        assert_eq!(text(&[Ok("a"), Err("1 / (n - 7)")]), Err((ErrorKind::DivideByZero, "1 / (n - 7)".to_owned())));
    }
}

#[test]
fn what_has_no_text_is_refused() {
    let (engine, env) = (Engine::new(), env());
    for source in ["names", "{1: 2}", "null"] {
        let rule = engine.check(&env, source).unwrap();
        let error = engine.text(&env, &[TextPiece::Result(&rule)]).unwrap_err();
        assert_eq!(error.diagnostics()[0].code, "no-text", "{source}");
    }
}

#[test]
fn time_of_sets_is_counted() {
    let (engine, env) = (Engine::new(), env());
    let before = engine.codegen_time();
    engine.rules(&env).rule("a", "n == 1", ()).build().unwrap();
    assert!(engine.codegen_time() > before);
}

#[test]
fn a_narrowed_variable_is_checked_by_its_type() {
    let wide = env();
    let narrow = wide.clone().narrow("any", Type::Int);
    for engine in TIERS.map(engine) {
        assert!(engine.check(&wide, "any == 'x'").is_ok() && engine.check(&narrow, "any == 'x'").is_err());
        // A variable with a type keeps it.
        assert!(engine.check(&wide.clone().narrow("n", Type::String), "n + 1 == 8").is_ok());
        let rule = |env: &Env<_>, source: &str| Rule::checked(source, engine.check(env, source).unwrap(), ());
        let rules = [rule(&wide, "any > 1.0"), rule(&narrow, "any + 1 == 3"), rule(&wide, "any == 'x'")];
        let set = rules.into_iter().fold(engine.rules(&wide), |set, rule| set.with_rule(rule)).build().unwrap();
        let results = |value: Value<'static>| {
            let mut call = call(&wide);
            call.set("any", value).unwrap();
            [0, 1, 2].map(|index| set.test(index, &call, &mut Scratch::new()).unwrap().ok())
        };
        assert_eq!(results(Value::Int(2)), [Some(true), Some(true), Some(false)]);
        // A value of another type is an error, as without the narrower type.
        assert_eq!(results(Value::Double(2.0)), [Some(true), None, Some(false)]);
        assert_eq!(results(Value::String("x")), [None, None, Some(true)]);
    }
}
