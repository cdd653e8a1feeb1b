//! What the expressions of one rule may mention: by its language, and by the method of gRPC that it is about.

use crate::expressions::{ExpressionCompiler, place_of};
use crate::host::outcome::Phase;
use crate::language::Language;
use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::Context;
use celero::messages::type_of_message;
use celero::settings::CheckedRule;
use std::sync::Arc;

impl<C: Context> ExpressionCompiler<'_, C> {
    /// Sets the language of the rule whose expressions are compiled next, and the type of the messages that it reads.
    pub(crate) fn set_scope(&mut self, language: Language, message: Option<Arc<str>>) {
        self.scope = (language, message);
        let env = || match (&self.scope, message_variable(self.phase)) {
            ((_, Some(message)), Some(variable)) if !message.is_empty() => {
                Some(self.env.clone().narrow(variable, type_of_message(message)))
            }
            ((language, _), _) if language.is_default() => None,
            ((language, _), _) => Some(language.env(self.env)),
        };
        if !self.envs.contains_key(&self.scope)
            && let Some(env) = env()
        {
            self.envs.insert(self.scope.clone(), env);
        }
    }

    /// Reports the reading of a whole body in a phase that reads a prefix, and the other way round; and of messages
    /// without their type.
    pub(super) fn report_absent(
        &self,
        checked: &CheckedRule,
        text: &SourceText,
        start: usize,
        problems: &mut Problems,
    ) {
        let message = message_variable(self.phase).filter(|name| checked.fields().reads(name));
        if let Some(name) = message.filter(|_| self.scope.1.is_none()) {
            let place = place_of(name, checked, text, start, problems);
            let message = format!("`{name}` is a message of a method of gRPC, and this rule has no `method`");
            let problem = problems.add("policy-grpc", place, message);
            problem.help("add the method whose messages the rule reads: `method: package.Service/Method`");
        }
        let Some((name, instead)) = self.absent.filter(|(name, _)| checked.fields().reads(name)) else { return };
        let place = place_of(name, checked, text, start, problems);
        let which = if instead.ends_with("Prefix") { "reads a prefix of the body" } else { "reads the whole body" };
        let message = format!("`{name}` is absent: the phase `{}` {which}", self.phase.name());
        problems.add("policy-body", place, message).help(format!("use `{instead}`"));
    }
}

/// Returns the variable that is a message of gRPC in a phase.
fn message_variable(phase: Phase) -> Option<&'static str> {
    match phase {
        Phase::RequestBody => Some("request.message"),
        Phase::ResponseBody => Some("response.message"),
        Phase::Connection | Phase::Request | Phase::Response | Phase::Log => None,
    }
}
