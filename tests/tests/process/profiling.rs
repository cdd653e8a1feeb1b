//! What profilers are told of generated code is so: names, addresses, and the code itself.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

use crate::exclusive;
use celero::sets::Indexing;
use celero::settings::Profiling;
use celero::{Engine, Env, RuleSet, Tier, Type};
use std::fs::File;
use std::os::unix::fs::FileExt;

fn engine(profiling: Profiling) -> Engine {
    Engine::builder().tier(Tier::Native).profiling(profiling).build()
}

fn env() -> Env<celero::Bindings<'static>> {
    Env::dynamic().variable("a", Type::Int).variable("s", Type::String)
}

/// Three rules that are straight code, and 20 that an index finds, with one shape.
fn set(engine: &Engine) -> RuleSet<celero::Bindings<'static>> {
    let env = env();
    let rules = engine.rules(&env).index(Indexing::Always);
    let rules = (0..3).fold(rules, |rules, n| rules.rule(&format!("odd {n}"), &format!("a % {} == 1", n + 2), ()));
    let found = |n| format!("s == 'x{n}' && a * a > {}", n + 100);
    (0..20).fold(rules, |rules, n| rules.rule(&format!("found {n}"), &found(n), ())).build().unwrap()
}

/// Memory of this process.
fn memory(address: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(len).unwrap()];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, address).unwrap();
    bytes
}

fn is_executable(from: u64, len: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(" r-xp ")).any(|line| {
        let (start, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        number(start) <= from && from + len <= number(end)
    })
}

/// The names are those of an expression, of the straight rules of the set, and of what those that
/// are found have in common.
fn check_names(names: &[String], expression: &str) {
    assert_eq!(names[0], expression);
    assert!(names.iter().any(|name| name == "celero::rules::odd 0..odd 2"), "{names:?}");
    let found: Vec<_> = names.iter().filter(|name| name.contains("found")).collect();
    assert!(!found.is_empty() && found.len() < 10 && found.len() + 2 == names.len(), "{names:?}");
    assert!(found.iter().any(|name| name.starts_with("celero::rules::found ") && name.ends_with("..found 19")));
}

#[test]
fn the_map_has_the_ranges_of_the_code() {
    let _exclusive = exclusive();
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let folder = std::env::temp_dir().join(format!("celero-victim-{}", std::process::id()));
    std::fs::write(&folder, "precious").unwrap();
    std::os::unix::fs::symlink(&folder, &path).unwrap();
    let engine_of_victim = engine(Profiling::PerfMap);
    assert_eq!(engine_of_victim.profiling_failure(), None);
    engine_of_victim.compile(&env(), "a == 0").unwrap();
    let failure = engine_of_victim.profiling_failure().unwrap();
    assert!(failure.contains(&path), "{failure}");
    assert_eq!(std::fs::read_to_string(&folder).unwrap(), "precious", "a planted link is followed");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&folder).unwrap();

    let off = Engine::builder().tier(Tier::Native).build().compile(&env(), "a == 77").unwrap();
    assert!(!std::fs::exists(&path).unwrap(), "nothing is written when it is off");
    let engine = engine(Profiling::PerfMap);
    let program = engine.compile(&env(), "a ==\n 1").unwrap();
    let set = set(&engine);
    assert_eq!(engine.profiling_failure(), None);
    let map = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut sizes = Vec::new();
    let mut names = Vec::new();
    for line in map.lines() {
        let mut parts = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(parts.next().unwrap(), 16).unwrap();
        let (address, len) = (number(), number());
        assert!(len > 0 && is_executable(address, len), "{line}");
        assert!(memory(address, len).iter().any(|byte| *byte != 0));
        sizes.push(len);
        names.push(parts.next().unwrap().to_owned());
    }
    check_names(&names, "celero::rule::a ==  1");
    assert_eq!(sizes[1..].iter().sum::<u64>(), u64::try_from(set.code_size()).unwrap());
    drop((off, program));
}

#[test]
fn the_dump_has_the_code() {
    let _exclusive = exclusive();
    let path = format!("/tmp/jit-{}.dump", std::process::id());
    // That of an earlier process.
    std::fs::write(&path, "stale").unwrap();
    let engine = engine(Profiling::JitDump);
    let program = engine.compile(&env(), "a == 1").unwrap();
    let set = set(&engine);
    assert_eq!(engine.profiling_failure(), None);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.lines().any(|line| line.contains(" r-xp ") && line.ends_with(&path)), "no marker");
    let dump = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let word = |at: usize| u32::from_ne_bytes(dump[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_ne_bytes(dump[at..at + 8].try_into().unwrap());
    assert_eq!((&dump[..4], word(4), word(8), word(20)), (&b"DTiJ"[..], 1, 40, std::process::id()));
    let (mut at, mut names, mut time) = (40, Vec::new(), long(24));
    while at < dump.len() {
        let size = usize::try_from(word(at + 4)).unwrap();
        assert_eq!((word(at), word(at + 16)), (0, std::process::id()));
        assert!(long(at + 8) >= time, "time runs on");
        time = long(at + 8);
        let (address, len, number) = (long(at + 32), long(at + 40), long(at + 48));
        assert_eq!((long(at + 24), number), (address, u64::try_from(names.len()).unwrap()));
        let text = &dump[at + 56..at + size];
        let (name, code) = text.split_at(text.iter().position(|byte| *byte == 0).unwrap());
        assert_eq!(&code[1..], memory(address, len), "this is not the code that runs");
        names.push(String::from_utf8(name.to_vec()).unwrap());
        at += size;
    }
    check_names(&names, "celero::rule::a == 1");
    drop((program, set));
}
