//! Strongly connected components of a graph (Tarjan, 1972), in linear time and without recursion.

/// Returns the components of a graph, those first to which edges of others lead. `next` has the
/// ends of the edges of each vertex. The vertices of a component are in ascending order.
pub(crate) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search { next, states: vec![State::New; next.len()], open: Vec::new(), found: Vec::new() };
    for start in 0..next.len() {
        if search.state(start) == State::New {
            search.visit(start);
        }
    }
    search.found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// The position among the open vertices of the earliest one that this vertex is known to lead to.
    Open(usize),
    Done,
}

struct Search<'g> {
    next: &'g [Vec<usize>],
    states: Vec<State>,
    /// The visited vertices whose components are not known yet, in the order of their visits.
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl<'g> Search<'g> {
    fn state(&self, vertex: usize) -> State {
        self.states.get(vertex).copied().unwrap_or(State::Done)
    }

    fn set(&mut self, vertex: usize, state: State) {
        if let Some(known) = self.states.get_mut(vertex) {
            *known = state;
        }
    }

    /// Visits all new vertices to which a vertex leads.
    fn visit(&mut self, start: usize) {
        let mut path = vec![self.enter(start)];
        while let Some((vertex, position, edges)) = path.last_mut() {
            let (vertex, position) = (*vertex, *position);
            match edges.next().copied() {
                Some(end) => match self.state(end) {
                    State::New => path.push(self.enter(end)),
                    State::Open(earliest) => self.lower(vertex, earliest),
                    State::Done => {}
                },
                None => {
                    path.pop();
                    let earliest = if let State::Open(earliest) = self.state(vertex) { earliest } else { position };
                    if earliest == position {
                        let mut component = self.open.split_off(position);
                        component.iter().for_each(|member| self.set(*member, State::Done));
                        component.sort_unstable();
                        self.found.push(component);
                    } else if let Some((before, ..)) = path.last() {
                        self.lower(*before, earliest);
                    }
                }
            }
        }
    }

    fn enter(&mut self, vertex: usize) -> (usize, usize, std::slice::Iter<'g, usize>) {
        let position = self.open.len();
        self.open.push(vertex);
        self.set(vertex, State::Open(position));
        (vertex, position, self.next.get(vertex).map_or(&[][..], |edges| edges).iter())
    }

    fn lower(&mut self, vertex: usize, earliest: usize) {
        if let State::Open(known) = self.state(vertex) {
            self.set(vertex, State::Open(known.min(earliest)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_precede_what_leads_to_them() {
        let graph = |edges: &[&[usize]]| components(&edges.iter().map(|edges| edges.to_vec()).collect::<Vec<_>>());
        assert_eq!(graph(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(graph(&[&[1], &[], &[0]]), [vec![1], vec![0], vec![2]]);
        assert_eq!(graph(&[&[0], &[2], &[1, 0]]), [vec![0], vec![1, 2]]);
        assert_eq!(graph(&[&[1], &[2, 4], &[3, 0], &[3], &[5], &[4]]), [vec![3], vec![4, 5], vec![0, 1, 2]]);
        assert_eq!(graph(&[&[2], &[0], &[3], &[1, 7]]), [vec![0, 1, 2, 3]]);
        let long: Vec<Vec<usize>> = (0..100_000).map(|vertex| vec![(vertex + 1) % 100_000]).collect();
        assert_eq!(components(&long).len(), 1);
    }

    /// Two vertices are in one component if each leads to the other one.
    #[test]
    fn components_are_what_leads_to_each_other() {
        let mut random = 1_u64;
        for case in 0..2_000 {
            let count = 1 + case % 9;
            let next: Vec<Vec<usize>> = (0..count)
                .map(|_| {
                    (0..count)
                        .filter(|_| {
                            random =
                                random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                            (random >> 60) < 3
                        })
                        .collect()
                })
                .collect();
            let reached = |from: usize| {
                let mut reached = vec![from];
                let mut done = 0;
                while let Some(vertex) = reached.get(done) {
                    let new: Vec<usize> =
                        next.get(*vertex).unwrap().iter().filter(|end| !reached.contains(end)).copied().collect();
                    reached.extend(new);
                    done += 1;
                }
                reached
            };
            let reached: Vec<Vec<usize>> = (0..count).map(reached).collect();
            let leads = |from: usize, to: usize| reached.get(from).unwrap().contains(&to);
            let found = components(&next);
            let place = |vertex: usize| found.iter().position(|component| component.contains(&vertex)).unwrap();
            assert_eq!(found.concat().len(), count);
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                assert_eq!(place(a) == place(b), leads(a, b) && leads(b, a), "{next:?}");
                assert!(!leads(a, b) || place(b) <= place(a), "{next:?}");
            }
        }
    }
}
