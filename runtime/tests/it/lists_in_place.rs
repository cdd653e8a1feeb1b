//! Lists of the host whose elements native code reads where they lie: their size, an element, the search for a value.

use crate::field_types::results;
use celero::host::Element;
use celero::layout::{Access, Field as Layout, Path, Repr, Ty};
use celero::values::{Arena, Duration, EvalResult};
use celero::{Context, Engine, Env, ErrorKind, FieldType, Limits, Scratch, Tier, Type, Value};
use std::collections::{HashSet, VecDeque};

#[derive(FieldType)]
#[context(rename_all = "lowercase")]
enum Plan {
    Free,
    Team,
}

#[derive(Context)]
struct Data<'a> {
    nums: &'a [i64],
    small: Vec<i8>,
    ports: Vec<u16>,
    weights: &'a [f64],
    flags: Vec<bool>,
    tags: &'a [String],
    long: Vec<String>,
    names: Vec<&'a str>,
    blobs: Vec<Vec<u8>>,
    spans: Vec<Duration>,
    plans: Vec<Plan>,
    none: Vec<i64>,
    text: String,
    n: i64,
    zero: i64,
    absent: Option<i64>,
    path: &'a str,
    missing: Option<String>,
}

fn tags() -> Vec<String> {
    let long = "a text that is longer than those that are compared in line";
    ["a", "", "bc", long].map(str::to_owned).into()
}

fn data(tags: &[String]) -> Data<'_> {
    Data {
        nums: &[4, -7, i64::MAX, i64::MIN],
        small: vec![-128, 127],
        ports: vec![80, 65_535],
        weights: &[0.5, f64::NAN, -0.0],
        flags: vec![false],
        tags,
        long: Vec::new(),
        names: tags.iter().map(String::as_str).collect(),
        blobs: vec![b"\xff".to_vec(), Vec::new()],
        spans: vec![Duration(1_000_000_000)],
        plans: vec![Plan::Free, Plan::Team],
        none: Vec::new(),
        text: "bc".into(),
        n: -7,
        zero: 0,
        absent: None,
        path: "/a/b/",
        missing: None,
    }
}

/// Each rule, its value or error in all tiers, and the operations that read the list in place.
const RULES: &[(&str, &str, &[&str])] = &[
    ("size(nums)", "Int(4)", &["seq_size"]),
    ("none.size() == 0 && tags.size() == 4 && size(blobs) + size(plans) == 4", "Bool(true)", &["seq_size"]),
    ("nums[0] + nums[1]", "Int(-3)", &["seq_at"]),
    ("[nums[2], nums[3]]", "List(Slice([Int(9223372036854775807), Int(-9223372036854775808)]))", &["seq_at"]),
    ("[small[0], small[zero + 1]]", "List(Slice([Int(-128), Int(127)]))", &["seq_at"]),
    ("ports[1] == 65535u && !flags[0] && weights[0] == 0.5", "Bool(true)", &["seq_at"]),
    ("tags[2] == 'bc' && names[2] == text && tags[1] == ''", "Bool(true)", &["seq_at"]),
    ("blobs[0] == b'\\xff' && spans[0] == duration('1s')", "Bool(true)", &["seq_at"]),
    ("plans[1] + plans[0]", "String(\"teamfree\")", &["seq_at"]),
    ("nums[4]", "invalid_argument", &["seq_at"]),
    ("nums[n]", "invalid_argument", &["seq_at"]),
    ("nums[-9223372036854775807 - 1]", "invalid_argument", &["seq_at"]),
    ("none[0] == 1 || true", "Bool(true)", &["seq_at"]),
    ("nums[1 / zero]", "divide_by_zero", &["seq_at"]),
    ("nums[absent]", "no_such_key", &["seq_at"]),
    ("nums[nums.size() - 1] == nums[3]", "Bool(true)", &["seq_at", "seq_size"]),
    ("4 in nums && n in nums && !(5 in nums) && !(zero in nums)", "Bool(true)", &["seq_has"]),
    ("-128 in small && !(128 in small)", "Bool(true)", &["seq_has"]),
    ("80u in ports && !(65536u in ports)", "Bool(true)", &["seq_has"]),
    ("0.5 in weights && 0.0 in weights && !(0.0 / 0.0 in weights)", "Bool(true)", &["seq_has"]),
    ("false in flags && !(true in flags)", "Bool(true)", &["seq_has"]),
    ("'bc' in tags && text in tags && '' in tags && !('b' in tags) && !('bd' in tags)", "Bool(true)", &["seq_has"]),
    (
        "tags[3] in names && 'a text that is longer than those that are compared in line' in tags",
        "Bool(true)",
        &["seq_at", "seq_has"],
    ),
    ("b'\\xff' in blobs && b'' in blobs && !(bytes(text) in blobs)", "Bool(true)", &["seq_has"]),
    ("duration('1s') in spans && !(duration('2s') in spans)", "Bool(true)", &[]),
    ("'team' in plans && !('Team' in plans) && !(text in plans)", "Bool(true)", &["seq_has"]),
    ("1 in none || text + 'd' in tags", "Bool(false)", &["seq_has"]),
    ("1 / zero in none", "divide_by_zero", &["seq_has"]),
    ("absent in nums", "no_such_key", &["seq_has"]),
    ("1 / zero in nums || 4 in nums", "Bool(true)", &["seq_has"]),
    ("nums.exists(x, x in nums && x == n) && nums.all(x, !(x in none))", "Bool(true)", &["seq_has"]),
    ("names.all(x, x in tags && (x + 'x' in tags || x.size() < 99))", "Bool(true)", &["seq_has"]),
    ("4 in nums ? tags[0] : tags[9]", "String(\"a\")", &["seq_has", "seq_at"]),
    ("nums.map(x, x in nums)", "List(Slice([Bool(true), Bool(true), Bool(true), Bool(true)]))", &["seq_has"]),
    ("tags.filter(t, t.size() < 3).size() + size(nums.filter(x, x > 0))", "Int(5)", &["fold.count"]),
    (
        "none.filter(x, x / zero == 0).size() == 0 && [1, 2].filter(x, x in nums).size() == 0",
        "Bool(true)",
        &["fold.count"],
    ),
    ("nums.filter(x, x / zero == 0).size()", "divide_by_zero", &["fold.count"]),
    ("{'a': 1, 'b': 2}.filter(k, k == text || k == 'a').size()", "Int(1)", &["fold.count"]),
    ("nums.filter(x, x > 0 && nums.filter(y, y < x).size() == 2)", "List(Slice([Int(4)]))", &["fold.count"]),
    ("nums.filter(x, dyn(x)).size()", "no_such_overload", &["fold.count"]),
    // Lists and optionals that are not built.
    ("[nums.reverse()[0], nums.reverse()[3]] == [nums[3], nums[0]]", "Bool(true)", &["seq_at", "seq_size"]),
    ("nums.reverse()[4]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.reverse()[n]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.reverse()[-9223372036854775807 - 1]", "invalid_argument", &["seq_at", "seq_size"]),
    ("none.reverse()[0]", "invalid_argument", &["seq_at", "seq_size"]),
    ("tags.reverse()[1 / zero]", "divide_by_zero", &["seq_at", "seq_size"]),
    ("nums.slice(1, 3)[0] + zero", "Int(-7)", &["seq_at", "seq_size"]),
    ("nums.slice(zero, 4)[zero + 3] == nums[3]", "Bool(true)", &["seq_at", "seq_size"]),
    ("nums.slice(1, 3)[2]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(1, 3)[n]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(1, 3)[9223372036854775807]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(2, 1)[0]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(n, 1)[1 / zero]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(0, 5)[0]", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums.slice(0, 4)[1 / zero]", "divide_by_zero", &["seq_at", "seq_size"]),
    ("nums.first().value() - nums.last().value() > 0 || true", "Bool(true)", &["seq_at", "seq_size"]),
    ("none.first().value()", "invalid_argument", &["seq_at", "seq_size"]),
    ("none.last().value()", "invalid_argument", &["seq_at", "seq_size"]),
    ("none.first().orValue(1) + none.last().orValue(2)", "Int(3)", &["seq_at", "seq_size"]),
    ("none.first().orValue(1 / zero)", "divide_by_zero", &["seq_at", "seq_size"]),
    ("nums.first().orValue(1 / zero)", "Int(4)", &["seq_at", "seq_size"]),
    ("nums.first().hasValue() && !none.last().hasValue()", "Bool(true)", &["seq_at", "seq_size"]),
    (
        "tags.last().orValue('') == tags[3] && plans.first().orValue(text) == 'free'",
        "Bool(true)",
        &["seq_at", "seq_size"],
    ),
    ("nums[?1].value() + nums[?4].orValue(1) + nums[?n].orValue(2)", "Int(-4)", &["seq_at", "seq_size"]),
    ("nums[?4].value()", "invalid_argument", &["seq_at", "seq_size"]),
    ("nums[?0].hasValue() && !nums[?4].hasValue() && !nums[?n].hasValue()", "Bool(true)", &["seq_at", "seq_size"]),
    ("nums.first().orValue(dyn('x'))", "Int(4)", &["seq_at", "seq_size"]),
    ("sets.contains(nums, [4, n]) && !sets.contains(nums, [4, zero])", "Bool(true)", &["seq_has"]),
    ("sets.contains(tags, ['bc', text]) && sets.contains(ports, [80u])", "Bool(true)", &["seq_has"]),
    (
        "sets.intersects(nums, [zero, 4]) && !sets.intersects(none, [4]) && !sets.intersects(tags, ['b'])",
        "Bool(true)",
        &["seq_has"],
    ),
    ("sets.contains(nums, [absent]) || sets.contains(nums, [1 / zero, 5])", "no_such_key", &[]),
    ("nums.hasAll([4, n]) && nums.hasAny([4, zero]) && !nums.hasAll([4, zero])", "Bool(true)", &["seq_has"]),
    ("sets.contains(nums, []) && !sets.intersects(nums, [])", "Bool(true)", &[]),
    ("path.split('/').size() == 4 && path.split(text).size() == 1 && text.split('').size() == 2", "Bool(true)", &[]),
    (
        "[path.split('/')[0], path.split('/')[2], text.split('')[1]]",
        "List(Slice([String(\"\"), String(\"b\"), String(\"c\")]))",
        &[],
    ),
    ("path.split('/')[4]", "invalid_argument", &[]),
    ("path.split('/')[n]", "invalid_argument", &[]),
    ("path.split('/')[1 / zero]", "divide_by_zero", &[]),
    ("missing.split('/')[1 / zero]", "no_such_key", &[]),
    ("missing.split('/').size()", "no_such_key", &[]),
    ("size(nums + none) + size(tags + tags)", "Int(12)", &["seq_size"]),
    ("n in [zero, n] && !(n in [zero, 1]) && !(text in ['x', 'y']) && text in ['x', text]", "Bool(true)", &[]),
    ("nums[1] in [zero, n] && nums.exists(x, x in [zero, n])", "Bool(true)", &["seq_at"]),
    ("absent in [zero, n]", "no_such_key", &[]),
    ("n in [absent, n]", "no_such_key", &[]),
    ("nums[9] in [zero, n]", "invalid_argument", &["seq_at"]),
    ("n in [zero, dyn('x')] || n in [zero, 1u]", "Bool(false)", &[]),
    ("ports[0] in [443u, 80u] && !(ports[0] in [443u, 81u]) && weights[0] in [1.5, 0.5]", "Bool(true)", &["seq_at"]),
    ("weights[1] in [0.5, weights[1]]", "Bool(false)", &["seq_at"]),
    // The library compares values of different types, and converts indices.
    ("dyn(4.0) in nums && dyn(4u) in nums && !(dyn('4') in nums)", "Bool(true)", &[]),
    ("[nums[dyn(1u)], nums[dyn(0.0)]]", "List(Slice([Int(-7), Int(4)]))", &[]),
    ("nums[dyn(0.5)]", "invalid_argument", &[]),
    ("dyn(nums)[0] + size(dyn(nums))", "Int(8)", &[]),
];

#[test]
fn both_tiers_agree_on_lists_in_place() {
    let tags = tags();
    let data = data(&tags);
    let rules: Vec<_> = RULES.iter().map(|&(rule, result, _)| (rule, result)).collect();
    results(&data, &rules);
    let engine = Engine::new();
    for (rule, _, operations) in RULES {
        let explained = engine.explain(&Env::<Data<'_>>::new(), rule).unwrap();
        let (_, graph) = explained.sections().find(|(title, _)| *title == "graph").unwrap();
        for operation in ["seq_size", "seq_at", "seq_has", "fold.count"] {
            let found = graph.contains(&format!("= {operation}"));
            assert_eq!(found, operations.contains(&operation), "{rule}: {operation}\n{graph}");
        }
    }
}

/// Errors have the same place in both tiers.
#[test]
fn an_index_that_is_out_of_bounds_is_the_error_of_its_expression() {
    let tags = tags();
    let data = data(&tags);
    for rule in [
        "n == 0 || tags[zero - 1] == 'a'",
        "[tags[0], tags[4]]",
        "!(nums[n] in nums)",
        "nums[nums[0]] in nums",
        "dyn(n).filter(x, true).size() == 1",
        "nums.filter(x, x / zero == 1).size() == 1",
        "nums.reverse()[4] == 1",
        "nums.slice(3, 1)[0] == 1",
        "nums.slice(1, 3)[2] == 1",
        "none.first().value() == 1",
        "nums[?9].value() == 1",
        "none.last().orValue(1 / zero) == 1",
        "path.split('/')[4] == ''",
        "missing.split('/')[1] == ''",
    ] {
        let errors = [Tier::Interpret, Tier::Native].map(|tier| {
            let program = Engine::builder().tier(tier).build().compile(&Env::<Data<'_>>::new(), rule).unwrap();
            program.eval(&data, &mut Scratch::new()).unwrap_err()
        });
        let [interpreted, native] = errors.map(|error| (error.kind, error.start, error.end));
        assert_eq!(interpreted, native, "{rule}");
    }
}

/// Each element that a search visits costs a step.
#[test]
fn a_search_ends_with_the_budget() {
    let nums: Vec<i64> = (0..1_000).collect();
    let tags = tags();
    // Texts of one length, which differ in the last byte.
    let long = vec![format!("{:8000}", 'a'); 50];
    let text = format!("{:>8000}", 'b');
    let data = Data { nums: &nums, long, text, ..data(&tags) };
    for (steps, rule, expected) in [
        (1_000, "n in nums", Ok(false)),
        (999, "n in nums", Err(ErrorKind::OutOfBudget)),
        (999, "n in nums || 1 in nums", Err(ErrorKind::OutOfBudget)),
        (500, "zero + 499 in nums", Ok(true)),
        (500, "zero + 500 in nums", Err(ErrorKind::OutOfBudget)),
        (900, "499 in nums && 498 in nums", Err(ErrorKind::OutOfBudget)),
        (1_000, "nums.filter(x, x >= 0).size() == 1000", Ok(true)),
        (999, "nums.filter(x, x >= 0).size() == 1000", Err(ErrorKind::OutOfBudget)),
        (100, "text in long", Err(ErrorKind::OutOfBudget)),
        (100_000, "text in long", Ok(false)),
        (10_000, "nums.exists(x, x + 1 in nums && x > 100)", Ok(true)),
        (1_000, "nums.exists(x, x + 1 in nums && x > 100)", Err(ErrorKind::OutOfBudget)),
    ] {
        let limits = Limits { steps, ..Limits::default() };
        let engine = Engine::builder().tier(Tier::Native).limits(limits).build();
        let program = engine.compile(&Env::<Data<'_>>::new(), rule).unwrap();
        assert_eq!(program.test(&data).map_err(|error| error.kind), expected, "{rule} with {steps} steps");
    }
}

#[derive(Context)]
struct Limit {
    rate: u32,
    burst: Option<u8>,
}

#[derive(Context)]
struct Upstream {
    name: String,
    healthy: bool,
    weight: i64,
    plan: Plan,
    share: f64,
    limit: Limit,
    #[context(name = "tls.version")]
    version: u16,
    zone: Option<String>,
    #[context(with = seconds)]
    idle: u32,
    /// A list of itself has no members of members.
    backups: Vec<Upstream>,
}

fn seconds(idle: &u32) -> i64 {
    i64::from(*idle).saturating_mul(60)
}

#[derive(Context)]
struct Pool<'a> {
    upstreams: &'a [Upstream],
    owned: Vec<Upstream>,
    shared: Vec<std::sync::Arc<Upstream>>,
    none: Vec<Upstream>,
    name: String,
    zero: i64,
}

fn upstream(name: &str, healthy: bool, weight: i64) -> Upstream {
    let zone = healthy.then(|| "eu".to_owned());
    let limit = Limit { rate: weight.unsigned_abs() as u32, burst: None };
    let plan = if healthy { Plan::Team } else { Plan::Free };
    let share = 0.5;
    Upstream { name: name.into(), healthy, weight, plan, share, limit, version: 12, zone, idle: 2, backups: Vec::new() }
}

/// Each rule, its value or error in all tiers, and whether members are read in place.
const MEMBERS: &[(&str, &str, bool)] = &[
    ("upstreams.exists(u, u.healthy && u.weight > 5)", "Bool(true)", true),
    ("upstreams.all(u, u.healthy && u.weight > 5)", "Bool(false)", true),
    ("upstreams.filter(u, u.healthy).size() == 1 && shared.filter(u, u.weight > 0).size() == 0", "Bool(true)", true),
    ("upstreams.exists_one(u, u.name == 'b')", "Bool(true)", true),
    ("owned.exists(u, u.name.startsWith('o') && u.share < 1.0 && u.plan == 'team')", "Bool(true)", true),
    ("shared.exists(u, u.name == 's' && u.weight == -3)", "Bool(true)", true),
    ("none.exists(u, u.weight / zero == 1) || none.all(u, u.healthy)", "Bool(true)", true),
    ("upstreams.exists(u, u.name == name || u.limit.rate == 7u)", "Bool(true)", true),
    ("upstreams.all(u, u.tls.version == 12u && has(u.tls.version) && has(u.name))", "Bool(true)", true),
    ("upstreams.exists(u, owned.exists(v, v.weight == u.weight + 1))", "Bool(true)", true),
    ("upstreams.all(u, u.weight / zero == 1)", "divide_by_zero", true),
    ("upstreams.exists(u, u.weight + u.weight > 13 && u.weight % 2 == 1)", "Bool(true)", true),
    ("upstreams.all(u, u.weight > 0u || u.limit.rate > 0)", "Bool(true)", true),
    ("upstreams.exists(u, u.healthy + 1 == 2)", "no_such_overload", true),
    ("upstreams.exists(u, u.name)", "no_such_overload", true),
    ("upstreams.exists(u, [u.name, u.weight] == ['b', 7])", "Bool(true)", true),
    ("upstreams.exists(u, cel.bind(w, u.weight, w * w == 49))", "Bool(true)", true),
    // A quoted name is one member, whatever is in it.
    ("upstreams.exists(u, u.`tls.version` == 12u)", "no_such_key", false),
    ("upstreams.exists(u, has(u.`limit.rate`))", "Bool(false)", false),
    // What is absent, made or a whole struct is read as the library reads it.
    ("upstreams.exists(u, has(u.zone) && u.zone == 'eu')", "Bool(true)", false),
    ("upstreams.all(u, u.zone == 'eu')", "no_such_key", false),
    ("upstreams.exists(u, u.idle == 120)", "Bool(true)", false),
    ("upstreams.exists(u, u['missing'] == 1)", "no_such_key", false),
    ("upstreams.exists(u, u.name.missing == 1)", "no_such_field", true),
    ("upstreams.exists(u, u['weight'] == 7)", "Bool(true)", false),
    ("upstreams.exists(u, u == {'a': 1})", "Bool(false)", false),
    ("upstreams.exists(u, u.limit == {'rate': 7u})", "Bool(true)", false),
    ("upstreams.exists(u, u.healthy && size(u) == 9)", "Bool(false)", false),
    ("upstreams.exists(u, u.?weight.orValue(0) == 7)", "Bool(true)", false),
    ("upstreams[1].weight + owned.map(u, u.weight)[0]", "Int(15)", true),
    ("upstreams[1].name == 'b' && upstreams[zero].limit.rate == 2u && owned[1].tls.version == 12u", "Bool(true)", true),
    ("upstreams[1].plan == 'team' ? upstreams[1].name + upstreams[1].name : name", "String(\"bb\")", true),
    ("upstreams.exists(u, u.weight == upstreams[1].weight) && shared[0].weight == -3", "Bool(true)", true),
    ("upstreams.exists(u, upstreams[u.weight - 2].name == 'a')", "Bool(true)", true),
    ("upstreams[2].name == 'b'", "invalid_argument", true),
    ("upstreams[zero - 1].weight == 2", "invalid_argument", true),
    ("none[0].weight == 2 || name == 'c'", "Bool(true)", true),
    ("upstreams[2].name == 'b' || upstreams[1 / zero].name == 'b'", "invalid_argument", true),
    ("upstreams[dyn(1u)].name", "String(\"b\")", false),
    ("has(upstreams[1].name) && !has(upstreams[0].zone)", "Bool(true)", false),
    ("has(upstreams[2].name)", "invalid_argument", false),
    ("upstreams[0].zone == 'eu'", "no_such_key", false),
    ("upstreams[1].name.missing", "no_such_field", true),
    ("upstreams[1].limit == {'rate': 7u}", "Bool(true)", false),
    ("upstreams[1].?name.orValue('') == 'b'", "Bool(true)", false),
    ("upstreams.exists(u, u.backups.exists(v, v.weight == 1))", "Bool(false)", false),
];

#[test]
fn both_tiers_agree_on_members_of_elements() {
    let upstreams = [upstream("a", false, 2), upstream("b", true, 7)];
    let pool = Pool {
        upstreams: &upstreams,
        owned: vec![upstream("o", true, 8), upstream("p", false, 3)],
        shared: vec![upstream("s", true, -3).into()],
        none: Vec::new(),
        name: "c".into(),
        zero: 0,
    };
    let rules: Vec<_> = MEMBERS.iter().map(|&(rule, result, _)| (rule, result)).collect();
    results(&pool, &rules);
    let engine = Engine::new();
    for (rule, _, in_place) in MEMBERS {
        let explained = engine.explain(&Env::<Pool<'_>>::new(), rule).unwrap();
        let (_, graph) = explained.sections().find(|(title, _)| *title == "graph").unwrap();
        assert_eq!(graph.contains("= member"), *in_place, "{rule}\n{graph}");
        if rule.starts_with("upstreams.exists(u, u.healthy && u.weight > 5") {
            assert!(!graph.contains("dispatch") && !graph.contains("call"), "{graph}");
        }
    }
}

#[derive(Clone, Copy, FieldType)]
enum Only {
    A,
}

#[derive(Context)]
struct Mark {
    nothing: [i64; 0],
}

#[derive(Context)]
struct Named {
    id: i64,
}

#[derive(FieldType)]
struct Slot(Option<Box<Named>>);

#[derive(Context)]
struct Odd<'a> {
    only: &'a [Only],
    marks: &'a [Mark],
    slots: Vec<Slot>,
    /// More than `i64::MAX`, which take no memory.
    many: VecDeque<Only>,
    maybe_many: Option<VecDeque<Only>>,
    teams: HashSet<String>,
    secure: bool,
}

/// Elements without a size, which all have one address, and elements that may be absent.
#[test]
fn both_tiers_agree_on_odd_elements() {
    let odd = Odd {
        only: &[Only::A],
        marks: &[Mark { nothing: [] }],
        slots: vec![Slot(None), Slot(Some(Named { id: 1 }.into()))],
        many: Vec::from([Only::A; usize::MAX]).into(),
        maybe_many: Some(Vec::from([Only::A; usize::MAX]).into()),
        teams: HashSet::from(["x".to_owned()]),
        secure: true,
    };
    results(
        &odd,
        &[
            ("'A' in only && only.size() == 1 && only[0] == 'A'", "Bool(true)"),
            ("only.all(o, o == 'B')", "Bool(false)"),
            ("many[5] == 'A' && many.exists(m, m == 'A') && !many.all(m, m == 'B')", "Bool(true)"),
            ("maybe_many[5] == 'A' && maybe_many.exists(m, m == 'A')", "Bool(true)"),
            ("many.exists(m, m == 'B')", "out_of_budget"),
            ("only.filter(o, o == 'A').size()", "Int(1)"),
            ("marks.exists(m, secure) && marks.all(m, m.nothing == [])", "Bool(true)"),
            ("slots.all(s, secure)", "no_such_key"),
            ("slots.filter(s, secure).size()", "no_such_key"),
            ("slots.exists(s, s.id == 1)", "no_such_key"),
            ("'x' in teams", "Bool(true)"),
        ],
    );
    for rule in ["has(teams.x)", "!has(teams.y)", "teams.x == 1"] {
        let errors = [Tier::Interpret, Tier::Native].map(|tier| {
            let env = Env::<Odd<'_>>::new().unchecked(true);
            let program = Engine::builder().tier(tier).build().compile(&env, rule).unwrap();
            program.eval(&odd, &mut Scratch::new()).unwrap_err()
        });
        let [interpreted, native] = errors.map(|error| (error.kind, error.start, error.end));
        assert_eq!(interpreted, native, "{rule}");
    }
}

/// A value of any type, which native code reads where it is.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Any(Value<'static>);

// SAFETY: an `Any` is its value.
unsafe impl FieldType for Any {
    fn ty() -> Type {
        Type::Dyn
    }

    fn layout() -> Layout {
        Layout::new(Ty::Value, false, Access::Load(Path(vec![0]), Repr::Value))
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(self.0))
    }
}

impl Element for Any {}

#[derive(Context)]
struct Anything {
    left: Vec<Any>,
    right: Vec<Any>,
    deque: VecDeque<Any>,
    one: Any,
}

/// The library compares values: two are equal wherever they are.
#[test]
fn elements_of_any_type_are_compared_by_value() {
    let values = || [Value::Int(1), Value::String("x"), Value::Double(f64::NAN)].map(Any).to_vec();
    let context = Anything { left: values(), right: values(), deque: values().into(), one: Any(Value::Int(1)) };
    results(
        &context,
        &[
            ("left.filter(v, v == 'x' || v == 1) == right.filter(v, v == 'x' || v == 1)", "Bool(true)"),
            ("left == right", "Bool(false)"),
            ("left != left", "Bool(true)"),
            ("one in left && 'x' in right && !('y' in left)", "Bool(true)"),
            ("deque.filter(v, v == 1).size() == 1 && deque.filter(v, v == 1) == [1]", "Bool(true)"),
            ("deque.exists(v, v == 'x')", "Bool(true)"),
        ],
    );
}
