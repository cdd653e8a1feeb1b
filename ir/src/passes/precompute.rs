//! Calls with a constant operand as operations on what is prepared from it at compile time. A pattern that is not valid
//! stays a call, which fails only when it is reached.

use super::Evaluator;
use super::rebuild::{Builder, Draft};
use crate::constant::Constant;
use crate::graph::NodeId;
use crate::helper::Helper;
use crate::op::Op;

pub(super) fn node(builder: &mut Builder, draft: Draft<'_>, evaluator: &dyn Evaluator) -> NodeId {
    let Op::Call(helper) = draft.op else { return builder.keep(draft) };
    let text = match builder.constant(draft.arg(1)) {
        Some(Constant::Str(text)) => Some(text.clone()),
        _ => None,
    };
    match (helper, text) {
        (Helper::string_starts_with, _) => builder.put(draft, Op::StartsWith, draft.args),
        (Helper::string_ends_with, _) => builder.put(draft, Op::EndsWith, draft.args),
        (Helper::string_contains, Some(needle)) => {
            let searcher = builder.intern(Constant::Searcher(needle));
            builder.put(draft, Op::ContainsConst(searcher), &[draft.arg(0)])
        }
        (Helper::string_matches, Some(pattern)) if evaluator.regex_is_valid(&pattern) => {
            let regex = builder.intern(Constant::Regex(pattern));
            builder.put(draft, Op::MatchesConst(regex), &[draft.arg(0)])
        }
        _ => builder.keep(draft),
    }
}
