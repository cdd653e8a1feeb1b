//! The variables of an environment by name.

use celero_frontend::Type;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The variables by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    types: Vec<Type>,
    names: Vec<Arc<str>>,
    /// Whether each is a header map of the host.
    headers: Vec<bool>,
    by_name: HashMap<Arc<str>, usize>,
    /// Of all names and types in their order.
    fingerprint: u64,
}

impl Variables {
    /// Bits of a fingerprint that hold the number of variables.
    const COUNT_BITS: u32 = 16;

    /// The largest number of variables that a fingerprint holds.
    pub(crate) const MAX_COUNTED: usize = (1 << Self::COUNT_BITS) - 1;

    /// Adds a variable. Returns whether its name is new.
    pub(crate) fn add(&mut self, name: &Arc<str>, ty: &Type, is_headers: bool) -> bool {
        let is_new = self.by_name.insert(Arc::clone(name), self.types.len()).is_none();
        let mut hasher = DefaultHasher::new();
        (self.fingerprint, &**name, ty).hash(&mut hasher);
        self.types.push(ty.clone());
        self.names.push(Arc::clone(name));
        self.headers.push(is_headers);
        let count = self.len().min(Self::MAX_COUNTED);
        self.fingerprint = (hasher.finish() << Self::COUNT_BITS) | count as u64;
        is_new
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    /// Equal for equal declarations, and never equal for different numbers of them below
    /// [`MAX_COUNTED`](Self::MAX_COUNTED).
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The name of a variable.
    pub(crate) fn name(&self, index: u32) -> Option<&str> {
        self.names.get(index as usize).map(|name| &**name)
    }

    /// The names of all variables, in the order of their declarations.
    #[cfg(feature = "serde_json")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Whether a variable is a header map of the host.
    pub(crate) fn is_headers(&self, index: u32) -> bool {
        self.headers.get(index as usize).is_some_and(|headers| *headers)
    }

    /// Index and type of a variable.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Type)> {
        let index = *self.by_name.get(name)?;
        Some((index, self.types.get(index)?))
    }
}
