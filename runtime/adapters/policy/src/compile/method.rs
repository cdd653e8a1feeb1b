//! The method of gRPC that a rule is about.

use crate::compile::condition::{Condition, OfMethod, Stream};
use crate::compile::{Compilation, RuleCompiler};
use crate::grpc::methods::{METHOD_VARIABLE, RuledMethod};
use crate::host::outcome::Phase;
use crate::language::Language;
use crate::phases::early::OneByOne;
use crate::phases::phase::PhaseRules;
use crate::problems::Problems;
use crate::yaml::{Node, SourceText};
use celero::Context;
use celero::messages::Descriptors;
use std::sync::Arc;

/// The code of errors about `method` and `grpc`.
const CODE: &str = "policy-grpc";

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Reads `method`, and lets the expressions of the rule read the messages of the method.
    pub(super) fn begin_rule(&mut self, node: &Node) -> Option<(SourceText, RuledMethod)> {
        let language = self.compilation.language(node);
        let method = node.text_of("method").and_then(|text| Some((self.method(&text, node)?, text)));
        if let Some((_, text)) = method.as_ref().filter(|_| language != Language::default()) {
            let message = "a rule with `method` is written in CEL".to_owned();
            let problem = self.compilation.problems.add(CODE, text.place, message);
            problem.help("other languages have no messages: add `language: cel`");
        }
        let message = method.as_ref().map(|(method, _)| Arc::clone(&method.message));
        // A method that is wrong was reported; what its messages have is not known.
        let unknown = || node.get("method").map(|_| Arc::from(""));
        self.expressions.set_scope(language, message.or_else(unknown));
        method.map(|(method, text)| (text, method))
    }

    /// Compiles the condition of a rule.
    pub(super) fn when(&mut self, node: &Node, method: Option<&(SourceText, RuledMethod)>) -> Option<Condition> {
        let when = node.text_of("when").map(|text| {
            let checked = self.expressions.condition(&text, self.compilation.problems);
            Condition { text, checked, of_method: None }
        });
        let Some((text, method)) = method else { return when };
        // Names of methods have no characters with a meaning in a literal.
        let call = format!("{METHOD_VARIABLE} == \"{}\"", method.name);
        let (source, start) = match &when {
            None => (call, 0),
            Some(Condition { checked: None, .. }) => return when,
            // A comment may be the end of the condition.
            Some(Condition { text, .. }) => (format!("{call} && ({}\n)", text.text), call.len().saturating_add(5)),
        };
        self.expressions.rule_reads.note_call(self.expressions.phase == Phase::ResponseBody);
        let (start, has_when) = (u32::try_from(start).unwrap_or(u32::MAX), when.is_some());
        let (text, checked) = when.map_or_else(|| (text.clone(), None), |when| (when.text, when.checked));
        let whole = self.expressions.engine.check(self.expressions.env(), &source);
        let of_method = OfMethod { name: Arc::clone(&method.name), checked: None, start, has_when };
        let mut condition = Condition { text, checked, of_method: Some(of_method) };
        match whole {
            Ok(whole) => condition.of_method.iter_mut().for_each(|method| method.checked = Some(whole.clone())),
            // What is too deep or too long with the method's condition, but not without.
            Err(error) => {
                error.diagnostics().iter().for_each(|found| condition.report(found, self.compilation.problems))
            }
        }
        Some(condition)
    }

    fn method(&mut self, text: &SourceText, rule: &Node) -> Option<RuledMethod> {
        let phase = self.expressions.phase;
        let types = self.compilation.definitions.messages.clone();
        let problems = &mut *self.compilation.problems;
        let of_response = phase == Phase::ResponseBody;
        if !of_response && phase != Phase::RequestBody {
            let message = format!("`method` can't be in the phase `{}`: messages are not read for it", phase.name());
            problems.add("policy-phase", text.place, message).help("move the rule to `requestBody` or `responseBody`");
            return None;
        }
        let Some(types) = types else {
            // A file that can't be read was reported.
            if self.compilation.document.one("grpc", problems).is_none() {
                let message = "`method` needs the descriptors of the service".to_owned();
                problems.add(CODE, text.place, message).help("add `grpc: {descriptors: FILE}`");
            }
            return None;
        };
        let path = format!("/{}", text.text);
        let Some(found) = types.method(&path) else {
            report_unknown(text, &types, problems);
            return None;
        };
        if self.compilation.document.setting(phase.name(), "prefix", problems).is_some() {
            let message =
                format!("`method` needs whole messages: the phase `{}` reads a prefix of the body", phase.name());
            problems.add("policy-body", text.place, message).help("use `limit` instead of `prefix`");
        }
        let (sender, streams) =
            if of_response { ("servers", found.server_streaming) } else { ("clients", found.client_streaming) };
        if let Some(key) = unfit(rule, streams) {
            let message = match &*key.text {
                "setBody" | "patchBody" => format!("`{}` can't change the messages of a call of gRPC", key.text),
                other => {
                    format!(
                        "`{other}` can't follow from one of many messages: {sender} of `{}` send a stream",
                        text.text
                    )
                }
            };
            problems.add(CODE, key.place, message);
        }
        let waits = match (of_response, found.client_streaming, found.server_streaming) {
            (true, _, true) => Some("the client gets nothing before the server has sent its last message"),
            (false, true, true) => Some("the server gets nothing before the client has sent its last message"),
            _ => None,
        };
        self.compilation.streams.extend(waits.map(|waits| Stream { method: text.clone(), waits }));
        let message = if of_response { &found.response } else { &found.request };
        let method = RuledMethod { name: text.text.as_str().into(), message: (&**message).into(), streams };
        let methods = &mut self.compilation.methods;
        if of_response { &mut methods.of_responses } else { &mut methods.of_requests }.add(method.clone());
        Some(method)
    }
}

impl Compilation<'_> {
    /// Warns of streams of which nothing is forwarded before their end.
    pub(super) fn warn_of_buffered_streams<S: Context + 'static>(&mut self, rules: &PhaseRules<S>) {
        let too_large = self.document.setting(rules.phase.name(), "tooLarge", self.problems).and_then(Node::text);
        let skips = too_large.is_some_and(|text| text.text == "skip");
        for Stream { method, waits } in std::mem::take(&mut self.streams) {
            if !skips && rules.judges_one_by_one(&method.text) != OneByOne::Never {
                continue;
            }
            let message = format!("`{}` is a stream: {waits}", method.text);
            let problem = self.problems.warn("policy-grpc-stream", method.place, message);
            problem.help(
                "messages are judged one at a time if no rule of the phase reads the body or delays, each has a \
                 `method` or reads the head, and `tooLarge` is not `skip`",
            );
        }
    }
}

/// The key of an action that changes the message, or that a rule about one of many messages can't have.
fn unfit(rule: &Node, streams: bool) -> Option<&SourceText> {
    const OF_MESSAGE: [&str; 2] = ["setBody", "patchBody"];
    const OF_HEAD: [&str; 9] = [
        "setHeaders",
        "addHeaders",
        "removeHeaders",
        "removePrefixes",
        "removeHeaderSets",
        "setPath",
        "setQuery",
        "removeQuery",
        "setStatus",
    ];
    let is_unfit = |key: &str| OF_MESSAGE.contains(&key) || streams && OF_HEAD.contains(&key);
    rule.entries().iter().map(|entry| &entry.key).find(|key| is_unfit(&key.text))
}

fn report_unknown(text: &SourceText, types: &Descriptors, problems: &mut Problems) {
    let message = format!("`grpc.descriptors` has no method `{}`", text.text);
    let names: Vec<&str> = types.methods().filter_map(|(path, _)| path.strip_prefix('/')).collect();
    let problem = problems.add(CODE, text.place, message);
    let written = text.text.trim_start_matches('/');
    // With a slash before it, with a dot instead of it, or without its package.
    let dotted = |name: &&&str| name.replace('/', ".") == text.text || name.ends_with(&format!(".{written}"));
    let meant = names.iter().find(|name| ***name == *written).or_else(|| names.iter().find(dotted));
    if let Some(meant) = meant {
        problem.help(format!("did you mean `{meant}`?"));
    } else if !problem.suggest(written, &names) {
        problem.help("a method is written as `package.Service/Method`");
    }
}
