//! The text of results: [`Engine::text`] in each language, in both tiers.

use celero::filter::FilterLanguage;
use celero::settings::{CheckedRule, SourceLimits, TextPiece};
use celero::values::List;
use celero::{Bindings, Engine, Env, ErrorKind, Scratch, Tier, Type, Value};

fn env() -> Env<Bindings<'static>> {
    Env::dynamic()
        .variable("b", Type::Bytes)
        .variable("i", Type::Int)
        .variable("t", Type::Bool)
        .variable("l", Type::list(Type::Bytes))
        .filter_language(FilterLanguage::new())
}

/// Expressions of each kind, and their texts.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("b", "x\"y"),
    (" b\n", "x\"y"),
    ("i", "-7"),
    ("t", "true"),
    ("not t", "false"),
    ("t and not t", "false"),
    ("not t or t", "true"),
    ("t xor t", "false"),
    ("(t)", "true"),
    ("not (t and (not t or t))", "false"),
    ("i eq -7", "true"),
    ("i bitwise_and 1", "true"),
    ("i in {1..3 -7}", "true"),
    ("b contains \"\\\"\"", "true"),
    ("b matches r\"^x(\\W{1})?y$\"", "true"),
    ("b matches \"^x[\"]y$\"", "true"),
    ("b wildcard \"X*\"", "true"),
    ("b strict wildcard \"X*\"", "false"),
    ("b in {\"a, b)\" \"${\"}", "false"),
    ("lower(b)", "x\"y"),
    ("upper( b )", "X\"Y"),
    ("concat(b, \", \\\\ ) \", b)", "x\"y, \\ ) x\"y"),
    ("len(b)", "3"),
    ("regex_replace(b, r\"x(.)(.)?(.{2})?\", \"<${2}>\")", "<y>"),
    ("starts_with(b, \"x\")", "true"),
    ("to_string(i)", "-7"),
    ("l[1]", "two"),
    ("l[9]", ""),
    ("any(l[*] eq \"two\")", "true"),
];

#[test]
fn texts_of_the_filter_language_are_those_of_their_expressions() {
    let env = env();
    let list = [Value::Bytes(b"one"), Value::Bytes(b"two")];
    let mut call = Bindings::new(&env);
    call.set("b", Value::Bytes(b"x\"y")).unwrap();
    call.set("i", Value::Int(-7)).unwrap();
    call.set("t", Value::Bool(true)).unwrap();
    call.set("l", Value::List(List::Slice(&list))).unwrap();
    let around = "\\ \", (${\n\t) é\u{0}";
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let text = |pieces: &[TextPiece<'_>]| {
            let rule = engine.text(&env, pieces).unwrap();
            assert_eq!(rule.result_type(), &Type::Bytes);
            // The source is that of the tree.
            let parsed = engine.compile(&env, rule.source()).unwrap();
            let program = engine.compile_checked(&env, &rule).unwrap();
            assert_eq!(parsed.to_source(), program.to_source());
            let mut scratch = Scratch::new();
            match program.eval(&call, &mut scratch) {
                Ok(Value::Bytes(text)) => String::from_utf8(text.to_vec()).unwrap(),
                Err(error) if error.kind == ErrorKind::NoSuchKey => String::new(),
                other => panic!("{}: {other:?}", rule.source()),
            }
        };
        for (source, expected) in EXPRESSIONS {
            let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{source}\n{error}"));
            let (piece, literal) = (TextPiece::Result(&rule), TextPiece::Literal(around));
            assert_eq!(text(&[piece]), *expected, "{source}");
            assert_eq!(text(&[literal, piece, piece]), format!("{around}{expected}{expected}"), "{source}");
            assert_eq!(text(&[piece, literal]), format!("{expected}{around}"), "{source}");
        }
    }
}

#[test]
fn traces_and_errors_of_a_text_have_places_in_its_source() {
    let (env, engine) = (env(), Engine::new());
    let checked = |source| engine.check(&env, source).unwrap();
    let (first, second) = (checked("  b contains \"x\"  "), checked("upper( b )"));
    let rule = engine.text(&env, &[TextPiece::Result(&first), TextPiece::Result(&second)]).unwrap();
    assert_eq!(rule.source(), "concat(to_string((b contains \"x\")), upper( b ))");
    let program = engine.compile_checked(&env, &rule).unwrap();
    let mut call = Bindings::new(&env);
    call.set("b", Value::Bytes(b"x")).unwrap();
    let mut scratch = Scratch::new();
    let trace = program.trace(&call, &mut scratch).unwrap();
    let part = |span: celero::diagnostics::Span| rule.source().get(span.start as usize..span.end as usize).unwrap();
    let parts: Vec<&str> = trace.parts().iter().map(|traced| part(traced.span())).collect();
    let expected = [rule.source(), "to_string((b contains \"x\"))", "b contains \"x\"", "b", "upper( b )", "b"];
    assert_eq!(parts, expected);
}

#[test]
fn a_text_is_of_one_language_and_within_the_limits() {
    let filter = env();
    let cel = filter.clone().language(celero::language::Cel);
    let engine = Engine::new();
    let refused = |engine: &Engine, env, rule: &CheckedRule| {
        let error = engine.text(env, &[TextPiece::Result(rule), TextPiece::Literal("a")]).unwrap_err();
        error.diagnostics().iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>()
    };
    let (of_filter, of_cel) = (engine.check(&filter, "b").unwrap(), engine.check(&cel, "b").unwrap());
    for (env, rule) in [(&filter, &of_cel), (&cel, &of_filter)] {
        assert_eq!(refused(&engine, env, rule), ["no-text: this result is one of another language"]);
    }
    // The numbers of fields are those of another environment.
    let other = env().filter_language(FilterLanguage::http());
    assert_eq!(refused(&engine, &other, &of_filter), ["no-text: this result is one of another language"]);
    let list = engine.check(&filter, "l").unwrap();
    assert_eq!(refused(&engine, &filter, &list), ["no-text: a result of type `Array<Bytes>` has no text"]);
    let most = |max_nodes, max_source_bytes| {
        let source = SourceLimits { max_nodes, max_source_bytes, ..SourceLimits::default() };
        Engine::builder().limits(celero::Limits { source, ..celero::Limits::default() }).build()
    };
    let set = engine.check(&filter, "i in {1 2 3}").unwrap();
    // `i`, the comparison, three items, two calls and a literal.
    assert!(most(8, 100).text(&filter, &[TextPiece::Result(&set), TextPiece::Literal("a")]).is_ok());
    let found = refused(&most(7, 100), &filter, &set);
    assert_eq!(found, ["no-text: the expression has more than 7 nodes (`max_nodes`)"]);
    let found = refused(&most(8, 20), &filter, &set);
    assert_eq!(found, ["no-text: the source is 38 bytes long, the limit is 20 (`max_source_bytes`)"]);
}
