//! Evaluates an expression in one tier or in both, and compares the results.

pub(crate) mod as_policy;
pub(crate) mod cost;
pub(crate) mod rule_sets;

use crate::input::contexts::Contexts;
use crate::input::host::INPUT_MEMORY;
use crate::output::failure::Failure;
use crate::{DISAGREE, REJECTED};
use celero::values::Arena;
use celero::{Context, Engine, Program, Scratch, Tier};
use celero_tooling::values;
use serde_json::{Value as Json, json};

/// The value of `--tier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TierChoice {
    /// Native code where possible, otherwise the interpreter.
    Auto,
    /// Native code.
    Native,
    /// The interpreter.
    Interpret,
    /// Native code and the interpreter, whose results must be equal.
    Both,
}

/// The engines of a choice.
pub(crate) enum Engines {
    One(Engine),
    Both { native: Engine, interpret: Engine },
}

impl Engines {
    pub(crate) fn new(choice: TierChoice) -> Self {
        let engine = |tier| Engine::builder().tier(tier).build();
        match choice {
            TierChoice::Auto => Self::One(engine(Tier::Auto)),
            TierChoice::Native => Self::One(engine(Tier::Native)),
            TierChoice::Interpret => Self::One(engine(Tier::Interpret)),
            TierChoice::Both => Self::Both { native: engine(Tier::Native), interpret: engine(Tier::Interpret) },
        }
    }

    /// Returns the engines of a choice; without one, what is native code where possible is compared
    /// with the interpreter.
    pub(crate) fn compared(choice: TierChoice) -> Self {
        let engine = |tier| Engine::builder().tier(tier).build();
        match choice {
            TierChoice::Auto => Self::Both { native: engine(Tier::Auto), interpret: engine(Tier::Interpret) },
            choice => Self::new(choice),
        }
    }
}

impl Engines {
    /// Returns one of the engines, for what does not depend on the tier.
    pub(crate) fn first(&self) -> &Engine {
        match self {
            Self::One(engine) | Self::Both { native: engine, .. } => engine,
        }
    }
}

/// A value as JSON and as text.
#[derive(Clone, Debug)]
pub(crate) struct RenderedValue {
    pub(crate) json: Json,
    pub(crate) text: String,
}

/// The result of one tier.
pub(crate) type TierResult = Result<RenderedValue, Failure>;

/// The result of all chosen tiers.
#[derive(Clone, Debug)]
pub(crate) enum Evaluated {
    /// The result; if both tiers evaluated, the same in both.
    Agreed(TierResult),
    /// The result of one tier, and why it is not compared with the other's.
    Alone { result: TierResult, why: String },
    /// The results of two tiers, which differ.
    Disagreed { native: TierResult, interpret: TierResult },
}

impl Evaluated {
    /// Returns the result, if the tiers do not disagree.
    pub(crate) fn result(&self) -> Option<&TierResult> {
        match self {
            Self::Agreed(result) | Self::Alone { result, .. } => Some(result),
            Self::Disagreed { .. } => None,
        }
    }

    /// Returns why the tiers are not compared, if both were asked for.
    pub(crate) fn note(&self) -> Option<&str> {
        if let Self::Alone { why, .. } = self { Some(why) } else { None }
    }

    /// Returns the exit code of the command.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.result() {
            Some(Ok(_)) => 0,
            Some(Err(_)) => REJECTED,
            None => DISAGREE,
        }
    }

    /// Returns the result as JSON.
    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Agreed(outcome) => outcome_json(outcome),
            Self::Alone { result, why } => {
                let mut json = outcome_json(result);
                if let Some(members) = json.as_object_mut() {
                    members.insert("note".to_owned(), why.as_str().into());
                }
                json
            }
            Self::Disagreed { native, interpret } => {
                json!({ "disagree": { "native": outcome_json(native), "interpret": outcome_json(interpret) } })
            }
        }
    }
}

fn outcome_json(outcome: &TierResult) -> Json {
    match outcome {
        Ok(shown) => json!({ "value": shown.json }),
        Err(failure) => failure.json(),
    }
}

/// Evaluates in the chosen tiers, with each context.
pub(crate) fn answers(engines: &Engines, contexts: &impl Contexts, source: &str) -> Vec<Evaluated> {
    match engines {
        Engines::One(engine) => evaluate(engine, contexts, source).into_iter().map(Evaluated::Agreed).collect(),
        Engines::Both { native, interpret } => {
            if let Some((engine, why)) = why_not_compared(native, interpret, contexts, source) {
                let results = evaluate(engine, contexts, source).into_iter();
                return results.map(|result| Evaluated::Alone { result, why: why.clone() }).collect();
            }
            let pairs = evaluate(native, contexts, source).into_iter().zip(evaluate(interpret, contexts, source));
            let compared = pairs.map(|(native, interpret)| {
                let equal = agree(&native, &interpret);
                if equal { Evaluated::Agreed(native) } else { Evaluated::Disagreed { native, interpret } }
            });
            compared.collect()
        }
    }
}

/// Returns why the expression has its value with each context: a line for each part that decided.
/// Nothing if the expression can't be compiled or the contexts can't be made.
pub(crate) fn reasons<K: Contexts>(engine: &Engine, contexts: &K, source: &str) -> Vec<String> {
    let Ok(program) = engine.compile(contexts.env(), source) else { return Vec::new() };
    let reasons = contexts.with(|contexts| {
        let mut scratch = Scratch::new();
        let mut reason = |context| program.trace(context, &mut scratch).map_or_else(|_| String::new(), |t| t.render());
        contexts.iter().map(&mut reason).collect()
    });
    reasons.unwrap_or_default()
}

/// Returns the only engine that evaluates and why, if the results of both would say nothing about the tiers.
fn why_not_compared<'e>(
    native: &'e Engine,
    interpret: &'e Engine,
    contexts: &impl Contexts,
    source: &str,
) -> Option<(&'e Engine, String)> {
    match native.compile(contexts.env(), source) {
        Ok(program) if program.calls_impure() => Some((
            native,
            "the tiers are not compared: the rule calls a function that gives another result each time".into(),
        )),
        Ok(_) => None,
        Err(error) => {
            let [diagnostic] = error.diagnostics() else { return None };
            let why = || (interpret, format!("native code is not used: {}", diagnostic.message));
            (diagnostic.code == "native-code").then(why)
        }
    }
}

/// Returns whether two tiers agree on value, error kind and error span. Error messages may differ.
fn agree(native: &TierResult, interpret: &TierResult) -> bool {
    match (native, interpret) {
        // The text differs for 0.0 and -0.0, which are equal as JSON.
        (Ok(a), Ok(b)) => a.json == b.json && a.text == b.text,
        (Err(a), Err(b)) => (a.kind, a.span) == (b.kind, b.span),
        _ => false,
    }
}

/// Returns whether two rules have the same value, or none.
pub(crate) fn agree_on_value(one: &Evaluated, other: &Evaluated) -> bool {
    match (one.result(), other.result()) {
        (Some(Ok(one)), Some(Ok(other))) => one.json == other.json,
        (Some(Err(_)), Some(Err(_))) => true,
        _ => false,
    }
}

/// Returns a result for each context; one result if the expression can't be compiled or the contexts can't be made.
fn evaluate<K: Contexts>(engine: &Engine, contexts: &K, source: &str) -> Vec<TierResult> {
    let program = match engine.compile(contexts.env(), source) {
        Ok(program) => program,
        Err(error) => return vec![Err(Failure::from(&error))],
    };
    let results = contexts.with(|contexts| contexts.iter().map(|context| run(&program, context)).collect());
    results.unwrap_or_else(|why| vec![Err(Failure::invalid(why))])
}

fn run<C: Context>(program: &Program<C::Static>, context: &C) -> TierResult {
    let arena = Arena::new(INPUT_MEMORY);
    let mut scratch = Scratch::new();
    let value =
        program.eval(context, &mut scratch).map_err(|error| Failure::from(&program.describe(&error, context)))?;
    let shown = values::json::from_value(&value, &arena)
        .and_then(|json| Ok(RenderedValue { json, text: value.source_text(usize::MAX)? }));
    shown.map_err(|kind| Failure { kind: kind.name(), ..Failure::invalid(format!("showing the result: {kind}")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::Value;

    fn shown(value: Value<'_>) -> TierResult {
        let arena = Arena::new(1 << 16);
        Ok(RenderedValue {
            json: values::json::from_value(&value, &arena).unwrap(),
            text: value.source_text(usize::MAX).unwrap(),
        })
    }

    fn failed(kind: &'static str, end: u32) -> TierResult {
        Err(Failure { kind, span: Some((0, end)), ..Failure::invalid("text") })
    }

    #[test]
    fn every_difference_is_seen() {
        let nan = || shown(Value::Double(f64::NAN));
        assert!(agree(&nan(), &nan()));
        assert!(agree(&failed("overflow", 1), &failed("overflow", 1)));
        for (a, b) in [
            (shown(Value::Int(1)), shown(Value::Uint(1))),
            (shown(Value::Double(0.0)), shown(Value::Double(-0.0))),
            (shown(Value::Int(1)), failed("overflow", 1)),
            (failed("overflow", 1), failed("overflow", 2)),
            (failed("overflow", 1), failed("host", 1)),
        ] {
            assert!(!agree(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn disagreement_shows_both_answers() {
        let answer = Evaluated::Disagreed { native: shown(Value::Bool(true)), interpret: failed("host", 3) };
        assert_eq!(
            answer.json(),
            json!({ "disagree": {
                "native": { "value": { "bool": true } },
                "interpret": { "error": { "kind": "host", "message": "text", "span": [0, 3] } },
            } })
        );
    }
}
