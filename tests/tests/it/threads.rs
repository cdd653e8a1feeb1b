//! A set does not depend on the number of threads on which it was compiled: the same warnings,
//! index, templates, code and results, and the same errors, in the same order. For random rules as
//! gateways have them, some of which ask named lists or are wrong, with tags, policies for errors
//! and standalone code.
//!
//! `CELERO_SEED` gives other rules.

#![expect(clippy::unwrap_used, reason = "tests")]

use celero::http::RequestContext;
use celero::sets::{Indexing, RuleSetBuilder};
use celero::{Engine, Env, ErrorPolicy, Rule, RuleSet, Scratch};
use celero_tests::generate::Rng;
use celero_tests::generate::gateway::{Sample, rule, sample};
use celero_tests::generate::gateway_lists::{change, lists, rule_with_lists};

/// Enough for threads to be started.
const RULES: usize = 800;

fn builder<'e>(
    threads: usize,
    env: &'e Env<RequestContext<'static>>,
    sources: &[String],
) -> RuleSetBuilder<'e, RequestContext<'static>, ()> {
    let engine = Engine::builder().threads(threads.try_into().unwrap()).build();
    let rule = |(n, source): (usize, &String)| {
        let rule = Rule::new(&format!("r{n}"), source, ());
        let rule = if n % 3 == 0 { rule.on_error(ErrorPolicy::NoMatch) } else { rule };
        if n % 2 == 0 { rule.tag(&format!("t{}", n % 8)) } else { rule }
    };
    engine.rules(env).with_rules(sources.iter().enumerate().map(rule)).on_error(ErrorPolicy::Match).standalone(true)
}

#[test]
fn a_set_does_not_depend_on_the_number_of_threads() {
    let seed = std::env::var("CELERO_SEED").map_or(0x7412, |seed| seed.parse().unwrap());
    let rng = &mut Rng::new(seed);
    let lists = lists();
    (0..20).for_each(|_| change(rng, &lists).unwrap());
    let env = Env::<RequestContext<'static>>::new().lists(&lists);
    let mut sources: Vec<String> =
        (0..RULES - 2).map(|n| if n % 8 == 0 { rule_with_lists(rng) } else { rule(rng) }).collect();
    // Warnings about a single rule, and about a rule of the set.
    sources.insert(400, "request.path.matches('(')".into());
    sources.push("request.path.matches('(')".into());
    let requests: Vec<_> = (0..100).map(|_| sample(rng)).collect();

    let results = |set: &RuleSet<RequestContext<'static>>| -> Vec<String> {
        let scratch = &mut Scratch::new();
        let result = |(n, request): (usize, &Sample)| {
            let context = &request.context();
            let alone = set.test(n * 7, context, scratch);
            let by_tag = set.first_per_tag(context, scratch).unwrap();
            let by_tag: Vec<String> = by_tag.map(|(tag, rule)| format!("{tag}: {}", rule.index)).collect();
            format!("{:?} {by_tag:?} {alone:?}", set.indices(context, scratch))
        };
        requests.iter().enumerate().map(result).collect()
    };
    for indexing in [Indexing::Auto, Indexing::Always, Indexing::Off] {
        let builder = |threads| builder(threads, &env, &sources).index(indexing).counters(true);
        let (one, many) = (builder(1).build().unwrap(), builder(3).build().unwrap());
        assert_eq!(one.indexed_rules() == 0, indexing == Indexing::Off);
        assert!(one.warnings().len() > 2);
        assert_eq!(many.warnings(), one.warnings());
        assert_eq!(many.code_size(), one.code_size());
        assert_eq!((many.native_rules(), many.indexed_rules()), (one.native_rules(), one.indexed_rules()));
        assert_eq!(results(&many), results(&one));
        let counted = |set: &RuleSet<RequestContext<'static>>| format!("{:?}", set.counts().unwrap().rules);
        assert_eq!(counted(&many), counted(&one));
        let explained = |threads| builder(threads).explain().unwrap().to_string();
        let of_one = explained(1);
        assert!(of_one.len() > RULES && explained(3) == of_one, "the same index and templates, {indexing:?}");
    }

    for place in [0, 17, 600, RULES - 1] {
        sources[place] = format!("nothing{place} == 1");
    }
    let refused = |threads| builder(threads, &env, &sources).build().unwrap_err().render(false);
    let one = refused(1);
    assert!(one.contains("nothing0") && one.contains("nothing799"));
    assert_eq!(refused(3), one);
}

/// Whether the patterns of a rule are analysed depends on how many rules have its other keys. With
/// threads, these are counted in batches of rules.
#[test]
fn keys_of_all_batches_of_rules_are_counted() {
    // In no batch of 64 rules have many the host `often`, and not so many before the last batch,
    // which is smaller; with `seldom` there are few in all.
    const RULES: usize = 680;
    let is_often = |n: usize| n.is_multiple_of(64) || n > 640 && n.is_multiple_of(4);
    let of_pattern =
        |n: usize, host: &str| format!("request.host == '{host}' && request.path.matches('^/page{n}[0-9]+$')");
    let sources: Vec<String> = (0..RULES)
        .map(|n| match n {
            _ if is_often(n) => of_pattern(n, "often"),
            _ if n % 160 == 1 => of_pattern(n, "seldom"),
            _ => format!("request.host == 'host{n}.example'"),
        })
        .collect();
    let env = Env::<RequestContext<'static>>::new();
    let explained = |threads: usize| {
        let engine = Engine::builder().threads(threads.try_into().unwrap()).build();
        let rules = sources.iter().map(|source| Rule::new("r", source, ()));
        engine.rules(&env).with_rules(rules).on_error(ErrorPolicy::NoMatch).explain().unwrap()
    };
    let (one, many) = (explained(1), explained(3));
    assert_eq!(many.to_string(), one.to_string());
    for explained in [one, many] {
        let by_path = |n: usize| {
            let rule = explained.rules().get(n).unwrap();
            rule.entries().iter().any(|entry| entry.keys().iter().any(|key| key.contains("/page")))
        };
        assert!((0..RULES).filter(|n| is_often(*n)).all(by_path), "{explained}");
        assert!(!(1..RULES).step_by(160).any(by_path), "{explained}");
    }
}
