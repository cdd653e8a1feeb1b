//! Named lists of the host, `value in lists.NAME`: both tiers, programs, sets and live rules, while the lists change.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::lists::{Kind, Limits, ListId, ListType, Lists};
use celero::sets::Indexing;
use celero::{Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Live, Program, Rule, Scratch, Tier, Type, Value};
use std::net::IpAddr;

#[derive(Context)]
struct Data {
    peer: IpAddr,
    proxy: Option<IpAddr>,
    host: String,
    port: i64,
    count: u64,
    absent: Option<String>,
    tags: Vec<String>,
}

fn data(peer: &str, host: &str, port: i64) -> Data {
    Data {
        peer: peer.parse().unwrap(),
        proxy: None,
        host: host.to_owned(),
        port,
        count: port.unsigned_abs(),
        absent: None,
        tags: vec!["a".to_owned(), host.to_owned()],
    }
}

fn lists() -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, kind) in [
        ("blocked", Kind::Addresses),
        ("tenants", Kind::Hosts),
        ("paths", Kind::Texts),
        ("agents", Kind::TextsIgnoringCase),
        ("ports", Kind::Integers),
        ("cf.bad", Kind::Addresses),
        ("shapes", Kind::Patterns),
        ("areas", Kind::Wildcards),
    ] {
        lists.declare(name, kind).unwrap();
    }
    lists
}

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

/// Rules in CEL; in the filter language, if it can say the same.
const RULES: &[(&str, &str)] = &[
    ("peer in lists.blocked", "peer in $blocked"),
    (".lists.blocked == .lists.blocked || true", ""),
    ("!(peer in lists.blocked)", "not peer in $blocked"),
    ("ip(peer) in lists.blocked", ""),
    ("peer in lists.cf.bad", "peer in $cf.bad"),
    ("proxy in lists.blocked", "proxy in $blocked"),
    ("host in lists.tenants", "host in $tenants"),
    ("host in lists.paths || host in lists.agents", "host in $paths or host in $agents"),
    ("host in lists.blocked", ""),
    ("host in lists.shapes", "host in $shapes"),
    ("host in lists.areas", "host in $areas"),
    ("tags.exists(tag, tag in lists.shapes && !(tag in lists.areas))", ""),
    ("dyn(host) in lists.shapes || 'a' in lists.areas", ""),
    ("port in lists.ports && count in lists.ports", "port in $ports"),
    ("dyn(peer) in lists.blocked", ""),
    ("peer in lists.paths", ""),
    ("proxy in lists.tenants", ""),
    ("dyn(peer) in lists.paths", ""),
    ("dyn(port) in lists.ports && dyn(count) in lists.ports", ""),
    ("dyn(1.5) in lists.ports", ""),
    ("dyn(null) in lists.tenants", ""),
    ("absent in lists.tenants", "absent in $tenants"),
    ("tags.exists(tag, tag in lists.tenants)", "any(tags[*] in $tenants)"),
    ("'www.example.com' in lists.tenants && 443 in lists.ports", ""),
    ("port in lists.ports ? 'yes' in lists.paths : peer in lists.blocked", ""),
];

fn contexts() -> Vec<Data> {
    vec![
        data("192.0.2.7", "www.example.com", 443),
        data("2001:db8::7", "WWW.Example.COM.:443", 80),
        data("::ffff:192.0.2.7", "192.0.2.7", -1),
        data("198.51.100.1", "", i64::MAX),
        Data { proxy: Some("192.0.2.9".parse().unwrap()), ..data("203.0.113.1", "no address", 8_080) },
    ]
}

/// Lists change between the evaluations; rules are compiled once, and nothing of a list becomes part of them.
#[test]
fn both_tiers_ask_the_lists_as_they_are() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    assert_eq!(env.problems(), []);
    let rules: Vec<&str> = RULES.iter().map(|(rule, _)| *rule).filter(|rule| !rule.starts_with('.')).collect();
    let program = |tier, rule| engine(tier).compile(&env, rule).unwrap_or_else(|error| panic!("{error}"));
    let programs = rules.iter().map(|rule| TIERS.map(|tier| program(tier, rule)));
    let programs: Vec<_> = programs.collect();
    let set = |tier, indexing| {
        let rules = rules.iter().fold(engine(tier).rules(&env), |set, rule| set.rule(rule, rule, ()));
        rules.on_error(ErrorPolicy::NoMatch).index(indexing).build().unwrap()
    };
    let sets = [
        set(Tier::Interpret, Indexing::Off),
        set(Tier::Native, Indexing::Off),
        set(Tier::Native, Indexing::Auto),
        set(Tier::Native, Indexing::Always),
    ];
    let live = Live::new(engine(Tier::Native), env.clone());
    for rule in &rules {
        live.insert(Rule::new(rule, rule, ()).on_error(ErrorPolicy::NoMatch)).unwrap();
    }
    let changes: [(&str, &[&str]); 10] = [
        ("ports", &[]),
        ("blocked", &["192.0.2.0/24"]),
        ("blocked", &["2001:db8::/32", "0.0.0.0/0"]),
        ("tenants", &["*.example.com"]),
        ("ports", &["443", "8000..9000", "-5..-1"]),
        ("paths", &["yes", "192.0.2.7", "no address"]),
        ("agents", &["www.EXAMPLE.com"]),
        ("shapes", &["^a$", "(?i)example", r"^\d+\."]),
        ("areas", &["www.*.com", "*ress"]),
        ("areas", &["a"]),
    ];
    let mut scratch = Scratch::new();
    let mut seen = std::collections::BTreeSet::new();
    for (list, entries) in changes {
        entries.iter().fold(lists.change(), |change, entry| change.insert(list, entry)).commit().unwrap();
        for context in &contexts() {
            let mut matching = Vec::new();
            for (number, (rule, [interpreted, native])) in rules.iter().zip(&programs).enumerate() {
                assert!(native.is_native());
                let expected = interpreted.test(context);
                assert_eq!(native.test(context), expected, "{rule} after {list}");
                assert_eq!(native.test_with(context, &mut scratch), expected, "{rule}");
                let value = native.eval(context, &mut scratch).map(|value| matches!(value, Value::Bool(true)));
                assert_eq!(value, expected, "{rule}");
                if expected == Ok(true) {
                    matching.push(number);
                }
                seen.insert((number, expected.map_err(|error| error.kind as u32)));
            }
            for set in &sets {
                assert_eq!(set.indices(context, &mut scratch).unwrap(), matching);
                assert_eq!(set.first(context, &mut scratch).unwrap().map(|rule| rule.index), matching.first().copied());
                assert_eq!(set.any(context, &mut scratch).unwrap(), !matching.is_empty());
                for number in 0..rules.len() {
                    let expected = matching.contains(&number);
                    let answer = set.test(number, context, &mut scratch).unwrap();
                    assert_eq!(answer.unwrap_or(false), expected, "{number}");
                }
            }
            assert_eq!(live.load().count(context, &mut scratch).unwrap(), matching.len());
        }
    }
    // The lists decided something: most rules were both true and false.
    let both =
        (0..rules.len()).filter(|&number| seen.contains(&(number, Ok(true))) && seen.contains(&(number, Ok(false))));
    assert!(both.count() >= 11, "{seen:?}");
}

#[test]
fn the_filter_language_asks_the_same_lists() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    let filter = env.clone().filter_language(FilterLanguage::new());
    let change = lists.change().insert("blocked", "192.0.2.0/24").insert("tenants", "*.example.com");
    change.insert("ports", "80..443").insert("paths", "x").insert("cf.bad", "203.0.113.0/24").commit().unwrap();
    for (cel, rule) in RULES.iter().filter(|(_, rule)| !rule.is_empty()) {
        for context in &contexts() {
            let cel = engine(Tier::Interpret).compile(&env, cel).unwrap().test(context);
            // A missing value is false there.
            let expected = cel.or_else(|error| if error.kind == ErrorKind::NoSuchKey { Ok(false) } else { Err(error) });
            for tier in TIERS {
                let program = engine(tier).compile(&filter, rule).unwrap();
                assert_eq!(program.test(context), expected, "{rule} {tier:?}");
            }
        }
    }
}

/// Two lists change together; an evaluation that asks both, in several rules and functions, never
/// sees one without the other.
#[test]
fn an_evaluation_sees_one_generation() {
    let lists = Lists::new(Limits::default());
    for name in ["a", "b"] {
        lists.declare(name, Kind::Integers).unwrap();
    }
    let env = Env::<Data>::new().lists(&lists);
    let torn = "(port in lists.a) != (port in lists.b)";
    let engine = Engine::new();
    let program = engine.compile(&env, torn).unwrap();
    // More rules than one function has, and calls that take a moment between the two questions.
    let rules = (0..200).fold(engine.rules(&env).index(Indexing::Off), |rules, number| {
        let list = if number % 2 == 0 { "a" } else { "b" };
        rules.rule("", &format!("port in lists.{list} && host != '{number}'"), number % 2)
    });
    let rules = rules.build().unwrap();
    let live = Live::new(engine.clone(), env.clone());
    for number in 0..20 {
        let list = if number % 2 == 0 { "a" } else { "b" };
        live.insert(Rule::new("", &format!("port in lists.{list} && host != '{number}'"), number % 2)).unwrap();
    }
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let (context, mut scratch) = (data("192.0.2.1", "h", 7), Scratch::new());
            let mut counts = Vec::new();
            // Both states have to be seen, or nothing was tested.
            while counts.len() < 400 || !counts.contains(&0) || !counts.contains(&200) {
                assert_eq!(program.test(&context), Ok(false));
                let count = rules.count(&context, &mut scratch).unwrap();
                assert!([0, 200].contains(&count), "torn: {count}");
                counts.push(count);
                let count = live.load().count(&context, &mut scratch).unwrap();
                assert!([0, 20].contains(&count), "torn: {count}");
            }
        });
        // Until the reader has seen enough, or has failed.
        while !reader.is_finished() {
            lists.change().insert("a", "7").insert("b", "7").commit().unwrap();
            lists.change().remove("a", "7").remove("b", "7").commit().unwrap();
        }
    });
}

#[test]
fn wrong_uses_are_found_when_a_rule_is_compiled() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    for (rule, code, says) in [
        ("peer in lists.blokced", "unknown-list", "did you mean `lists.blocked`?"),
        (
            "peer in lists.other",
            "unknown-list",
            "there are the lists `lists.agents`, `lists.areas`, `lists.blocked`, `lists.cf.bad`, `lists.paths`, `lists.ports`, `lists.shapes`, `lists.tenants`",
        ),
        ("lists.other == 1", "unknown-list", "there is no list `other`"),
        ("port in lists.blocked", "list-use", "the list `blocked` is asked for an address: a `string` or a `net.IP`"),
        ("host in lists.ports", "list-use", "an `int` or a `uint`"),
        ("b'x' in lists.paths", "list-use", "a `string`, this is `bytes`"),
        ("size(lists.blocked) > 1", "list-use", "the list `blocked` is not a value"),
        ("lists.blocked.exists(x, true)", "list-use", "not a value"),
        ("lists.blocked[peer]", "list-use", "the list `blocked` has no values"),
        ("tags.all(t, lists.tenants)", "list-use", "`value in lists.tenants`"),
        ("cel.bind(l, lists.blocked, peer in l)", "list-use", "not a value"),
        ("has(lists.blocked)", "list-use", "not a value"),
    ] {
        let error = Engine::new().compile(&env, rule).unwrap_err();
        assert!(error.diagnostics().iter().any(|found| found.code == code), "{rule}: {error}");
        assert!(error.to_string().contains(says), "{rule}: {error}");
    }
    let unknown = Engine::new().compile(&env.filter_language(FilterLanguage::new()), "peer in $blokced").unwrap_err();
    let text = unknown.to_string();
    assert!(
        text.contains("did you mean `$blocked`?") && text.contains("the lists of type Ip are $blocked, $cf.bad"),
        "{text}"
    );
    let none = Env::<Data>::new().filter_language(FilterLanguage::new());
    let error = Engine::new().compile(&none, "port in $ports").unwrap_err().to_string();
    assert!(error.contains("there are no lists of type Int"), "{error}");
    let any = Env::<Data>::new().filter_language(FilterLanguage::new().any_list(true));
    for tier in TIERS {
        let program = engine(tier).compile(&any, "not port in $ports and not peer in $x").unwrap();
        assert_eq!(program.test(&data("192.0.2.1", "h", 1)), Ok(true));
    }
}

#[test]
fn names_hide_lists_and_are_reported() {
    let lists = lists();
    let hidden = Env::dynamic().variable("lists.ports", Type::list(Type::Int)).lists(&lists);
    assert!(hidden.problems().iter().any(|problem| problem.to_string().contains("list `ports`")), "{hidden:?}");
    let twice = Env::dynamic().lists(&lists).lists(&lists);
    assert_eq!(twice.problems().len(), 1);
    // The variable of a macro is nearer.
    let env = Env::dynamic().lists(&lists);
    let rule = "[{'ports': [1]}].exists(lists, 1 in lists.ports)";
    assert_eq!(Engine::new().compile(&env, rule).unwrap().test(&Bindings::new(&env)), Ok(true));
    // Definitions ask lists too, and arguments are checked as elsewhere.
    let env = Env::dynamic().lists(&lists).define("known(port: int) -> bool", "port in lists.ports");
    lists.change().insert("ports", "7").commit().unwrap();
    for tier in TIERS {
        let program = engine(tier).compile(&env, "known(7) && !known(8)").unwrap();
        assert_eq!(program.test(&Bindings::new(&env)), Ok(true));
        assert!(!program.is_pure());
    }
}

/// A text that is no address is an error, at the place of the question; a report says so without
/// asking the lists again.
#[test]
fn errors_have_their_place() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    for tier in TIERS {
        let program = engine(tier).compile(&env, "port == 1 && host in lists.blocked").unwrap();
        let context = data("192.0.2.1", "no address", 1);
        let error = program.test(&context).unwrap_err();
        assert_eq!((error.kind, error.start, error.end), (ErrorKind::InvalidArgument, 13, 34), "{tier:?}");
        assert!(!program.describe(&error, &context).to_string().is_empty());
        let unchecked = engine(tier).compile(&env.clone().unchecked(true), "port in lists.blocked").unwrap();
        assert_eq!(unchecked.test(&context).unwrap_err().kind, ErrorKind::NoSuchOverload);
    }
}

/// Long texts cost steps, in both tiers.
#[test]
fn questions_are_charged() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    let context = data("192.0.2.1", &"x".repeat(1 << 20), 1);
    for tier in TIERS {
        let limits = celero::Limits { steps: 10_000, ..celero::Limits::default() };
        let engine = Engine::builder().tier(tier).limits(limits).build();
        for list in ["paths", "agents", "tenants", "blocked", "shapes", "areas"] {
            let program = engine.compile(&env, &format!("host in lists.{list}")).unwrap();
            assert_eq!(program.test(&context).unwrap_err().kind, ErrorKind::OutOfBudget, "{list} {tier:?}");
        }
    }
}

/// Of a text that makes a pattern slow, what the search costs is charged: much more than reading the text.
#[test]
fn slow_patterns_are_charged() {
    let lists = lists();
    lists.change().insert("shapes", "(?:a.{60}b|b.{60}c|c.{60}a)$").commit().unwrap();
    let env = Env::<Data>::new().lists(&lists);
    let text: String = ["a", "b", "c", "ab", "é"].iter().cycle().take(10_000).copied().collect();
    let context = data("192.0.2.1", &text, 1);
    for tier in TIERS {
        let reading = u32::try_from(text.len() / 8 + 100).unwrap();
        for (steps, expected) in [(reading, Err(ErrorKind::OutOfBudget)), (100_000_000, Ok(false))] {
            let limits = celero::Limits { steps, ..celero::Limits::default() };
            let engine = Engine::builder().tier(tier).limits(limits).build();
            let program = engine.compile(&env, "host in lists.shapes").unwrap();
            assert_eq!(program.test(&context).map_err(|error| error.kind), expected, "{tier:?} {steps}");
        }
    }
}

/// The lookups in all lists that `ask` makes, by the numbers of the lists.
fn lookups<R>(lists: &Lists, ask: impl FnOnce() -> R) -> Vec<u64> {
    let ids: Vec<ListId> = (0..).take(lists.load().infos().count()).map(ListId::from_number).collect();
    let counts = || ids.iter().map(|id| lists.lookups(*id));
    let before: Vec<u64> = counts().collect();
    let _ = ask();
    counts().zip(before).map(|(after, before)| after.wrapping_sub(before)).collect()
}

#[test]
fn both_tiers_count_the_same_lookups() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    let filter = env.clone().filter_language(FilterLanguage::new());
    let change = lists.change().insert("blocked", "192.0.2.0/24").insert("tenants", "*.example.com");
    change.insert("ports", "80..443").insert("paths", "no address").insert("shapes", "^a$").commit().unwrap();
    let cel = RULES.iter().map(|(rule, _)| (&env, *rule)).filter(|(_, rule)| !rule.starts_with('.'));
    let filters = RULES.iter().map(|(_, rule)| (&filter, *rule)).filter(|(_, rule)| !rule.is_empty());
    let mut most = 0;
    for (env, rule) in cel.chain(filters) {
        let programs = TIERS.map(|tier| engine(tier).compile(env, rule).unwrap());
        for context in &contexts() {
            let asked = |program: &Program<_>| {
                let tested = lookups(&lists, || program.test(context));
                assert_eq!(lookups(&lists, || program.test_with(context, &mut Scratch::new())), tested, "{rule}");
                assert_eq!(lookups(&lists, || program.eval(context, &mut Scratch::new()).is_ok()), tested, "{rule}");
                tested
            };
            let [interpreted, native] = [&programs[0], &programs[1]].map(asked);
            assert_eq!(native, interpreted, "{rule} for {} {} {}", context.peer, context.host, context.port);
            most = most.max(native.iter().sum());
        }
    }
    assert_eq!(most, 2, "rules ask two lists");
}

/// Each question of an evaluation is a lookup, whatever it finds; what is not asked is none, and
/// reading a value is none beside finding its entry.
#[test]
fn a_lookup_is_a_question_that_is_asked() {
    let lists = Lists::new(Limits::default());
    lists.declare("nets", "addresses:{name: string, rank: int}".parse::<ListType>().unwrap()).unwrap();
    lists.declare("ports", Kind::Integers).unwrap();
    lists.declare("unused", Kind::Texts).unwrap();
    let values = [("name", "a".into()), ("rank", 7.into())];
    lists.change().insert_value("nets", "192.0.2.0/24", values, None).insert("ports", "443").commit().unwrap();
    let env = Env::<Data>::new().lists(&lists);
    for tier in TIERS {
        for (rule, peer, host, expected) in [
            ("peer in lists.nets", "192.0.2.7", "", [1, 0, 0]),
            ("peer in lists.nets", "2001:db8::1", "", [1, 0, 0]),
            ("peer in lists.nets && port in lists.ports", "192.0.2.7", "", [1, 1, 0]),
            ("peer in lists.nets && port in lists.ports", "198.51.100.1", "", [1, 0, 0]),
            ("peer in lists.nets || port in lists.ports", "192.0.2.7", "", [1, 0, 0]),
            ("lists.nets[peer].name == 'a'", "192.0.2.7", "", [1, 0, 0]),
            // The key is absent: an error.
            ("lists.nets[peer].name == 'a'", "198.51.100.1", "", [1, 0, 0]),
            ("lists.nets[?peer].rank.orValue(7) == 7", "198.51.100.1", "", [1, 0, 0]),
            ("peer in lists.nets && lists.nets[peer].rank > 0", "192.0.2.7", "", [2, 0, 0]),
            // An address in a text, and a text that holds none: nothing is searched for.
            ("host in lists.nets", "192.0.2.7", "192.0.2.7", [1, 0, 0]),
            ("host in lists.nets", "192.0.2.7", "example.com", [0, 0, 0]),
            ("'192.0.2.7' in lists.nets && 443 in lists.ports", "192.0.2.7", "", [1, 1, 0]),
            ("tags.all(tag, port in lists.ports)", "192.0.2.7", "", [0, 2, 0]),
        ] {
            let program = engine(tier).compile(&env, rule).unwrap();
            let context = data(peer, host, 443);
            let counted = lookups(&lists, || program.test(&context));
            assert_eq!(counted, expected, "{rule} {peer} {tier:?}");
        }
    }
    // Interpreted by a trace; a report asks no list.
    let program = engine(Tier::Native).compile(&env, "lists.nets[peer].rank == 7").unwrap();
    let (context, mut scratch) = (data("198.51.100.1", "", 1), Scratch::new());
    assert_eq!(lookups(&lists, || program.trace(&context, &mut scratch).is_ok()), [1, 0, 0]);
    let error = program.test(&context).unwrap_err();
    assert_eq!(lookups(&lists, || program.describe(&error, &context)), [0, 0, 0]);
}

/// Rules of a set that no index finds: native code that is compiled for several of them may search once.
#[test]
fn rules_that_are_compiled_together_may_share_lookups() {
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    let counted = TIERS.map(|tier| {
        let rules = engine(tier).rules(&env).index(Indexing::Off);
        let set = rules.rule("a", "port in lists.ports", ()).rule("b", "port in lists.ports && port == 1", ());
        let (set, mut scratch) = (set.build().unwrap(), Scratch::new());
        lookups(&lists, || set.count(&data("192.0.2.7", "", 1), &mut scratch)).iter().sum::<u64>()
    });
    assert!(counted[0] == 2 && (1..=2).contains(&counted[1]), "{counted:?}");
}

/// Programs, sets and live rules on many threads, while the lists change.
#[test]
fn lookups_of_all_threads_are_counted() {
    const THREADS: usize = 12;
    const ROUNDS: u64 = 200;
    let lists = lists();
    let env = Env::<Data>::new().lists(&lists);
    let engine = engine(Tier::Native);
    let program = engine.compile(&env, "peer in lists.blocked").unwrap();
    let set = engine.rules(&env).rule("", "host in lists.tenants", ()).build().unwrap();
    let live = Live::new(engine.clone(), env.clone());
    live.insert(Rule::new("", "port in lists.ports", ())).unwrap();
    let counted = lookups(&lists, || {
        std::thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| {
                    let (context, mut scratch) = (data("192.0.2.7", "h", 7), Scratch::new());
                    for _ in 0..ROUNDS {
                        program.test(&context).unwrap();
                        set.count(&context, &mut scratch).unwrap();
                        set.first(&context, &mut scratch).unwrap();
                        live.load().count(&context, &mut scratch).unwrap();
                    }
                    lists.change().insert("blocked", "192.0.2.7").insert("ports", "7").commit().unwrap();
                });
            }
        });
    });
    let each = ROUNDS * u64::try_from(THREADS).unwrap();
    assert_eq!(counted, [each, 2 * each, 0, 0, each, 0, 0, 0]);
}
