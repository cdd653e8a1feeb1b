//! Values for environments that are declared at run time.

use celero::host::{BindError, Host};
use celero::values::{Arena, List, Timestamp};
use celero::{Bindings, Engine, Env, ErrorKind, Scratch, Tier, Type, Value};

fn env() -> Env<Bindings<'static>> {
    Env::dynamic()
        .variable("request.path", Type::String)
        .variable("n", Type::Int)
        .variable("any", Type::Dyn)
        .variable("tags", Type::list(Type::String))
}

#[test]
fn values_are_read_by_the_index_of_their_declaration() {
    let env = env();
    assert!(env.problems().is_empty());
    let path = String::from("/a");
    let elements = [Value::Int(1)];
    let mut bindings = Bindings::new(&env);
    bindings.set("request.path", Value::String(&path)).unwrap();
    bindings.set("n", Value::Int(1)).unwrap();
    bindings.set("n", Value::Int(2)).unwrap();
    bindings.set("any", Value::Null).unwrap();
    bindings.set("tags", Value::List(List::Slice(&elements))).unwrap();
    let arena = Arena::new(0);
    let read = |bindings: &Bindings<'_>, index| format!("{:?}", bindings.field(index, &arena).unwrap());
    assert_eq!(read(&bindings, 0), r#"Some(String("/a"))"#);
    assert_eq!(read(&bindings, 1), "Some(Int(2))");
    assert_eq!(read(&bindings, 2), "Some(Null)");
    assert_eq!(read(&bindings, 4), "None");
    bindings.unset("n").unwrap();
    assert_eq!(read(&bindings, 1), "None");
    assert_eq!(read(&bindings, 0), r#"Some(String("/a"))"#);
    bindings.clear();
    assert_eq!(read(&bindings, 0), "None");
}

/// Native code reads slots by their number: it must not run on bindings that have others.
#[test]
fn bindings_of_other_variables_are_refused_before_any_is_read() {
    let env_of = |types: &[Type]| {
        types.iter().enumerate().fold(Env::dynamic(), |env, (n, ty)| env.variable(&format!("v{n}"), ty.clone()))
    };
    let wide = env_of(&vec![Type::Int; 100]);
    let others = [vec![], vec![Type::Int; 99], vec![Type::Int; 101], [vec![Type::Int; 99], vec![Type::Dyn]].concat()];
    for tier in [Tier::Native, Tier::Interpret] {
        let engine = Engine::builder().tier(tier).build();
        let program = engine.compile(&wide, "v99 == 1").unwrap();
        let rules = engine.rules(&wide).rule("last", "v99 == 1", ()).standalone(true).build().unwrap();
        let mut scratch = Scratch::new();
        let mut same = Bindings::new(&env_of(&vec![Type::Int; 100]));
        assert_eq!(program.test(&same).unwrap_err().kind, ErrorKind::NoSuchKey);
        same.set("v99", Value::Int(1)).unwrap();
        assert_eq!(program.test(&same), Ok(true));
        assert_eq!(program.test_with(&same, &mut scratch), Ok(true));
        for other in &others {
            let other = Bindings::new(&env_of(other));
            let answers = [program.test(&other), program.test_with(&other, &mut scratch)];
            assert!(answers.iter().all(|answer| answer.is_err_and(|error| error.kind == ErrorKind::Host)));
            assert_eq!(program.eval(&other, &mut scratch).unwrap_err().kind, ErrorKind::Host);
            assert_eq!(rules.test(0, &other, &mut scratch).unwrap().unwrap_err().kind, ErrorKind::Host);
            assert_eq!(rules.first(&other, &mut scratch).unwrap_err().error.kind, ErrorKind::Host);
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let env = env();
    let mut bindings = Bindings::new(&env);
    let wrong = bindings.set("request.path", Value::Int(1)).unwrap_err();
    assert_eq!(wrong.to_string(), "variable `request.path` is declared as `string`, but the value is a `int`");
    let unknown = bindings.set("request", Value::Int(1)).unwrap_err();
    assert_eq!(unknown, BindError::Undeclared { name: "request".to_owned() });
    assert_eq!(unknown.to_string(), "variable `request` is not declared");
    assert!(bindings.unset("x").is_err());
    assert!(bindings.field(0, &Arena::new(0)).unwrap().is_none(), "a refused value is not bound");
}

#[test]
fn an_environment_says_what_it_could_not_declare() {
    let env = env()
        .variable("n", Type::Bool)
        .variable("a-b", Type::Bool)
        .variable("in", Type::Bool)
        .variable("p", Type::list(Type::Param("A".into())))
        .container("a..b");
    let problems: Vec<_> = env.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "variable `n` is declared twice",
            "variable `a-b`: `a-b` is not an identifier (a letter or `_`, then letters, digits and `_`)",
            "variable `in`: `in` is a reserved word",
            "variable `p` can't be of type `list(A)`: a variable has one known type",
            "container `a..b`: `` is not an identifier (a letter or `_`, then letters, digits and `_`)",
        ]
    );
    let good = Env::dynamic().container("a.b").unchecked(true);
    assert!(good.problems().is_empty());
    assert_eq!(good.declarations().container(), "a.b");
}

#[test]
fn variables_fields_and_bindings_agree_on_indices() {
    let env = env();
    let names: Vec<_> = env.declarations().variables().iter().map(|v| (&*v.name, v.optional)).collect();
    assert_eq!(names, [("request.path", true), ("n", true), ("any", true), ("tags", true)]);
    assert_eq!(env.fields().len(), 4);
}

/// A host may give a timestamp beyond the range of CEL: both tiers read all of it.
#[test]
fn timestamps_are_read_whole() {
    let env = Env::dynamic().variable("t", Type::Timestamp).variable("u", Type::Dyn);
    let mut bindings = Bindings::new(&env);
    bindings.set("t", Value::Timestamp(Timestamp { seconds: 0, nanos: -1 })).unwrap();
    bindings.set("u", Value::Timestamp(Timestamp { seconds: 0, nanos: 1 << 33 })).unwrap();
    for rule in ["t.getSeconds()", "string(t)", "t < timestamp(0)", "u.getSeconds()", "u > timestamp(1)"] {
        let [interpreted, native] = [Tier::Interpret, Tier::Native].map(|tier| {
            let program = Engine::builder().tier(tier).build().compile(&env, rule).unwrap();
            format!("{:?}", program.eval(&bindings, &mut Scratch::new()))
        });
        assert_eq!(interpreted, native, "{rule}");
    }
}
