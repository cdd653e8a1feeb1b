//! Values of named lists, `lists.NAME[key]`: both tiers, programs and sets, while the lists change.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::lists::{Entries, EntryValue, Limits, ListType, Lists, Scalar};
use celero::sets::Indexing;
use celero::{Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Scratch, Tier, Type, Value};
use std::net::IpAddr;

#[derive(Context)]
struct Data {
    peer: IpAddr,
    proxy: Option<IpAddr>,
    host: String,
    port: i64,
    count: u64,
    tags: Vec<String>,
}

fn data(peer: &str, host: &str, port: i64) -> Data {
    Data {
        peer: peer.parse().unwrap(),
        proxy: None,
        host: host.to_owned(),
        port,
        count: port.unsigned_abs(),
        tags: vec!["a.example.com".to_owned(), host.to_owned()],
    }
}

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn lists() -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, ty) in [
        ("geo", "addresses:{country: string, asn: int, vpn: bool}"),
        ("tier", "hosts:string"),
        ("service", "integers:{name: string, weight: int}"),
        ("score", "texts:int"),
        ("flag", "textsIgnoringCase:bool"),
        ("blocked", "addresses"),
        ("area", "wildcards:string"),
        ("shape", "patterns:int"),
    ] {
        lists.declare(name, ty.parse::<ListType>().unwrap()).unwrap();
    }
    lists
}

/// Expressions of every form, for every kind of list, key and value.
const RULES: &[&str] = &[
    "lists.geo[peer].country",
    "lists.geo[peer].country == 'DE'",
    "'DE' == lists.geo[peer].country && lists.geo[peer].asn > 100 && !lists.geo[peer].vpn",
    "lists.geo[peer].asn + 1",
    "lists.geo[peer].vpn",
    "lists.geo[proxy].country",
    "lists.geo[host].asn",
    "lists.geo[ip(peer)].country.size()",
    "lists.geo[dyn(peer)].country.startsWith('D')",
    "lists.geo[dyn(1)].country",
    "peer in lists.geo && lists.geo[peer].country in ['DE', 'FR']",
    "peer in lists.geo ? lists.geo[peer].country : 'none'",
    "has(lists.geo[peer].country)",
    "has(lists.geo[peer].country) && has(lists.geo[peer].asn)",
    "has(lists.geo[?peer].country)",
    "lists.geo[?peer].country",
    "lists.geo[?peer].?country.orValue('ZZ')",
    "lists.geo[?peer].asn.orValue(0) + 1",
    "lists.geo[?peer].vpn.hasValue()",
    "lists.geo[peer].?asn",
    "lists.geo[peer].?country.orValue('ZZ')",
    "default(lists.geo[peer].country, 'ZZ')",
    "coalesce(lists.geo[peer].country, lists.tier[host], 'ZZ')",
    "lists.tier[host]",
    "lists.tier[host] == 'gold' || lists.score[host] > 5",
    "lists.tier[?host].orValue('free')",
    "lists.service[port].name + '/' + string(lists.service[port].weight)",
    "lists.service[count].weight",
    "lists.service[dyn(count)].name",
    "lists.service[18446744073709551615u].name",
    "lists.score[host]",
    "lists.flag[host] ? 1 : 2",
    "lists.area[host] + '/' + string(lists.shape[host])",
    "lists.area[?host].orValue('none')",
    "tags.map(t, lists.shape[?t].orValue(0))",
    "tags.map(t, lists.tier[?t].orValue('-'))",
    "tags.exists(t, lists.tier[t] == 'gold')",
    "[lists.geo[peer].country, host]",
    "{'country': dyn(lists.geo[peer].country), 'of': dyn({lists.tier[host]: lists.geo[peer].asn})}",
    "cel.bind(c, lists.geo[peer].country, c + c + host)",
    "lists.geo[peer].country.matches('^D')",
    "lists.geo[peer].country < host",
    "json('{\"a\": 1}').a == lists.score[host]",
    "country() == 'DE'",
];

fn env(lists: &Lists) -> Env<Data> {
    let env = Env::<Data>::new().lists(lists).define("country() -> string", "lists.geo[peer].country");
    assert_eq!(env.problems(), []);
    env
}

fn contexts() -> Vec<Data> {
    vec![
        data("192.0.2.7", "www.example.com", 443),
        data("2001:db8::7", "a.example.com:80", 80),
        data("::ffff:192.0.2.130", "192.0.2.7", -1),
        data("198.51.100.1", "", i64::MAX),
        Data { proxy: Some("192.0.2.9".parse().unwrap()), ..data("203.0.113.1", "no address", 8_080) },
    ]
}

fn fields(fields: &[(&str, Scalar)]) -> EntryValue {
    fields.iter().map(|(name, value)| (*name, value.clone())).collect()
}

/// What the lists hold changes between evaluations; rules are compiled once.
fn changes() -> Vec<(&'static str, &'static str, Option<EntryValue>)> {
    vec![
        ("blocked", "10.0.0.0/8", Some(EntryValue::default())),
        ("area", "*.example.com*", Some("example".into())),
        ("area", "*", Some("all".into())),
        ("shape", r"^\w\.", Some(1.into())),
        ("shape", r"example\.com$", Some(2.into())),
        ("shape", "^www", Some(3.into())),
        ("geo", "192.0.2.0/24", Some(fields(&[("country", "DE".into()), ("asn", 3320.into()), ("vpn", false.into())]))),
        ("geo", "192.0.2.128/25", Some(fields(&[("country", "FR".into()), ("vpn", true.into())]))),
        ("geo", "0.0.0.0/0", Some(fields(&[("asn", i64::MIN.into())]))),
        ("tier", "*.example.com", Some("gold".into())),
        ("tier", "www.example.com", Some("".into())),
        ("service", "0..65535", Some(fields(&[("name", "any".into()), ("weight", 1.into())]))),
        ("service", "443", Some(fields(&[("name", "https".into())]))),
        ("score", "www.example.com", Some(7.into())),
        ("score", "a.example.com:80", Some(1.into())),
        ("flag", "WWW.EXAMPLE.COM", Some(true.into())),
        ("geo", "192.0.2.0/24", Some(fields(&[("country", "D".into())]))),
        ("geo", "2001:db8::/32", Some(fields(&[("country", "\u{1f1e9}\u{1f1ea}".into()), ("asn", 64_496.into())]))),
        ("geo", "192.0.2.128/25", None),
        ("tier", "www.example.com", None),
    ]
}

fn change(lists: &Lists, (list, entry, value): (&str, &str, Option<EntryValue>)) {
    let change = lists.change();
    let change = match value {
        Some(value) => change.insert_value(list, entry, value, None),
        None => change.remove(list, entry),
    };
    change.commit().unwrap();
}

/// A value, or the kind and the place of an error.
fn shown(result: Result<Value<'_>, celero::EvalError>) -> String {
    result.map_or_else(|error| format!("{:?} {}..{}", error.kind, error.start, error.end), |value| format!("{value:?}"))
}

#[test]
fn both_tiers_read_the_values_as_they_are() {
    let lists = lists();
    let env = env(&lists);
    let program = |tier, rule| engine(tier).compile(&env, rule).unwrap_or_else(|error| panic!("{error}"));
    let programs: Vec<_> = RULES.iter().map(|rule| TIERS.map(|tier| program(tier, rule))).collect();
    let is_test: Vec<bool> = programs.iter().map(|[program, _]| *program.result_type() == Type::Bool).collect();
    let tests: Vec<&str> = RULES.iter().zip(&is_test).filter(|(_, test)| **test).map(|(rule, _)| *rule).collect();
    let set = |tier, indexing| {
        let rules = tests.iter().fold(engine(tier).rules(&env), |set, rule| set.rule(rule, rule, ()));
        rules.on_error(ErrorPolicy::NoMatch).index(indexing).build().unwrap()
    };
    let sets = [
        set(Tier::Interpret, Indexing::Off),
        set(Tier::Native, Indexing::Off),
        set(Tier::Native, Indexing::Auto),
        set(Tier::Native, Indexing::Always),
    ];
    let (mut one, mut other) = (Scratch::new(), Scratch::new());
    let mut seen = std::collections::BTreeMap::<usize, std::collections::BTreeSet<String>>::new();
    for step in changes() {
        change(&lists, step);
        for context in &contexts() {
            let mut matching = Vec::new();
            for (number, [interpreted, native]) in programs.iter().enumerate() {
                assert!(native.is_native());
                let expected = shown(interpreted.eval(context, &mut one));
                assert_eq!(shown(native.eval(context, &mut other)), expected, "{}", RULES.get(number).unwrap());
                if is_test.get(number) == Some(&true) {
                    let expected = interpreted.test(context);
                    assert_eq!(native.test(context), expected);
                    assert_eq!(native.test_with(context, &mut other), expected);
                    matching.push(expected == Ok(true));
                }
                seen.entry(number).or_default().insert(expected);
            }
            let matching: Vec<usize> =
                matching.iter().enumerate().filter(|(_, matches)| **matches).map(|(number, _)| number).collect();
            for set in &sets {
                assert_eq!(set.indices(context, &mut one).unwrap(), matching);
            }
        }
    }
    // The lists decided something: no rule but the two whose keys no list can have was always the same.
    for (number, results) in &seen {
        let rule = RULES.get(*number).unwrap();
        let never = rule.contains("dyn(1)") || rule.contains("18446744073709551615u");
        assert!(never || results.len() > 1, "{rule}: {results:?}");
    }
}

/// A value is the text in the list, not a copy. It stays as it is for as long as the scratch is not used again.
#[test]
fn text_outlives_the_lists_it_is_from() {
    let lists = lists();
    let env = env(&lists);
    let context = data("192.0.2.7", "h", 1);
    let long = "x".repeat(4_000);
    for tier in TIERS {
        for rule in ["lists.geo[peer].country", "[lists.geo[peer].country][0]", "lists.geo[?peer].country.orValue('')"]
        {
            let program = engine(tier).compile(&env, rule).unwrap();
            change(&lists, ("geo", "192.0.2.0/24", Some(fields(&[("country", long.as_str().into())]))));
            let mut scratch = Scratch::new();
            let value = program.eval(&context, &mut scratch).unwrap();
            // Every version of the list that had the text is replaced, and the texts of others take its place.
            for round in 0..50 {
                let mut entries =
                    Entries::new("addresses:{country: string, asn: int, vpn: bool}".parse::<ListType>().unwrap());
                entries.insert("192.0.2.0/24", [("country", round.to_string().repeat(2_000).into())]).unwrap();
                lists.change().replace("geo", entries).commit().unwrap();
                lists.merge();
            }
            assert!(matches!(value, Value::String(text) if text == long), "{rule} {tier:?}");
        }
    }
}

/// A country and its network's number change together; no evaluation sees one of each.
#[test]
fn an_entry_is_read_in_one_generation() {
    let lists = lists();
    let env = env(&lists);
    let rule = "(lists.geo[peer].country == 'DE') != (lists.geo[peer].asn == 1) || (lists.tier[host] == 'DE') != (lists.geo[peer].asn == 1)";
    let program = engine(Tier::Native).compile(&env, rule).unwrap();
    let country = engine(Tier::Native).compile(&env, "lists.geo[peer].country").unwrap();
    let set = |number: i64| {
        let country = if number == 1 { "DE" } else { "FR" };
        let value = fields(&[("country", country.into()), ("asn", number.into())]);
        lists
            .change()
            .insert_value("geo", "192.0.2.0/24", value, None)
            .insert_value("tier", "h", country, None)
            .commit()
            .unwrap();
    };
    set(1);
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let (context, mut scratch) = (data("192.0.2.1", "h", 7), Scratch::new());
            let mut seen = [0_u32; 2];
            // Both states have to be seen, or nothing was tested.
            while seen.iter().sum::<u32>() < 400 || seen.contains(&0) {
                assert_eq!(program.test(&context), Ok(false));
                let value = country.eval(&context, &mut scratch).unwrap();
                match value {
                    Value::String("DE") => seen[0] += 1,
                    Value::String("FR") => seen[1] += 1,
                    other => panic!("{other:?}"),
                }
            }
        });
        while !reader.is_finished() {
            set(2);
            set(1);
        }
    });
}

#[test]
fn wrong_uses_are_found_when_a_rule_is_compiled() {
    let env = env(&lists());
    for (rule, code, says) in [
        ("lists.goe[peer].country", "unknown-list", "did you mean `lists.geo`?"),
        (
            "lists.other[peer]",
            "unknown-list",
            "there are the lists `lists.area`, `lists.blocked`, `lists.flag`, `lists.geo`, `lists.score`, `lists.service`, `lists.shape`, `lists.tier`",
        ),
        ("lists.geo[peer].contry == 'DE'", "no-fields", "did you mean `country`?"),
        ("lists.geo[peer].city == ''", "no-fields", "there are the fields asn, country, vpn"),
        ("has(lists.geo[peer].city)", "no-fields", "the values of `lists.geo` have no field `city`"),
        ("lists.geo[peer]", "list-use", "select one of its fields: asn, country, vpn"),
        ("lists.geo[peer] == lists.geo[peer]", "list-use", "is not a value itself"),
        ("lists.geo[peer]['country']", "list-use", "is not a value itself"),
        ("lists.blocked[peer]", "list-use", "ask whether it contains the key: `key in lists.blocked`"),
        ("lists.blocked[peer].country", "list-use", "the list `blocked` has no values"),
        ("lists.geo", "list-use", "or for its value, `lists.geo[key]`"),
        ("lists.geo[port].country", "list-use", "is asked for an address: a `string` or a `net.IP`, this is `int`"),
        ("lists.service[host].name", "list-use", "an `int` or a `uint`"),
        ("lists.tier[host].country", "no-fields", "a value of type `string` has no field `country`"),
        ("lists.geo[peer].asn == 'x'", "no-matching-overload", ""),
        ("lists.geo[?peer].country == 'x'", "no-matching-overload", ""),
        ("lists.geo[peer].country.city", "no-fields", "a value of type `string` has no field `city`"),
    ] {
        let error = Engine::new().compile(&env, rule).unwrap_err();
        assert!(error.diagnostics().iter().any(|found| found.code == code), "{rule}: {error}");
        assert!(error.to_string().contains(says), "{rule}: {error}");
    }
    let without = env.clone().library(celero::settings::Library::Optionals, false);
    for rule in ["lists.geo[?peer].country == dyn(1)", "lists.geo[peer].?country == dyn(1)"] {
        let error = Engine::new().compile(&without, rule).unwrap_err();
        assert!(error.to_string().contains("optionals"), "{error}");
    }
    // Without static types, the error is one of the evaluation.
    for tier in TIERS {
        let unchecked = engine(tier).compile(&env.clone().unchecked(true), "lists.geo[port].country").unwrap();
        let error = unchecked.test(&data("192.0.2.1", "h", 1)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NoSuchOverload);
    }
}

#[test]
fn errors_have_their_place() {
    let lists = lists();
    let env = env(&lists);
    change(&lists, ("geo", "192.0.2.0/24", Some(fields(&[("country", "DE".into())]))));
    for tier in TIERS {
        for (rule, kind, place) in [
            ("port == 1 && lists.geo[peer].asn > 0", ErrorKind::NoSuchKey, 13..32),
            ("port == 1 && lists.tier[host] == ''", ErrorKind::NoSuchKey, 13..29),
            ("port == 1 && lists.geo[host].asn > 0", ErrorKind::InvalidArgument, 13..32),
        ] {
            let program = engine(tier).compile(&env, rule).unwrap();
            let context = data("192.0.2.1", "no address", 1);
            let error = program.test(&context).unwrap_err();
            assert_eq!((error.kind, error.start..error.end), (kind, place), "{rule} {tier:?}");
            let report = program.describe(&error, &context).to_string();
            assert!(kind != ErrorKind::NoSuchKey || report.contains("the list has no `lists."), "{report}");
            assert!(!program.is_pure());
        }
    }
}

/// Long keys cost steps, in both tiers.
#[test]
fn questions_are_charged() {
    let env = env(&lists());
    let context = data("192.0.2.1", &"x".repeat(1 << 20), 1);
    for tier in TIERS {
        let limits = celero::Limits { steps: 10_000, ..celero::Limits::default() };
        let engine = Engine::builder().tier(tier).limits(limits).build();
        for rule in ["lists.score[host] == 1", "lists.flag[host]", "lists.tier[host] == ''", "lists.geo[host].vpn"] {
            let program = engine.compile(&env, rule).unwrap();
            assert_eq!(program.test(&context).unwrap_err().kind, ErrorKind::OutOfBudget, "{rule} {tier:?}");
        }
    }
}

/// A field of the filter language may be a value of a list; the language has no such values itself.
#[test]
fn fields_of_the_filter_language_read_values() {
    let lists = lists();
    let language = celero::filter::FilterLanguage::new().field("ip.src.country", "lists.geo[peer].country");
    let env = Env::<Data>::new().lists(&lists).filter_language(language);
    assert_eq!(env.problems(), []);
    change(&lists, ("geo", "192.0.2.0/24", Some(fields(&[("country", "DE".into())]))));
    for tier in TIERS {
        let program = engine(tier).compile(&env, "ip.src.country in {\"DE\" \"FR\"}").unwrap();
        let peers = ["192.0.2.1", "198.51.100.1"].map(|peer| program.test(&data(peer, "h", 1)));
        assert_eq!(peers, [Ok(true), Ok(false)]);
    }
}

#[test]
fn values_have_no_translation() {
    let lists = lists();
    let language = celero::filter::FilterLanguage::new().field("ip.src.country", "lists.geo[peer].country");
    let env = Env::<Data>::new().lists(&lists).filter_language(language);
    assert_eq!(env.problems(), []);
    for rule in [
        "lists.geo[peer].country == 'DE'",
        "lists.tier['a'] == 'b'",
        "has(lists.geo[peer].country)",
        "lists.flag[host]",
        "lists.geo[?peer].country.orValue('ZZ') == 'DE'",
    ] {
        assert!(Engine::new().to_filter(&env, rule).is_err(), "{rule}");
    }
}

#[test]
fn bindings_read_values_too() {
    let lists = lists();
    change(&lists, ("tier", "*.example.com", Some("gold".into())));
    let env = Env::dynamic().variable("host", Type::String).lists(&lists);
    for tier in TIERS {
        let program = engine(tier).compile(&env, "lists.tier[host] == 'gold'").unwrap();
        let mut call = Bindings::new(&env);
        call.set("host", Value::String("a.example.com")).unwrap();
        assert_eq!(program.test(&call), Ok(true));
    }
}
