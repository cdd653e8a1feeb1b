//! The hosts that cells are asked on: a derived context, and the same values bound to variables of
//! known and of unknown types.

use super::fields::{Cell, Fields};
use celero::host::Cx;
use celero::values::{Arena, EvalResult, List, Map, MapBuilder};
use celero::{Bindings, Context, Engine, Env, Program, Scratch, Tier, Type, Value};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Diagnostic, Limits, NodeId, Overload, Reference, check, parse};
use std::hint::black_box;

/// Answers a cell: 0 for false, 1 for true, 2 for an error.
pub type Answer = Box<dyn FnMut(&()) -> u64>;

/// Compiles a cell: its answers, in the order of [`TIERS`].
type Compile = Box<dyn Fn(&Cell) -> Result<[Answer; 3], String>>;

/// How the answers of [`Host::answers`] are made.
pub const TIERS: [&str; 3] = ["native", "handwritten", "interpreter"];

/// Compiles a cell for one of the hosts.
pub struct Host {
    /// `derived`, `bound` or `untyped`.
    pub name: &'static str,
    /// The kinds whose cells the host is asked; all if empty.
    pub kinds: &'static [&'static str],
    compile: Compile,
}

/// The kinds that are bound to variables: one for each class, and twenty rules. The call is what
/// others are compared with.
const BOUND: &[&str] = &[
    "call",
    "flag",
    "i64",
    "u64",
    "f64",
    "owned",
    "octets",
    "time",
    "span",
    "nums",
    "tags",
    "upstreams",
    "labels",
    "int_hash_map",
    "document",
    "twenty rules",
];

/// Documents are bound as they are, read in place; other lists and maps are bound as values.
const DOCUMENTS: &[&str] = &["document", "object"];

impl Host {
    /// All hosts.
    ///
    /// # Errors
    /// A value can't be bound.
    pub fn all() -> Result<Vec<Self>, String> {
        let fields: &'static Fields = Box::leak(Box::new(Fields::new()));
        let values = values(fields)?;
        let bound = |of: fn(&Type) -> Type| -> Result<_, String> {
            let declare = |env: Env<_>, (name, ty, _): &(String, Type, Value<'static>)| env.variable(name, of(ty));
            let env = values.iter().fold(Env::dynamic(), declare);
            let mut bindings = Bindings::new(&env);
            for (name, _, value) in &values {
                bindings.set(name, *value).map_err(|error| error.to_string())?;
            }
            Ok((env, &*Box::leak(Box::new(bindings))))
        };
        let (typed, untyped) = (bound(Type::clone)?, bound(|_| Type::Dyn)?);
        Ok(vec![
            Self { name: "derived", kinds: &[], compile: compile(Env::new(), fields, fields) },
            Self { name: "bound", kinds: BOUND, compile: compile(typed.0, typed.1, fields) },
            Self { name: "untyped", kinds: BOUND, compile: compile(untyped.0, untyped.1, fields) },
        ])
    }

    /// Whether the host is asked the cell.
    #[must_use]
    pub fn has(&self, cell: &Cell) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&cell.kind)
    }

    /// Compiles a cell: its answers, in the order of [`TIERS`].
    ///
    /// # Errors
    /// It does not compile, or not to native code.
    pub fn answers(&self, cell: &Cell) -> Result<[Answer; 3], String> {
        (self.compile)(cell)
    }
}

/// The variables of the derived context that have a name of one part, with their types and values.
fn values(fields: &'static Fields) -> Result<Vec<(String, Type, Value<'static>)>, String> {
    let (env, engine) = (Env::<Fields>::new(), Engine::builder().tier(Tier::Interpret).build());
    let arena: &'static Arena = Box::leak(Box::new(Arena::new(1 << 24)));
    let cx: &'static Cx<'static> = Box::leak(Box::new(Cx::new(i64::MAX, arena)));
    let mut values = Vec::new();
    for variable in env.declarations().variables().iter().filter(|variable| !variable.name.contains('.')) {
        let program = Box::leak(Box::new(engine.compile(&env, &variable.name).map_err(|error| error.to_string())?));
        let value = program.eval(fields, Box::leak(Box::new(Scratch::new()))).map_err(|error| error.to_string())?;
        let name = variable.name.to_string();
        let value = if DOCUMENTS.contains(&name.as_str()) { Ok(value) } else { copied(value, cx) };
        let value = value.map_err(|error| format!("{name}: {error:?}"))?;
        values.push((name, program.result_type().clone(), value));
    }
    Ok(values)
}

/// A value without lists and maps of the host.
fn copied(value: Value<'static>, cx: &'static Cx<'static>) -> EvalResult<Value<'static>> {
    Ok(match value {
        Value::List(list) => {
            let elements = (0..list.len()).filter_map(|index| list.get(index, cx.arena()).transpose());
            let elements = elements.map(|element| copied(element?, cx)).collect::<EvalResult<Vec<_>>>()?;
            Value::List(List::Slice(elements.leak()))
        }
        Value::Map(map) => Value::Map(copied_map(map, cx)?),
        value => value,
    })
}

fn copied_map(map: Map<'static>, cx: &'static Cx<'static>) -> EvalResult<Map<'static>> {
    let mut builder = MapBuilder::new(cx.arena(), map.len())?;
    for (key, value) in map.entries(cx.arena())? {
        builder.insert(*key, copied(*value, cx)?)?;
    }
    builder.finish(cx)
}

fn compile<C: Context<Static = C> + 'static>(env: Env<C>, context: &'static C, fields: &'static Fields) -> Compile {
    let [native, interpreter] = [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
    let ask = move |program: Program<C>| -> Answer {
        let mut scratch = Scratch::new();
        Box::new(move |()| program.test_with(black_box(context), &mut scratch).map_or(2, u64::from))
    };
    Box::new(move |cell| {
        let compiled = |engine: &Engine| engine.compile(&env, &cell.source).map_err(|error| error.to_string());
        let (program, oracle) = (compiled(&native)?, compiled(&interpreter)?);
        if !program.is_native() {
            return Err("no native code".to_owned());
        }
        let by_hand = cell.by_hand;
        let by_hand: Answer = Box::new(move |()| black_box(by_hand)(black_box(fields)).map_or(2, u64::from));
        Ok([ask(program), by_hand, ask(oracle)])
    })
}

/// The overloads of the standard library that an expression about the derived context calls.
///
/// # Errors
/// The first diagnostic.
pub fn builtins(source: &str) -> Result<Vec<Builtin>, String> {
    let env = Env::<Fields>::new();
    let first = |diagnostics: Vec<Diagnostic>| {
        diagnostics.first().map_or_else(String::new, |diagnostic| diagnostic.message.clone())
    };
    let tree = parse(source, &Limits::default()).map_err(first)?;
    let (checked, _) = check(tree, env.declarations(), &Limits::default()).map_err(first)?;
    let nodes = (0..).map(NodeId).take(checked.ast().nodes().len());
    let overloads = nodes.filter_map(|node| match checked.reference(node) {
        // Of several overloads, the values decide which one is called.
        Reference::Call { overloads, .. } if overloads.len() == 1 => Some(overloads.iter()),
        _ => None,
    });
    let builtin = |overload: &Overload| match overload {
        Overload::Builtin(builtin) => Some(*builtin),
        Overload::Host(_) | Overload::Defined(_) => None,
    };
    Ok(overloads.flatten().filter_map(builtin).collect())
}
