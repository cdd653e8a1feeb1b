//! Maps and sets of the host whose hash or order lies or panics.
#![expect(clippy::panic, reason = "tests")]

use crate::hostile_hosts::{Bomb, all};
use celero::host::MapKey;
use celero::{Context, Engine, Env, Tier, Type, Value};
use std::borrow::Borrow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, DefaultHasher, Hasher};

/// Gives another hash each time, or panics.
#[derive(Default)]
struct Unsteady {
    panics: Cell<bool>,
    calls: Cell<u64>,
}

impl BuildHasher for Unsteady {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        if self.panics.get() {
            std::panic::panic_any(Bomb);
        }
        self.calls.set(self.calls.get().wrapping_add(1));
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.calls.get() % 4);
        hasher
    }
}

/// A key that is sometimes less than every other key, whatever its text is.
#[derive(PartialEq, Eq)]
struct Fickle(String);

impl Borrow<str> for Fickle {
    fn borrow(&self) -> &str {
        let calls = CALLS.get();
        CALLS.set(calls.wrapping_add(1));
        if calls.is_multiple_of(3) { "" } else { &self.0 }
    }
}

impl PartialOrd for Fickle {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fickle {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Less
    }
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

impl MapKey for Fickle {
    type Form = str;

    fn ty() -> Type {
        Type::String
    }

    fn key(&self) -> Value<'_> {
        Value::String(&self.0)
    }

    fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&str) -> R) -> Option<R> {
        if let Value::String(text) = value { Some(find(text)) } else { None }
    }
}

#[derive(Context)]
struct Liars {
    hashed: HashMap<String, i64, Unsteady>,
    set: HashSet<u16, Unsteady>,
    ordered: BTreeMap<Fickle, String>,
}

/// What is found in maps whose hash and order say something else each time is a value of theirs; a
/// panic ends the evaluation.
#[test]
fn maps_that_lie_about_their_keys() {
    let mut liars = Liars { hashed: HashMap::default(), set: HashSet::default(), ordered: BTreeMap::new() };
    liars.hashed.extend((0..50).map(|n| (format!("k{n}"), n)));
    liars.set.extend(0..50);
    liars.ordered.extend((0..50).map(|n| (Fickle(format!("k{n}")), format!("v{n}"))));
    let env = Env::<Liars>::new();
    let mut seen = [0; 2];
    for tier in [Tier::Interpret, Tier::Native] {
        for source in [
            "hashed['k1'] >= 0 && hashed['k1'] < 50",
            "'k2' in hashed || hashed.k3 >= 0",
            "7u in set || !(7u in set)",
            "ordered['k3'].startsWith('v')",
            "has(ordered.k4) || ordered['k5'].startsWith('v')",
            "hashed.all(k, v, k == 'k' + string(v) && v < 50) && hashed.filter(k, true).size() == 50",
            "set.all(i, n, i < 50 && n < 50u) && set.exists_one(n, n == 7u)",
            "ordered.all(k, v, v.startsWith('v')) && size(ordered) == 50",
        ] {
            let program = Engine::builder().tier(tier).build().compile(&env, source).unwrap();
            for _ in 0..100 {
                match program.test(&liars) {
                    Ok(answer) => seen[0] += usize::from(answer),
                    Err(error) => {
                        assert_eq!(error.kind.name(), "no_such_key", "{source}");
                        seen[1] += 1;
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    for panics in [liars.hashed.hasher(), liars.set.hasher()].map(|hasher| &hasher.panics) {
        panics.set(true);
    }
    for source in ["hashed['k1'] == 1", "hashed.k1 == 1", "'k1' in hashed", "7u in set"] {
        all(&env, source, &liars, "host at 0..0");
    }
}
