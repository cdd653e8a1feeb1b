//! Compiles delays: the section `delays`, and `delay` of rules.

use crate::compile::RuleCompiler;
use crate::expressions::ExpressionCompiler;
use crate::expressions::template::{TemplatePart, parse};
use crate::file::document::Document;
use crate::host::delay::{Delays, OnFull};
use crate::host::outcome::Phase;
use crate::problems::Problems;
use crate::rules::delay::{DelayTime, RuleDelay};
use crate::schema::duration;
use crate::yaml::{Node, SourceText};
use celero::{Context, Type};
use std::time::Duration;

/// The longest delay of a policy that does not say it, and the longest that it may say.
const USUAL_LONGEST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(60);

/// How many requests wait at a time if the policy does not say it.
const USUAL_WAITING: usize = 1000;

impl Delays {
    /// Reads the section `delays`.
    pub(crate) fn compile(document: &Document, problems: &mut Problems) -> Self {
        let mut setting = |key| document.setting("delays", key, problems).and_then(Node::text);
        let (longest, waiting, on_full) = (setting("longest"), setting("waiting"), setting("onFull"));
        let longest = longest.and_then(|text| {
            let time = duration(&text.text)?;
            if time > LONGEST || time.is_zero() {
                let message = format!("the longest delay can't be {}", text.text);
                let problem = problems.add("policy-delay", text.place, message);
                problem.help("it is above 0s and at most 1m: each request that waits holds memory and a connection");
            }
            Some(time)
        });
        let most = waiting.and_then(|text| text.text.parse().ok()).unwrap_or(USUAL_WAITING);
        let on_full = if on_full.is_some_and(|text| text.text == "pass") { OnFull::Pass } else { OnFull::Deny };
        Self::new(longest.unwrap_or(USUAL_LONGEST), most, on_full)
    }
}

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Compiles the delay of a rule.
    pub(crate) fn delay(&mut self, rule: &Node) -> Option<RuleDelay<C::Static>> {
        let node = rule.get("delay")?;
        let phase = self.expressions.phase;
        if !matches!(phase, Phase::Request | Phase::RequestBody) {
            let message = format!("requests wait before the server: the phase `{}` has no delays", phase.name());
            let problem = self.compilation.problems.add("policy-delay", node.place, message);
            problem.help("move the rule to `request` or `requestBody`");
            return None;
        }
        let text = node.text().or_else(|| node.text_of("time"))?;
        let longest = self.compilation.longest_delay;
        let time = self.expressions.delay(&text, self.compilation.problems)?;
        if let DelayTime::Fixed(time) = &time
            && (*time > longest || time.is_zero())
        {
            let message = format!("a delay can't be {}", text.text);
            let problem = self.compilation.problems.add("policy-delay", text.place, message);
            problem.help(format!("it is above 0s and at most {longest:?}: see `longest` of `delays`"));
        }
        Some(RuleDelay { time, longest, dry_run: node.get("dryRun").is_some() })
    }
}

impl<C: Context> ExpressionCompiler<'_, C> {
    /// Compiles a time: a constant, or the value of one `${..}`.
    fn delay(&mut self, text: &SourceText, problems: &mut Problems) -> Option<DelayTime<C::Static>> {
        let parts = parse(&text.text).unwrap_or_default();
        let [TemplatePart::Expression(source, start)] = &*parts else {
            let time = duration(text.text.trim()).map(DelayTime::Fixed);
            if time.is_none() {
                let problem = problems.add("policy-value", text.place, format!("`{}` is not a delay", text.text));
                problem.help("a delay is a time, as in `250ms` or `2s`, or one `${..}` whose value is a duration");
            }
            return time;
        };
        let checked = self.checked(text, *start, source, problems)?;
        if !matches!(checked.result_type(), Type::Duration | Type::Dyn) {
            let message = format!("a delay is a `duration`, this is `{}`", checked.type_name());
            problems.add("policy-type", text.place, message);
        }
        self.compiled(self.engine.compile_checked(self.env(), &checked), text, problems).map(DelayTime::Computed)
    }
}
