//! The dominator tree of the blocks emitted so far, to which leaves are added.
//!
//! Each node has, besides its parent, a jump to an ancestor further up (as in a skew-binary
//! random-access list), so both queries take a number of steps that is logarithmic in the depth.

/// A node of the tree: a block that has been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DominatorNode(u32);

#[derive(Clone, Copy)]
struct Node {
    depth: u32,
    parent: DominatorNode,
    jump: DominatorNode,
}

const ROOT: Node = Node { depth: 0, parent: DominatorNode(0), jump: DominatorNode(0) };

pub(crate) struct DominatorTree {
    nodes: Vec<Node>,
}

impl DominatorTree {
    /// A tree with the entry block alone.
    pub(crate) fn new() -> (Self, DominatorNode) {
        (Self { nodes: vec![ROOT] }, DominatorNode(0))
    }

    fn node(&self, place: DominatorNode) -> Node {
        self.nodes.get(place.0 as usize).copied().unwrap_or(ROOT)
    }

    /// Adds a block whose immediate dominator is `parent`.
    pub(crate) fn add(&mut self, parent: DominatorNode) -> DominatorNode {
        let up = self.node(parent);
        let over = self.node(up.jump);
        let beyond = self.node(over.jump);
        let even = up.depth.saturating_sub(over.depth) == over.depth.saturating_sub(beyond.depth);
        let jump = if even { over.jump } else { parent };
        let place = DominatorNode(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { depth: up.depth.saturating_add(1), parent, jump });
        place
    }

    /// The ancestor at this depth.
    fn lift(&self, mut place: DominatorNode, depth: u32) -> DominatorNode {
        loop {
            let node = self.node(place);
            if node.depth <= depth {
                return place;
            }
            place = if self.node(node.jump).depth >= depth { node.jump } else { node.parent };
        }
    }

    /// Whether `a` dominates `b`; a block dominates itself.
    pub(crate) fn dominates(&self, a: DominatorNode, b: DominatorNode) -> bool {
        self.lift(b, self.node(a).depth) == a
    }

    /// The nearest block that dominates both.
    pub(crate) fn nearest(&self, a: DominatorNode, b: DominatorNode) -> DominatorNode {
        let depth = self.node(a).depth.min(self.node(b).depth);
        let (mut a, mut b) = (self.lift(a, depth), self.lift(b, depth));
        while a != b {
            let (left, right) = (self.node(a), self.node(b));
            (a, b) = if left.jump == right.jump { (left.parent, right.parent) } else { (left.jump, right.jump) };
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_walking_up() {
        let (mut tree, root) = DominatorTree::new();
        let mut parents = vec![root];
        let mut seed = 12345_u32;
        for i in 1..600_u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Half of the nodes lengthen a chain, so that the tree gets deep.
            let parent = if seed & 0x1000 == 0 { DominatorNode(i - 1) } else { DominatorNode((seed >> 16) % i) };
            assert_eq!(tree.add(parent), DominatorNode(i));
            parents.push(parent);
        }
        let up = |mut p: DominatorNode| {
            let mut path = vec![p];
            while p != root {
                p = parents[p.0 as usize];
                path.push(p);
            }
            path
        };
        for a in (0..600).step_by(7).map(DominatorNode) {
            let above = up(a);
            for b in (0..600).map(DominatorNode) {
                let path = up(b);
                assert_eq!(tree.dominates(a, b), path.contains(&a));
                assert_eq!(tree.nearest(a, b), *path.iter().find(|p| above.contains(p)).unwrap());
            }
        }
    }
}
