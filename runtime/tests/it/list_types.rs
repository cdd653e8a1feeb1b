//! Every type of a list that a field may have, with every operation: both tiers give the same
//! values and errors, at the same places, and native code reads the elements where they are.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::{Context, Engine, Env, Limits, Scratch, Tier};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// Types of lists whose elements are not contiguous.
const CURSORS: &[&str] = &["deque", "option_deque"];
/// How their types in CEL begin.
const LISTS: &str = "list(";

/// A host with the same three elements in a list of each type; without `present`, options are
/// empty.
macro_rules! host {
    ($host:ident $elements:ident $element:ty) => {
        #[derive(Context)]
        struct $host<'a> {
            vec: Vec<$element>,
            slice: &'a [$element],
            array: [$element; 3],
            boxed: Box<[$element]>,
            arc: Arc<[$element]>,
            rc: Rc<[$element]>,
            borrowed: Cow<'a, [$element]>,
            owned: Cow<'a, [$element]>,
            deque: VecDeque<$element>,
            behind: Arc<Vec<$element>>,
            to_box: &'a Box<[$element]>,
            option_vec: Option<Vec<$element>>,
            option_slice: Option<&'a [$element]>,
            option_array: Option<[$element; 3]>,
            option_boxed: Option<Box<[$element]>>,
            option_arc: Option<Arc<[$element]>>,
            option_rc: Option<Rc<[$element]>>,
            option_cow: Option<Cow<'a, [$element]>>,
            option_deque: Option<VecDeque<$element>>,
            none: Vec<$element>,
            zero: i64,
            two: i64,
        }

        fn $elements<'a>(slice: &'a [$element; 3], to_box: &'a Box<[$element]>, present: bool) -> $host<'a> {
            let list = || slice.to_vec();
            $host {
                vec: list(),
                slice,
                array: slice.clone(),
                boxed: list().into(),
                arc: list().into(),
                rc: list().into(),
                borrowed: Cow::Borrowed(slice),
                owned: Cow::Owned(list()),
                deque: list().into(),
                behind: list().into(),
                to_box,
                option_vec: present.then(list),
                option_slice: present.then_some(slice),
                option_array: present.then(|| slice.clone()),
                option_boxed: present.then(|| list().into()),
                option_arc: present.then(|| list().into()),
                option_rc: present.then(|| list().into()),
                option_cow: present.then_some(Cow::Borrowed(slice)),
                option_deque: present.then(|| list().into()),
                none: Vec::new(),
                zero: 0,
                two: 2,
            }
        }
    };
}

#[derive(Clone, Context)]
struct Peer {
    name: String,
    weight: i64,
}

host! { Numbers numbers i64 }
host! { Texts texts String }
host! { Peers peers Peer }

/// Operations on a list `@` of 4, -7 and 7, with whether native code makes no value of the list or
/// an element.
const OF_NUMBERS: &[(&str, bool)] = &[
    ("size(@) + two", true),
    ("@.size() == 3 || zero == 1", true),
    ("@[zero] + @[two]", true),
    ("@[3] == 1", true),
    ("@[zero - 1] == 1 || two == 2", true),
    ("@[1 / zero]", true),
    ("-7 in @ && !(two in @)", true),
    ("1 / zero in @", true),
    ("@.exists(x, x > two)", true),
    ("@.exists(x, 10 / (x - 4) > 9) || @.all(x, x / zero == 1)", true),
    ("@.all(x, x != zero)", true),
    ("@.exists_one(x, x > 4)", true),
    ("@.exists_one(x, x / zero == 1)", true),
    ("@.filter(x, x > 4).size()", true),
    ("@.exists(i, x, i == 1 && x == -7)", true),
    ("@.exists(i, x, 1 / i == x)", true),
    ("@.exists(i, x, 1 / i == 1 && x < zero)", true),
    ("@.all(i, x, x > i || i == 1)", true),
    ("@.all(i, x, x / (i - two) < 9)", true),
    ("@.exists_one(i, x, x > i + two)", true),
    ("@.exists_one(i, x, x / (i - two) == 9)", true),
    ("@.exists(i, x, @.exists(j, y, i < j && x + y == zero))", true),
    ("@.exists(x, vec.all(i, y, x <= y || i == two))", true),
    ("@.exists(i, x, dyn(i) + dyn(1u) == dyn(1) || dyn(x) == dyn('a'))", false),
    ("@.map(x, x * two)", false),
    ("@.map(x, x)", false),
    ("@.map(x, [x, 'a'])", false),
    ("@.map(x, x > 4, x + 1)", false),
    ("@.map(x, x / zero)", false),
    ("@.map(x, x == zero, x / zero)", false),
    ("@.map(x, @.filter(y, y > x).size())", false),
    ("@.filter(x, x > zero)", false),
    ("@.filter(x, x / zero > 1)", false),
    ("@.transformList(i, x, x * 10 + i)", false),
    ("@.transformList(i, x, i > 0, x)", false),
    ("@.transformList(i, x, 1 / (1 - i))", false),
    ("@.transformMap(i, x, x)", false),
    ("@.transformMap(i, x, x > 4, i)", false),
    ("@.transformMapEntry(i, x, {x: i})", false),
    ("@.transformMapEntry(i, x, {'a': i})", false),
    ("@.map(x, x)[two] + @.filter(x, x > 4)[0]", false),
    ("none.map(x, x / zero) == [] && none.transformMap(i, x, i) == {} && none.all(i, x, false)", false),
    ("@ == vec && !(@ != slice)", true),
    ("none == @ || @ != none", true),
    ("@ == [4, -7, 7] && dyn(@) == vec", false),
    ("@ == dyn([4.0, -7.0, 7.0])", false),
    ("dyn(@).exists(i, x, i == 1 && x == -7)", false),
    ("dyn(@).mapValues(x, x)", false),
];

const OF_TEXTS: &[(&str, bool)] = &[
    ("@[two] + @[zero]", false),
    ("'b' in @ && !('' in @)", true),
    ("@.exists(t, t.startsWith('lo'))", true),
    ("@.all(i, t, t.size() > i || i == two)", false),
    ("@.exists(i, t, i == 1 && t == 'b')", true),
    ("@.exists_one(i, t, t.endsWith('g'))", true),
    ("@ == vec", true),
    ("@ != none", true),
    ("@.map(t, t + '!')", false),
    ("@.filter(t, t != 'b')", false),
    ("@.transformMapEntry(i, t, {t: i})", false),
    ("@.transformMap(i, t, i < two, t)", false),
    ("@.map(t, int(t))", false),
    ("@.transformList(i, t, t.substring(0, i))", false),
];

const OF_PEERS: &[(&str, bool)] = &[
    ("@.exists(p, p.weight == two)", true),
    ("@.exists(i, p, i == 1 && p.name == 'b')", true),
    ("@.all(i, p, p.weight / (i - two) < 9)", true),
    ("@.exists(i, p, vec.exists(j, q, i != j && p.weight == q.weight))", true),
    ("@ == vec", false),
    ("@.map(p, p.name)", false),
    ("@.map(p, p.weight > 1, p.name + '!')", false),
    ("@.map(p, p)", false),
    ("@.filter(p, p.weight > 1)", false),
    ("@.filter(p, p.weight > 1).map(p, p.name)", false),
    ("@.transformMap(i, p, p.weight)", false),
    ("@.transformMap(i, p, p)", false),
    ("@.transformList(i, p, [i, p.weight])", false),
    ("@.exists(i, p, p['nothing'] == i)", false),
    ("@[two].name", false),
];

/// The value of a rule, or its error and the place of it.
fn outcome<C: Context>(context: &C, tier: Tier, rule: &str, limits: &Limits) -> String {
    let engine = Engine::builder().tier(tier).limits(*limits).build();
    let program = engine.compile(&Env::<C>::new(), rule).unwrap();
    match program.eval(context, &mut Scratch::new()) {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{} at {}..{}", error.kind.name(), error.start, error.end),
    }
}

/// The names of the fields whose types begin so.
fn fields<C: Context>(of: &str) -> Vec<String> {
    let fields = C::fields().into_iter().filter(|field| field.ty.to_string().starts_with(of));
    fields.map(|field| field.name).collect()
}

/// Compares the tiers on operations on each field `@` whose type begins with `of`. An operation may
/// have to make no value of the field, its elements, keys or values, if the field is one that
/// native code reads in place.
pub(crate) fn agree_on<C: Context>(of: &str, hosts: &[&C], operations: &[(&str, bool)], reads: impl Fn(&str) -> bool) {
    let engine = Engine::new();
    for field in fields::<C>(of) {
        for (operation, makes_nothing) in operations {
            let rule = operation.replace('@', &field);
            let explained = engine.explain(&Env::<C>::new(), &rule).unwrap();
            let (_, graph) = explained.sections().find(|(title, _)| *title == "graph").unwrap();
            let is_made = |line: &str| ["value = field", "= dispatch", "= call"].iter().any(|made| line.contains(made));
            assert!(!*makes_nothing || !reads(&field) || !graph.lines().any(is_made), "{rule}\n{graph}");
            for (number, host) in hosts.iter().enumerate() {
                let [interpreted, native] =
                    [Tier::Interpret, Tier::Native].map(|tier| outcome(*host, tier, &rule, &Limits::default()));
                assert_eq!(interpreted, native, "{rule} on host {number}");
            }
        }
    }
}

/// Compares the tiers on operations on each field `@` whose type begins with `of`, with every small
/// budget.
pub(crate) fn same_budget<C: Context>(of: &str, host: &C, operations: &[&str]) {
    for field in fields::<C>(of) {
        for operation in operations {
            let rule = operation.replace('@', &field);
            for steps in 0..40 {
                let limits = Limits { steps, ..Limits::default() };
                let [interpreted, native] =
                    [Tier::Interpret, Tier::Native].map(|tier| outcome(host, tier, &rule, &limits));
                assert_eq!(interpreted, native, "{rule} with {steps} steps");
            }
        }
    }
}

#[test]
fn both_tiers_agree_on_every_type_of_list() {
    let reads = |name: &str| !CURSORS.contains(&name);
    let (elements, boxed) = ([4, -7, 7], [4, -7, 7].into());
    agree_on(LISTS, &[&numbers(&elements, &boxed, true), &numbers(&elements, &boxed, false)], OF_NUMBERS, reads);
    let elements = ["long", "b", "xyz"].map(str::to_owned);
    let boxed = elements.to_vec().into();
    agree_on(LISTS, &[&texts(&elements, &boxed, true), &texts(&elements, &boxed, false)], OF_TEXTS, reads);
    let elements = [("a", 1), ("b", 2), ("c", 2)].map(|(name, weight)| Peer { name: name.into(), weight });
    let boxed = elements.to_vec().into();
    agree_on(LISTS, &[&peers(&elements, &boxed, true), &peers(&elements, &boxed, false)], OF_PEERS, reads);
}

/// What a loop with an index costs: a step for each element before the first iteration, and one for
/// each iteration.
#[test]
fn loops_with_an_index_end_with_the_same_budget_in_both_tiers() {
    let (elements, boxed) = ([4, -7, 7], [4, -7, 7].into());
    let host = numbers(&elements, &boxed, true);
    same_budget(
        LISTS,
        &host,
        &[
            "@ == vec",
            "none == @",
            "@.exists(i, x, x == 99)",
            "@.exists(i, x, i == 1)",
            "@.all(i, x, x == zero)",
            "@.exists_one(i, x, x == 4)",
            "@.exists(i, x, x == 99) || @.all(i, x, x < 99)",
            "@.all(i, x, @.exists(j, y, x == y && i == j))",
        ],
    );
}
