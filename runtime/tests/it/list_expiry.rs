//! Entries of named lists that have expired: no tier, program, set or live rule finds them, also before they are
//! removed.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::lists::{EntryValue, Limits, ListType, Lists};
use celero::sets::Indexing;
use celero::{Context, Engine, Env, ErrorKind, ErrorPolicy, Live, Rule, Scratch, Tier};
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

#[derive(Context)]
struct Data {
    peer: IpAddr,
    host: String,
    port: i64,
    tags: Vec<String>,
}

fn data(peer: &str, host: &str, port: i64) -> Data {
    Data { peer: peer.parse().unwrap(), host: host.to_owned(), port, tags: vec!["x".to_owned(), host.to_owned()] }
}

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

/// The lists, with an entry that expires and one that does not: the first is the more specific one, where one can be.
const LISTS: &[(&str, &str, &str, &str)] = &[
    ("blocked", "addresses", "10.1.2.0/24", "10.0.0.0/16"),
    ("nested", "addresses", "10.1.2.0/24", "10.0.0.0/8"),
    ("tenants", "hosts", "*.a.example", "b.example"),
    ("paths", "texts", "x.a.example", "b.example"),
    ("agents", "textsIgnoringCase", "X.a.example", "B.example"),
    ("ports", "integers", "1..9", "443"),
    ("shapes", "patterns", "^x", "^b"),
    ("areas", "wildcards", "x*", "b*"),
    ("geo", "addresses:string", "10.1.2.0/24", "10.0.0.0/8"),
    ("tier", "hosts:string", "*.a.example", "*.example"),
    ("score", "texts:string", "x.a.example", "b.example"),
    ("range", "integers:string", "5..9", "1..100"),
];

/// Rules in CEL; in the filter language, if it can say the same. Each asks for the entry that expires.
const RULES: &[(&str, &str)] = &[
    ("peer in lists.blocked", "peer in $blocked"),
    ("!(peer in lists.blocked)", "not peer in $blocked"),
    ("dyn(peer) in lists.blocked", ""),
    ("host in lists.tenants", "host in $tenants"),
    ("host in lists.paths", "host in $paths"),
    ("host in lists.agents", "host in $agents"),
    ("port in lists.ports", "port in $ports"),
    ("host in lists.shapes", "host in $shapes"),
    ("host in lists.areas", "host in $areas"),
    ("tags.exists(tag, tag in lists.tenants)", "any(tags[*] in $tenants)"),
    ("port in lists.ports && host in lists.paths && peer in lists.blocked", ""),
    ("lists.geo[peer] == 'expires'", ""),
    ("lists.tier[host] == 'expires'", ""),
    ("lists.score[?host].orValue('') == 'expires'", ""),
    ("lists.range[port] == 'expires'", ""),
    ("host in lists.tier && lists.tier[host] == 'expires'", ""),
];

/// True whether or not the entries have expired.
const OUTER: &[&str] =
    &["peer in lists.nested", "peer in lists.nested && lists.geo[peer] != ''", "lists.tier[host] != ''"];

/// The lists, whose first entries expire at a time.
fn lists(expires: Option<SystemTime>) -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, ty, first, second) in LISTS {
        lists.declare(name, ty.parse::<ListType>().unwrap()).unwrap();
        let value = |text: &'static str| if ty.contains(':') { text.into() } else { EntryValue::default() };
        lists.change().insert_value(name, second, value("lasts"), None).commit().unwrap();
        if let Some(time) = expires {
            lists.change().insert_value(name, first, value("expires"), Some(time)).commit().unwrap();
        }
    }
    lists
}

/// Results of all rules, in every way that they are evaluated; all ways agree.
fn results(lists: &Lists, context: &Data) -> Vec<Result<bool, ErrorKind>> {
    let env = Env::<Data>::new().lists(lists);
    let filter = env.clone().filter_language(FilterLanguage::new());
    let mut scratch = Scratch::new();
    let sources: Vec<&str> = RULES.iter().map(|(cel, _)| *cel).chain(OUTER.iter().copied()).collect();
    let mut results = Vec::new();
    for source in &sources {
        let [interpreted, native] = TIERS.map(|tier| engine(tier).compile(&env, source).unwrap());
        assert!(native.is_native());
        let result = interpreted.test(context).map_err(|error| error.kind);
        assert_eq!(native.test(context).map_err(|error| error.kind), result, "{source}");
        assert_eq!(native.test_with(context, &mut scratch).map_err(|error| error.kind), result, "{source}");
        results.push(result);
    }
    for ((_, source), result) in RULES.iter().zip(&results).filter(|((_, source), _)| !source.is_empty()) {
        for tier in TIERS {
            let program = engine(tier).compile(&filter, source).unwrap();
            assert_eq!(program.test(context).map_err(|error| error.kind), *result, "{source}");
        }
    }
    let matching: Vec<usize> = (0..).zip(&results).filter(|(_, result)| **result == Ok(true)).map(|(n, _)| n).collect();
    for (tier, indexing) in [
        (Tier::Interpret, Indexing::Off),
        (Tier::Native, Indexing::Off),
        (Tier::Interpret, Indexing::Always),
        (Tier::Native, Indexing::Always),
    ] {
        let rules = sources.iter().fold(engine(tier).rules(&env), |set, rule| set.rule(rule, rule, ()));
        let set = rules.on_error(ErrorPolicy::NoMatch).index(indexing).build().unwrap();
        assert!(indexing == Indexing::Off || set.indexed_rules() > 0);
        assert_eq!(set.indices(context, &mut scratch).unwrap(), matching, "{tier:?} {indexing:?}");
    }
    let live = Live::new(engine(Tier::Native), env);
    for rule in &sources {
        live.insert(Rule::new(rule, rule, ()).on_error(ErrorPolicy::NoMatch)).unwrap();
    }
    assert_eq!(live.load().count(context, &mut scratch).unwrap(), matching.len());
    results
}

#[test]
fn expired_entries_are_as_if_they_were_not_there() {
    let now = SystemTime::now();
    let hour = Duration::from_secs(3_600);
    let (past, future) = (now.checked_sub(hour).unwrap(), now.checked_add(hour).unwrap());
    let (without, expired, valid) = (lists(None), lists(Some(past)), lists(Some(future)));
    for context in [data("10.1.2.3", "x.a.example", 7), data("10.0.9.9", "b.example", 443), data("::1", "", 0)] {
        assert_eq!(results(&expired, &context), results(&without, &context));
    }
    let context = data("10.1.2.3", "x.a.example", 7);
    let (of_expired, of_valid) = (results(&expired, &context), results(&valid, &context));
    for (((source, _), before), after) in RULES.iter().zip(&of_valid).zip(&of_expired) {
        assert_ne!(before, after, "{source}");
    }
    let outer = of_valid.iter().zip(&of_expired).skip(RULES.len());
    outer.for_each(|results| assert_eq!(results, (&Ok(true), &Ok(true))));
    // Giving the memory back changes no result.
    assert_eq!(expired.expire(now).unwrap().removed, LISTS.len());
    assert_eq!(results(&expired, &context), of_expired);
    assert_eq!(valid.expire(now).unwrap().removed, 0);
}

#[test]
fn an_entry_is_not_found_from_its_time_on() {
    let lists = Lists::new(Limits::default());
    lists.declare("texts", "texts".parse::<ListType>().unwrap()).unwrap();
    let env = Env::<Data>::new().lists(&lists);
    let programs = TIERS.map(|tier| engine(tier).compile(&env, "host in lists.texts").unwrap());
    let context = data("::1", "a", 0);
    let end = SystemTime::now().checked_add(Duration::from_millis(20)).unwrap();
    lists.change().insert_until("texts", "a", end).insert("texts", "b").commit().unwrap();
    while SystemTime::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    for program in programs {
        assert_eq!(program.test(&context), Ok(false));
        assert_eq!(program.test(&data("::1", "b", 0)), Ok(true));
    }
}
