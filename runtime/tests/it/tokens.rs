//! The jwt library beside what a host has: variables and messages of the name, copies of tokens, limits.
#![expect(clippy::string_slice, reason = "tests")]

use celero::settings::Library;
use celero::values::{Arena, MapBuilder};
use celero::{Bindings, Engine, Env, Limits, Scratch, Type, Value};

/// {"alg":"HS256"}, {"iss":"https://issuer","sub":"ada","aud":["app"],"exp":1700000000,"iat":1,"tenant":"blue"}
const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3VlciIsInN1YiI6ImFkYSIsImF1ZCI6WyJhcHAiXSwiZXhwIjox\
                     NzAwMDAwMDAwLCJpYXQiOjEsInRlbmFudCI6ImJsdWUifQ.c2ln";

#[test]
fn a_variable_of_the_host_keeps_its_name() {
    let env = Env::dynamic().variable("jwt", Type::map(Type::String, Type::Dyn)).variable("text", Type::String);
    let without = Env::dynamic().library(Library::Jwt, false).variable("jwt", Type::map(Type::String, Type::Dyn));
    let arena = Arena::new(1 << 16);
    let mut map = MapBuilder::new(&arena, 2).unwrap();
    map.insert(Value::String("sub"), Value::String("bob")).unwrap();
    map.insert(Value::String("Token"), Value::Int(7)).unwrap();
    let jwt = Value::Map(map.finish(&celero::host::Cx::new(1_000, &arena)).unwrap());
    let test = |env: &Env<Bindings<'static>>, source: &str| {
        let program = Engine::new().compile(env, source).unwrap_or_else(|error| panic!("{error}"));
        let mut bindings = Bindings::new(env);
        bindings.set("jwt", jwt).unwrap();
        if source.contains("text") {
            bindings.set("text", Value::String(TOKEN)).unwrap();
        }
        assert_eq!(program.test(&bindings), Ok(true), "{source}");
    };
    for source in ["jwt.sub == 'bob'", "jwt['sub'] == 'bob'", "has(jwt.sub) && !has(jwt.parse)", "jwt['Token'] == 7"] {
        test(&env, source);
        test(&without, source);
    }
    test(&env, "jwt.parse(text).value().subject == 'ada' && jwt.sub == 'bob'");
    // A qualified name comes before the parts of a variable, as in cel-go.
    test(&env, "jwt.Token == type(jwt.parse(text).value())");
    test(&without, "jwt.Token == 7");
    let error = Engine::new().compile(&without, "jwt.parse('') == jwt.parse('')").err().unwrap().to_string();
    assert!(error.contains("undeclared function `parse`"), "{error}");
}

#[test]
fn a_function_of_the_host_may_have_the_name_for_other_types() {
    let env = Env::dynamic().method("claim", |text: &str, part: &str| text.contains(part));
    assert!(env.problems().is_empty());
    let rule = "'abc'.claim('b') && jwt.parse(text).claim('tenant').orValue('') == 'blue'";
    let env = env.variable("text", Type::String);
    let program = Engine::new().compile(&env, rule).unwrap();
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String(TOKEN)).unwrap();
    assert_eq!(program.test(&bindings), Ok(true));
}

#[test]
fn a_copy_of_a_token_is_a_token() {
    let env =
        Env::dynamic().variable("text", Type::String).variable("token", Type::Opaque("jwt.Token".into(), [].into()));
    let engine = Engine::new();
    let program = engine.compile(&env, "[jwt.parse(text).value()]").unwrap();
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String(TOKEN)).unwrap();
    let mut scratch = Scratch::new();
    let copy = program.eval(&bindings, &mut scratch).unwrap().to_owned().unwrap();
    let Value::List(list) = copy.as_value() else { panic!("{copy:?}") };
    let arena = Arena::new(1 << 16);
    let token = list.get(0, &arena).unwrap().unwrap();
    assert_eq!(token.type_name(), "jwt.Token");
    assert!(token.to_string().starts_with("jwt.Token{"), "{token}");
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String(TOKEN)).unwrap();
    bindings.set("token", token).unwrap();
    for source in [
        "token == jwt.parse(text).value() && jwt.parse(text).value() == token",
        "token.claim('tenant') == optional.of('blue') && token.presentedBy('https://issuer', 'app')",
        "token.subject == 'ada' && token.aud == ['app'] && !has(token.azp) && token.exp == timestamp(1700000000)",
    ] {
        assert_eq!(engine.compile(&env, source).unwrap().test(&bindings), Ok(true), "{source}");
    }
}

#[test]
fn hostile_tokens_are_errors_in_bounded_steps() {
    let env = Env::dynamic().variable("text", Type::String);
    let program = Engine::new().compile(&env, "jwt.parse(text).hasValue()").unwrap();
    let run = |text: &str| {
        let mut bindings = Bindings::new(&env);
        bindings.set("text", Value::String(text)).unwrap();
        program.test(&bindings).map_err(|error| error.kind.name())
    };
    assert_eq!(run(TOKEN), Ok(true));
    // The signature is not looked at.
    let signed = TOKEN.rfind('.').unwrap();
    for end in 0..signed.saturating_sub(1) {
        assert_eq!(run(&TOKEN[..end]), Err("invalid_argument"), "{end}");
    }
    assert_eq!(run(&TOKEN[..signed]), Ok(true));
    for part in [".", "a", "é", " ", "=", "e30.", "Bearer ", "\0"] {
        let long = part.repeat((1 << 20) / part.len());
        assert_eq!(run(&long), Err("invalid_argument"), "{part}");
        assert_eq!(run(&format!("{long}.{long}")), Err("invalid_argument"), "{part}");
    }
    // No UTF-8; and `{"alg":"` before it.
    for header in ["_w", "eyJhbGciOiL_In0"] {
        assert_eq!(run(&format!("{header}.e30")), Err("invalid_argument"), "{header}");
    }
    let (few, source) =
        (Engine::builder().limits(Limits { steps: 1_000, ..Limits::default() }).build(), "jwt.parse(text)");
    let program = few.compile(&env, source).unwrap();
    let mut bindings = Bindings::new(&env);
    let long = "a".repeat(1 << 20);
    bindings.set("text", Value::String(&long)).unwrap();
    let ended = program.eval(&bindings, &mut Scratch::new()).map(|_| ()).map_err(|error| error.kind.name());
    assert_eq!(ended, Err("out_of_budget"));
}
