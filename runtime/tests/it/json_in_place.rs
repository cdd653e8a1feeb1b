//! JSON documents of the host, which native code reads where they lie.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::host::Cx;
use celero::values::{Arena, List, MapBuilder};
use celero::{Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Limits, Scratch, Tier, Type, Value};
use serde_json::{Value as Json, json};

#[derive(Context)]
struct Data<'a> {
    document: &'a Json,
    object: &'a serde_json::Map<String, Json>,
    maybe: Option<Json>,
    absent: Option<Json>,
    none: Option<&'a Json>,
    n: i64,
}

/// Rules over the same documents as fields and as bound values.
const RULES: &[&str] = &[
    "document.user",
    "document.user.age >= 18",
    "document['user']['age'] >= 18",
    "document.user['age'] == 41",
    "document.user.name == 'ada'",
    "document.user.name + document.user.name",
    "document.user.groups[1] == 'admin'",
    "document['user'].groups[7]",
    "document.user.groups[-1]",
    "document.user.groups['x']",
    "document.user.groups.x",
    "document.user.name.x",
    "document.user.name['x']",
    "document.user.name[0]",
    "document.user[0]",
    "document.user.nothing.x",
    "document.user.missing",
    "document.missing.user",
    "document['missing'].user.name",
    "document.a.b.c.d.e.f.g.h.i.j == 'deep'",
    "has(document.user)",
    "has(document.user.name)",
    "has(document.user.missing)",
    "has(document.missing.name)",
    "has(document.user.name.x)",
    "has(document.user.groups.x)",
    "has(document.user.name) && document.user.name == 'ada'",
    "document.user.age >= 18 && document.user.name == 'ada'",
    "document.user.missing == 1 || document.user.missing == 2 || document.user.age == 41",
    "document.user.missing == 1 || document.missing.user == 2",
    "document.user != null && document.user.age == 41",
    "document.items.all(i, i.kind.name == 'k')",
    "document.items.map(i, i.kind.name)",
    "document.items.map(i, [i.kind, i.kind.name])",
    "document.items.filter(i, has(i.kind.name)).map(i, i.kind)",
    "document.items[0].kind.name",
    "document.user.with(u, u.name == 'ada' && u.age == 41)",
    "document.?user.name.orValue('x')",
    "document.?user.missing.x",
    "[document.user.age, document.user.name, document.k2]",
    "{'a': document.user.age}.a",
    "{'a': {'b': n}}.a.b == 41",
    "[{'a': n}][0].a",
    "n == 41 ? document.user.age : document.k1",
    "object.user.age == 41",
    "object['user'].name",
    "object.k1 + object.k2",
    "object.missing",
    "has(object.missing.x)",
    "maybe.user.age == 41",
    "maybe == document",
    "maybe != null && maybe.user.name == 'ada'",
    "absent.user.age == 41",
    "absent == 1 || none == 1",
    "none.user.age == 41 || document.user.age == 41",
    "document.big + document.half",
    "default(document.user.missing, document.user.age)",
];

fn document() -> Json {
    json!({
        "user": {"age": 41, "name": "ada", "groups": ["x", "admin"], "nothing": null},
        "a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": "deep"}}}}}}}}},
        "items": [{"kind": {"name": "k"}}, {"kind": {"name": "l", "x": [1]}}],
        "k1": 1, "k2": 2, "big": u64::MAX, "half": 0.5,
    })
}

fn data(document: &Json) -> Data<'_> {
    let object = document.as_object().unwrap();
    Data { document, object, maybe: Some(document.clone()), absent: None, none: None, n: 41 }
}

/// A document as a value of sorted maps and lists of values.
fn copied<'a>(json: &'a Json, arena: &'a Arena) -> Value<'a> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), ..) => Value::Int(int),
            (_, Some(uint), _) => Value::Uint(uint),
            (.., double) => Value::Double(double.unwrap()),
        },
        Json::String(text) => Value::String(text),
        Json::Array(items) => {
            let mut all = arena.vec();
            items.iter().for_each(|item| all.push(copied(item, arena)).unwrap());
            Value::List(List::Slice(all.finish()))
        }
        Json::Object(members) => {
            let mut map = MapBuilder::new(arena, members.len()).unwrap();
            members.iter().for_each(|(key, json)| map.insert(Value::String(key), copied(json, arena)).unwrap());
            Value::Map(map.finish(&Cx::new(1 << 20, arena)).unwrap())
        }
    }
}

/// The variables of a `Data`, all of them but `n` of unknown type.
fn bound(env: &Env<Bindings<'static>>, value: Value<'static>) -> Bindings<'static> {
    let mut bindings = Bindings::new(env);
    for name in ["document", "object", "maybe"] {
        bindings.set(name, value).unwrap();
    }
    bindings.set("n", Value::Int(41)).unwrap();
    bindings
}

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("n", Type::Int);
    ["document", "object", "maybe", "absent", "none"].iter().fold(env, |env, name| env.variable(name, Type::Dyn))
}

/// Values, errors and their places are those of the interpreter.
fn agree<S, C>(env: &Env<S>, context: &C, rule: &str)
where
    S: Context<Static = S> + 'static,
    C: Context<Static = S>,
{
    let engines = [(Tier::Interpret, true), (Tier::Native, true), (Tier::Native, false)];
    let results = engines.map(|(tier, optimize)| {
        let program = Engine::builder().tier(tier).optimize(optimize).build().compile(env, rule).unwrap();
        let scratch = &mut Scratch::new();
        let shown = match program.eval(context, scratch) {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{:?} at {}..{}", error.kind, error.start, error.end),
        };
        (shown, program.test(context))
    });
    let [interpreted, native, plain] = results;
    assert_eq!(interpreted, native, "{rule}");
    assert_eq!(interpreted, plain, "{rule}, without passes");
}

#[test]
fn members_are_the_same_in_both_tiers() {
    let (document, arena) = (Box::leak(Box::new(document())), Box::leak(Box::new(Arena::new(1 << 20))));
    let host = data(document);
    let env = env();
    let copy = copied(document, arena);
    let optional = Value::Optional(Some(arena.alloc(copy).unwrap()));
    for rule in RULES {
        agree(&Env::<Data<'_>>::new(), &host, rule);
        for value in [copy, optional, Value::Optional(None), Value::Int(1), Value::Null, Value::List(List::Slice(&[]))]
        {
            agree(&env, &bound(&env, value), rule);
        }
    }
}

/// Documents are read without a copy or a call of the host, also behind pointers and in options.
#[test]
fn documents_are_read_in_place() {
    let document = document();
    let names = ["document", "object", "maybe", "absent", "none", "n"];
    assert_eq!(crate::layout::agree(&data(&document)), names);
}

/// A member is charged with the length of its name, whatever passes do.
#[test]
fn a_member_costs_what_its_name_costs() {
    let long = "k".repeat(640);
    let document = json!({ &long: { &long: 1, "other": 2 } });
    let rule = format!("document['{long}']['{long}'] == 1");
    let (mut reached, mut spent) = (0, 0);
    for steps in 0..100 {
        let limits = Limits { steps, ..Limits::default() };
        let results = [true, false].map(|optimize| {
            let engine = Engine::builder().tier(Tier::Native).optimize(optimize).limits(limits).build();
            engine.compile(&Env::<Data<'_>>::new(), &rule).unwrap().test(&data_of(&document))
        });
        let [optimized, plain] = results;
        assert_eq!(optimized, plain, "{steps} steps");
        match optimized {
            Ok(true) => reached += 1,
            other => {
                assert_eq!(other.unwrap_err().kind, ErrorKind::OutOfBudget);
                spent += 1;
            }
        }
    }
    assert!(reached > 0 && spent > 20, "{reached} {spent}");
}

fn data_of(document: &Json) -> Data<'_> {
    Data { maybe: None, ..data(document) }
}

/// A set of rules answers as each rule alone.
#[test]
fn sets_read_the_same_members() {
    let document = document();
    let host = data(&document);
    let env = Env::<Data<'_>>::new();
    let tests: Vec<&str> = RULES.iter().copied().filter(|rule| rule.contains("==")).collect();
    let answers = [Tier::Interpret, Tier::Native].map(|tier| {
        let engine = Engine::builder().tier(tier).build();
        let rules = engine.rules(&env).on_error(ErrorPolicy::NoMatch);
        let set = tests.iter().enumerate().fold(rules, |rules, (n, rule)| rules.rule(&format!("r{n}"), rule, ()));
        set.build().unwrap().indices(&host, &mut Scratch::new()).unwrap().to_vec()
    });
    let alone = (0..).zip(&tests).filter(|(_, rule)| {
        Engine::builder().tier(Tier::Interpret).build().compile(&env, rule).unwrap().test(&host) == Ok(true)
    });
    let alone: Vec<_> = alone.map(|(n, _)| n).collect();
    assert_eq!(answers, [alone.clone(), alone]);
    assert!(answers[0].len() > 10, "{answers:?}");
}

/// Many values of the host are held at once.
#[test]
fn many_values_of_the_host_are_held_at_once() {
    let members: serde_json::Map<String, Json> = (0..100).map(|n| (format!("k{n}"), json!({ "v": n }))).collect();
    let document = Json::Object(members);
    let all: Vec<String> = (0..100).map(|n| format!("document.k{n}.v")).collect();
    let rule = format!("[{}]", all.join(", "));
    agree(&Env::<Data<'_>>::new(), &data(&document), &rule);
    let sum = format!("{} == 4950", all.join(" + "));
    agree(&Env::<Data<'_>>::new(), &data(&document), &sum);
}
