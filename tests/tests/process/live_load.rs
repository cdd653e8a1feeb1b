//! Live rules under load: readers at full speed while the rules are replaced, what one change
//! costs, what is given back. `CELERO_REPLACEMENTS` and `CELERO_LIVE_RULES` ask for longer forms.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

use crate::{LONG, background_threads, exclusive, wait_for};
use celero::http::RequestContext;
use celero::{Engine, Env, Live, Rule, Scratch, Tier};
use celero_tests::heap;
use celero_tests::shared::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |n| n.parse().unwrap())
}

/// Mappings of generated code.
fn generated() -> usize {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    text.lines().filter(|line| line.contains("r-xp") && line.split_whitespace().count() == 5).count()
}

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// What a reader has seen.
struct Seen {
    /// Nanoseconds that getting the rules took, sampled at a fixed interval.
    loads: Vec<u64>,
    /// Most nanoseconds of the processor that it took: others' work on the same core is not counted.
    longest: u64,
    requests: u64,
    generations: u64,
    /// How often it gave its core away because it had to wait for something.
    waits: u64,
}

/// Nanoseconds that this thread has had the processor so far.
fn worked() -> u64 {
    u64::try_from(celero_timing::cpu_time().as_nanos()).unwrap()
}

/// How often this thread has waited so far.
fn waits() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

/// How many rules a generation has: its answers tell it.
fn size(generation: u64) -> u64 {
    3 + generation % 3
}

/// Asks at full speed until it is told to stop. Every rule of every generation matches.
fn read(live: &Live<RequestContext<'static>, u64>, stop: &AtomicBool) -> Seen {
    let (reader, mut scratch) = (live.reader(), Scratch::new());
    let request = http::Request::get("/a?b").body(()).unwrap();
    let context = RequestContext::new(&request);
    // Made at once, and with contents: pages that are mapped later wait for those that are unmapped meanwhile.
    let mut loads = vec![1; 1 << 20];
    loads.clear();
    let mut seen = Seen { loads, longest: 0, requests: 0, generations: 0, waits: waits() };
    let mut last = 0;
    while !stop.load(Ordering::Relaxed) {
        let before = worked();
        let start = Instant::now();
        let rules = reader.load();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap();
        seen.longest = seen.longest.max(worked() - before);
        if seen.requests.is_multiple_of(64) && seen.loads.len() < seen.loads.capacity() {
            seen.loads.push(nanos);
        }
        seen.requests += 1;
        let first = rules.first(&context, &mut scratch).unwrap().unwrap();
        let generation = *first.action;
        assert!(generation >= last, "generation {generation} after {last}");
        seen.generations += u64::from(generation > last);
        last = generation;
        let all = rules.indices(&context, &mut scratch).unwrap();
        assert_eq!(all.len() as u64, size(generation), "a torn set");
        for rule in all {
            assert_eq!(*rules.get(*rule).unwrap().action, generation, "a torn set");
        }
    }
    seen.waits = waits() - seen.waits;
    seen
}

fn replace(live: &Live<RequestContext<'static>, u64>, generation: u64) {
    let rules = |n: u64| format!("request.path != '/{generation}-{n}' && request.method == 'GET'");
    live.replace(|set| (0..size(generation)).fold(set, |set, n| set.rule("r", &rules(n), generation))).unwrap();
}

#[test]
fn readers_see_whole_generations_while_rules_are_replaced() {
    let _exclusive = exclusive();
    let live = Live::new(engine(Tier::Auto), Env::<RequestContext<'_>>::new());
    replace(&live, 0);
    assert!(live.wait_idle(LONG));
    let replacements = number("CELERO_REPLACEMENTS", 10_000);
    let (stop, quiet) = (AtomicBool::new(false), AtomicBool::new(false));
    let code = generated();
    let (calm, busy, grown) = std::thread::scope(|scope| {
        let calm: Vec<_> = (0..2).map(|_| scope.spawn(|| read(&live, &quiet))).collect();
        std::thread::sleep(Duration::from_millis(300));
        quiet.store(true, Ordering::Relaxed);
        let calm: Vec<Seen> = calm.into_iter().map(|reader| reader.join().unwrap()).collect();
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(|| read(&live, &stop))).collect();
        let mut base = 0;
        for generation in 1..=replacements {
            replace(&live, generation);
            // Now and then native code gets the time to be there.
            if generation.is_multiple_of(16) {
                assert!(live.wait_idle(LONG));
            }
            if generation == replacements / 2 {
                base = heap::held();
            }
        }
        let grown = heap::held().saturating_sub(base);
        stop.store(true, Ordering::Relaxed);
        let busy: Vec<Seen> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        (calm, busy, grown)
    });
    let medians = |seen: &[Seen]| median(&mut seen.iter().flat_map(|seen| seen.loads.clone()).collect::<Vec<_>>());
    let mut loads: Vec<u64> = busy.iter().flat_map(|seen| seen.loads.clone()).collect();
    loads.sort_unstable();
    let waits = busy.iter().map(|seen| seen.waits).sum::<u64>();
    let (before, during) = (medians(&calm), medians(&busy));
    say(&format!(
        "live: {} requests saw {} of {replacements} replacements; loading took {before} ns before, {during} ns during them \
         (of a thousand one more than {} ns, most work {} ns; before {} ns), and the readers waited {waits} times; {grown} bytes grown in the second half",
        busy.iter().map(|seen| seen.requests).sum::<u64>(),
        busy.iter().map(|seen| seen.generations).max().unwrap_or(0),
        loads[loads.len() - 1 - loads.len() / 1000],
        busy.iter().map(|seen| seen.longest).max().unwrap_or(0),
        calm.iter().map(|seen| seen.longest).max().unwrap_or(0),
    ));
    assert!(during <= before.saturating_mul(20), "loading took {before} ns, and {during} ns while rules were replaced");
    // The kernel may let a reader wait where memory is mapped, on some machines in each fiftieth
    // replacement. A lock that is held while rules are replaced would let both wait each time.
    assert!(waits < replacements / 4 + 3, "{waits} waits in {replacements} replacements");
    assert!(busy.iter().all(|seen| seen.generations > 0), "the readers saw nothing of it");
    // A set lost in every eighth replacement would show; the readers' own records grow as well.
    assert!((grown as u64) < (replacements / 2 * 512).max(1 << 21), "{grown} bytes");
    assert!(live.wait_idle(LONG));
    assert!(generated() <= code + 1, "code stays mapped");
}

#[test]
fn one_rule_costs_the_same_among_many() {
    let _exclusive = exclusive();
    let cost = |rules: u64| {
        let live = Live::new(engine(Tier::Interpret), Env::<RequestContext<'_>>::new());
        let source = |n: u64| format!("request.path == '/{n}'");
        live.replace(|set| (0..rules).fold(set, |set, n| set.rule(&format!("r{n}"), &source(n), n))).unwrap();
        let (mut inserts, mut removes, mut switches) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..50 {
            let nanos = |start: Instant| u64::try_from(start.elapsed().as_nanos()).unwrap();
            let start = Instant::now();
            live.insert(Rule::new(&format!("new{n}"), &source(n), n)).unwrap();
            inserts.push(nanos(start));
            let start = Instant::now();
            assert_eq!(live.remove(&format!("r{}", n * 3)), 1);
            removes.push(nanos(start));
            let start = Instant::now();
            assert_eq!(live.disable(&format!("r{}", n * 3 + 1)), 1);
            switches.push(nanos(start));
        }
        assert_eq!(live.load().len() as u64, rules - 50);
        [inserts, removes, switches].map(|mut times| median(&mut times))
    };
    let many = number("CELERO_LIVE_RULES", 10_000);
    let (few, lots) = (cost(200), cost(many));
    say(&format!("live: inserting, removing, disabling one of 200 rules took {few:?} ns, one of {many} {lots:?} ns"));
    assert!(lots[0] < few[0].saturating_mul(10), "inserting: {few:?} ns, {lots:?} ns");
}

#[test]
fn what_is_removed_is_given_back() {
    let _exclusive = exclusive();
    let live = Live::new(engine(Tier::Auto), Env::<RequestContext<'_>>::new());
    live.replace(|set| (0..50).fold(set, |set, n| set.rule("base", &format!("request.path == '/{n}'"), n))).unwrap();
    let round = |round: u64| {
        for n in 0..5 {
            let name = format!("{round}-{n}");
            live.insert(Rule::new(&name, &format!("request.path == '/{name}' || request.method == 'PUT'"), n)).unwrap();
        }
        if round.is_multiple_of(3) {
            assert!(live.wait_idle(LONG));
        }
        for n in 0..5 {
            assert_eq!(live.remove(&format!("{round}-{n}")), 1);
        }
        if round.is_multiple_of(5) {
            assert!(live.wait_idle(LONG));
        }
    };
    (0..200).for_each(round);
    let base = heap::held();
    (200..400).for_each(round);
    let grown = heap::held().saturating_sub(base);
    say(&format!("live: {grown} bytes grown in 1000 rules that came and went"));
    // A rule that is kept has more than a hundred bytes.
    assert!(grown < 100 * 1000, "{grown} bytes");
    assert_eq!(live.load().len(), 50);
}

#[test]
fn dropping_the_rules_ends_the_work() {
    let _exclusive = exclusive();
    let actions = Arc::new(AtomicU64::new(0));
    struct Counted(Arc<AtomicU64>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let code = generated();
    for round in 0..10 {
        let live = Live::new(engine(Tier::Auto), Env::<RequestContext<'_>>::new());
        live.replace(|set| {
            (0..100).fold(set, |set, n| {
                actions.fetch_add(1, Ordering::SeqCst);
                set.rule("r", &format!("request.path.startsWith('/{n}')"), Counted(Arc::clone(&actions)))
            })
        })
        .unwrap();
        if round % 2 == 0 {
            assert!(live.wait_idle(LONG));
        }
        // With a reader that holds the rules, or without.
        let reader = (round % 3 == 0).then(|| live.reader());
        let rules = reader.as_ref().map(|reader| reader.load());
        drop(live);
        assert!(rules.is_none_or(|rules| rules.len() == 100));
    }
    wait_for(|| background_threads() == 0 && actions.load(Ordering::SeqCst) == 0);
    assert_eq!(generated(), code, "code stays mapped");
}
