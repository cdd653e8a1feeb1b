//! Values of qualified names, found in paths that begin with the names. The cost is linear in the
//! length of a name and of a path.

use std::borrow::Cow;
use std::collections::HashMap;

/// A tree of the parts of qualified names.
#[derive(Clone, Debug)]
pub(crate) struct NameTree<'n, T> {
    /// The node of a part below a node. The root is 0.
    nodes: HashMap<(usize, Cow<'n, str>), usize>,
    values: HashMap<usize, T>,
}

impl<T> Default for NameTree<'_, T> {
    fn default() -> Self {
        Self { nodes: HashMap::new(), values: HashMap::new() }
    }
}

impl<'n, T> NameTree<'n, T> {
    /// Returns the value of a name, which is `new` if it had none.
    pub(crate) fn get_or_insert(&mut self, name: &'n str, new: T) -> &T {
        self.insert(name.split('.').map(Cow::Borrowed), new)
    }

    fn insert(&mut self, parts: impl Iterator<Item = Cow<'n, str>>, new: T) -> &T {
        let mut node = 0;
        for part in parts {
            let number = self.nodes.len().saturating_add(1);
            node = *self.nodes.entry((node, part)).or_insert(number);
        }
        self.values.entry(node).or_insert(new)
    }

    /// Returns whether a name begins with this part.
    pub(crate) fn has_first(&self, part: &str) -> bool {
        self.nodes.contains_key(&(0, Cow::Borrowed(part)))
    }

    /// Returns the values of the names that a path begins with, the shortest name first.
    pub(crate) fn prefixes<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a T> {
        let nodes = path.split('.').scan(0, |node, part| {
            *node = *self.nodes.get(&(*node, Cow::Borrowed(part)))?;
            Some(*node)
        });
        nodes.filter_map(|node| self.values.get(&node))
    }
}

impl FromIterator<String> for NameTree<'_, String> {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut tree = Self::default();
        for name in names {
            let parts: Vec<_> = name.split('.').map(|part| Cow::Owned(part.to_owned())).collect();
            tree.insert(parts.into_iter(), name);
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_names_that_it_begins_with() {
        let mut tree = NameTree::default();
        for (value, name) in ["a.b", "a", "a.b.c.d", "b", "a.bc"].into_iter().enumerate() {
            assert_eq!(*tree.get_or_insert(name, value), value);
        }
        assert_eq!(*tree.get_or_insert("a.b", 9), 0);
        let found = |path: &str| tree.prefixes(path).copied().collect::<Vec<_>>();
        assert_eq!(
            (found("a.b.c.d.e"), found("a.bc.b"), found("ab"), found("")),
            (vec![1, 0, 2], vec![1, 4], vec![], vec![])
        );
    }
}
