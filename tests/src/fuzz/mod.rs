//! What a fuzzer calls: each target takes any bytes, and panics if what holds of all input does not hold of them.
//! `fuzz/` runs the targets under libFuzzer, `tests/tests/it/fuzz.rs` on seeds that are changed at random.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod rules;
mod wire;

use crate::differential::Ended;
use crate::filter::{Values, evaluate_other_tier, interpret, round_trip};
use crate::generate::filter::{Generator as Filters, scheme};
use crate::generate::messages::{environment, random_message};
use crate::generate::{Generator, Owned, Rng};
use crate::messages::own;
/// Messages and rules of protovalidate.
pub use crate::protovalidate::judge as protovalidate;
use celero::filter::{Filter, FilterOptions};
use celero::messages::{Descriptors, Message};
use celero::trees::{Tree, TreeKind};
use celero::values::Arena;
use celero::{Bindings, Engine, Env, ErrorKind, Limits, Program, Scratch, Tier, Type, Value};
use celero_frontend::{Span, Stage};
use celero_policy::Policy;
use prost_reflect::prost::Message as _;
pub use rules::{live, sets, translation};
use std::path::Path;
use std::sync::LazyLock;
pub use wire::{canonical, entries, lists};

/// A target.
#[derive(Debug)]
pub struct Target {
    /// Its name, and that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Takes any bytes.
    ///
    /// # Panics
    /// Something is wrong.
    pub run: fn(&[u8]),
    /// Inputs to begin with: such as mean something.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target { name: "cel", run: cel, seeds: cel_seeds },
    Target { name: "filter", run: filter, seeds: filter_seeds },
    Target { name: "trees", run: trees, seeds: tree_seeds },
    Target { name: "messages", run: messages, seeds: message_seeds },
    Target { name: "descriptors", run: descriptors, seeds: || vec![own().bytes.clone()] },
    Target { name: "policy", run: policy, seeds: policy_seeds },
    Target { name: "protovalidate", run: protovalidate, seeds: crate::protovalidate::seeds },
    Target { name: "graph", run: graph, seeds: graph_seeds },
    Target { name: "sets", run: sets, seeds: rules::rule_seeds },
    Target { name: "live", run: live, seeds: rules::rule_seeds },
    Target { name: "translation", run: translation, seeds: rules::translation_seeds },
    Target { name: "canonical", run: canonical, seeds: wire::head_seeds },
    Target { name: "lists", run: lists, seeds: wire::list_seeds },
];

/// Generated inputs to begin with.
const SEEDS: usize = 60;

static ENGINES: LazyLock<[Engine; 2]> = LazyLock::new(|| {
    let limits = Limits { steps: 100_000, ..Limits::default() };
    [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).limits(limits).build())
});

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("a", Type::Dyn).variable("b", Type::Int).variable("c", Type::String);
    env.variable("req.path", Type::String).variable("req.headers", Type::map(Type::String, Type::String))
}

fn ended(program: &Program<Bindings<'static>>, bindings: &Bindings<'_>, scratch: &mut Scratch) -> Ended {
    let arena = Arena::new(1 << 24);
    match program.eval(bindings, scratch) {
        Ok(value) => {
            Owned::of(&value, &arena).map_or(Ended::Error(ErrorKind::OutOfBudget, Span::default()), Ended::Value)
        }
        Err(error) => Ended::failed(&error),
    }
}

/// Both tiers end alike, unless one spends its budget.
fn assert_same(one: &Ended, other: &Ended, of: &str) {
    let is_spent = |ended: &Ended| ended.error() == Some(ErrorKind::OutOfBudget);
    let is_same = match (one, other) {
        (Ended::Value(one), Ended::Value(other)) => one.same(other),
        (one, other) => one.error().is_some() && one.error() == other.error(),
    };
    assert!(is_same || is_spent(one) || is_spent(other), "{of}: {one} and {other}");
}

/// Compiles a source in both tiers, and evaluates it with some values.
fn evaluate(env: &Env<Bindings<'static>>, source: &str) {
    let [native, interpreted] = ENGINES.each_ref().map(|engine| engine.compile(env, source));
    let (native, interpreted) = match (native, interpreted) {
        (Ok(native), Ok(interpreted)) => (native, interpreted),
        (one, other) => {
            assert_eq!(one.err().map(|e| e.to_string()), other.err().map(|e| e.to_string()), "{source}");
            return;
        }
    };
    let arena = Arena::new(1 << 20);
    let headers = Owned::Map(vec![(Owned::String("x".into()), Owned::String("y".into()))]);
    let values = [
        ("a", Owned::List(vec![Owned::Int(1), Owned::String("x".into())])),
        ("b", Owned::Int(7)),
        ("c", Owned::String("10.0.0.1".into())),
        ("req.path", Owned::String("/admin/é".into())),
        ("req.headers", headers),
    ];
    let mut bindings = Bindings::new(env);
    for (name, value) in &values {
        let bound = value.in_arena(&arena).ok().map(|value| bindings.set(name, value));
        assert!(matches!(bound, Some(Ok(()))), "{name}");
    }
    let mut scratch = Scratch::new();
    let [one, other] = [&native, &interpreted].map(|program| ended(program, &bindings, &mut scratch));
    if native.is_pure() {
        assert_same(&one, &other, source);
    }
}

/// A rule in CEL: it compiles in both tiers or in none, with the same errors, and ends alike.
pub fn cel(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    evaluate(&env(), source);
    let limits = celero_frontend::Limits::default();
    let Ok(parsed) = celero_frontend::parse(source, &limits) else { return };
    let text = celero_frontend::unparse(&parsed);
    match celero_frontend::parse(&text, &limits) {
        Ok(again) => assert_eq!(celero_frontend::unparse(&again), text, "{source}"),
        // The canonical text may be longer.
        Err(found) => assert!(found.iter().all(|error| error.stage == Stage::Limit), "{source}: {text}: {found:?}"),
    }
}

fn cel_seeds() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(51);
    (0..SEEDS).map(|_| generator.case().source.into_bytes()).collect()
}

/// A rule in the filter language: what compiles comes back from its text and its JSON, and ends alike in both tiers.
pub fn filter(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let scheme = scheme(false);
    let Ok(filter) = Filter::compile(source, &scheme, &FilterOptions::default()) else { return };
    round_trip(filter.tree(), false).unwrap_or_else(|why| panic!("{source}: {why}"));
    let hosts = [Values::new(&scheme)];
    if let Ok(other) = evaluate_other_tier(&filter, &hosts) {
        assert_eq!(interpret(&filter, &hosts), other, "{source}");
    }
}

fn filter_seeds() -> Vec<Vec<u8>> {
    Filters::new(52).take(SEEDS).map(|case| case.source.into_bytes()).collect()
}

const KINDS: [TreeKind; 2] = [TreeKind::Parsed, TreeKind::Checked];

/// A tree; the first byte says of which kind, and whether it is JSON. What is taken comes back, and compiles to what
/// its text compiles to.
pub fn trees(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let limits = celero_frontend::Limits::default();
    let kind = KINDS[usize::from(first & 1)];
    let tree = if first & 2 == 0 {
        Tree::from_bytes(kind, rest, &limits)
    } else {
        let Ok(json) = std::str::from_utf8(rest) else { return };
        Tree::from_json(kind, json, &limits)
    };
    let Ok(tree) = tree else { return };
    let again = Tree::from_bytes(kind, &tree.to_bytes(), &limits).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.to_json(), tree.to_json());
    let env = env();
    let Ok(rule) = ENGINES[0].check_tree(&env, &tree) else { return };
    evaluate(&env, rule.source());
    // Without values: variables are absent, and the same error.
    let (bindings, mut scratch) = (Bindings::new(&env), Scratch::new());
    let programs = [ENGINES[0].compile_tree(&env, &tree).ok(), ENGINES[0].compile(&env, rule.source()).ok()];
    if let [Some(of_tree), Some(of_text)] = &programs
        && of_tree.is_pure()
    {
        let [one, other] = [of_tree, of_text].map(|program| ended(program, &bindings, &mut scratch));
        assert_same(&one, &other, rule.source());
    }
}

fn tree_seeds() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(53);
    let mut seeds = Vec::new();
    while seeds.len() < SEEDS {
        let case = generator.case();
        let env = case.env();
        let Ok(rule) = ENGINES[0].check(&env, &case.source) else { continue };
        for (kind, tree) in
            [ENGINES[0].parsed_tree(&env, &rule), ENGINES[0].checked_tree(&env, &rule)].iter().enumerate()
        {
            let Ok(tree) = tree else { continue };
            let form = |is_json: u8, of: &[u8]| [&[kind as u8 | is_json << 1], of].concat();
            seeds.extend([form(0, &tree.to_bytes()), form(1, tree.to_json().as_bytes())]);
        }
    }
    seeds
}

/// Reads every field of a message, in several ways.
struct Readers {
    env: Env<Bindings<'static>>,
    programs: Vec<(String, [Program<Bindings<'static>>; 2])>,
}

static READERS: LazyLock<Readers> = LazyLock::new(|| {
    let name = "test.three.All";
    let env = environment(&Type::message(name));
    let fields = own().message(name).map(|ty| ty.fields().map(|field| field.name().to_owned()).collect::<Vec<_>>());
    let fields = fields.unwrap_or_default();
    let each = |of: &dyn Fn(&String) -> String, by: &str| fields.iter().map(of).collect::<Vec<_>>().join(by);
    let sources = [
        each(&|field| format!("m.{field} == n.{field}"), " && "),
        each(&|field| format!("has(m.{field})"), " || "),
        format!("[{}]", each(&|field| format!("dyn(m.?{field})"), ", ")),
        "m == n".to_owned(),
        "m.r_inner.map(e, e.many.map(e, e.text))".to_owned(),
        "m.m_uint32.transformList(k, v, v.inner.number)".to_owned(),
        "[m.any, m]".to_owned(),
    ];
    let compile = |source: String| {
        let of =
            ENGINES.each_ref().map(|engine| engine.compile(&env, &source).unwrap_or_else(|error| panic!("{error}")));
        (source, of)
    };
    Readers { programs: sources.into_iter().map(compile).collect(), env }
});

/// The wire bytes of a message: rules end alike in both tiers, and with an index of its fields.
pub fn messages(data: &[u8]) {
    let Readers { env, programs } = &*READERS;
    let arena = Arena::new(1 << 24);
    let Some(message) = Message::new(&own().types, "test.three.All", data) else { return };
    let Ok(indexed) = message.indexed(&arena) else { return };
    let mut scratch = Scratch::new();
    for (source, programs) in programs {
        let mut first = None;
        for message in [&message, &indexed] {
            let mut bindings = Bindings::new(env);
            for name in ["m", "n"] {
                let bound = bindings.set(name, Value::Message(message));
                assert!(bound.is_ok(), "{name}");
            }
            for program in programs {
                let ended = ended(program, &bindings, &mut scratch);
                match &first {
                    None => first = Some(ended),
                    Some(first) => assert_same(first, &ended, source),
                }
            }
        }
    }
}

fn message_seeds() -> Vec<Vec<u8>> {
    let Some(ty) = own().message("test.three.All") else { return Vec::new() };
    let mut rng = Rng::new(54);
    (0..SEEDS).map(|_| random_message(&mut rng, &ty, 3).encode_to_vec()).collect()
}

/// A `FileDescriptorSet`: what is taken declares types, whose messages compare.
pub fn descriptors(data: &[u8]) {
    let Ok(types) = Descriptors::from_bytes(data) else { return };
    let env = Env::dynamic().messages(&types);
    let names: Vec<String> = types.messages().map(|ty| ty.name().to_owned()).take(3).collect();
    for name in names {
        let env = env.clone().variable("m", Type::message(&name));
        let Ok(program) = ENGINES[0].compile(&env, "m == m") else { continue };
        let Some(message) = Message::new(&types, &name, &data[..data.len().min(64)]) else { continue };
        let mut bindings = Bindings::new(&env);
        if bindings.set("m", Value::Message(&message)).is_ok() {
            let _ = program.test(&bindings);
        }
    }
}

/// A policy: it is taken, or refused with errors that have a place.
pub fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Policy::parse("policy.yaml", text, Path::new("/nowhere")) {
        let error = error.to_string();
        assert!(error.contains("policy.yaml") && error.contains("error["), "{error}");
    }
}

fn policy_seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|of| of == "yaml")).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

/// The text of a graph: what is taken and valid comes back from its text.
pub fn graph(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(graph) = celero_ir::parse(text) else { return };
    if celero_ir::verify(&graph, &[]).is_err() {
        return;
    }
    let shown = graph.to_string();
    let again = celero_ir::parse(&shown).unwrap_or_else(|error| panic!("{error:?}\n{shown}"));
    assert_eq!(again.to_string(), shown);
}

fn graph_seeds() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(55);
    let mut seeds = Vec::new();
    while seeds.len() < SEEDS {
        let case = generator.case();
        let Ok(explained) = ENGINES[0].explain(&case.env(), &case.source) else { continue };
        let graphs = explained.sections().filter(|(_, text)| celero_ir::parse(text).is_ok());
        seeds.extend(graphs.map(|(_, text)| text.as_bytes().to_vec()));
    }
    seeds
}
