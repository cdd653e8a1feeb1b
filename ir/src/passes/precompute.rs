//! Replaces calls with a constant operand by operations on an object that is prepared from it at
//! compile time: searchers and regular expressions. An invalid pattern stays a call, which fails
//! only if it is evaluated.

use super::rebuild::{Builder, Draft};
use super::{Evaluator, Pattern, TextTest};
use crate::constant::Constant;
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::op::{Cmp, Op};
use crate::ty::Ty;
use std::sync::Arc;

/// Whether [`node`] may replace a node; if not, it keeps it.
pub(super) fn concerns(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.op(id), Op::Call(Helper::string_contains | Helper::string_matches))
}

pub(super) fn node(builder: &mut Builder<'_>, draft: Draft<'_>, evaluator: &dyn Evaluator) -> NodeId {
    let Op::Call(helper) = draft.op else { return builder.keep(draft) };
    let text = match builder.constant(draft.arg(1)) {
        Some(Constant::Str(text)) => Some(text.clone()),
        _ => None,
    };
    match (helper, text) {
        (Helper::string_contains, Some(needle)) => {
            let searcher = builder.intern(Constant::Searcher(needle.into()));
            builder.put(draft, Op::ContainsConst(searcher), &[draft.arg(0)])
        }
        (Helper::string_matches, Some(pattern)) => match evaluator.pattern(&pattern) {
            Some(decided) => matches(builder, draft, pattern, decided),
            None => builder.keep(draft),
        },
        _ => builder.keep(draft),
    }
}

fn matches(builder: &mut Builder<'_>, draft: Draft<'_>, pattern: Arc<str>, decided: Pattern) -> NodeId {
    let subject = draft.arg(0);
    let tests = match decided {
        Pattern::AnyOf(tests) if tests.len() == 1 || builder.is_pure(subject) => tests,
        _ => Vec::new(),
    };
    let tests: Vec<NodeId> = tests.into_iter().map(|test| text_test(builder, draft, test)).collect();
    match tests.as_slice() {
        [] => {
            let regex = builder.intern(Constant::Regex(pattern));
            builder.put(draft, Op::MatchesConst(regex), &[subject])
        }
        &[only] => only,
        // The first test fails with the error of the subject, as the pattern would have.
        any => builder.put(draft, Op::Or, any),
    }
}

fn text_test(builder: &mut Builder<'_>, draft: Draft<'_>, test: TextTest) -> NodeId {
    let subject = draft.arg(0);
    let (op, text) = match test {
        TextTest::Is(text) => (Op::Cmp(Cmp::Eq), text),
        TextTest::StartsWith(text) => (Op::StartsWith, text),
        TextTest::EndsWith(text) => (Op::EndsWith, text),
        TextTest::Contains(needle) => {
            let searcher = builder.intern(Constant::Searcher(needle.into()));
            return builder.put(draft, Op::ContainsConst(searcher), &[subject]);
        }
    };
    let text = builder.intern(Constant::Str(text));
    let text = builder.add(Op::Const(text), Ty::Str, &[], draft.origin);
    builder.put(draft, op, &[subject, text])
}
