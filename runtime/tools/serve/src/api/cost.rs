//! What a rule costs: counted in its tree and its code, and measured.

use crate::limits;
use celero::settings::Explanation;
use celero::{Context, Engine, Env, Program, Scratch};
use celero_tooling::disassembly::Disassembly;
use celero_tooling::measure::fastest_within;
use serde_json::{Value as Json, json};

/// Returns the static cost of each part of a rule, the whole rule last.
pub(super) fn of_parts<C: Context>(engine: &Engine, env: &Env<C>, rule: &str) -> Json {
    let parts = engine.check(env, rule).map(|rule| rule.part_costs()).unwrap_or_default();
    let part = |part: &celero::settings::PartCost| {
        let span = [part.span.start, part.span.end];
        json!({ "span": span, "least": part.cost.least, "most": part.cost.most, "text": part.cost.to_string() })
    };
    json!(parts.iter().map(part).collect::<Vec<_>>())
}

/// Returns what can be counted.
pub(super) fn counted(explanation: &Explanation, disassembly: Option<&Disassembly>) -> Json {
    let nodes = |title: &str| {
        let section = explanation.sections().find(|(known, _)| *known == title);
        section.map(|(_, text)| text.lines().filter(|line| line.contains(" = ")).count())
    };
    let instructions = disassembly
        .filter(|disassembly| disassembly.decoded)
        .map(|disassembly| disassembly.lines.iter().filter(|line| line.text != "(data)").count());
    json!({
        "native": disassembly.is_some(),
        "code_bytes": explanation.machine_code().map(|code| code.bytes().len()),
        "instructions": instructions,
        "calls": disassembly.map(Disassembly::callees),
        "nodes_before": nodes("graph"),
        "nodes_after": nodes("optimized graph"),
    })
}

/// Returns nanoseconds: of an evaluation of native code and of the interpreter, of checking and of compiling.
pub(super) fn measured<C: Context>(
    engine: &Engine,
    env: &Env<C::Static>,
    rule: &str,
    (native, interpreted): (&Program<C::Static>, &Program<C::Static>),
    context: &C,
) -> Json
where
    C::Static: Context<Static = C::Static>,
{
    let time = |program: &Program<C::Static>| {
        let mut scratch = Scratch::new();
        fastest_within(&[context], limits::MEASURING, |context| program.eval(*context, &mut scratch).is_ok())
    };
    let check = fastest_within(&[()], limits::MEASURING, |()| engine.check(env, rule).is_ok());
    let compile = fastest_within(&[()], limits::MEASURING, |()| engine.compile(env, rule).is_ok());
    json!({
        "native": native.is_native().then(|| time(native)),
        "interpreted": time(interpreted),
        "check": check,
        "compile": compile,
    })
}
