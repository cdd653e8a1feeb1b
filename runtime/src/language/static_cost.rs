//! The static cost of a rule: how many operations an evaluation takes, read off the checked tree without a request.
//! Each language counts in its own tree.

use celero_frontend::Span;
use std::fmt;

/// The most nested loops that are told apart.
pub(crate) const DEEPEST: usize = 4;

/// The static cost of an expression, in *operations*: evaluations of a variable, selection,
/// operator, call or loop in it. Literals, and lists and maps of literals, are no operations; a
/// call of a function defined in CEL costs what its body costs.
///
/// It is an upper bound of what the interpreter evaluates. Passes remove and share operations, so
/// that native code may take fewer. It says nothing about time: some operations take a nanosecond,
/// others read a whole text ([`texts`](Self::texts)), and a function of the host takes what it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaticCost {
    /// The fewest operations of an evaluation without an error: `&&` and `||` are decided by their
    /// first operands, lists and maps are empty.
    pub least: u64,
    /// The most operations: `most[0] + most[1] n + most[2] n² ..`, where `n` is the number of
    /// elements of the largest list or map that a loop goes through. Loops over a list that is
    /// written out have a known number of elements.
    pub most: [u64; 5],
    /// Whether loops are nested more than four deep; `most` is too small then.
    pub deeper: bool,
    /// How many operations are written in the expression whose time grows with the length of a
    /// text, such as searches and concatenations.
    pub texts: u32,
}

impl StaticCost {
    /// Returns the most operations if no list or map that a loop goes through has more than `elements` elements;
    /// `u64::MAX` if that is not known.
    #[must_use]
    pub fn most_for(&self, elements: u64) -> u64 {
        if self.deeper {
            return u64::MAX;
        }
        let powers = std::iter::successors(Some(1_u64), |power| Some(power.saturating_mul(elements)));
        let terms = self.most.into_iter().zip(powers).map(|(factor, power)| factor.saturating_mul(power));
        terms.fold(0, u64::saturating_add)
    }

    /// One operation.
    pub const ONE: Self = Self { least: 1, most: [1, 0, 0, 0, 0], deeper: false, texts: 0 };

    /// Returns whether the expression is made of literals alone.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self::default()
    }

    /// One after the other.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { least: self.least.saturating_add(other.least), ..self.and_perhaps(other) }
    }

    /// The other is evaluated only sometimes.
    pub(crate) fn and_perhaps(mut self, other: Self) -> Self {
        for (sum, more) in self.most.iter_mut().zip(other.most) {
            *sum = sum.saturating_add(more);
        }
        Self { deeper: self.deeper || other.deeper, texts: self.texts.saturating_add(other.texts), ..self }
    }

    /// Either of two.
    pub(crate) fn or(mut self, other: Self) -> Self {
        for (most, more) in self.most.iter_mut().zip(other.most) {
            *most = (*most).max(more);
        }
        let texts = self.texts.saturating_add(other.texts);
        Self { least: self.least.min(other.least), deeper: self.deeper || other.deeper, texts, ..self }
    }

    /// For each element of a list or map.
    pub(crate) fn for_each(mut self) -> Self {
        self.deeper |= self.most.last().is_some_and(|deepest| *deepest > 0);
        self.most.rotate_right(1);
        if let Some(constant) = self.most.first_mut() {
            *constant = 0;
        }
        Self { least: 0, ..self }
    }

    /// This many times at most, and this many at least.
    pub(crate) fn times(mut self, least: u64, most: u64) -> Self {
        for coefficient in &mut self.most {
            *coefficient = coefficient.saturating_mul(most);
        }
        Self { least: self.least.saturating_mul(least), ..self }
    }
}

impl fmt::Display for StaticCost {
    /// Writes `2 to 5 operations`, or `1 to 3 + 4n operations (n: elements of the largest list or map)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [constant, loops @ ..] = self.most;
        let has_loops = loops.iter().any(|coefficient| *coefficient > 0);
        if has_loops || self.least != constant {
            write!(f, "{} to ", self.least)?;
        }
        write!(f, "{constant}")?;
        for (coefficient, power) in loops.into_iter().zip(["n", "n²", "n³", "n⁴"]) {
            match coefficient {
                0 => {}
                1 => write!(f, " + {power}")?,
                _ => write!(f, " + {coefficient}{power}")?,
            }
        }
        f.write_str(if constant == 1 && !has_loops { " operation" } else { " operations" })?;
        if has_loops {
            f.write_str(" (n: elements of the largest list or map)")?;
        }
        if self.deeper {
            f.write_str(", or more: its loops are nested too deep")?;
        }
        match self.texts {
            0 => Ok(()),
            texts => write!(f, "; the time of {texts} grows with the length of a text"),
        }
    }
}

/// The static cost of a part of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartCost {
    /// Its place in the source.
    pub span: Span,
    /// Its cost.
    pub cost: StaticCost,
}
