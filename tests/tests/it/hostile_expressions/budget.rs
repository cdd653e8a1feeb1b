//! Evaluations that would run for ages, and definitions that explode, end within their budget.

use super::*;

/// Rules that would run for ages end when the budget is spent.
#[test]
fn explosions_end() {
    small_stack(|| {
        let list = |n: usize| format!("[{}]", "1,".repeat(n));
        let doubled = format!("[1]{}", ".map(x, [x, x])".repeat(30));
        let squared = format!(
            "cel.bind(b0, 'x', {}b60{})",
            (1..=60).map(|k| format!("cel.bind(b{k}, b{p} + b{p}, ", p = k - 1)).collect::<String>(),
            ")".repeat(60)
        );
        let flattened = (0..40).fold("[1, 1]".to_owned(), |inner, k| format!("cel.bind(l{k}, {inner}, l{k} + l{k})"));
        let endless =
            format!("{}true{}", (0..6).map(|k| format!("{}.all(x{k}, ", list(40))).collect::<String>(), ")".repeat(6));
        let sources = [
            // Nothing holds the end back.
            format!("{endless} || i == i"),
            format!("[1].exists(y, {endless} || y == 1)"),
            format!("default({endless}, true)"),
            format!("coalesce({endless}, true)"),
            format!("{endless}.with(y, i == i || y)"),
            format!("{}true{}", (0..6).map(|k| format!("{}.all(x{k}, ", list(40))).collect::<String>(), ")".repeat(6)),
            format!(
                "{}false{}",
                (0..6).map(|k| format!("{}.exists(x{k}, ", list(40))).collect::<String>(),
                ")".repeat(6)
            ),
            format!("{}1{}", (0..6).map(|k| format!("{}.map(x{k}, ", list(40))).collect::<String>(), ")".repeat(6)),
            squared,
            flattened,
            // Each level holds the one below twice: small to build, endless to walk.
            format!("cel.bind(v, {doubled}, v == v)"),
            format!("{doubled} == {doubled}"),
            format!("{doubled} in [{doubled}]"),
        ];
        let env = env();
        for tier in TIERS {
            let engine = engine(tier);
            let run = |source: &str| {
                let program: Program<Bindings<'static>> = engine.compile(&env, source).unwrap();
                let start = cpu_time();
                let outcome = program.eval(&bindings(&env), &mut Scratch::new()).map(drop).map_err(|e| e.kind);
                (outcome, cpu_time() - start)
            };
            for source in &sources {
                let (outcome, time) = run(source);
                let name: String = source.chars().take(40).collect();
                say(&format!("  {tier:?} {name}..: {time:.2?}"));
                assert_eq!(outcome, Err(ErrorKind::OutOfBudget), "{tier:?} {name}");
            }
            let (outcome, time) = run(&doubled);
            say(&format!("  {tier:?} chained map: {time:.2?}, {outcome:?}"));
            assert!(matches!(outcome, Ok(()) | Err(ErrorKind::OutOfBudget)), "{outcome:?}");
        }
    });
}

/// Calls on very long text, over and over, end when the budget is spent, whatever the text.
#[test]
fn long_text_is_paid_for() {
    const CALLS: &[&str] = &[
        "hex.encode(bytes(s)).size()",
        "url.encode(s).size()",
        "form.decode(s).size()",
        "form.encode({s: s, 'l': [s, s]}).size()",
        "base64.decodeUrl(s).size()",
        "base64.encodeUrl(bytes(s)).size()",
        "sha1.encode(s).size()",
        "sha256.encode(s).size()",
        "md5.encode(bytes(s)).size()",
        "s.stripPrefix(s).size()",
        "s.stripSuffix(s + 'x').size()",
        "s.regexReplace('a', s).size()",
        "s.regexReplace('(.*)', '$1$1${1}$$').size()",
        "s.regexReplace(s, '').size()",
        "s.format([s]).size()",
        "{s: 1, 'k': 2}.merge({s: 2, 'l': 2}).size()",
        "[optional.of(s), optional.none()].unwrapOpt().size()",
        "uuid().size()",
        "int(random())",
    ];
    const TEXTS: &[&str] = &["a", "a&", "%", "%s", "%41&", "=", "+=%&", "${1}", "$", "${", "\u{e9}", "a&a=&", "A-_"];
    let env = env();
    let texts: Vec<String> = TEXTS.iter().map(|text| text.repeat((1 << 20) / text.len())).collect();
    let limits = Limits { steps: 50_000, ..Limits::default() };
    let mut slowest = (Duration::ZERO, String::new());
    for call in CALLS {
        for tier in TIERS {
            let source = format!("lists.range(1000).map(x, lists.range(1000).exists(y, {call} < 0))");
            let engine = Engine::builder().tier(tier).limits(limits).build();
            let program = engine.compile(&env, &source).unwrap();
            for text in &texts {
                let mut bindings = bindings(&env);
                bindings.set("s", Value::String(text)).unwrap();
                let start = cpu_time();
                let outcome = program.eval(&bindings, &mut Scratch::new()).map(drop).map_err(|e| e.kind);
                let time = cpu_time() - start;
                let name = format!("{tier:?} {call} of {}..", text.chars().take(8).collect::<String>());
                let ended = matches!(outcome, Err(ErrorKind::OutOfBudget | ErrorKind::InvalidArgument));
                assert!(ended, "{name}: {outcome:?}");
                slowest = slowest.max((time, name));
            }
        }
    }
    say(&format!("  the slowest: {slowest:.2?}"));
    assert!(slowest.0 < Duration::from_secs(2), "{slowest:?}");
}

/// Functions that call the one before twice, and chains of them as deep as they may be: refused
/// where they are defined, or evaluated on a small stack.
#[test]
fn definitions_neither_explode_nor_overflow() {
    small_stack(|| {
        let start = cpu_time();
        let double = |k: u32| (format!("f{k}(a: int) -> int"), format!("f{p}(a) + f{p}(a + 1)", p = k - 1));
        let env = (1..60).fold(env().define("f0(a: int) -> int", "a + i"), |env, k| {
            if env.problems().is_empty() { env.define(&double(k).0, &double(k).1) } else { env }
        });
        let codes: Vec<&str> = env.problems().iter().flat_map(|p| p.diagnostics()).map(|d| d.code).collect();
        assert_eq!(codes, ["too-many-nodes"]);
        say(&format!("  doubling definitions: {:.2?}", cpu_time() - start));

        let mut env = self::env().define("f0(a: dyn) -> dyn", "a + 1");
        let mut last = 0;
        for k in 1..250 {
            let next = env.clone().define(&format!("f{k}(a: dyn) -> dyn"), &format!("f{}(a + 1)", k - 1));
            if !next.problems().is_empty() {
                break;
            }
            (env, last) = (next, k);
        }
        assert!(last > 100, "{last}");
        let rule = format!("[1, 2].map(x, f{}(x) + f{}(f1(x)))", last / 2, last / 3);
        let mut outcomes = Vec::new();
        for tier in TIERS {
            let engine = engine(tier);
            let deepest = engine.compile(&env, &format!("f{last}(i)")).unwrap();
            let value = deepest.eval(&bindings(&env), &mut Scratch::new()).map(|v| format!("{v:?}"));
            assert_eq!(value, Ok(format!("Int({})", last + 2)));
            let program = engine.compile(&env, &rule).unwrap();
            outcomes.push(program.eval(&bindings(&env), &mut Scratch::new()).map(|v| format!("{v:?}")));
        }
        assert!(outcomes.iter().all(|o| o.is_ok() && *o == outcomes[0]), "{outcomes:?}");
    });
}

/// A search is charged what it may cost: the size of the program counts, not only the length of the
/// text. So is compiling a pattern that comes with the request.
#[test]
fn expensive_patterns_are_paid_for() {
    let mut rng = celero_tests::generate::Rng::new(3);
    let ab: String = (0..1 << 20).map(|_| if rng.below(2) == 0 { 'a' } else { 'b' }).collect();
    let agent: String = (0..100_000).map(|_| ["union ", "select", "a, b "][rng.below(3)]).collect();
    let many = format!("s.matches('[ab]*a{}c')", "[ab]{1000}".repeat(8));
    let cases = r"[B-\\x{10FFFF}]".repeat(150);
    let cases = format!("lists.range(40).exists(x, s.matches(string(x) + '(?i){cases}'))");
    let sources = [
        (&*many, &ab),
        ("s.matches('(?i)(union|select).{0,500}from ')", &agent),
        ("regex.extract(s, '[ab]*a[ab]{800}c') == optional.none()", &ab),
        ("regex.replace(s, '[ab]*a[ab]{800}c', '') == s", &ab),
        ("lists.range(46).exists(x, s.matches(string(x) + '\\\\pL{40}N'))", &"a".to_owned()),
        (&*cases, &"a".to_owned()),
    ];
    let env = env();
    for (source, text) in &sources {
        for tier in TIERS {
            let program = engine(tier).compile(&env, source).unwrap();
            let mut bindings = bindings(&env);
            bindings.set("s", Value::String(text)).unwrap();
            for _ in 0..2 {
                let outcome = program.eval(&bindings, &mut Scratch::new()).map(drop).map_err(|e| e.kind);
                assert_eq!(outcome, Err(ErrorKind::OutOfBudget), "{tier:?} {source}");
            }
        }
    }
    // In a set, whichever way the rules are found: a search for all patterns together is bounded too.
    let text = format!("c{ab}");
    for indexing in [celero::sets::Indexing::Always, celero::sets::Indexing::Off] {
        let engine = engine(Tier::Native);
        let sources = sources.iter().take(2).map(|(source, _)| *source).chain(["s == 'x'", "s.contains('zz')"]);
        let rules = sources.fold(engine.rules(&env), |rules, source| rules.rule(source, source, ()));
        let set = rules.index(indexing).on_error(celero::ErrorPolicy::NoMatch).build().unwrap();
        let mut bindings = bindings(&env);
        bindings.set("s", Value::String(&text)).unwrap();
        let mut scratch = Scratch::new();
        set.indices(&bindings, &mut scratch).unwrap();
        let errors: Vec<_> = scratch.errors().iter().map(|error| (error.rule, error.error.kind)).collect();
        assert_eq!(errors, [(0, ErrorKind::OutOfBudget)], "{indexing:?}");
    }
}
