//! Both tiers from the outside: an environment, a rule, a context, an answer.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{Bindings, Context, Engine, Env, Scratch, Tier, Type, Value};

fn both(source: &str) {
    let env = Env::<Bindings<'static>>::dynamic()
        .variable("x", Type::Int)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int))
        .variable("d", Type::Dyn);
    let list = [Value::Int(1), Value::Int(2), Value::Int(3)];
    let mut bindings = Bindings::new(&env);
    bindings.set("x", Value::Int(7)).unwrap();
    bindings.set("s", Value::String("hello")).unwrap();
    bindings.set("l", Value::List(celero::values::List::Slice(&list))).unwrap();
    bindings.set("d", Value::Double(1.5)).unwrap();
    let run = |tier| {
        let engine = Engine::builder().tier(tier).build();
        let program = engine.compile(&env, source).unwrap();
        let mut scratch = Scratch::new();
        format!("{:?}", program.eval(&bindings, &mut scratch))
    };
    assert_eq!(run(Tier::Native), run(Tier::Interpret), "{source}");
}

#[derive(Context)]
struct Peer {
    address: std::net::IpAddr,
    forwarded: Option<std::net::IpAddr>,
}

#[test]
fn a_mapped_address_is_the_ipv4_address() {
    let mapped: std::net::IpAddr = "::ffff:10.1.2.3".parse().unwrap();
    let peer = Peer { address: mapped, forwarded: Some(mapped) };
    for tier in [Tier::Native, Tier::Interpret] {
        let engine = Engine::builder().tier(tier).build();
        for rule in [
            "cidr('10.0.0.0/8').containsIP(address)",
            "cidr('10.0.0.0/8').containsIP(forwarded)",
            "address == '10.1.2.3' && forwarded == '10.1.2.3'",
            "!cidr('::/0').containsIP(address)",
        ] {
            let program = engine.compile(&Env::<Peer>::new(), rule).unwrap();
            assert_eq!(program.test(&peer), Ok(true), "{rule} in {tier:?}");
        }
    }
}

/// The other tests would pass with the interpreter alone where they do not ask for [`Tier::Native`].
#[test]
fn rules_are_native_on_the_processors_that_the_readme_names() {
    let supported = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));
    let env = Env::dynamic().variable("s", Type::String).variable("x", Type::Int);
    let mut bindings = Bindings::new(&env);
    bindings.set("s", Value::String("/static/a")).unwrap();
    bindings.set("x", Value::Int(7)).unwrap();
    for source in ["s.startsWith('/static/') && x * 6 == 42", "s.matches('a$') || 1 / x > 3", "s + s != s"] {
        let program = Engine::new().compile(&env, source).unwrap();
        assert_eq!((program.is_native(), program.code_size() > 0), (supported, supported), "{source}");
        assert_eq!(program.test(&bindings), Ok(true), "{source}");
        let explicit = Engine::builder().tier(Tier::Native).build().compile(&env, source);
        assert_eq!(explicit.is_ok(), supported, "{source}");
    }
}

#[test]
fn tiers_agree() {
    for source in [
        "1 + 2",
        "x * 6 == 42 && s.startsWith('he')",
        "s + ' world'",
        "size(s) + size(l)",
        "l.map(e, e * 2)",
        "l.filter(e, e > 1).exists(e, e == x)",
        "l.all(e, e < 4)",
        "d + 1.5",
        "d == 1.5 || 1 / 0 == 1",
        "x / 0",
        "{'a': x, 'b': 2}.b",
        "{'a': x, 'a': 2}.b",
        "[1, 2, 3][5]",
        "cel.bind(y, x + 1, y * y)",
        "(x + 1).with(y, y * y)",
        "{'a': x}.mapValues(v, v + 1)",
        "{'a': x, 'b': 1}.filterKeys(k, k < 'b').mapValues(v, l)",
        "dyn(l).mapValues(v, v)",
        "d.filterKeys(k, true)",
        "default({'a': x}.b, 1) + x",
        "default({'a': s}.b, 'none') + s",
        "default({'a': dyn(null)}.a, x)",
        "default(x / 0, 1)",
        "default(d.f, 1)",
        "coalesce(x / 0, l[9], s == 'hello' ? x : 0) + 1",
        "coalesce(x / 0, dyn(null))",
        "coalesce(x / 0, x % 0)",
        "coalesce(dyn(null), null)",
        "coalesce(x / 0 == 1, true) && default({'a': true}.b, x == 7)",
        "coalesce({'a': 1.5}.b, 2.5) < d",
        "[x / 0, 1].size() == coalesce(x / 0, 1)",
        "timestamp('2024-01-01T00:00:00Z') + duration('1h')",
        "s.matches('^h.*o$')",
        "x in [1, 2, 7]",
        "s in ['a', 'b', 'hello', 'c', 'd', 'e']",
        "optional.of(x).optMap(v, v + 1).orValue(0)",
        "[?optional.none(), ?optional.of(1)]",
        "x > 3 ? 'big' : 'small'",
        "type(x)",
        "d",
        "string(x) + string(1.5)",
        "9223372036854775807 + x",
        "[1, 2].transformMap(i, v, v * x)",
        "dyn(s) + 1",
        "dyn(1) && false",
    ] {
        both(source);
    }
}

#[test]
fn a_rule_that_differs_in_constants_has_a_copy_of_the_code() {
    let env = Env::dynamic().variable("s", Type::String).variable("x", Type::Int);
    let (engine, interpreter) = (Engine::new(), Engine::builder().tier(Tier::Interpret).build());
    // Compares a text, divides, and asks a pattern and a set.
    let rule = |text: &str, last: u8| {
        let members = [b'a'..=b'e', b'p'..=b't'].into_iter().flatten().map(|c| format!("'{}{text}'", char::from(c)));
        let members = members.collect::<Vec<_>>().join(", ");
        let pattern = format!("s.matches('t[{}-z]+{}')", text.len() % 10, char::from(last));
        format!("s.startsWith('{text}') && 100 / x > 9 || {pattern} && s.size() < 100 || s in [{members}]")
    };
    let texts = [("/static/a", b'a'), ("/other/bb", b'c'), ("/third/cd", b'c'), ("/fourth/d", b'd')];
    let rules = texts.map(|(text, last)| rule(text, last));
    let mut scratch = Scratch::new();
    let mut programs = Vec::new();
    for (number, source) in rules.iter().enumerate() {
        let before = engine.codegen_time();
        programs.push((engine.compile(&env, source).unwrap(), interpreter.compile(&env, source).unwrap()));
        assert_eq!(engine.codegen_time() > before, number < 2, "the code is kept when it occurs again");
    }
    let texts =
        ["/static/abc", "/other/bb", "/third/cd/e", "a/static/a", "t/third/cd", "tzza", "tzzc", "t/fourth/d", ""];
    let mut counts = [0; 3];
    for (program, interpreted) in &programs {
        assert!(program.is_native());
        for (s, x) in texts.iter().flat_map(|s| [(s, 5), (s, 50), (s, 0)]) {
            let mut bindings = Bindings::new(&env);
            bindings.set("s", Value::String(s)).unwrap();
            bindings.set("x", Value::Int(x)).unwrap();
            let shown = format!("{:?}", program.eval(&bindings, &mut scratch));
            // Errors have places, which differ between these rules.
            assert_eq!(shown, format!("{:?}", interpreted.eval(&bindings, &mut scratch)), "{s}, {x}");
            counts[if shown.contains("true") { 0 } else { usize::from(shown.contains("Err")) + 1 }] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 2), "true, false, failed: {counts:?}");
    let without = Engine::builder().copy_code(false).build();
    for source in &rules {
        let before = without.codegen_time();
        without.compile(&env, source).unwrap();
        assert!(without.codegen_time() > before, "{source}");
    }
    // A copy keeps nothing of the rule from which it was made.
    let (last, _) = programs.pop().unwrap();
    drop((programs, engine));
    let mut bindings = Bindings::new(&env);
    bindings.set("s", Value::String("t/fourth/d")).unwrap();
    bindings.set("x", Value::Int(1)).unwrap();
    assert!(last.test(&bindings).unwrap());
}

#[test]
fn programs_of_one_shape_share_code() {
    let env = Env::dynamic().variable("s", Type::String).variable("x", Type::Int);
    let (sharing, plain) = (Engine::builder().share_code(true).build(), Engine::new());
    let rule = |text: &str, least: i64| format!("s.startsWith('{text}') && 100 / x > {least}");
    let texts = ["/static/a", "/static/other", "/static/third"];
    let mut scratch = Scratch::new();
    let mut programs = Vec::new();
    for (number, text) in texts.into_iter().enumerate() {
        let before = sharing.codegen_time();
        programs.push((
            text,
            sharing.compile(&env, &rule(text, 9)).unwrap(),
            plain.compile(&env, &rule(text, 9)).unwrap(),
        ));
        assert_eq!(sharing.codegen_time() > before, number == 0, "only the first is compiled");
    }
    for (text, shared, plain) in &programs {
        assert!(shared.is_native());
        for (s, x) in texts.iter().flat_map(|s| [(s, 5), (s, 50), (s, 0)]) {
            let mut bindings = Bindings::new(&env);
            bindings.set("s", Value::String(s)).unwrap();
            bindings.set("x", Value::Int(x)).unwrap();
            // Errors have places, which differ between these rules.
            assert_eq!(shared.test(&bindings), plain.test(&bindings), "{text} on {s}, {x}");
            let shown = format!("{:?}", plain.eval(&bindings, &mut scratch));
            assert_eq!(format!("{:?}", shared.eval(&bindings, &mut scratch)), shown);
        }
    }
    let before = sharing.codegen_time();
    sharing.compile(&env, "s.endsWith('/static/a') && 100 / x > 9").unwrap();
    assert!(sharing.codegen_time() > before, "another shape");
}
