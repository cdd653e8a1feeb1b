//! Evaluating an expression in one tier or both, and what comes out.

use crate::failure::Failure;
use crate::input::{GIVEN_MEMORY, Named, World};
use crate::{json, text};
use celero::http::RequestContext;
use celero::{Arena, Context, Engine, Env, Scratch, Tier};
use serde_json::{Value as Json, json};

/// Which tier a user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TierChoice {
    /// Native code where possible, else the interpreter.
    Auto,
    /// Native code.
    Native,
    /// The interpreter.
    Interpret,
    /// Native code and the interpreter; answers must be equal.
    Both,
}

/// The engines that a choice asks for.
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
}

/// A value in both of its forms.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) json: Json,
    pub(crate) text: String,
}

/// What came out of one tier.
pub(crate) type Outcome = Result<Shown, Failure>;

/// What came out of all tiers that were asked.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The answer, of both tiers if both were asked.
    Agreed(Outcome),
    /// The answers of two tiers that differ.
    Disagreed { native: Outcome, interpret: Outcome },
}

impl Answer {
    /// The form that programs read.
    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Agreed(outcome) => outcome_json(outcome),
            Self::Disagreed { native, interpret } => {
                json!({ "disagree": { "native": outcome_json(native), "interpret": outcome_json(interpret) } })
            }
        }
    }
}

fn outcome_json(outcome: &Outcome) -> Json {
    match outcome {
        Ok(shown) => json!({ "value": shown.json }),
        Err(failure) => failure.json(),
    }
}

/// Evaluates in the tiers asked for.
pub(crate) fn answer(engines: &Engines, world: &World, source: &str) -> Answer {
    match engines {
        Engines::One(engine) => Answer::Agreed(evaluate(engine, world, source)),
        Engines::Both { native, interpret } => {
            let (native, interpret) = (evaluate(native, world, source), evaluate(interpret, world, source));
            let equal = agree(&native, &interpret);
            if equal { Answer::Agreed(native) } else { Answer::Disagreed { native, interpret } }
        }
    }
}

/// Whether two tiers say the same. The messages of errors are for people and may differ; kind, place and value may not.
fn agree(native: &Outcome, interpret: &Outcome) -> bool {
    match (native, interpret) {
        // As text too, because the numbers 0.0 and -0.0 are equal.
        (Ok(a), Ok(b)) => a.json == b.json && a.text == b.text,
        (Err(a), Err(b)) => (a.kind, a.span) == (b.kind, b.span),
        _ => false,
    }
}

fn evaluate(engine: &Engine, world: &World, source: &str) -> Outcome {
    match world {
        World::Named(named) => evaluate_named(engine, named, source),
        World::Request(request) => {
            let message = &request.message;
            let context = RequestContext::new(message).with_body(message.body()).with_source(request.peer);
            run(engine, &request.env().map_err(Failure::invalid)?, &context, source)
        }
    }
}

fn evaluate_named(engine: &Engine, named: &Named, source: &str) -> Outcome {
    let env = named.env().map_err(Failure::invalid)?;
    let arena = Arena::new(GIVEN_MEMORY);
    let bindings = named.bindings(&env, &arena).map_err(Failure::invalid)?;
    run(engine, &env, &bindings, source)
}

fn run<E: Context, C: Context<Static = E::Static>>(
    engine: &Engine,
    env: &Env<E>,
    context: &C,
    source: &str,
) -> Outcome {
    let program = engine.compile(env, source).map_err(|error| Failure::from(&error))?;
    let arena = Arena::new(GIVEN_MEMORY);
    let mut scratch = Scratch::new();
    let value = program.eval(context, &mut scratch).map_err(Failure::from)?;
    let shown =
        json::from_value(&value, &arena).and_then(|json| Ok(Shown { json, text: text::from_value(&value, &arena)? }));
    shown.map_err(|kind| Failure { kind: kind.name(), ..Failure::invalid(format!("showing the result: {kind}")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::Value;

    fn shown(value: Value<'_>) -> Outcome {
        let arena = Arena::new(1 << 16);
        Ok(Shown { json: json::from_value(&value, &arena).unwrap(), text: text::from_value(&value, &arena).unwrap() })
    }

    fn failed(kind: &'static str, end: u32) -> Outcome {
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
        let answer = Answer::Disagreed { native: shown(Value::Bool(true)), interpret: failed("host", 3) };
        assert_eq!(
            answer.json(),
            json!({ "disagree": {
                "native": { "value": { "bool": true } },
                "interpret": { "error": { "kind": "host", "message": "text", "span": [0, 3] } },
            } })
        );
    }
}
