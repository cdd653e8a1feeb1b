//! Projections: which parts of a JSON document a rule reads.

use std::fmt::{self, Write};
use std::sync::Arc;

/// The parts of a value that a rule reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Projection {
    /// Whether all of the value is read. If not, only its parts are read, and of the value itself
    /// its type and, if it is neither list nor map, its content.
    pub whole: bool,
    /// The parts, sorted by their steps, which are distinct. Empty if all of the value is read.
    pub parts: Arc<[(Step, Projection)]>,
}

/// The step from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The value under a key of a map.
    Key(Arc<str>),
    /// The element of a list at a position.
    Index(u32),
}

impl Projection {
    /// Most steps from a document to a part.
    pub const MAX_DEPTH: usize = 8;
    /// Most parts of a projection, parts of parts included.
    pub const MAX_PARTS: usize = 64;
    /// The largest position of a step: a list is read up to there.
    pub const MAX_INDEX: u32 = 255;

    /// The projection that reads all of a value.
    #[must_use]
    pub fn all() -> Self {
        Self { whole: true, parts: Arc::new([]) }
    }

    /// The keys from the document to its only part, and whether all of that part is read. `None` if
    /// there are several parts or none, or if a step is a position.
    #[must_use]
    pub fn key_path(&self) -> Option<(Vec<&Arc<str>>, bool)> {
        let (mut keys, mut inner) = (Vec::new(), self);
        while let [(Step::Key(key), part)] = &*inner.parts {
            keys.push(key);
            inner = part;
        }
        (!keys.is_empty() && inner.parts.is_empty()).then_some((keys, inner.whole))
    }

    /// Whether the projection is sorted and within the bounds above.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let mut left = Self::MAX_PARTS;
        self.check(Self::MAX_DEPTH, &mut left).is_some()
    }

    fn check(&self, depth: usize, left: &mut usize) -> Option<()> {
        if self.whole {
            return self.parts.is_empty().then_some(());
        }
        if !self.parts.is_sorted_by(|(a, _), (b, _)| a < b) {
            return None;
        }
        self.parts.iter().try_for_each(|(step, part)| {
            *left = left.checked_sub(1)?;
            let small = !matches!(step, Step::Index(index) if *index > Self::MAX_INDEX);
            part.check(depth.checked_sub(1).filter(|_| small)?, left)
        })
    }
}

/// `*` for all of a value, else `{"a": {"b": *}, 0: {}}`.
impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.whole {
            return f.write_char('*');
        }
        f.write_char('{')?;
        let mut separator = "";
        for (step, part) in self.parts.iter() {
            f.write_str(separator)?;
            match step {
                Step::Key(key) => crate::quoted::text(f, key)?,
                Step::Index(index) => write!(f, "{index}")?,
            }
            write!(f, ": {part}")?;
            separator = ", ";
        }
        f.write_char('}')
    }
}
