//! Rules made to hurt, on a small stack: each compiles or gets diagnostics, in little time, in both tiers; what compiles
//! evaluates; what would run forever ends in `out_of_budget`.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::{Bindings, Engine, Env, ErrorKind, Limits, Program, Scratch, SourceLimits, Tier, Type, Value};
use celero_tests::shared::say;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Runs on a thread with little stack.
fn small_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(f).unwrap().join().unwrap()
}

/// What this thread has used of the processor: other tests run beside this one.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("a", Type::Bool).variable("i", Type::Int).variable("s", Type::String);
    env.variable("m", Type::map(Type::String, Type::Dyn)).variable("d", Type::Dyn)
}

fn bindings(env: &Env<Bindings<'static>>) -> Bindings<'static> {
    let mut bindings = Bindings::new(env);
    bindings.set("a", Value::Bool(true)).unwrap();
    bindings.set("i", Value::Int(1)).unwrap();
    bindings.set("s", Value::String("x")).unwrap();
    bindings
}

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

/// An engine whose source may be long, so that the other bounds have to hold.
fn roomy(tier: Tier) -> Engine {
    let source = SourceLimits { max_source_bytes: 4 << 20, ..SourceLimits::default() };
    Engine::builder().tier(tier).limits(Limits { source, ..Limits::default() }).build()
}

type Shape = (&'static str, fn(usize) -> String);

/// Shapes that repeat something `n` times.
const SHAPES: &[Shape] = &[
    ("parens", |n| "(".repeat(n) + "1" + &")".repeat(n)),
    ("parens unclosed", |n| "(".repeat(n)),
    ("lists", |n| "[".repeat(n) + &"]".repeat(n)),
    ("lists unclosed", |n| "[".repeat(n)),
    ("maps", |n| "{1:".repeat(n) + "1" + &"}".repeat(n)),
    ("maps unclosed", |n| "{1:".repeat(n)),
    ("calls", |n| "size(".repeat(n) + "s" + &")".repeat(n)),
    ("conversions", |n| "int(".repeat(n) + "i" + &")".repeat(n)),
    ("calls unclosed", |n| "f(".repeat(n)),
    ("indexes", |n| "d[".repeat(n) + "1" + &"]".repeat(n)),
    ("indexes unclosed", |n| "d[".repeat(n)),
    ("macros", |n| "[1].map(x,".repeat(n) + "x" + &")".repeat(n)),
    ("macros all", |n| "[1].all(x,".repeat(n) + "true" + &")".repeat(n)),
    ("macros in ranges", |n| "[1]".to_owned() + &".map(x,x)".repeat(n)),
    ("macros unclosed", |n| "[1].map(x,".repeat(n)),
    ("binds", |n| "cel.bind(x,1,".repeat(n) + "x" + &")".repeat(n)),
    ("withs", |n| "1".to_owned() + &".with(x,x)".repeat(n)),
    ("defaults", |n| "default(".repeat(n) + "1" + &",1)".repeat(n)),
    ("coalesces", |n| "coalesce(1,".repeat(n) + "i" + &")".repeat(n)),
    ("operands of coalesce", |n| "coalesce(i".to_owned() + &",i+1".repeat(n) + ")"),
    ("maps of keys", |n| "{1:1}".to_owned() + &".filterKeys(k,k>0)".repeat(n)),
    ("binds in binds", |n| "cel.bind(x,".repeat(n) + "1" + &",x)".repeat(n)),
    ("not", |n| "!".repeat(n) + "a"),
    ("not alone", |n| "!".repeat(n)),
    ("minus", |n| "-".repeat(n) + "i"),
    ("minus number", |n| "-".repeat(n) + "1"),
    ("alternating signs", |n| "!-".repeat(n) + "a"),
    ("not in parens", |n| "!(".repeat(n) + "a" + &")".repeat(n)),
    ("minus in parens", |n| "-(".repeat(n) + "i" + &")".repeat(n)),
    ("motif", |n| "!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(n)),
    ("fields", |n| "d".to_owned() + &".b".repeat(n)),
    ("optional fields", |n| "d".to_owned() + &".?b".repeat(n)),
    ("methods", |n| "d".to_owned() + &".f()".repeat(n)),
    ("known methods", |n| "d".to_owned() + &".size()".repeat(n)),
    ("optional or", |n| "optional.of(i)".to_owned() + &".or(optional.of(i))".repeat(n)),
    ("elements", |n| "d".to_owned() + &"[0]".repeat(n)),
    ("sum", |n| "i".to_owned() + &"+i".repeat(n)),
    ("sum of text", |n| "s".to_owned() + &"+s".repeat(n)),
    ("difference", |n| "i".to_owned() + &"-i".repeat(n)),
    ("product", |n| "i".to_owned() + &"*i".repeat(n)),
    ("quotient", |n| "i".to_owned() + &"/i".repeat(n)),
    ("remainder", |n| "i".to_owned() + &"%i".repeat(n)),
    ("equal", |n| "a".to_owned() + &"==a".repeat(n)),
    ("less", |n| "a".to_owned() + &"<a".repeat(n)),
    ("in", |n| "d".to_owned() + &" in d".repeat(n)),
    ("and", |n| "a".to_owned() + &"&&a".repeat(n)),
    ("or", |n| "a".to_owned() + &"||a".repeat(n)),
    ("and of different", |n| (0..n).map(|k| format!("i!={k}&&")).collect::<String>() + "a"),
    ("or of calls", |n| (0..n).map(|k| format!("s.contains('{k}')||")).collect::<String>() + "a"),
    ("or and", |n| "a".to_owned() + &"||a&&a".repeat(n)),
    ("nested or", |n| "a||(".repeat(n) + "a" + &")".repeat(n)),
    ("or and in turn", |n| "a||(a&&(".repeat(n) + "a" + &"))".repeat(n)),
    ("conditionals", |n| "a?1:".repeat(n) + "1"),
    ("conditionals as condition", |n| "(".repeat(n) + "a" + &"?a:a)".repeat(n)),
    ("conditionals in both", |n| "a?(a?1:2):".repeat(n) + "1"),
    ("conditionals unclosed", |n| "a?".repeat(n)),
    ("wide list", |n| "[".to_owned() + &"1,".repeat(n) + "]"),
    ("wide list of variables", |n| "[".to_owned() + &"i,".repeat(n) + "]"),
    ("wide map", |n| "{".to_owned() + &(0..n).map(|k| format!("{k}:i,")).collect::<String>() + "}"),
    ("wide in", |n| "s in [".to_owned() + &(0..n).map(|k| format!("'v{k}',")).collect::<String>() + "]"),
    ("wide call", |n| "f(1".to_owned() + &",1".repeat(n) + ")"),
    ("names", |n| "[".to_owned() + &(0..n).map(|k| format!("x{k},")).collect::<String>() + "]"),
    ("type errors", |n| "[".to_owned() + &"1+'a',".repeat(n) + "]"),
    ("long name", |n| "x".repeat(n)),
    ("long number", |n| "1".repeat(n)),
    ("long string", |n| "'".to_owned() + &"\\n".repeat(n) + "'"),
    ("long pattern", |n| "s.matches('".to_owned() + &"(a|b)*".repeat(n) + "')"),
    ("repeated pattern", |n| "s.matches('".to_owned() + &"(".repeat(n) + "a" + &"){9}".repeat(n) + "')"),
    ("unterminated strings", |n| "'a\n".repeat(n)),
    ("comments", |n| "//a\n".repeat(n)),
    ("block comments", |n| "/*".repeat(n)),
    ("foreign", |n| "é".repeat(n)),
    ("closers", |n| ")]}".repeat(n)),
    ("nested lists of lists", |n| "[[".repeat(n) + &"],[]]".repeat(n)),
    ("transforms", |n| "{1:1}.transformMap(k,v,".repeat(n) + "v" + &")".repeat(n)),
    ("dots", |n| ".".repeat(n)),
    ("questions", |n| "?".repeat(n)),
    ("commas", |n| ",".repeat(n)),
];

/// One row of the table of times.
struct Row {
    name: String,
    bytes: usize,
    tier: Tier,
    accepted: bool,
    time: Duration,
}

/// Compiles, and evaluates what compiles.
fn try_out(engine: &Engine, tier: Tier, name: &str, source: &str) -> Row {
    let env = env();
    let start = cpu_time();
    let result = engine.compile(&env, source);
    let time = cpu_time() - start;
    match &result {
        Ok(program) => drop(program.eval(&bindings(&env), &mut Scratch::new()).map(drop)),
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "{name}: no diagnostics");
            // Names are quoted whole; nothing else grows with the source.
            let text = error.to_string().len();
            assert!(text < 100_000 + 2 * source.len(), "{name}: {text} bytes of diagnostics");
        }
    }
    Row { name: name.to_owned(), bytes: source.len(), tier, accepted: result.is_ok(), time }
}

fn print_slowest(title: &str, mut rows: Vec<Row>) {
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    say(&format!("{title}: {} compilations, the slowest accepted and rejected:", rows.len()));
    for accepted in [true, false] {
        for row in rows.iter().filter(|row| row.accepted == accepted).take(6) {
            let verdict = if accepted { "accepted" } else { "rejected" };
            let name: String = row.name.chars().take(50).collect();
            say(&format!("  {:>9.2?} {verdict} {:?} {} ({} bytes)", row.time, row.tier, name, row.bytes));
        }
    }
}

#[test]
fn shapes_of_every_size_end() {
    let rows = small_stack(|| {
        let mut rows = Vec::new();
        for tier in TIERS {
            let (plain, roomy) = (engine(tier), roomy(tier));
            for (name, make) in SHAPES {
                for n in [0, 1, 3, 4, 30, 120, 249, 250, 251, 1000] {
                    rows.push(try_out(&plain, tier, &format!("{name} x {n}"), &make(n)));
                }
                for n in [10_000, 100_000] {
                    rows.push(try_out(&plain, tier, &format!("{name} x {n}"), &make(n)));
                    rows.push(try_out(&roomy, tier, &format!("{name} x {n} of 4 MiB"), &make(n)));
                }
            }
        }
        rows
    });
    assert!(rows.iter().filter(|row| row.accepted).count() > 200, "hardly any shape is a rule");
    print_slowest("shapes", rows);
}

/// What breaks other parsers: 94 and 125 bytes, doubled signs, nothing at all.
#[test]
fn known_breakers_end() {
    const LONG: &str = "a && (i in [1, 2, 3] ? {'k': [i, -2]}['k'][0] == 1 : s.matches('^a{2,3}\\\\d')) || \
        [1, 2].exists(x, x > 1 && m.?k[?'z'].orValue(1) == 2) || !has(m.k) && 0x1Fu >= 2u && b'\\xff' != b'' && \
        cel.bind(t, '''x''' + r\"\\\", t.size() > 1e3 ? false : timestamp('2024-01-01T00:00:00Z') > timestamp(0)) // end";
    small_stack(|| {
        let mut sources: Vec<String> =
            ["", " ", "1 +", "in", "x.in", "f(1,)", "'\\z'", "变量", "1 /* c */", "\0", "\u{feff}1"]
                .map(String::from)
                .into();
        let motif = "!!(!!!!!!(!!!!(((((!!(!!(!!!!((";
        sources.extend([3, 4].map(|n| motif.repeat(n)));
        sources.push("!!(".repeat(20) + "a" + &")".repeat(20));
        for (at, _) in LONG.char_indices() {
            let (before, after) = LONG.split_at(at);
            sources.push(before.to_owned());
            sources.push(after.to_owned());
        }
        assert!(engine(Tier::Native).compile(&env(), LONG).is_ok(), "{:?}", engine(Tier::Native).compile(&env(), LONG));
        let mut rows = Vec::new();
        for tier in TIERS {
            let engine = engine(tier);
            rows.extend(sources.iter().map(|source| try_out(&engine, tier, source, source)));
        }
        print_slowest("breakers", rows);
    });
}

#[test]
fn random_text_ends() {
    const WORDS: &[&str] = &[
        "a",
        "i",
        "s",
        "m",
        "d",
        "1",
        "1u",
        "1.5",
        "'x'",
        "b'x'",
        "true",
        "null",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        ".",
        ".?",
        "[?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "!",
        "&&",
        "||",
        "==",
        "<",
        " in ",
        ".map(x,",
        ".all(x,",
        ".exists(k,v,",
        "size(",
        "has(",
        "cel.bind(y,",
        "optional.of(",
        ".orValue(",
        "x",
        "y",
        " ",
        "\n",
        "//",
        "\"",
        "'",
        "`",
        "\\",
        "é",
    ];
    small_stack(|| {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let engines = TIERS.map(|tier| (tier, engine(tier)));
        let mut rows = Vec::new();
        for round in 0..1500 {
            let length = random(60) + 1;
            let source = if round % 3 == 0 {
                let bytes: Vec<u8> = (0..length).map(|_| random(256) as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            } else {
                (0..length).map(|_| *WORDS.get(random(WORDS.len())).unwrap()).collect()
            };
            for (tier, engine) in &engines {
                rows.push(try_out(engine, *tier, &source, &source));
            }
        }
        print_slowest("random text", rows);
    });
}

/// The deepest trees that are accepted evaluate on a small stack, to the same in both tiers.
#[test]
fn the_deepest_nesting_evaluates() {
    small_stack(|| {
        let env = env();
        let engines = TIERS.map(engine);
        for (name, make) in SHAPES {
            let Some(n) = (1..=260).rev().find(|n| engines.iter().all(|e| e.compile(&env, &make(*n)).is_ok())) else {
                continue;
            };
            let outcomes = engines.each_ref().map(|engine| {
                let program = engine.compile(&env, &make(n)).unwrap();
                let mut scratch = Scratch::new();
                let bindings = bindings(&env);
                let outcome = program.eval(&bindings, &mut scratch);
                format!("{outcome:?}")
            });
            let [interpreted, native] = &outcomes;
            assert_eq!(interpreted, native, "{name} x {n}");
        }
    });
}

/// Time for `n` and for twice as many: what compiles takes time about linear in its size.
#[test]
fn compiling_is_about_linear() {
    const LINEAR: &[&str] = &[
        "and of different",
        "or of calls",
        "or and",
        "wide list of variables",
        "wide map",
        "wide in",
        "conditionals",
        "nested or",
        "or and in turn",
        "conditionals as condition",
        "conditionals in both",
        "sum of text",
        "sum",
        "macros",
        "macros all",
        "binds",
        "optional or",
    ];
    small_stack(|| {
        let env = env();
        let mut steep: Vec<String> = Vec::new();
        for tier in TIERS {
            let engine = engine(tier);
            for (name, make) in SHAPES.iter().filter(|(name, _)| LINEAR.contains(name)) {
                let accepted = |n: &usize| engine.compile(&env, &make(*n)).is_ok();
                let Some(most) = [4000, 2000, 240, 120, 60].into_iter().find(accepted) else {
                    panic!("{name}: nothing compiles")
                };
                let time = |n: usize| {
                    let source = make(n);
                    let once = || {
                        let start = cpu_time();
                        engine.compile(&env, &source).unwrap();
                        cpu_time() - start
                    };
                    (0..3).map(|_| once()).min().unwrap()
                };
                let times = [most / 4, most / 2, most].map(time);
                let [quarter, half, whole] = times.map(|t| t.as_secs_f64());
                say(&format!(
                    "  {tier:?} {name} x {most}: {times:.2?}, ratios {:.1} {:.1}",
                    half / quarter,
                    whole / half
                ));
                // Linear is 4, quadratic 16, cubic 64; what takes hardly any time says nothing. Loops in loops come near
                // quadratic in native code, which leaves that room for noise; the bound on depth keeps it small.
                let most_allowed = if name.starts_with("macros") { 24.0 } else { 10.0 };
                if whole > 0.01 && whole / quarter > most_allowed {
                    steep.push(format!("{tier:?} {name}: {times:.2?} for a quarter, half, all of {most}"));
                }
            }
        }
        assert!(steep.is_empty(), "{steep:#?}");
    });
}

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

/// Functions that call the one before twice, and chains of them as deep as they may be: refused where they are defined, or
/// evaluated on a small stack.
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
