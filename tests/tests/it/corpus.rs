//! Expressions that other people wrote for their systems parse, format to a fixed point, compile
//! with their free variables as `dyn`, and give the same in both tiers.
//!
//! Functions that celero does not have are declared as functions of the host that answer with
//! anything or fail; the test lists them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "tests")]

use celero::values::{Arena, List, Map};
use celero::{Bindings, CompileError, Engine, Env, Program, Scratch, Tier, Type, Value};
use celero_frontend::{Ast, Expr, Limits, NodeId, format, parse};
use celero_tests::differential::Ended;
use celero_tests::generate::{Owned, Rng};
use celero_tests::shape::Shapes;
use celero_tests::shared::{find, say};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

/// Sets of inputs for each expression.
const SETS: u64 = 24;

/// What does not compile: a part of the expression that no other has, and why.
const REFUSED: &[(&str, &str)] = &[
    ("query(Message{field: \"1\"})", "a protobuf message"),
    ("(\"bar\" + 1)", "not CEL: no sum of a text and a number"),
];

/// Overloads of other systems, of names that CEL's functions have. With all arguments `dyn` they
/// would be those functions.
fn foreign() -> Dynamic {
    Env::dynamic()
        .pure_method("contains", |bytes: &[u8], part: &[u8]| bytes == part)
        .pure_method("indexOf", |list: List<'_>, _: Value<'_>| i64::try_from(list.len()).unwrap())
        .pure_function("json", |map: Map<'_>| map.is_empty())
}

type Dynamic = Env<Bindings<'static>>;

/// Any answer, the same for the same arguments.
fn answer(name: &str, args: &[Value<'_>]) -> Result<Value<'static>, &'static str> {
    let sum = args.iter().fold(name.len(), |sum, arg| sum.wrapping_mul(7).wrapping_add(arg.type_name().len()));
    Ok(match sum % 7 {
        0 | 1 => Value::Bool(true),
        2 => Value::Bool(false),
        3 => Value::Int(1),
        4 => Value::String("a"),
        5 => Value::Null,
        _ => return Err("refused"),
    })
}

/// A function that is not known, with all arguments `dyn`.
fn declare(env: Dynamic, name: &'static str, receiver: bool, count: usize) -> Dynamic {
    macro_rules! declared {
        ($($arg:ident),*) => {{
            let function = move |$($arg: Value<'_>),*| answer(name, &[$($arg),*]);
            if receiver { env.pure_method(name, function) } else { env.pure_function(name, function) }
        }};
    }
    match count {
        0 => declared!(),
        1 => declared!(a),
        2 => declared!(a, b),
        3 => declared!(a, b, c),
        4 => declared!(a, b, c, d),
        5 => declared!(a, b, c, d, e),
        _ => declared!(a, b, c, d, e, f),
    }
}

/// The calls of an expression: name, whether on a receiver, number of arguments with it.
fn calls(ast: &Ast) -> BTreeSet<(String, bool, usize)> {
    let nodes = (0..ast.nodes().len()).map(|index| NodeId(u32::try_from(index).unwrap()));
    let call = |id: NodeId| match ast.expr(id) {
        Expr::Call { target, function, args, .. } => {
            let receiver = target.is_some();
            Some((ast.name(*function).to_owned(), receiver, ast.children(*args).len() + usize::from(receiver)))
        }
        _ => None,
    };
    nodes.filter_map(call).collect()
}

/// The environment in which an expression compiles, if there is one, and the functions that had to be declared.
fn environment(engine: &Engine, ast: &Ast, shapes: &Shapes) -> Result<(Dynamic, Vec<String>), CompileError> {
    let source = ast.source();
    let mut env =
        shapes.names().filter(|name| !is_type(name)).fold(foreign(), |env, name| env.variable(name, Type::Dyn));
    let mut declared = Vec::new();
    let mut left = calls(ast);
    // Of a chain of calls each is only known to be unknown when the one before it is declared.
    while let Err(errors) = engine.check(&env, source) {
        let complained = |name: &str| errors.diagnostics().iter().any(|d| d.message.contains(&format!("`{name}`")));
        let Some(call) = left.iter().find(|(name, ..)| complained(name)).cloned() else { break };
        left.remove(&call);
        let (name, receiver, count) = call;
        // The host's functions live as long as the process; so do their names here.
        let more = declare(env.clone(), name.clone().leak(), receiver, count);
        if more.problems().is_empty() {
            env = more;
            declared.push(if receiver { format!(".{name}") } else { name });
        }
    }
    engine.check(&env, source)?;
    Ok((env, declared))
}

fn is_type(name: &str) -> bool {
    const TYPES: &[&str] = &["int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null_type"];
    TYPES.contains(&name)
}

fn ended(program: &Program<Bindings<'static>>, bindings: &Bindings<'_>, scratch: &mut Scratch) -> Ended {
    let arena = Arena::new(1 << 24);
    match program.eval(bindings, scratch) {
        Ok(value) => Ended::Value(Owned::of(&value, &arena).unwrap()),
        Err(error) => Ended::failed(&error),
    }
}

/// What was seen of some expressions.
#[derive(Default)]
struct Seen {
    compiled: usize,
    values: usize,
    cases: usize,
    functions: BTreeMap<String, usize>,
    refused: Vec<(String, String)>,
}

fn run(expressions: &[(usize, String)]) -> Seen {
    let engines = [Tier::Interpret, Tier::Native].map(|tier| Engine::builder().tier(tier).build());
    let mut seen = Seen::default();
    for (number, source) in expressions {
        let ast = parse(source, &Limits::default()).unwrap_or_else(|d| panic!("{source}: {d:?}"));
        let once = format(source, &Limits::default(), 80).unwrap_or_else(|d| panic!("{source}: {d:?}"));
        assert_eq!(format(&once, &Limits::default(), 80).unwrap(), once, "{source}");
        let shapes = Shapes::of(&ast);
        let (env, functions) = match environment(&engines[0], &ast, &shapes) {
            Ok(found) => found,
            Err(errors) => {
                let reason = errors.diagnostics().iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ");
                seen.refused.push((source.clone(), reason));
                continue;
            }
        };
        for function in functions {
            *seen.functions.entry(function).or_default() += 1;
        }
        seen.compiled += 1;
        let programs = engines.each_ref().map(|engine| {
            engine.compile(&env, source).unwrap_or_else(|error| panic!("{source}\n{}", error.render("rule", false)))
        });
        let mut scratch = Scratch::new();
        for set in 0..SETS {
            let mut rng = Rng::new((*number as u64) << 16 | set);
            let arena = Arena::new(1 << 24);
            let mut bindings = Bindings::new(&env);
            let mut shown = String::new();
            for name in shapes.names().filter(|name| !is_type(name)) {
                if let Some(value) = shapes.value(name, &mut rng) {
                    bindings.set(name, value.in_arena(&arena).unwrap()).unwrap();
                    shown += &format!("  {name} = {value}\n");
                }
            }
            let [expected, native] = programs.each_ref().map(|program| ended(program, &bindings, &mut scratch));
            assert!(expected.agrees(&native), "{source}\n{shown}interpreter: {expected}\nnative: {native}");
            seen.cases += 1;
            seen.values += usize::from(expected.error().is_none());
        }
    }
    seen
}

#[test]
fn collected_expressions_compile_and_the_tiers_agree() {
    let Some(path) = find("corpora/cel_expressions.jsonl", "compiling collected expressions") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let expressions: Vec<(usize, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["expr"].as_str().unwrap().to_owned())
        .enumerate()
        .collect();
    let mut total = Seen::default();
    thread::scope(|scope| {
        let halves = expressions.chunks(expressions.len().div_ceil(2)).map(|half| scope.spawn(|| run(half)));
        for half in halves.collect::<Vec<_>>() {
            let seen = half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            total.compiled += seen.compiled;
            total.values += seen.values;
            total.cases += seen.cases;
            total.refused.extend(seen.refused);
            for (name, count) in seen.functions {
                *total.functions.entry(name).or_default() += count;
            }
        }
    });
    say(&format!(
        "{} of {} collected expressions compile; {} cases, {} with a value; functions of other systems: {:?}",
        total.compiled,
        expressions.len(),
        total.cases,
        total.values,
        total.functions
    ));
    let mut unexpected: Vec<_> = Vec::new();
    let mut met = vec![0; REFUSED.len()];
    for (source, reason) in &total.refused {
        match REFUSED.iter().position(|(part, _)| source.contains(part)) {
            Some(at) => met[at] += 1,
            None => unexpected.push(format!("{source}\n  {reason}")),
        }
    }
    assert!(unexpected.is_empty(), "{} do not compile:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!(met.iter().all(|count| *count == 1), "each exception is one expression: {met:?}");
    assert!(total.values * 3 > total.cases, "few of the inputs suit the expressions");
}
