//! Random changes of live rules: after each, they answer what a fresh set of the same rules answers.

use super::*;
use crate::support::Random;

/// The rules as they should be.
#[derive(Default)]
struct Model {
    /// Priority, order of insertion, name, source.
    rules: Vec<(i32, u64, String, String)>,
    disabled: BTreeSet<String>,
    policy: ErrorPolicy,
    next: u64,
}

impl Model {
    fn insert(&mut self, priority: i32, name: &str, source: &str) -> u64 {
        self.next += 1;
        self.rules.push((priority, self.next, name.into(), source.into()));
        self.rules.sort();
        self.next
    }

    fn remove(&mut self, name: &str) -> usize {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.2 != name);
        before - self.rules.len()
    }

    fn fresh(&self, engine: &Engine, env: &Env<Call<'static>>) -> RuleSet<Call<'static>, u64> {
        let mut there: Vec<_> = self.rules.iter().filter(|rule| !self.disabled.contains(&rule.2)).collect();
        there.sort_by_key(|rule| rule.1);
        let rules = there.into_iter().fold(engine.rules(env).on_error(self.policy), |set, rule| {
            set.with_rule(tagged((Rule::new(&rule.2, &rule.3, rule.1).priority(rule.0), rule.1)))
        });
        rules.build().unwrap()
    }
}

/// Whether these are the same, in whatever order.
fn same<'t>(some: impl Iterator<Item = &'t str>, others: impl Iterator<Item = &'t str>) -> bool {
    let (mut some, mut others): (Vec<_>, Vec<_>) = (some.collect(), others.collect());
    some.sort_unstable();
    others.sort_unstable();
    some == others
}

/// A rule with tags that depend on its action.
fn tagged((rule, action): (Rule<u64>, u64)) -> Rule<u64> {
    let rule = if action.is_multiple_of(2) { rule.tag("even") } else { rule };
    if action.is_multiple_of(5) { rule } else { rule.tag(&format!("t{}", action % 3)) }
}

/// Compares every answer about some calls with those of a fresh set.
fn compare(live: &Rules, fresh: &RuleSet<Call<'static>, u64>, place: &str) {
    let rules = live.load();
    let order: Vec<u64> = rules.iter().map(|rule| *rule.action).collect();
    let want: Vec<u64> = (0..fresh.len()).map(|rule| *fresh.get(rule).unwrap().action).collect();
    assert_eq!((order, rules.len()), (want, fresh.len()), "{place}");
    let (mine, theirs) = (&mut Scratch::new(), &mut Scratch::new());
    let ours = |rule: usize| *rules.get(rule).unwrap().action;
    let other = |rule: usize| *fresh.get(rule).unwrap().action;
    for call in [call("/a", 0), call("/b", 1), call("/a/b", 2), call("/", 7)] {
        let errors = |mine: &Scratch, theirs: &Scratch| {
            let mine: Vec<_> = mine.errors().iter().map(|error| (ours(error.rule), error.error)).collect();
            let theirs: Vec<_> = theirs.errors().iter().map(|error| (other(error.rule), error.error)).collect();
            // A failure that changes nothing need not be found.
            if fresh.on_error() != ErrorPolicy::NoMatch {
                assert_eq!(mine, theirs, "{place}");
            }
        };
        let all = rules.indices(&call, mine).map(|all| all.iter().map(|rule| ours(*rule)).collect::<Vec<_>>());
        let want = fresh.indices(&call, theirs).map(|all| all.iter().map(|rule| other(*rule)).collect::<Vec<_>>());
        assert_eq!(all.map_err(|e| (ours(e.rule), e.error)), want.map_err(|e| (other(e.rule), e.error)), "{place}");
        errors(mine, theirs);
        let count = rules.count(&call, mine).map_err(|e| ours(e.rule));
        assert_eq!(count, fresh.count(&call, theirs).map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let first = rules.first(&call, mine).map(|found| found.map(|rule| (rule.name, *rule.action)));
        let want = fresh.first(&call, theirs).map(|found| found.map(|rule| (rule.name, *rule.action)));
        assert_eq!(first.map_err(|e| ours(e.rule)), want.map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let tags: Vec<Vec<&str>> = rules.iter().map(|rule| rules.tags(rule.index).collect()).collect();
        assert!((0..fresh.len()).zip(tags).all(|(rule, tags)| same(fresh.tags(rule), tags.into_iter())), "{place}");
        let first =
            rules.first_per_tag(&call, mine).map(|found| found.map(|(tag, m)| (tag, m.name, *m.action)).collect());
        let want = fresh
            .first_per_tag(&call, theirs)
            .map(|found| found.map(|(tag, m)| (tag, m.name, *m.action)).collect::<Vec<_>>());
        assert_eq!(first.map_err(|e| ours(e.rule)), want.map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
        let any = rules.any(&call, mine).map_err(|e| ours(e.rule));
        assert_eq!(any, fresh.any(&call, theirs).map_err(|e| other(e.rule)), "{place}");
        errors(mine, theirs);
    }
}

#[test]
fn changed_rules_answer_as_rebuilt_ones() {
    const SOURCES: [&str; 8] = [
        "path == '/a'",
        "size > 1",
        "path.startsWith('/a') && size < 2",
        "1 / size > 0",
        "user == 'u'",
        "10 / (size - 7) < 0 || path.contains('b')",
        "size % 2 == 0",
        "[1, 2, 3].exists(x, x == size)",
    ];
    for (tier, seed) in TIERS.into_iter().zip([3_u64, 5, 7]) {
        let (live, env, oracle) = (live(tier), Env::new(), engine(Tier::Interpret));
        let mut model = Model::default();
        let mut rng = Random::new(seed);
        let mut random = |below: usize| rng.below(below);
        for step in 0..250 {
            let name = format!("n{}", random(9));
            let source = SOURCES[random(8)];
            let what = random(100);
            match what {
                0..3 => {
                    let count = random(90);
                    model.rules.clear();
                    model.policy = POLICIES[random(3)];
                    let mut rules = Vec::new();
                    for _ in 0..count {
                        let (priority, name) = (random(3) as i32 - 1, format!("n{}", random(9)));
                        let source = SOURCES[random(8)];
                        rules.push((model.insert(priority, &name, source), priority, name, source));
                    }
                    live.replace(|set| {
                        rules.iter().fold(set.on_error(model.policy), |set, (action, priority, name, source)| {
                            set.with_rule(tagged((Rule::new(name, source, *action).priority(*priority), *action)))
                        })
                    })
                    .unwrap();
                }
                3..55 => {
                    let priority = random(5) as i32 - 2;
                    let action = model.insert(priority, &name, source);
                    live.insert(tagged((Rule::new(&name, source, action).priority(priority), action))).unwrap();
                }
                55..70 => assert_eq!(live.remove(&name), model.remove(&name)),
                70..80 => {
                    let removed = model.remove(&name);
                    let (one, two) = (model.insert(0, &name, source), model.insert(1, "n0", source));
                    let added = [
                        tagged((Rule::new("n0", source, two).priority(1), two)),
                        tagged((Rule::new(&name, source, one), one)),
                    ];
                    let edit = live.edit(&[&name], added);
                    assert_eq!(edit.unwrap(), removed);
                }
                80..90 => {
                    let count = model.rules.iter().filter(|rule| rule.2 == name).count();
                    assert_eq!(live.disable(&name), count);
                    model.disabled.insert(name);
                }
                90..97 => {
                    let count = model.rules.iter().filter(|rule| rule.2 == name).count();
                    assert_eq!(live.enable(&name), count);
                    model.disabled.remove(&name);
                }
                _ => assert!(live.wait_idle(LONG)),
            }
            compare(&live, &model.fresh(&oracle, &env), &format!("{tier:?}, step {step}: {what}"));
        }
        assert!(live.wait_idle(LONG));
        compare(&live, &model.fresh(&oracle, &env), &format!("{tier:?}, settled"));
        assert_eq!(live.status().failure, None);
    }
}
