//! `has(x)` of a variable: whether it is present, in both tiers; and what is refused.

use crate::field_types::results;
use celero::{Bindings, Context, Engine, Env, Scratch, Tier, Type, Value};
use std::collections::HashMap;
use std::net::IpAddr;

#[derive(Context)]
struct Claims {
    sub: String,
}

#[expect(clippy::ptr_arg, reason = "`with` gives the function the field as it is")]
fn first(text: &String) -> Option<&str> {
    text.split(' ').next().filter(|word| !word.is_empty())
}

#[derive(Context, Default)]
struct Call<'a> {
    path: &'a str,
    tenant: Option<String>,
    retries: Option<u16>,
    urgent: Option<bool>,
    address: Option<IpAddr>,
    groups: Option<Vec<String>>,
    labels: Option<HashMap<String, String>>,
    #[context(with = first)]
    word: String,
    jwt: Option<&'a Claims>,
}

const OPTIONAL: [&str; 7] = ["tenant", "retries", "urgent", "address", "groups", "labels", "word"];

#[test]
fn a_field_is_tested_by_its_name() {
    let claims = Claims { sub: "ann".to_owned() };
    let full = Call {
        path: "/",
        tenant: Some(String::new()),
        retries: Some(0),
        urgent: Some(false),
        address: Some([192, 0, 2, 1].into()),
        groups: Some(Vec::new()),
        labels: Some(HashMap::new()),
        word: "word".to_owned(),
        jwt: Some(&claims),
    };
    let empty = Call { path: "/", ..Call::default() };
    for name in OPTIONAL {
        for (context, present) in [(&full, true), (&empty, false)] {
            let expected = format!("Bool({present})");
            for rule in [
                format!("has({name})"),
                format!("!!has(.{name})"),
                format!("[1, 2].exists(x, x == 2 && has({name}))"),
                format!("has({name}) == {present} && path == '/' == has({name})"),
                format!("(has({name}) ? type({name}) != type(null) : false) && has({name})"),
                format!("[has({name})][0]"),
            ] {
                results(context, &[(&rule, &expected)]);
            }
            results(context, &[(&format!("!has({name}) || {name} == {name}"), "Bool(true)")]);
        }
    }
    results(&full, &[("has(jwt.sub) && !has(labels.x)", "Bool(true)")]);
    results(&empty, &[("has(jwt.sub)", "Bool(false)"), ("has(tenant) && tenant == 'x'", "Bool(false)")]);
    results(
        &empty,
        &[("tenant == 'x' && has(tenant)", "Bool(false)"), ("has(tenant) || tenant == 'x'", "no_such_key")],
    );
}

#[test]
fn native_code_asks_in_place() {
    for name in OPTIONAL {
        let explained = Engine::new().explain(&Env::<Call<'_>>::new(), &format!("has({name})")).unwrap();
        let (_, graph) = explained.sections().find(|(title, _)| *title == "optimized graph").unwrap();
        assert!(graph.contains("has_field") && !graph.contains("dispatch"), "{name}: {graph}");
    }
}

#[test]
fn sets_and_definitions_test_variables() {
    let env = Env::<Call<'_>>::new()
        .define("known() -> bool", "has(tenant)")
        .define("or(value: bool) -> bool", "value || value");
    assert_eq!(env.problems(), []);
    let call = |tenant: Option<&str>| Call { path: "/", tenant: tenant.map(str::to_owned), ..Call::default() };
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let rules = ["has(tenant)", "known()", "or(has(tenant))", "has(tenant) && tenant == 'acme'", "!has(tenant)"];
        let set = rules.iter().fold(engine.rules(&env), |set, rule| set.rule(rule, rule, ())).build().unwrap();
        let matched = |tenant| {
            let (context, mut scratch) = (call(tenant), Scratch::new());
            set.all(&context, &mut scratch).unwrap().map(|found| found.name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(matched(Some("acme")), &rules[..4], "{tier:?}");
        assert_eq!(matched(Some("x")), &rules[..3], "{tier:?}");
        assert_eq!(matched(None), &rules[4..], "{tier:?}");
    }
    let program = Engine::new().compile(&env, "has( tenant )&&!has(.word)").unwrap();
    assert_eq!(program.to_source(), "has(tenant) && !has(.word)");
    assert!(program.is_pure() && program.warnings().is_empty());
}

#[test]
fn a_bound_variable_is_present() {
    let env = Env::dynamic().variable("tenant", Type::String).variable("m", Type::map(Type::String, Type::Int));
    for tier in [Tier::Interpret, Tier::Native] {
        let program = Engine::builder().tier(tier).build().compile(&env, "has(tenant)").unwrap();
        let mut call = Bindings::new(&env);
        assert_eq!(program.test(&call), Ok(false), "{tier:?}");
        call.set("tenant", Value::String("")).unwrap();
        assert_eq!(program.test(&call), Ok(true), "{tier:?}");
        call.unset("tenant").unwrap();
        assert_eq!(program.test(&call), Ok(false), "{tier:?}");
    }
}

/// Everything else that is no selection is refused, and the error says what to write.
#[test]
fn what_is_no_variable_or_never_absent_is_refused() {
    let env = Env::<Call<'_>>::new().define("alias() -> bool", "true").alias("short", "tenant");
    let selection = [
        "`has` takes a field selection",
        "write `has(a.b)`; a key is tested with `\"key\" in a`, and `default(a[\"key\"], ..)` gives a value in its absence",
    ];
    let optional = [selection[0], "`x.hasValue()` tests an optional; `x.orValue(..)` gives a value where it is empty"];
    let never_absent = ["`has` takes what can be absent, and `path` is never absent", selection[1]];
    let undeclared = |name: &str, help: &str| [format!("undeclared reference to `{name}`"), help.to_owned()];
    let [misspelt, start] = [
        undeclared("tenat", "did you mean `tenant`?"),
        undeclared("jwt", "`jwt` is only the start of declared names: `jwt.sub`"),
    ];
    for (rule, code, [message, help]) in [
        ("has(path)", "macro-argument", never_absent),
        ("has(string)", "macro-argument", selection),
        ("has(short)", "macro-argument", selection),
        ("[1].all(x, has(x))", "macro-argument", selection),
        ("[optional.of(1)].all(x, has(x))", "macro-argument", optional),
        ("[optional.of(1)].all(tenant, has(tenant))", "macro-argument", optional),
        ("has(labels['a'])", "macro-argument", [selection[0], "write `'a' in labels`"]),
        ("has(alias())", "macro-argument", selection),
        ("has(has(tenant))", "macro-argument", selection),
        ("has(tenat)", "undeclared-name", [&*misspelt[0], &misspelt[1]]),
        ("has(jwt)", "undeclared-name", [&*start[0], &start[1]]),
        ("has(tenant).x", "no-fields", ["a value of type `bool` has no field `x`", ""]),
        (
            "[1].all(has(tenant), true)",
            "macro-variable",
            ["a macro's variable must be a plain name", "write a name such as `x`"],
        ),
    ] {
        let error = Engine::new().compile(&env, rule).map(|_| rule).unwrap_err();
        assert_eq!(error.diagnostics().len(), 1, "{rule}: {error}");
        for diagnostic in error.diagnostics() {
            assert_eq!((diagnostic.code, &*diagnostic.message), (code, message), "{rule}");
            assert_eq!(diagnostic.help.concat().replace("tenant.", "x."), help, "{rule}");
        }
    }
    assert!(Engine::new().compile(&env, "has(tenant){a: 1}").is_err(), "it is no name of a message");
    assert!(Engine::new().compile(&env.unchecked(true), "has(other)").is_err(), "nor a name that is not declared");
}
