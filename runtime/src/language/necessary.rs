//! Necessary conditions: what a rule implies of the variables that are known, as a condition of its own.
//!
//! A part that reads what is not known is left out where it can only narrow the rule, and so is a
//! call that is not pure. What is left is false only where the rule is, because `&&` and `||` absorb
//! what the parts that were left out can give, errors too.

use crate::function::Functions;
use celero_frontend::{Declarations, with_stack};

/// What is known of the context of a rule.
#[derive(Clone, Copy)]
pub(crate) struct KnownNames<'k> {
    /// Indexed by variable.
    pub(crate) is_unknown: &'k [bool],
    pub(crate) declarations: &'k Declarations,
    pub(crate) functions: &'k Functions,
}

impl KnownNames<'_> {
    /// Whether the value of a variable is known.
    pub(crate) fn has(&self, variable: u32) -> bool {
        self.is_unknown.get(variable as usize) == Some(&false)
    }
}

/// A part of a rule, as far as it matters here.
pub(crate) enum Shape<N> {
    /// It reads only what is known. Its source, which means the same everywhere in a rule outside of macros.
    Known(String),
    /// It is this one.
    Same(N),
    Not(N),
    And(Vec<N>),
    Or(Vec<N>),
    /// The second one where the first one, whose source this is, is true, else the third one.
    Choice(String, N, N),
    /// It depends on what is not known.
    Unknown,
}

/// A rule whose parts have shapes.
pub(crate) trait Shapes {
    /// A part.
    type Part: Copy;

    const AND: &'static str;
    const OR: &'static str;
    const NOT: &'static str;

    fn shape(&mut self, part: Self::Part) -> Shape<Self::Part>;
}

/// Deepest nesting that is followed.
const MAX_LEVELS: u32 = 250;
/// How much longer than the rule its condition may be, in bytes: it has the text of definitions.
const MAX_ADDED: usize = 4096;

/// Returns the source of a condition that reads only what is known and is false only where the rule
/// is; `None` if there is none.
pub(crate) fn necessary<S: Shapes>(shapes: &mut S, root: S::Part, source: &str) -> Option<String> {
    let mut room = source.len().saturating_add(MAX_ADDED);
    with_stack(MAX_LEVELS, || write(shapes, root, false, MAX_LEVELS, &mut room))
}

/// Returns the source of a condition that has the result `implies` only where the part has it; `None`
/// if nothing that is known decides that.
fn write<S: Shapes>(shapes: &mut S, part: S::Part, implies: bool, levels: u32, room: &mut usize) -> Option<String> {
    let levels = levels.checked_sub(1)?;
    *room = room.checked_sub(1)?;
    match shapes.shape(part) {
        Shape::Known(text) => {
            *room = room.checked_sub(text.len())?;
            Some(text)
        }
        Shape::Same(part) => write(shapes, part, implies, levels, room),
        Shape::Not(part) => {
            let text = write(shapes, part, !implies, levels, room)?;
            Some(format!("{}({text})", S::NOT))
        }
        // One operand that is false decides `&&`, one that is true decides `||`.
        Shape::And(operands) => {
            let operands = operands.into_iter().map(|operand| write(shapes, operand, implies, levels, room));
            if implies {
                joined(operands.collect::<Option<_>>()?, S::AND)
            } else {
                joined(operands.flatten().collect(), S::AND)
            }
        }
        Shape::Or(operands) => {
            let operands = operands.into_iter().map(|operand| write(shapes, operand, implies, levels, room));
            if implies {
                joined(operands.flatten().collect(), S::OR)
            } else {
                joined(operands.collect::<Option<_>>()?, S::OR)
            }
        }
        Shape::Choice(condition, then, otherwise) => {
            *room = room.checked_sub(condition.len())?;
            let [then, otherwise] = [then, otherwise].map(|branch| write(shapes, branch, implies, levels, room));
            if then.is_none() && otherwise.is_none() {
                return None;
            }
            let [then, otherwise] = [then, otherwise].map(|text| text.unwrap_or_else(|| (!implies).to_string()));
            Some(format!("({condition}) ? ({then}) : ({otherwise})"))
        }
        Shape::Unknown => None,
    }
}

/// Returns the source of these operands, joined by an operator.
fn joined(mut operands: Vec<String>, operator: &str) -> Option<String> {
    if operands.len() < 2 {
        return operands.pop();
    }
    Some(format!("({})", operands.join(&format!(") {operator} ("))))
}
