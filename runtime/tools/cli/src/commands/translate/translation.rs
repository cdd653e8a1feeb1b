//! One rule in another language, and the comparison of the two.

use crate::DISAGREE;
use crate::envs::Envs;
use crate::evaluate::{Engines, Evaluated, TierChoice, agree_on_value, answers};
use crate::input::contexts::Contexts;
use crate::input::in_language::InLanguage;
use crate::language::{Language, counterpart};
use crate::output::Output;
use celero::{CompileError, Context, Diagnostic, Engine};

/// A rule in the other language, and where it may have another result.
pub(crate) type Written = (String, Vec<Diagnostic>);

/// The language of a translation, and whether the nearest form stands for what has no equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) language: Language,
    pub(crate) near: bool,
}

/// Translates a rule.
pub(crate) fn written<C: Context>(envs: &Envs<C>, to: Goal, text: &str) -> Result<Written, CompileError> {
    let (engine, env) = (Engine::new(), envs.of(Language::filter()));
    let translated = match (to.language == Language::cel(), to.near) {
        (true, false) => return Ok((engine.to_cel(env, text)?, Vec::new())),
        (true, true) => engine.to_cel_near(env, text)?,
        (false, _) => engine.to_filter(env, text)?,
    };
    Ok((translated.text().to_owned(), translated.warnings().to_vec()))
}

/// Evaluates a rule and its translation and returns the exit code. `name` is that of the rule, if it has one.
pub(crate) fn compared(
    contexts: &impl Contexts,
    to: Language,
    name: &str,
    before: &str,
    after: &str,
    output: &mut Output,
) -> u8 {
    if !contexts.given() {
        return 0;
    }
    let engines = Engines::new(TierChoice::Auto);
    let before = answers(&engines, &InLanguage::new(contexts, counterpart(to)), before);
    let after = answers(&engines, &InLanguage::new(contexts, to), after);
    let mut code = 0;
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        if !agree_on_value(before, after) && !is_false_for_failure(to, before, after) {
            code = DISAGREE;
            let label = contexts.label(number);
            let label = if name.is_empty() { label } else { format!("{name}: {label}") };
            let (before, after) = (before.json(), after.json());
            output.complain(&format!("{label}: different answers: {before} before, {after} after"));
        }
    }
    code
}

/// Whether a rule in CEL fails and its translation is false, which a warning has said.
pub(crate) fn is_false_for_failure(to: Language, before: &Evaluated, after: &Evaluated) -> bool {
    let is_false =
        |value: &Evaluated| *value.json().pointer("/value/bool").unwrap_or(&serde_json::Value::Null) == false;
    to == Language::filter() && matches!(before.result(), Some(Err(_))) && is_false(after)
}
