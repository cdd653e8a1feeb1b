//! Every function of the standard library on values of growing size.

use crate::measure::growth;
use crate::{exclusive, report};
use celero::values::{Arena, List, Map};
use celero::{Bindings, Engine, Env, Scratch, Tier, Type, Value};
use celero_frontend::stdlib::{Style, TABLE};
use std::hint::black_box;

/// What texts repeat: plain, escaped, decoded, split, nested, malformed, with places for values.
const PIECES: &[&str] =
    &["a", "%41", "a=b&", "a,", "[", "{\"a\":", "1", "\"\\u00e9\",", "é", "%s", "${1}", " ", "\\", "QUJD", "../", ".*"];

fn value<'a>(ty: &Type, piece: &str, n: usize, arena: &'a Arena) -> Option<Value<'a>> {
    let text = || arena.alloc_str(&piece.repeat(n)).unwrap();
    let element = |ty: &Type, k: usize| match ty {
        Type::String | Type::Dyn | Type::Param(_) => {
            Some(Value::String(arena.alloc_str(&format!("{piece}{k}")).unwrap()))
        }
        Type::Bytes => Some(Value::Bytes(arena.alloc_str(&k.to_string()).unwrap().as_bytes())),
        other => value(other, piece, 2, arena),
    };
    Some(match ty {
        Type::Bool => Value::Bool(true),
        Type::Int => Value::Int(i64::try_from(n / 2).unwrap()),
        Type::Uint => Value::Uint(n as u64),
        Type::Double => Value::Double(n as f64),
        Type::String => Value::String(text()),
        Type::Bytes => Value::Bytes(text().as_bytes()),
        Type::List(of) => {
            let elements: Vec<Value<'_>> = (0..n).map(|k| element(of, k)).collect::<Option<_>>()?;
            Value::List(List::Slice(arena.alloc_slice(&elements).unwrap()))
        }
        Type::Map(types) => {
            // Of one width, so that they are sorted.
            let key = |k: usize| Value::String(arena.alloc_str(&format!("{piece}{k:08}")).unwrap());
            let entries: Vec<_> = (0..n).map(|k| Some((key(k), element(&types.1, k)?))).collect::<Option<_>>()?;
            Value::Map(Map::Sorted(arena.alloc_slice(&entries).unwrap()))
        }
        Type::Dyn | Type::Param(_) => Value::String(text()),
        _ => return None,
    })
}

/// The text of a call of this function with these arguments.
fn call(name: &str, style: Style, arguments: &[String]) -> Option<String> {
    let operator = name.starts_with('_') || name.starts_with('@') || name.starts_with('!') || name.starts_with('-');
    Some(match (name, style, arguments) {
        ("_[_]", _, [list, key]) => format!("{list}[{key}]"),
        ("@in", _, [value, list]) => format!("{value} in {list}"),
        (_, _, [left, right]) if operator => format!("{left} {} {right}", name.strip_prefix('_')?.strip_suffix('_')?),
        _ if operator => return None,
        (_, Style::Member, [receiver, rest @ ..]) => format!("{receiver}.{name}({})", rest.join(", ")),
        _ => format!("{name}({})", arguments.join(", ")),
    })
}

#[test]
fn functions_cost_what_their_arguments_say() {
    let _guard = exclusive();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut problems, mut called) = (Vec::new(), 0);
    for row in TABLE.rows() {
        let large = |ty: &Type| {
            matches!(ty, Type::String | Type::Bytes | Type::List(_) | Type::Map(_) | Type::Dyn | Type::Param(_))
        };
        // The cost of numbers, times and addresses does not grow.
        if !row.params.iter().any(large) {
            continue;
        }
        let names: Vec<String> = (0..row.params.len()).map(|k| format!("x{k}")).collect();
        let Some(source) = call(row.name, row.style, &names) else { continue };
        let env = names.iter().zip(row.params.iter()).fold(Env::dynamic(), |env, (name, ty)| {
            let ty = if matches!(ty, Type::Param(_)) { Type::Dyn } else { ty.clone() };
            env.variable(name, ty)
        });
        let Ok(program) = engine.compile(&env, &source) else { continue };
        called += 1;
        // One argument grows: with two, what is made of them may grow as their product, which is charged.
        let growing = row.params.iter().enumerate().filter(|(_, ty)| large(ty));
        for (piece, (grows, _)) in PIECES.iter().flat_map(|piece| growing.clone().map(move |grows| (piece, grows))) {
            let work = |n: usize| {
                // The values live as long as the test: the arena does not give back what single sizes took.
                let arena = Box::leak(Box::new(Arena::new(1 << 30)));
                let size = |k: usize| if k == grows { n } else { 4 };
                let values = row.params.iter().enumerate().map(|(k, ty)| value(ty, piece, size(k), arena));
                let values: Option<Vec<_>> = values.collect();
                let mut bindings = Bindings::new(&env);
                for (name, value) in names.iter().zip(values.unwrap_or_default()) {
                    drop(bindings.set(name, value));
                }
                let program = &program;
                move || drop(black_box(program.eval(&bindings, &mut Scratch::new()).is_ok()))
            };
            problems.extend(growth(&format!("{source} ({:?}) of {piece} in x{grows}", row.builtin), 1 << 12, work));
        }
    }
    assert!(called > 100, "{called}");
    report(&problems);
}
