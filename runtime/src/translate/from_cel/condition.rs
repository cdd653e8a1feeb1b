//! Conditions of the filter language as text, and the pair of conditions that a CEL condition becomes.

use celero_frontend::Span;
use std::collections::BTreeMap;

/// How tightly a text binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    Xor,
    And,
    Single,
}

/// A condition. Constants are folded, because the language has no literals for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Always this.
    Always(bool),
    /// A text.
    Text(Text),
}

/// The text of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    text: String,
    level: Level,
}

impl Condition {
    /// A comparison, a test or a quantifier.
    pub(super) fn single(text: String) -> Self {
        Self::Text(Text { text, level: Level::Single })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Always(_) => 0,
            Self::Text(text) => text.text.len(),
        }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::Always(value) => Self::Always(!value),
            Self::Text(Text { text, level: Level::Single }) => match text.strip_prefix("not ") {
                Some(inner) => Self::single(inner.to_owned()),
                None => Self::single(format!("not {text}")),
            },
            Self::Text(Text { text, .. }) => Self::single(format!("not ({text})")),
        }
    }

    pub(super) fn all(conditions: Vec<Self>) -> Self {
        Self::joined(conditions, true)
    }

    pub(super) fn any(conditions: Vec<Self>) -> Self {
        Self::joined(conditions, false)
    }

    /// Joins with `and`, of which `neutral` is true, or with `or`.
    fn joined(conditions: Vec<Self>, neutral: bool) -> Self {
        let (level, word) = if neutral { (Level::And, " and ") } else { (Level::Or, " or ") };
        let mut texts: Vec<Text> = Vec::new();
        for condition in conditions {
            match condition {
                Self::Always(value) if value == neutral => {}
                Self::Always(value) => return Self::Always(value),
                // What was tested already needs no second test.
                Self::Text(text) if texts.contains(&text) => {}
                Self::Text(text) => texts.push(text),
            }
        }
        if texts.len() < 2 {
            return texts.pop().map_or(Self::Always(neutral), Self::Text);
        }
        Self::chain(texts, level, word)
    }

    fn chain(texts: Vec<Text>, level: Level, word: &str) -> Self {
        let texts: Vec<String> = texts.into_iter().map(|text| text.within(level)).collect();
        Self::Text(Text { text: texts.join(word), level })
    }

    /// Whether exactly one of two holds.
    pub(super) fn xor(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always(value), other) | (other, Self::Always(value)) => {
                if value {
                    other.not()
                } else {
                    other
                }
            }
            (Self::Text(one), Self::Text(other)) => Self::chain(vec![one, other], Level::Xor, " xor "),
        }
    }

    /// The text, and whether it is a chain; `None` for a constant.
    pub(super) fn text(&self) -> Option<(&str, bool)> {
        match self {
            Self::Always(_) => None,
            Self::Text(text) => Some((&text.text, text.level < Level::Single)),
        }
    }
}

impl Text {
    /// The text as an operand of a chain of this level.
    fn within(self, level: Level) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}

/// What a CEL condition becomes. In CEL it is true, is false or fails; a condition of the filter
/// language is true or false. So there are two of them.
#[derive(Clone, Debug)]
pub(super) struct Outcomes {
    /// True where the CEL condition is true.
    pub(super) yes: Condition,
    /// True where the CEL condition is false.
    pub(super) no: Condition,
    /// What makes it fail: the values that may be missing, and where they are read. If there is
    /// none, `no` is the opposite of `yes`.
    pub(super) missing: BTreeMap<String, Span>,
    /// Where it may fail in another way.
    pub(super) fails: Option<Span>,
    /// The value whose presence decides the condition, and whether the condition is true if the value is there.
    pub(super) presence: Option<(String, bool)>,
    /// Whether it is about the elements of a list.
    pub(super) each: bool,
}

impl Outcomes {
    /// A condition that never fails.
    pub(super) fn of(yes: Condition) -> Self {
        let no = yes.clone().not();
        Self { yes, no, missing: BTreeMap::new(), fails: None, presence: None, each: false }
    }

    pub(super) fn never_fails(&self) -> bool {
        self.missing.is_empty() && self.fails.is_none()
    }

    pub(super) fn not(self) -> Self {
        let presence = self.presence.map(|(value, is_there)| (value, !is_there));
        Self { yes: self.no, no: self.yes, presence, ..self }
    }

    /// `&&` and, with `all` false, `||`.
    pub(super) fn logic(operands: Vec<Self>, all: bool) -> Self {
        let each = operands.iter().any(|operand| operand.each);
        let mut missing = BTreeMap::new();
        let mut fails = None;
        // An operand that decides hides the failures of the others. Without the value this one decides.
        let guarded: Vec<String> = operands
            .iter()
            .filter_map(|operand| operand.presence.clone().filter(|(_, is_there)| *is_there == all))
            .map(|(value, _)| value)
            .collect();
        for operand in &operands {
            missing.extend(operand.missing.iter().map(|(value, span)| (value.clone(), *span)));
            fails = fails.or(operand.fails);
        }
        missing.retain(|value, _| !guarded.contains(value));
        let (yes, no): (Vec<Condition>, Vec<Condition>) =
            operands.into_iter().map(|operand| (operand.yes, operand.no)).unzip();
        let joined = |conditions, all| if all { Condition::all(conditions) } else { Condition::any(conditions) };
        let yes = joined(yes, all);
        let no = if missing.is_empty() && fails.is_none() { yes.clone().not() } else { joined(no, !all) };
        Self { yes, no, missing, fails, presence: None, each }
    }
}
