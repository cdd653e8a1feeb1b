//! celero without its feature `native`: rules are interpreted, and give what native code gives.
//!
//! Tested by itself (`cargo test -p celero-interpreted`): beside crates with native code, cargo gives the feature to
//! all of them.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "tests")]

use celero::lists::{Kind, Limits, Lists};
use celero::sets::Indexing;
use celero::{Bindings, Engine, Env, Live, Rule, Scratch, Tier, Type, Value};
use std::process::Command;

/// An engine, if celero was built without native code.
fn engine() -> Option<Engine> {
    let engine = Engine::new();
    if engine.native_failure().is_none() {
        println!("left out: built together with crates that have native code");
        return None;
    }
    Some(engine)
}

fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("n", Type::Int).variable("s", Type::String)
}

fn bindings(env: &Env<Bindings<'static>>, n: i64, s: &'static str) -> Bindings<'static> {
    let mut bindings = Bindings::new(env);
    bindings.set("n", n).unwrap();
    bindings.set("s", s).unwrap();
    bindings
}

#[test]
fn nothing_of_cranelift_is_built() {
    for (package, features) in
        [("celero", "http"), ("celero-policy", ""), ("celero-tower", ""), ("celero-interpreted", "")]
    {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--package", package, "--no-default-features", "--features", features])
            .args(["--edges", "normal,build", "--prefix", "none", "--offline"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8(output.stdout).unwrap();
        assert!(tree.starts_with(package), "{tree}");
        let native: Vec<&str> = ["cranelift", "regalloc", "icache"].into_iter().filter(|n| tree.contains(n)).collect();
        assert_eq!(native, [""; 0], "in the tree of {package}");
    }
}

#[test]
fn rules_are_interpreted() {
    let Some(engine) = engine() else { return };
    let why = "no native code on this machine: this build is without the feature `native`";
    assert_eq!(engine.native_failure(), Some(why));
    let env = env();
    let rule = engine.compile(&env, "s.startsWith('/admin') && n / (n - 7) > 0").unwrap();
    assert!(!rule.is_native());
    assert!(rule.test(&bindings(&env, 8, "/admin")).unwrap());
    assert_eq!(rule.test(&bindings(&env, 7, "/admin")).unwrap_err().kind.name(), "divide_by_zero");
    let text = engine.compile(&env, "s + string(n)").unwrap();
    let (call, mut scratch) = (bindings(&env, 7, "/"), Scratch::new());
    assert!(matches!(text.eval(&call, &mut scratch).unwrap(), Value::String("/7")));
}

/// What is mapped from a file is the program, its libraries and what the kernel gives every process.
#[test]
#[cfg(target_os = "linux")]
fn no_page_is_executable_but_those_of_files() {
    let Some(engine) = engine() else { return };
    let env = env();
    assert!(engine.compile(&env, "n > 1").unwrap().test(&bindings(&env, 2, "")).unwrap());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let executable =
        maps.lines().filter(|line| line.split_whitespace().nth(1).is_some_and(|rights| rights.contains('x')));
    let unnamed: Vec<&str> = executable.filter(|line| line.split_whitespace().nth(5).is_none()).collect();
    assert_eq!(unnamed, [""; 0]);
}

#[test]
fn native_code_is_refused_and_the_interpreter_is_not_a_failure() {
    if engine().is_none() {
        return;
    }
    let native = Engine::builder().tier(Tier::Native).build();
    let error = native.compile(&env(), "n > 1").unwrap_err().to_string();
    assert!(error.contains("this build is without the feature `native`"), "{error}");
    assert_eq!(Engine::builder().tier(Tier::Interpret).build().native_failure(), None);
}

#[test]
fn sets_keep_their_index_and_live_rules_and_lists_change() {
    let Some(engine) = engine() else { return };
    let lists = Lists::new(Limits::default());
    lists.declare("paths", Kind::Texts).unwrap();
    let env = env().lists(&lists);
    let rules = engine.rules(&env).index(Indexing::Always);
    let rules = (0..1_000).fold(rules, |rules, n| rules.rule(&format!("r{n}"), &format!("s == '/{n}' && n > {n}"), n));
    let set = rules.build().unwrap();
    assert_eq!(set.indexed_rules(), 1_000);
    let mut scratch = Scratch::new();
    let matches = set.first(&bindings(&env, 501, "/500"), &mut scratch).unwrap().map(|found| *found.action);
    assert_eq!(matches, Some(500));
    assert!(!set.any(&bindings(&env, 500, "/500"), &mut scratch).unwrap());

    let live = Live::new(engine, env.clone());
    live.replace(|rules| rules.rule("known", "s in lists.paths", 1)).unwrap();
    let reader = live.reader();
    assert!(!reader.load().any(&bindings(&env, 1, "/a"), &mut scratch).unwrap());
    lists.change().insert("paths", "/a").commit().unwrap();
    assert!(reader.load().any(&bindings(&env, 1, "/a"), &mut scratch).unwrap());
    live.insert(Rule::new("seven", "n == 7", 2)).unwrap();
    assert_eq!(reader.load().count(&bindings(&env, 7, "/a"), &mut scratch).unwrap(), 2);
}
