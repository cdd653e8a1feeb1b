//! Threads that may not execute what they write, as under SELinux without `execmem` or in a sandbox: rules are
//! interpreted, the reason is known, and what was compiled before still runs.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::{LONG, exclusive};
use celero::sets::Indexing;
use celero::{Bindings, Engine, Env, Live, Rule, RuleSet, Scratch, Tier, Type};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter};
use seccompiler::{SeccompRule, apply_filter};

/// Forbids this thread, and those that it starts, to map pages as executable or make them so.
fn forbid_executable_pages() {
    let executable = || {
        let right = u64::from(libc::PROT_EXEC.unsigned_abs());
        let condition = SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(right), right);
        SeccompRule::new(vec![condition.unwrap()]).unwrap()
    };
    let calls = [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_pkey_mprotect];
    let rules = calls.into_iter().map(|call| (call, vec![executable()])).collect();
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let machine = std::env::consts::ARCH.try_into().unwrap();
    let filter: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, denied, machine).unwrap().try_into().unwrap();
    apply_filter(&filter).unwrap();
}

/// Runs a test on a thread of its own: what is forbidden stays so.
fn without_executable_pages(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let forbidden = || {
            forbid_executable_pages();
            test();
        };
        std::thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, forbidden).unwrap().join().unwrap();
    });
}

const WHY: &str = "no memory for native code: pages can't be made executable: Permission denied (os error 13)";
const RULES: i64 = 600;

fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("n", Type::Int).variable("s", Type::String)
}

fn bindings(n: i64, s: &'static str) -> Bindings<'static> {
    let mut bindings = Bindings::new(&env());
    bindings.set("n", n).unwrap();
    bindings.set("s", s).unwrap();
    bindings
}

/// Rules that an index finds, and some that it does not.
fn set(engine: &Engine) -> RuleSet<Bindings<'static>, i64> {
    let env = env();
    let rules = engine.rules(&env).index(Indexing::Always);
    let condition =
        |n| if n % 50 == 0 { format!("n % 7 == {} || n < 0", n % 7) } else { format!("s == '/{n}' && n > {n}") };
    (0..RULES).fold(rules, |rules, n| rules.rule(&format!("r{n}"), &condition(n), n)).build().unwrap()
}

fn matches(set: &RuleSet<Bindings<'static>, i64>) -> Vec<usize> {
    let mut scratch = Scratch::new();
    let calls = [(0, "/1"), (12, "/11"), (700, "/599"), (-1, "/"), (i64::MAX, "/77")];
    calls.into_iter().map(|(n, s)| set.count(&bindings(n, s), &mut scratch).unwrap()).collect()
}

#[test]
fn an_engine_of_such_a_thread_interprets() {
    let _exclusive = exclusive();
    let native = set(&Engine::builder().tier(Tier::Native).build());
    without_executable_pages(|| {
        let engine = Engine::new();
        assert_eq!(engine.native_failure(), Some(WHY));
        let rule = engine.compile(&env(), "n > 1 && s.contains('a')").unwrap();
        assert!(!rule.is_native());
        assert!(rule.test(&bindings(2, "bar")).unwrap());
        let interpreted = set(&engine);
        assert_eq!(interpreted.indexed_rules(), native.indexed_rules());
        assert_eq!(matches(&interpreted), matches(&native));
        assert_eq!(interpreted.code_size(), 0);

        let strict = Engine::builder().tier(Tier::Native).build();
        let error = strict.compile(&env(), "n > 1").unwrap_err().to_string();
        assert!(error.contains(WHY), "{error}");
        assert!(strict.rules(&env()).rule("a", "n > 1", 1).build().unwrap_err().to_string().contains(WHY));
    });
}

/// The usual order of a server: it compiles its rules, and gives up rights before it reads from the network.
#[test]
fn what_was_compiled_before_runs_on_and_new_rules_are_interpreted() {
    let _exclusive = exclusive();
    let engine = Engine::new();
    let before = engine.compile(&env(), "n > 1").unwrap();
    let set_before = set(&engine);
    without_executable_pages(|| {
        assert_eq!(engine.native_failure(), None);
        let after = engine.compile(&env(), "n > 2").unwrap();
        assert_eq!((before.is_native(), after.is_native()), (true, false));
        assert!(before.test(&bindings(2, "")).unwrap() && !after.test(&bindings(2, "")).unwrap());
        assert_eq!(engine.native_failure(), Some(WHY));
        assert_eq!(matches(&set(&engine)), matches(&set_before));
    });
    let again = engine.compile(&env(), "n > 3").unwrap();
    assert!(again.is_native(), "another thread may");
}

#[test]
fn live_rules_change_as_ever() {
    let _exclusive = exclusive();
    without_executable_pages(|| {
        let live = Live::new(Engine::new(), env());
        live.replace(|rules| rules.rule("one", "n == 1", 1)).unwrap();
        let (reader, mut scratch) = (live.reader(), Scratch::new());
        for n in 2..200 {
            live.insert(Rule::new(&format!("r{n}"), &format!("n == {n}"), n)).unwrap();
            assert_eq!(reader.load().count(&bindings(n, ""), &mut scratch).unwrap(), 1);
        }
        assert!(live.wait_idle(LONG));
        assert_eq!(reader.load().count(&bindings(150, ""), &mut scratch).unwrap(), 1);
    });
}
