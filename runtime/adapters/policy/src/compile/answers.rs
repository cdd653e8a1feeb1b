//! Compiles how rules end a phase: the answers of `deny`, `respond` and `redirect`.

use crate::compile::{Compilation, RuleCompiler};
use crate::host::outcome::Phase;
use crate::rules::actions::{AnswerTemplate, PhaseEnd, TextTemplate};
use crate::yaml::{MapEntry, Node};
use bytes::Bytes;
use celero::Context;
use http::{StatusCode, header};

impl<'d, C: Context> RuleCompiler<'_, 'd, C> {
    /// Reads how a rule ends the phase.
    pub(crate) fn end(&mut self, node: &Node) -> Option<PhaseEnd<C::Static>> {
        const ENDS: [&str; 4] = ["allow", "deny", "respond", "redirect"];
        let of_connection = self.expressions.phase == Phase::Connection;
        let mut ends = node.entries().iter().filter(|entry| ENDS.contains(&&*entry.key.text));
        let Some(MapEntry { key, value }) = ends.next() else {
            // What does not meet a requirement is denied.
            node.get("require")?;
            return if of_connection { Some(closed()) } else { self.denial(None).map(PhaseEnd::Deny) };
        };
        for other in ends {
            let message = format!("a rule ends its phase once: it already has `{}`", key.text);
            let problem = self.compilation.problems.add("policy-ends", other.key.place, message);
            problem.also(key.place, "this one");
        }
        match &*key.text {
            "allow" => Some(PhaseEnd::Allow),
            _ if of_connection => Some(closed()),
            "deny" => match value.text() {
                Some(text) => self.denial(text.text.parse().ok()),
                None => self.denial_with(value),
            }
            .map(PhaseEnd::Deny),
            "respond" => self.reply(value, StatusCode::OK).map(PhaseEnd::Respond),
            _ => self.redirect(value).map(PhaseEnd::Respond),
        }
    }

    /// Returns the answer of `deny: true` or of a status: that of `defaults`, or an empty one.
    fn denial(&mut self, status: Option<StatusCode>) -> Option<AnswerTemplate<C::Static>> {
        let (usual, usual_status) = self.usual_denial();
        let status = status.unwrap_or(usual_status);
        let mut reply = match usual {
            Some(usual) => self.reply(usual, status)?,
            None => AnswerTemplate { status, headers: Box::default(), body: TextTemplate::Fixed(Bytes::new()) },
        };
        reply.status = status;
        Some(reply)
    }

    /// Returns the answer that `deny` describes, with the status of `defaults` if it has none.
    fn denial_with(&mut self, answer: &Node) -> Option<AnswerTemplate<C::Static>> {
        let (_, status) = self.usual_denial();
        self.reply(answer, status)
    }

    /// Returns the answer in `defaults`, and its status.
    fn usual_denial(&mut self) -> (Option<&'d Node>, StatusCode) {
        let Compilation { document, problems, .. } = &mut *self.compilation;
        let usual = document.setting("defaults", "deny", problems);
        let status = usual.and_then(|node| node.text_of("status")).and_then(|text| text.text.parse().ok());
        (usual, status.unwrap_or(StatusCode::FORBIDDEN))
    }

    pub(crate) fn reply(&mut self, node: &Node, usual: StatusCode) -> Option<AnswerTemplate<C::Static>> {
        let status = node.text_of("status").and_then(|text| text.text.parse().ok()).unwrap_or(usual);
        let headers = self.headers(node.get("headers")).into();
        let body = match node.text_of("body") {
            Some(text) => {
                if matches!(status.as_u16(), 204 | 205 | 304) {
                    let message = format!("an answer with status {} has no body", status.as_u16());
                    self.compilation.problems.add("policy-body", text.place, message);
                }
                self.expressions.words(&text, self.compilation.problems)?
            }
            None => TextTemplate::Fixed(Bytes::new()),
        };
        Some(AnswerTemplate { status, headers, body })
    }

    fn redirect(&mut self, value: &Node) -> Option<AnswerTemplate<C::Static>> {
        let (to, status) = match value.text() {
            Some(text) => (text, None),
            None => (value.text_of("to")?, value.text_of("status")),
        };
        let status = status.and_then(|text| text.text.parse().ok()).unwrap_or(StatusCode::FOUND);
        let to = self.expressions.header(&to, self.compilation.problems)?;
        Some(AnswerTemplate {
            status,
            headers: Box::new([(header::LOCATION, to)]),
            body: TextTemplate::Fixed(Bytes::new()),
        })
    }
}

/// How a rule ends the phase `connection`: the connection is closed, and nobody reads an answer.
/// The status says that this sheds load.
fn closed<S>() -> PhaseEnd<S> {
    let body = TextTemplate::Fixed(Bytes::new());
    PhaseEnd::Deny(AnswerTemplate { status: StatusCode::SERVICE_UNAVAILABLE, headers: Box::default(), body })
}
