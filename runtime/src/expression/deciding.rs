//! The parts of an expression that decided its result, in words.

use crate::arena::Arena;
use crate::interpret::{NodeResult, Recorded};
use crate::language::{Role, RuleTree};
use crate::report::{on_one_line, text_of};
use crate::value::{List, Value};
use celero_frontend::{NodeId, Span};

/// Most lines.
const MAX_LINES: usize = 50;
/// Most values in a line.
const MAX_VALUES: usize = 8;
/// Most results of one part, which a loop evaluates several times, and most elements of a list.
const MAX_SHOWN: usize = 4;
/// Most parts of a part of which the values are looked at.
const MAX_VISITED: usize = 1000;
/// Longest text of a part, in characters.
const MAX_TEXT: usize = 120;

/// An evaluated tree.
pub(super) struct Deciding<'t, 'a> {
    pub(super) tree: &'t dyn RuleTree,
    /// The results, indexed by node.
    pub(super) nodes: &'t [Recorded<'a>],
    /// For the elements of lists.
    pub(super) arena: &'a Arena,
    /// Whether bytes are the texts of the language.
    pub(super) bytes_are_text: bool,
}

/// A node, and the place of the part around it.
type Placed = (NodeId, Option<Span>);

impl<'a> Deciding<'_, 'a> {
    /// A line for each part that decided.
    pub(super) fn lines(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut pending: Vec<Placed> = vec![(self.tree.root(), None)];
        while let Some((id, around)) = pending.pop() {
            let decided = self.deciding(id);
            if decided.is_empty() {
                let line = self.line((id, around));
                if lines.len() < MAX_LINES && !lines.contains(&line) {
                    lines.push(line);
                } else if lines.len() >= MAX_LINES {
                    lines.push("…\n".to_owned());
                    break;
                }
            }
            pending.extend(decided.into_iter().rev().map(|part| (part, Some(self.tree.span(id)))));
        }
        lines.concat()
    }

    /// The parts of a node that decided its result; none if it decided.
    fn deciding(&self, id: NodeId) -> Vec<NodeId> {
        let mut parts = Vec::new();
        let own = self.result(id);
        match self.tree.role(id, &mut parts) {
            // In a quantifier of the filter language, a result is a list.
            Role::SameResult if matches!(own, Some(Ok(Some(Value::Bool(_))) | Err(_))) => {
                parts.retain(|part| is_same(self.result(*part), own));
            }
            Role::Evaluated => parts.retain(|part| self.result(*part).is_some()),
            Role::SameResult | Role::Computed | Role::Read => parts.clear(),
        }
        parts
    }

    /// The first result of a node; `None` if it was not evaluated.
    fn result(&self, id: NodeId) -> Option<NodeResult<'a>> {
        self.nodes.get(id.0 as usize)?.results.first().copied()
    }

    fn line(&self, (id, around): Placed) -> String {
        let said = self.said((id, around));
        let values = self.values(id);
        let gap = if values.is_empty() { "" } else { ": " };
        format!("{said}{gap}{}\n", values.join("; "))
    }

    /// The values from which that of a node was computed.
    fn values(&self, id: NodeId) -> Vec<String> {
        let mut values = Vec::new();
        let mut pending = Vec::new();
        if self.tree.role(id, &mut Vec::new()) != Role::Read {
            self.add_parts(id, &mut pending);
        }
        for _ in 0..MAX_VISITED {
            let Some((id, around)) = pending.pop() else { break };
            let mut parts = Vec::new();
            let role = self.tree.role(id, &mut parts);
            // Constants explain themselves.
            let is_constant = !parts.is_empty() && parts.iter().all(|part| self.tree.is_literal(*part));
            if self.tree.is_literal(id) || is_constant || self.result(id).is_none() {
                continue;
            }
            let said = self.said((id, around));
            if values.len() >= MAX_VALUES {
                values.push("…".to_owned());
                break;
            }
            if !values.contains(&said) {
                values.push(said);
            }
            if role != Role::Read {
                self.add_parts(id, &mut pending);
            }
        }
        values
    }

    /// Adds the parts of a node, the first in the source last.
    fn add_parts(&self, id: NodeId, pending: &mut Vec<Placed>) {
        let mut parts = Vec::new();
        self.tree.add_parts(id, &mut parts);
        parts.sort_by_key(|part| self.tree.span(*part).start);
        pending.extend(parts.into_iter().rev().map(|part| (part, Some(self.tree.span(id)))));
    }

    /// A node and its results: `request.path is "/x"`.
    fn said(&self, (id, around): Placed) -> String {
        let text = self.text((id, around));
        let Some(Recorded { count, results }) = self.nodes.get(id.0 as usize) else { return text };
        let mut said: Vec<String> = results.iter().take(MAX_SHOWN).map(|result| self.shown(result)).collect();
        if said.first().is_some_and(|said| said.strip_prefix("is ") == Some(&text)) {
            return text;
        }
        if *count > u64::try_from(said.len()).unwrap_or(u64::MAX) {
            said.push("…".to_owned());
        }
        for later in said.iter_mut().skip(1) {
            if let Some(value) = later.strip_prefix("is ") {
                *later = value.to_owned();
            }
        }
        format!("{text} {}", said.join(", then "))
    }

    fn shown(&self, result: &NodeResult<'a>) -> String {
        match result {
            Ok(Some(value)) => format!("is {}", self.value(value)),
            Ok(None) => "is missing".to_owned(),
            Err((kind, _)) => format!("fails: {}", kind.message()),
        }
    }

    fn value(&self, value: &Value<'a>) -> String {
        match value {
            Value::Bytes(bytes) if self.bytes_are_text => text_of(&Value::String(&String::from_utf8_lossy(bytes))),
            Value::List(list) => self.elements(list).unwrap_or_else(|| text_of(value)),
            _ => text_of(value),
        }
    }

    /// The elements of a short list.
    fn elements(&self, list: &List<'a>) -> Option<String> {
        let all = 0..Some(list.len()).filter(|len| *len <= MAX_SHOWN)?;
        let element = |index| match list.get(index, self.arena).ok()?? {
            list @ Value::List(_) => Some(text_of(&list)),
            element => Some(self.value(&element)),
        };
        Some(format!("[{}]", all.map(element).collect::<Option<Vec<_>>>()?.join(", ")))
    }

    /// The text of a node in the source; in the body of a definition, the text of the body.
    fn text(&self, (id, around): Placed) -> String {
        let span = self.tree.span(id);
        let copied = if around == Some(span) { self.tree.copied_text(id) } else { None };
        let source = || self.tree.source().get(span.start as usize..span.end as usize).unwrap_or_default();
        let text = copied.unwrap_or_else(|| source().to_owned());
        on_one_line(&text, MAX_TEXT).replace(char::is_control, "\u{fffd}")
    }
}

/// Whether two results are the same value or the same failure.
fn is_same(one: Option<NodeResult<'_>>, other: Option<NodeResult<'_>>) -> bool {
    match (one, other) {
        (Some(Ok(Some(Value::Bool(one)))), Some(Ok(Some(Value::Bool(other))))) => one == other,
        (Some(Err(one)), Some(Err(other))) => one == other,
        _ => false,
    }
}
