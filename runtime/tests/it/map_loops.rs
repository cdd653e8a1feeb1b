//! Loops over every type of a map and of a set that a field may have, and over deques: both tiers
//! give the same values and errors, at the same places, and native code reads keys, values and
//! elements where they are.

use crate::list_types::{agree_on, same_budget};
use celero::host::MapKey;
use celero::{Context, Type, Value};
use http::{HeaderMap, HeaderValue};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// A key that only its own function reads.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Tenant(String);

impl Borrow<str> for Tenant {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl MapKey for Tenant {
    type Form = str;

    fn ty() -> Type {
        Type::String
    }

    fn key(&self) -> Value<'_> {
        Value::String(&self.0)
    }

    fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&str) -> R) -> Option<R> {
        String::lookup(value, find)
    }
}

#[derive(Context, Default)]
struct Maps<'a> {
    hashed: HashMap<String, String>,
    tree: BTreeMap<Box<str>, String>,
    borrowed: BTreeMap<&'a str, &'a str>,
    shared: Rc<HashMap<Rc<str>, Arc<str>>>,
    empty: HashMap<String, String>,
    option_hashed: Option<HashMap<String, String>>,
    option_tree: Option<BTreeMap<String, String>>,
    own_keys: BTreeMap<Tenant, String>,
    zero: i64,
    word: String,
}

#[derive(Context)]
struct Headers<'a> {
    owned: HeaderMap,
    borrowed: &'a HeaderMap,
    shared: Arc<HeaderMap>,
    option: Option<HeaderMap>,
    empty: HeaderMap,
    zero: i64,
    word: String,
}

#[derive(Context, Default)]
struct Numbers {
    hashed: HashMap<i64, i64>,
    tree: BTreeMap<i8, i32>,
    option_tree: Option<BTreeMap<i16, i64>>,
    empty: BTreeMap<i64, i64>,
    zero: i64,
}

#[derive(Context, Default)]
struct Sets {
    hashed: HashSet<i64>,
    tree: BTreeSet<i16>,
    option_hashed: Option<HashSet<i64>>,
    deque: VecDeque<i64>,
    option_deque: Option<VecDeque<i64>>,
    zero: i64,
}

fn text_pairs<K: From<&'static str>, V: From<&'static str>, M: FromIterator<(K, V)>>() -> M {
    [("a", "1"), ("key", "value"), ("b", "")].into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// Operations on a map `@` of texts, with whether native code makes no value of the map, a key or a
/// value.
const OF_TEXTS: &[(&str, bool)] = &[
    ("size(@) == 3 || @.size() == zero", true),
    ("@['key'] == 'value' && @[word] == '1'", true),
    ("@['none']", true),
    ("@.none == 'x' || @.a == '1'", true),
    ("'key' in @ && !(word in @)", true),
    ("has(@.key) && !has(@.none)", true),
    ("has(@.none) || zero == 0", true),
    ("@[string(1 / zero)] == 'x'", false),
    ("string(1 / zero) in @", false),
    ("(zero == 0 ? 'a' : 'b') in @", true),
    ("@[zero == 0 ? 'a' : 'b']", false),
    ("@.exists(k, k == 'key')", true),
    ("@.all(k, k != word)", true),
    ("@.exists_one(k, k.startsWith('k'))", true),
    ("@.filter(k, k.endsWith('b')).size()", true),
    ("@.exists(k, v, v == 'value')", true),
    ("@.all(k, v, k != v)", true),
    ("@.exists_one(k, v, k == 'a' || v == word)", true),
    ("@.exists(k, v, @.exists(l, w, k == w || l == v))", true),
    ("@.exists(k, @[k] == 'value')", false),
    ("@.all(k, v, 1 / v.size() >= 0)", false),
    ("@.exists_one(k, v, 1 / v.size() >= 0)", false),
    ("@.exists(k, v, dyn(k) + dyn(1) == dyn(v))", false),
    ("@.map(k, k + '!').size()", false),
    ("@.filter(k, k != 'a').size()", true),
    ("@.mapValues(v, v + '!')", false),
    ("@.filterKeys(k, k > 'a')", false),
    ("@.transformMap(k, v, v != '', k + v)", false),
    ("@.transformMapEntry(k, v, {v: k})", false),
    ("@.transformList(k, v, k == v)", false),
    ("@.transformMapEntry(k, v, {'same': k})", false),
    ("@.mapValues(v, 1 / v.size())", false),
    ("dyn(@).exists(k, v, v == 'value')", false),
    ("@.exists(k, zero / zero == 1)", false),
];

/// Of header maps, whose names alone are read in place: values may have to be made.
const OF_HEADERS: &[(&str, bool)] = &[
    ("size(@) == 4 || @.size() == zero", true),
    ("@.exists(k, k == 'key')", true),
    ("@.all(k, k != word && !k.endsWith('/'))", true),
    ("@.exists_one(k, k.startsWith('x-'))", true),
    ("@.filter(k, k.endsWith('b')).size()", true),
    ("@.exists(k, k == 'x-bad' && 1 / zero == 1)", true),
    ("@.filter(k, k != 'a')", false),
    ("@.map(k, k + '!')", false),
    ("@.exists(k, @[k] == 'value,other')", false),
    ("@.exists(k, v, k == 'a' && v == '1')", false),
    ("@.exists(k, v, v == 'value,other' || v == '\u{fffd}')", false),
    ("@.mapValues(v, v + '!')", false),
    ("@.filterKeys(k, k > 'a')", false),
    ("@.transformMap(k, v, v != '', k + v)", false),
    ("@.transformList(k, v, k == v)", false),
];

const OF_NUMBERS: &[(&str, bool)] = &[
    ("size(@)", true),
    ("@.exists(k, k > zero + 1)", true),
    ("@[3] == 9 && 2 in @", true),
    ("@[zero]", true),
    ("1 / zero in @", true),
    ("@[1 / zero]", false),
    ("@.exists(k, v, v == 9 && k == 3)", true),
    ("@.all(k, v, v / (k - 3) < 99)", true),
    ("@.exists_one(k, v, v == k * k)", true),
    ("@.exists_one(k, v, v / zero == k)", true),
    ("@.filter(k, k / (k - 3) == 1).size()", true),
    ("@.mapValues(v, v + 1)", false),
    ("@.filterKeys(k, k > 1)", false),
    ("@.transformMap(k, v, k > 1, v * 2)", false),
    ("@.exists(k, v, dyn(k) + dyn(1u) == dyn(1u) || dyn(v) == dyn('a'))", false),
];

/// Of sets and deques, which have an index.
const OF_SETS: &[(&str, bool)] = &[
    ("size(@)", true),
    ("3 in @ && !(zero in @)", false),
    ("@.exists(x, x > 14)", true),
    ("@.all(x, x >= zero)", true),
    ("@.exists_one(x, x == 3)", true),
    ("@.filter(x, x / (x - 3) == 1).size()", true),
    ("@.exists(i, x, i == x)", true),
    ("@.all(i, x, i < 3 && x > i - 99)", true),
    ("@.exists_one(i, x, x / i == 1)", true),
    ("@.map(x, x + 1).size()", false),
    ("@.transformList(i, x, i)", false),
    ("@.transformMap(i, x, x)", false),
    ("@.filter(x, x > zero)", false),
    ("dyn(@).mapValues(x, x)", false),
];

#[test]
fn both_tiers_agree_on_loops_over_maps_and_sets() {
    let maps = Maps {
        hashed: text_pairs(),
        tree: text_pairs(),
        borrowed: text_pairs(),
        shared: Rc::new(text_pairs()),
        option_hashed: Some(text_pairs()),
        option_tree: Some(text_pairs()),
        own_keys: text_pairs::<String, String, BTreeMap<_, _>>().into_iter().map(|(k, v)| (Tenant(k), v)).collect(),
        word: "word".into(),
        ..Maps::default()
    };
    agree_on("map(", &[&maps, &Maps::default()], OF_TEXTS, |name| name != "own_keys");
    let numbers = Numbers {
        hashed: (1..4).map(|n| (n, n * n)).collect(),
        tree: (1..4).map(|n| (n, i32::from(n) * i32::from(n))).collect(),
        option_tree: Some((1..4).map(|n| (n, 9)).collect()),
        ..Numbers::default()
    };
    agree_on("map(", &[&numbers, &Numbers::default()], OF_NUMBERS, |_| true);
    let mut deque: VecDeque<i64> = (0..15).collect();
    // The elements lie in two pieces.
    deque.rotate_left(7);
    deque.extend([1, 3]);
    let sets = Sets {
        hashed: (0..16).collect(),
        tree: [-3, 3, 7].into(),
        option_hashed: Some([3].into()),
        option_deque: Some(deque.clone()),
        deque,
        zero: 0,
    };
    agree_on("list(", &[&sets, &Sets::default()], OF_SETS, |_| true);
}

/// The entries of a map, and elements with an index, cost a step each before the first iteration.
#[test]
fn loops_over_maps_and_sets_end_with_the_same_budget_in_both_tiers() {
    let numbers = Numbers {
        hashed: [(1, 2)].into(),
        tree: (1..4).map(|n| (n, 2)).collect(),
        option_tree: Some((1..4).map(|n| (n, 9)).collect()),
        ..Numbers::default()
    };
    same_budget(
        "map(",
        &numbers,
        &[
            "@.exists(k, k == 99)",
            "@.exists(k, v, v == 99)",
            "@.all(k, v, k == 1)",
            "@.exists_one(k, v, v == 2)",
            "@.exists(k, k == 99) || @.all(k, v, k < 99)",
        ],
    );
    let sets = Sets { tree: [-3, 3, 7].into(), deque: (0..4).collect(), ..Sets::default() };
    same_budget("list(", &sets, &["@.exists(x, x == 99)", "@.exists(i, x, x == 99)", "@.all(i, x, x < 5)"]);
}

#[test]
fn both_tiers_agree_on_header_maps() {
    let mut map = HeaderMap::new();
    for (name, value) in [("a", &b"1"[..]), ("key", b"value"), ("x-bad", b"\xff"), ("key", b"other"), ("b", b"")] {
        map.append(name, HeaderValue::from_bytes(value).unwrap());
    }
    let [full, none] = [Some(map.clone()), None].map(|option| Headers {
        owned: map.clone(),
        borrowed: &map,
        shared: Arc::new(map.clone()),
        option,
        empty: HeaderMap::new(),
        zero: 0,
        word: "a".into(),
    });
    agree_on("map(", &[&full, &none], OF_HEADERS, |_| true);
    same_budget("map(", &full, &["@.exists(k, k == 'none')", "@.all(k, k != 'none' && size(@) < 9)", "@.map(k, k)"]);
}
