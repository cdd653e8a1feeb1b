//! The dominator tree of the blocks emitted so far, grown one leaf at a time.
//!
//! Each node keeps, beside its parent, a jump to an ancestor further up (as in a skew-binary random-access list), so that
//! both questions take a number of steps logarithmic in the depth.

/// A node of the tree: a block that has been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

#[derive(Clone, Copy)]
struct Node {
    depth: u32,
    parent: Place,
    jump: Place,
}

const ROOT: Node = Node { depth: 0, parent: Place(0), jump: Place(0) };

pub(crate) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree of the entry block alone.
    pub(crate) fn new() -> (Self, Place) {
        (Self { nodes: vec![ROOT] }, Place(0))
    }

    fn node(&self, place: Place) -> Node {
        self.nodes.get(place.0 as usize).copied().unwrap_or(ROOT)
    }

    /// A new block, whose immediate dominator is `parent`.
    pub(crate) fn add(&mut self, parent: Place) -> Place {
        let up = self.node(parent);
        let over = self.node(up.jump);
        let beyond = self.node(over.jump);
        let even = up.depth.saturating_sub(over.depth) == over.depth.saturating_sub(beyond.depth);
        let jump = if even { over.jump } else { parent };
        let place = Place(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { depth: up.depth.saturating_add(1), parent, jump });
        place
    }

    /// The ancestor of this depth.
    fn lift(&self, mut place: Place, depth: u32) -> Place {
        loop {
            let node = self.node(place);
            if node.depth <= depth {
                return place;
            }
            place = if self.node(node.jump).depth >= depth { node.jump } else { node.parent };
        }
    }

    /// Whether `a` is `b` or above it.
    pub(crate) fn dominates(&self, a: Place, b: Place) -> bool {
        self.lift(b, self.node(a).depth) == a
    }

    /// The lowest block above both.
    pub(crate) fn nearest(&self, a: Place, b: Place) -> Place {
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
        let (mut tree, root) = Tree::new();
        let mut parents = vec![root];
        let mut seed = 12345_u32;
        for i in 1..600_u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Half of the nodes lengthen a chain, so that the tree gets deep.
            let parent = if seed & 0x1000 == 0 { Place(i - 1) } else { Place((seed >> 16) % i) };
            assert_eq!(tree.add(parent), Place(i));
            parents.push(parent);
        }
        let up = |mut p: Place| {
            let mut path = vec![p];
            while p != root {
                p = parents[p.0 as usize];
                path.push(p);
            }
            path
        };
        for a in (0..600).step_by(7).map(Place) {
            let above = up(a);
            for b in (0..600).map(Place) {
                let path = up(b);
                assert_eq!(tree.dominates(a, b), path.contains(&a));
                assert_eq!(tree.nearest(a, b), *path.iter().find(|p| above.contains(p)).unwrap());
            }
        }
    }
}
