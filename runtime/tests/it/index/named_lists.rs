//! Rules that are found by named lists, which change while the index stays.

use super::*;
use celero::filter::FilterLanguage;
use celero::lists::{Kind, Limits as ListLimits, Lists};

fn lists() -> Lists {
    let lists = Lists::new(ListLimits::default());
    for (name, kind) in [
        ("blocked", Kind::Addresses),
        ("partners", Kind::Addresses),
        ("tenants", Kind::Hosts),
        ("words", Kind::Texts),
        ("agents", Kind::TextsIgnoringCase),
        ("sizes", Kind::Integers),
        ("shapes", Kind::Patterns),
        ("areas", Kind::Wildcards),
    ] {
        lists.declare(name, kind).unwrap();
    }
    lists
}

fn env_with(lists: &Lists) -> Env<Call<'static>> {
    env().lists(lists)
}

/// Rules, and the keys by which the index finds each.
const FOUND: &[(&str, &[&str])] = &[
    ("client.ip in lists.blocked", &["client.ip is in the list blocked"]),
    ("source.address in lists.partners && size > 5", &["source.address is in the list partners"]),
    ("request.host in lists.tenants", &["request.host is in the list tenants"]),
    (
        "client.note in lists.words || size in lists.sizes",
        &["client.note is in the list words", "size is in the list sizes"],
    ),
    ("request.headers['x-a'] in lists.agents", &["request.headers[\"x-a\"] is in the list agents"]),
    ("request.path in lists.words && 10 / size > 1", &["request.path is in the list words"]),
];

/// Conditions on lists of which none is a key: what they ask is known only when they are evaluated,
/// or asking costs steps, which only an evaluation has.
const NOT_FOUND: &[&str] = &[
    "!(client.ip in lists.blocked)",
    "request.headers[?'x-a'].orValue('w') in lists.words",
    "client.note in lists.blocked",
    "request.path in lists.shapes",
    "request.path in lists.areas || request.host in lists.shapes",
    "request.headers['x-a'].lowerAscii() in lists.words",
    "(request.path + 'x') in lists.words",
];

const CALLS: &[&str] = &[
    "path=/ size=6",
    "path=/w size=2 note=w :host=a.example :x-a=w ip=192.0.2.9 peer=198.51.100.7",
    "path=/w size=0 note=x :host=b.a.example:80 :x-a=W ip=::ffff:192.0.2.9 peer=192.0.2.1",
    "path=/x size=9 note=/w :host=A.Example :x-a=%ff ip=2001:db8::1 peer=2001:db8::9",
    "path=/x size=-3 :x-a=%ef%bf%bd :x-a=w ip=203.0.113.1",
];

#[test]
fn lists_are_keys_and_their_changes_are_seen() {
    let lists = lists();
    let env = env_with(&lists);
    let sources: Vec<&str> = FOUND.iter().map(|(source, _)| *source).chain(NOT_FOUND.iter().copied()).collect();
    for (source, keys) in FOUND {
        let set = engine(Tier::Native).rules(&env).index(Indexing::Always).on_error(ErrorPolicy::NoMatch);
        let explanation = set.rule("", source, ()).explain().unwrap();
        let entries = explanation.rules().iter().flat_map(|rule| rule.entries());
        assert_eq!(entries.flat_map(|entry| entry.keys().to_vec()).collect::<Vec<_>>(), *keys, "{source}");
    }
    for source in NOT_FOUND {
        let set = build(&engine(Tier::Native), &env, &[source], Indexing::Always, ErrorPolicy::NoMatch);
        assert_eq!(set.indexed_rules(), 0, "{source}");
    }
    let inputs: Vec<Input> = CALLS.iter().map(|written| Input::new(written)).collect();
    let of_tier = |tier| {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        let set = |policy| build(&engine, &env, &sources, Indexing::Always, policy);
        (alone, POLICIES.map(set))
    };
    let all = TIERS.map(of_tier);
    let found = |lists: usize| {
        let found = inputs.iter().map(|input| all[0].1[0].indices(&input.call(), &mut Scratch::new()).unwrap().len());
        let found: usize = found.sum();
        assert!(found > 0 || lists == 0);
        found
    };
    let mut counts = vec![found(0)];
    for (list, entry, insert) in [
        ("blocked", "192.0.2.0/24", true),
        ("partners", "0.0.0.0/0", true),
        ("tenants", "*.a.example", true),
        ("tenants", "a.example", true),
        ("words", "w", true),
        ("words", "/w", true),
        ("words", "\u{fffd}", true),
        ("agents", "w", true),
        ("agents", "\u{fffd}", true),
        ("sizes", "-5..6", true),
        ("shapes", "^/w", true),
        ("areas", "/*", true),
        ("blocked", "192.0.2.0/24", false),
        ("words", "w", false),
    ] {
        let change = lists.change();
        if insert { change.insert(list, entry) } else { change.remove(list, entry) }.commit().unwrap();
        for (alone, sets) in &all {
            for input in &inputs {
                sets.iter().for_each(|set| as_alone(set, alone, &input.call()));
            }
        }
        counts.push(found(1));
    }
    assert!(counts.iter().collect::<std::collections::BTreeSet<_>>().len() > 5, "{counts:?}");
}

#[test]
fn each_list_is_one_lookup_however_many_rules_ask_it() {
    let lists = lists();
    let env = env_with(&lists);
    let rules = engine(Tier::Native).rules(&env).on_error(ErrorPolicy::NoMatch);
    let rules = (0..2_000).fold(rules, |rules, n| {
        let list = if n % 2 == 0 { "blocked" } else { "partners" };
        rules.rule("", &format!("client.ip in lists.{list} && size % 2000 == {n}"), ())
    });
    let set = rules.build().unwrap();
    assert_eq!(set.indexed_rules(), 2_000);
    let (input, mut scratch) = (Input::new("ip=192.0.2.7 size=10"), Scratch::new());
    let lookups = || ["blocked", "partners"].map(|name| lists.lookups(lists.load().find(name).unwrap().0));
    assert_eq!((set.count(&input.call(), &mut scratch), lookups()), (Ok(0), [1, 1]));
    assert_eq!(set.candidates(&input.call(), &mut scratch), [0_usize; 0]);
    lists.change().insert("blocked", "192.0.2.7").commit().unwrap();
    assert_eq!(set.candidates(&input.call(), &mut scratch).len(), 1_000);
    assert_eq!(set.indices(&input.call(), &mut scratch).unwrap(), [10]);
    assert_eq!(set.any(&input.call(), &mut scratch), Ok(true));
    lists.change().remove("blocked", "192.0.2.7").insert("partners", "192.0.2.7").commit().unwrap();
    assert_eq!(set.indices(&input.call(), &mut scratch).unwrap(), [0_usize; 0]);
    assert_eq!(set.candidates(&input.call(), &mut scratch).len(), 1_000);
    // In the index alone: the rules that it finds do not ask again.
    assert_eq!(lookups()[1], 7);
}

/// A condition that is looked up with others is preferred to a list, which is a lookup of its own.
#[test]
fn rules_are_found_by_what_distinguishes_them() {
    let lists = lists();
    let env = env_with(&lists);
    let rules = engine(Tier::Native).rules(&env).on_error(ErrorPolicy::NoMatch);
    let rules = (0..200)
        .fold(rules, |rules, n| rules.rule("", &format!("client.ip in lists.blocked && request.path == '/{n}'"), ()));
    let explanation = rules.explain().unwrap();
    for rule in explanation.rules() {
        let keys: Vec<_> = rule.entries().iter().flat_map(|entry| entry.keys()).collect();
        assert!(matches!(&*keys, [key] if key.starts_with("request.path is ")), "{keys:?}");
    }
}

#[test]
fn lists_of_the_filter_language_are_keys() {
    let lists = lists();
    let env = env_with(&lists).filter_language(FilterLanguage::new());
    let rules = [
        ("client.ip in $blocked", true),
        ("client.note in $words", true),
        ("client.note in $tenants", true),
        ("size in $sizes", true),
        ("not client.ip in $blocked", false),
    ];
    for (rule, is_found) in rules {
        let set = build(&engine(Tier::Native), &env, &[rule], Indexing::Always, ErrorPolicy::NoMatch);
        assert_eq!(set.indexed_rules(), usize::from(is_found), "{rule}");
    }
    let sources: Vec<&str> = rules.iter().map(|(rule, _)| *rule).collect();
    let alone: Vec<_> = sources.iter().map(|source| engine(Tier::Native).compile(&env, source).unwrap()).collect();
    let set = build(&engine(Tier::Native), &env, &sources, Indexing::Always, ErrorPolicy::NoMatch);
    let change = lists.change().insert("blocked", "192.0.2.9").insert("words", "w").insert("sizes", "2..6");
    change.insert("tenants", "w").commit().unwrap();
    for written in CALLS {
        as_alone(&set, &alone, &Input::new(written).call());
    }
}
