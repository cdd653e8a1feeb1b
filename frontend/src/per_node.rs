//! A value for each node of a tree, where many nodes have the same.

use crate::ast::NodeId;
use crate::types::Type;
use std::borrow::Cow;

/// A value of one kind for each node of a tree. Nodes in a row share a value without parts: the
/// elements of a list of a thousand literals have one type.
#[derive(Clone, Debug)]
pub(crate) struct PerNode<T> {
    /// For each node, by id, the index of its value.
    indices: Vec<u32>,
    values: Vec<T>,
}

/// A value that nodes may share.
pub(crate) trait Leaf: PartialEq {
    /// Whether it has no parts: comparing it takes no walk. Only such values are shared.
    fn is_leaf(&self) -> bool;
}

impl Leaf for Type {
    fn is_leaf(&self) -> bool {
        Self::is_leaf(self)
    }
}

impl<T: Leaf + Clone> PerNode<T> {
    /// No nodes yet.
    pub(crate) fn new() -> Self {
        Self { indices: Vec::new(), values: Vec::new() }
    }

    /// The same value for each of so many nodes.
    pub(crate) fn filled(nodes: usize, value: T) -> Self {
        Self { indices: vec![0; nodes], values: vec![value] }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    /// The value of a node; `None` if there is no such node.
    #[inline]
    pub(crate) fn get(&self, id: NodeId) -> Option<&T> {
        self.values.get(*self.indices.get(id.0 as usize)? as usize)
    }

    /// Adds the value of the next node.
    pub(crate) fn push(&mut self, value: T) {
        let index = self.index_of(Cow::Owned(value));
        self.indices.push(index);
    }

    /// Gives a node another value.
    pub(crate) fn set(&mut self, id: NodeId, value: Cow<'_, T>) {
        let Some(&index) = self.indices.get(id.0 as usize) else { return };
        match self.values.get_mut(index as usize) {
            // No other node has it.
            Some(own) if !own.is_leaf() => *own = value.into_owned(),
            _ => {
                let index = self.index_of(value);
                if let Some(of_node) = self.indices.get_mut(id.0 as usize) {
                    *of_node = index;
                }
            }
        }
    }

    /// The values of all nodes: each at least once.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.values.iter()
    }

    /// The index of a value: that of the last one if it is the same leaf, or else a new one.
    fn index_of(&mut self, value: Cow<'_, T>) -> u32 {
        if !self.values.last().is_some_and(|last| last.is_leaf() && *last == *value) {
            self.values.push(value.into_owned());
        }
        u32::try_from(self.values.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_in_a_row_share_leaves_only() {
        let mut types = PerNode::filled(5, Type::Dyn);
        for node in 0..3 {
            types.set(NodeId(node), Cow::Borrowed(&Type::String));
        }
        for node in 3..5 {
            types.set(NodeId(node), Cow::Owned(Type::list(Type::String)));
        }
        let all: Vec<_> = (0..6).map(|node| types.get(NodeId(node)).cloned()).collect();
        let (text, texts) = (Some(Type::String), Some(Type::list(Type::String)));
        assert_eq!(all, [text.clone(), text.clone(), text, texts.clone(), texts, None]);
        assert_eq!(types.values().count(), 4);
        types.set(NodeId(4), Cow::Owned(Type::Int));
        types.set(NodeId(1), Cow::Owned(Type::Int));
        let all: Vec<_> = (0..5).filter_map(|node| types.get(NodeId(node))).collect();
        assert_eq!(all, [&Type::String, &Type::Int, &Type::String, &Type::list(Type::String), &Type::Int]);
    }
}
