//! A rule with an input: diagnostics, the result, the values of the parts, the stages of the compilation, the cost.

use super::input::{self, Input};
use super::{Refusal, cost, index, shown};
use crate::limits;
use celero::http::RequestContext;
use celero::settings::{PartResult, SourceLimits, Trace};
use celero::{Context, Engine, Env, Limits, Program, Scratch, Tier};
use celero_tooling::diagnostic_json::diagnostics_json;
use celero_tooling::disassembly::{Disassembly, disassemble};
use celero_tooling::language::Language;
use http::Request;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::sync::LazyLock;

/// The body of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    rule: String,
    #[serde(deserialize_with = "input::language")]
    pub(super) language: Language,
    pub(super) input: String,
    source: String,
    measure: bool,
}

/// Both tiers, within the limits of the server.
static ENGINES: LazyLock<(Engine, Engine)> = LazyLock::new(|| (engine(Tier::Auto), engine(Tier::Interpret)));

/// Returns an engine for a set of this many rules: their steps together are bounded.
pub(super) fn engine_of_set(tier: Tier, rules: usize) -> Engine {
    let share = u32::try_from(rules).ok().and_then(|rules| limits::SET_STEPS.checked_div(rules));
    let steps = share.unwrap_or(limits::STEPS).clamp(limits::LEAST_STEPS, limits::STEPS);
    within_steps(tier, steps)
}

/// Returns an engine within the limits of the server.
fn engine(tier: Tier) -> Engine {
    within_steps(tier, limits::STEPS)
}

fn within_steps(tier: Tier, steps: u32) -> Engine {
    let source =
        SourceLimits { max_source_bytes: limits::RULE_BYTES, max_nodes: limits::RULE_NODES, ..SourceLimits::default() };
    let limits = Limits {
        source,
        steps,
        memory: limits::MEMORY,
        patterns: limits::PATTERNS,
        case_steps: limits::CASE_STEPS,
        ..Limits::default()
    };
    Engine::builder().tier(tier).limits(limits).build()
}

/// Answers a question.
///
/// # Errors
/// The address of the client is not one.
pub(super) fn answer(question: &Question) -> Result<Json, Refusal> {
    let client = input::client(&question.source).map_err(Refusal::bad)?;
    let read = Input::read(&question.input);
    let mut answer = match &read {
        Ok(Input::Variables(variables)) => with_variables(question, variables),
        Ok(Input::Request(request, _)) => {
            let context = RequestContext::new(&**request).with_body(request.body()).with_source(client);
            on(question, input::request_env(question.language), Some(&context))
        }
        Ok(Input::Nothing) => {
            let empty = Request::new(());
            let context = RequestContext::new(&empty);
            let env = input::request_env(question.language);
            // A rule that reads nothing has a result without a request.
            let reads = ENGINES.1.check(env, &question.rule).is_ok_and(|rule| rule.fields().names().next().is_some());
            on(question, env, (!reads).then_some(&context))
        }
        Err(_) => on::<RequestContext<'_>>(question, input::request_env(question.language), None),
    };
    let input = match &read {
        Ok(input) => input.json(),
        Err(error) => json!({ "error": { "message": error.message, "line": error.line } }),
    };
    // What is wrong with a variable stands already.
    answer.entry("input").or_insert(input);
    Ok(Json::Object(answer))
}

fn with_variables(question: &Question, variables: &Map<String, Json>) -> Map<String, Json> {
    let failed = |why: String| json!({ "error": { "message": why, "line": null } });
    let env = match input::variables_env(variables, question.language) {
        Ok(env) => env,
        Err(why) => return Map::from_iter([("input".to_owned(), failed(why))]),
    };
    let arena = input::arena();
    match input::bound(&env, variables, question.language, &arena) {
        Ok(bindings) => on(question, &env, Some(&bindings)),
        Err(why) => {
            let mut answer = on::<celero::Bindings<'_>>(question, &env, None);
            answer.insert("input".to_owned(), failed(why));
            answer
        }
    }
}

/// Compiles the rule for an environment, and evaluates it if there is a context.
fn on<C: Context>(question: &Question, env: &Env<C::Static>, context: Option<&C>) -> Map<String, Json>
where
    C::Static: Context<Static = C::Static>,
{
    let (native, interpreter) = &*ENGINES;
    let rule = &*question.rule;
    let mut answer = Map::new();
    let mut add = |name: &str, json: Json| drop(answer.insert(name.to_owned(), json));
    if rule.trim().is_empty() {
        add("diagnostics", json!([]));
        return answer;
    }
    let programs = native.compile(env, rule).and_then(|program| Ok((program, interpreter.compile(env, rule)?)));
    let (program, interpreted) = match programs {
        Ok(programs) => programs,
        Err(error) => {
            add("diagnostics", diagnostics_json(error.diagnostics()));
            return answer;
        }
    };
    add("diagnostics", diagnostics_json(program.warnings()));
    add("type", json!(program.type_name()));
    add("index", index::of_text(native, env, rule));
    add("static_cost", cost::of_parts(native, env, rule));
    if let Ok(explanation) = native.explain(env, rule) {
        let disassembly = explanation.machine_code().map(disassemble);
        let stages = explanation
            .sections()
            .filter(|(title, _)| !matches!(*title, "type" | "static cost" | "machine code" | "source positions"));
        let stages: Vec<Json> =
            stages.map(|(title, text)| json!({ "title": title, "text": shown::stage(text) })).collect();
        add("stages", json!(stages));
        add("cost", cost::counted(&explanation, disassembly.as_ref()));
        add("code", json!(disassembly.as_ref().map(Disassembly::json)));
        let range = |span: &celero::settings::CodeSpan| json!({ "from": span.from, "to": span.to, "node": span.node, "span": [span.source.start, span.source.end] });
        let ranges = explanation.machine_code().map(|code| code.spans().iter().map(range).collect::<Vec<_>>());
        add("ranges", json!(ranges));
    }
    if let Some(context) = context {
        let mut scratch = Scratch::new();
        let result = result(&program, context);
        if let Ok(trace) = interpreted.trace(context, &mut scratch) {
            add("parts", parts(&trace));
        }
        let other = self::result(&interpreted, context);
        if is_same(&result, &other) {
            add("result", result);
        } else {
            add("result", json!({ "disagree": { "native": result, "interpreter": other } }));
        }
        if question.measure {
            add("measured", cost::measured(native, env, rule, (&program, &interpreted), context));
        }
    }
    answer
}

/// Evaluates a rule.
fn result<C: Context>(program: &Program<C::Static>, context: &C) -> Json {
    let mut scratch = Scratch::new();
    match program.eval(context, &mut scratch) {
        Ok(value) => json!({ "value": { "text": shown::value(&value) } }),
        Err(error) => json!({ "error": shown::failure(&program.describe(&error, context)) }),
    }
}

/// Whether two tiers agree: on the value, or on kind and place of the error.
fn is_same(one: &Json, other: &Json) -> bool {
    let place =
        |result: &Json| result.get("error").map(|error| (error.get("kind").cloned(), error.get("span").cloned()));
    match (place(one), place(other)) {
        (None, None) => one == other,
        (one, other) => one == other,
    }
}

/// Returns the parts of a rule with their values.
fn parts(trace: &Trace<'_>) -> Json {
    let mut left = limits::PART_TEXTS;
    let mut result = |result: &PartResult<'_>| match result {
        PartResult::Value(value) => {
            let text = shown::text_within(value, left);
            left = left.saturating_sub(text.len());
            json!({ "text": text })
        }
        PartResult::Failed(error) => {
            json!({ "error": error.kind.message(), "span": [error.start, error.end] })
        }
        _ => json!({ "missing": true }),
    };
    let parts = trace.parts().iter().map(|part| {
        let span = part.span();
        json!({
            "span": [span.start, span.end],
            "depth": part.depth(),
            "evaluations": part.evaluations(),
            "results": part.results().iter().map(&mut result).collect::<Vec<_>>(),
        })
    });
    json!(parts.collect::<Vec<_>>())
}
