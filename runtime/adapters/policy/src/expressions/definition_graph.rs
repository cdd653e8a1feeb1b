//! Which definitions of a policy use which, as far as their texts tell.

use crate::expressions::mentions::{Mention, mentions};
use celero::Type;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The first part of the names of variables.
const VARIABLES: &str = "variables";

/// What the text of a definition mentions is known by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    /// A variable, by its name.
    Name,
    /// A function, by its name.
    Function,
    /// A function that is called on a value, by the last part of its name.
    Method,
}

/// The definitions by number, and what each mentions.
#[derive(Debug, Default)]
pub(crate) struct DefinitionGraph {
    nodes: Vec<Node>,
    /// By key: definitions of one name, form and last part have one.
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Node {
    key: usize,
    /// Keys of variables.
    variables: BTreeSet<usize>,
    /// Keys of functions.
    functions: BTreeSet<usize>,
    /// Whether what looks like a variable of the policy is one, not a part of a variable of a macro that is called `variables`.
    is_certain: bool,
}

#[derive(Debug, Default)]
struct Key {
    definitions: Vec<usize>,
    users: Vec<usize>,
}

/// The name of a function's declaration: of `string.initial() -> string` it is `string.initial`.
pub(crate) fn function_name(declaration: &str) -> &str {
    let head = declaration.split("->").next().unwrap_or(declaration);
    let (mut depth, mut start) = (0_usize, head.len());
    for (at, c) in head.char_indices().rev() {
        match c {
            ')' => depth = depth.saturating_add(1),
            '(' if depth <= 1 => {
                start = at;
                break;
            }
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    head.get(..start).unwrap_or(head).trim()
}

impl DefinitionGraph {
    /// Reads the texts of definitions: the name by which expressions mention it, whether it is a function, and the body of each.
    pub(crate) fn new<'t>(definitions: impl Iterator<Item = (String, bool, &'t str)>) -> Self {
        let (mut graph, mut known) = (Self::default(), HashMap::new());
        let mut bodies = Vec::new();
        for (number, (name, is_function, body)) in definitions.enumerate() {
            let method = name.rsplit_once('.').filter(|(space, _)| is_function && space.parse::<Type>().is_ok());
            let key = match method {
                Some((_, last)) => (Form::Method, last.to_owned()),
                None if is_function => (Form::Function, name),
                None => (Form::Name, name),
            };
            let key = *known.entry(key).or_insert_with(|| {
                graph.keys.push(Key::default());
                graph.keys.len().saturating_sub(1)
            });
            if let Some(key) = graph.keys.get_mut(key) {
                key.definitions.push(number);
            }
            bodies.push((key, body));
        }
        let dots = known.keys().map(|(_, name)| name.matches('.').count()).max().unwrap_or(0);
        for (number, (key, body)) in bodies.into_iter().enumerate() {
            let node = Node::new(key, body, dots, &|form, name| known.get(&(form, name.to_owned())).copied());
            for used in node.variables.iter().chain(&node.functions) {
                if let Some(used) = graph.keys.get_mut(*used) {
                    used.users.push(number);
                }
            }
            graph.nodes.push(node);
        }
        graph
    }

    /// Calls `declare` with each definition, those that it mentions first, and returns which were declared. A definition whose variables
    /// can't be declared is left out. The number of calls is at most that of definitions and mentions.
    pub(crate) fn declare(&self, mut declare: impl FnMut(usize) -> bool) -> Vec<bool> {
        let mut declared = vec![false; self.nodes.len()];
        let mut was_visited = declared.clone();
        let mut queue: VecDeque<usize> = (0..self.nodes.len()).collect();
        while let Some(number) = queue.pop_front() {
            let Some(node) = self.nodes.get(number) else { continue };
            let is_declared = |number: &usize| declared.get(*number).is_some_and(|declared| *declared);
            let lacks = |key: &usize| !self.keys.get(*key).is_some_and(|key| key.definitions.iter().any(is_declared));
            if is_declared(&number) {
                continue;
            }
            if let Some(visited) = was_visited.get_mut(number) {
                *visited = true;
            }
            if node.is_certain && node.variables.iter().any(lacks) || !declare(number) {
                continue;
            }
            if let Some(declared) = declared.get_mut(number) {
                *declared = true;
            }
            let users = self.keys.get(node.key).map_or(&[][..], |key| &key.users);
            queue.extend(users.iter().filter(|user| was_visited.get(**user).is_some_and(|visited| *visited)));
        }
        declared
    }

    /// The definitions that a definition certainly uses, of those that are `wanted`.
    fn used(&self, number: usize, wanted: &[bool]) -> Vec<usize> {
        let Some(node) = self.nodes.get(number).filter(|node| node.is_certain) else { return Vec::new() };
        let only = |key: &usize| match *self.keys.get(*key)?.definitions {
            [only] => Some(only),
            _ => None,
        };
        let used = node.variables.iter().chain(&node.functions).filter_map(only);
        used.filter(|number| wanted.get(*number).is_some_and(|wanted| *wanted)).collect()
    }

    /// Returns whether a definition uses one of those that failed.
    pub(crate) fn uses_any(&self, number: usize, failed: &[bool]) -> bool {
        self.used(number, failed).iter().any(|used| *used != number)
    }

    /// Returns cycles of definitions among those that failed, each from its first definition on. Each definition is in at most one.
    pub(crate) fn cycles(&self, failed: &[bool]) -> Vec<Vec<usize>> {
        let mut cycles = Vec::new();
        // 0: not visited yet. Otherwise the position on the path, from 1; `usize::MAX`: done.
        let mut state = vec![0_usize; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if !failed.get(start).is_some_and(|failed| *failed) || state.get(start).is_none_or(|state| *state != 0) {
                continue;
            }
            let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
            let mut next = Some(start);
            loop {
                if let Some(number) = next.take() {
                    path.push((number, self.used(number, failed)));
                    if let Some(state) = state.get_mut(number) {
                        *state = path.len();
                    }
                }
                let Some((number, used)) = path.last_mut() else { break };
                match used.pop() {
                    None => {
                        if let Some(state) = state.get_mut(*number) {
                            *state = usize::MAX;
                        }
                        path.pop();
                    }
                    Some(used) => match state.get(used).copied().unwrap_or(usize::MAX) {
                        0 => next = Some(used),
                        usize::MAX => {}
                        position => {
                            let cycle = path.get(position.saturating_sub(1)..).unwrap_or_default();
                            let mut cycle: Vec<usize> = cycle.iter().map(|(number, _)| *number).collect();
                            let first = cycle.iter().enumerate().min_by_key(|(_, number)| **number);
                            let first = first.map_or(0, |(at, _)| at);
                            cycle.rotate_left(first);
                            cycles.push(cycle);
                            // Another cycle through these is found once this one is mended.
                            path.iter().for_each(|(number, _)| {
                                if let Some(state) = state.get_mut(*number) {
                                    *state = usize::MAX;
                                }
                            });
                            path.clear();
                        }
                    },
                }
            }
        }
        cycles
    }
}

impl Node {
    fn new(key: usize, body: &str, dots: usize, find: &dyn Fn(Form, &str) -> Option<usize>) -> Self {
        let mut node = Self { key, variables: BTreeSet::new(), functions: BTreeSet::new(), is_certain: true };
        for Mention { path, is_called, is_member } in mentions(body) {
            node.is_certain &= path != VARIABLES;
            if is_called {
                let last = path.rsplit('.').next().unwrap_or(&path);
                node.functions.extend(find(Form::Method, last));
                node.functions.extend(find(Form::Function, &path).filter(|_| !is_member));
            }
            if !is_member && path.starts_with(VARIABLES) {
                let ends = path.match_indices('.').map(|(dot, _)| dot).chain([path.len()]).take(dots.saturating_add(2));
                node.variables.extend(ends.filter_map(|end| find(Form::Name, path.get(..end)?)));
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(definitions: &[(&str, &str)]) -> DefinitionGraph {
        DefinitionGraph::new(
            definitions.iter().map(|(name, body)| (function_name(name).to_owned(), name.contains('('), *body)),
        )
    }

    /// Returns in which order definitions are tried, if those of these numbers are wrong.
    fn tried(graph: &DefinitionGraph, wrong: &[usize]) -> Vec<usize> {
        let mut tried = Vec::new();
        graph.declare(|number| {
            tried.push(number);
            !wrong.contains(&number)
        });
        tried
    }

    #[test]
    fn a_definition_is_tried_after_those_that_it_uses() {
        let order = graph(&[
            ("variables.a", "variables.b && f(1)"),
            ("variables.b", "variables.c.d == variables.e"),
            ("variables.e", "'variables.a'"),
            ("variables.c", "true"),
            ("f(x: int)", "x.g()"),
            ("int.g()", "this"),
        ]);
        assert_eq!(tried(&order, &[]), [2, 3, 4, 5, 1, 0]);
        assert_eq!(tried(&order, &[3]), [2, 3, 4, 5], "what uses a wrong variable is not tried");
        assert_eq!(tried(&order, &[4]), [2, 3, 4, 5, 1, 4, 0], "a function may be another one");
        let chain: Vec<(String, String)> =
            (0..1000).map(|n| (format!("variables.v{n}"), format!("variables.v{}", n + 1))).collect();
        let chain: Vec<(&str, &str)> = chain.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
        let chain = graph(&chain);
        assert_eq!(tried(&chain, &[]), (0..1000).rev().collect::<Vec<_>>());
        assert_eq!(tried(&chain, &[999]), [999]);
    }

    #[test]
    fn cycles_are_found_once() {
        let graph = graph(&[
            ("variables.a", "variables.b"),
            ("variables.b", "variables.c + variables.c"),
            ("variables.c", "variables.a + variables.b"),
            ("variables.d", "variables.a"),
            ("variables.e", "variables.e"),
            ("variables.f", "[1].map(variables, variables.f)"),
        ]);
        assert_eq!(graph.cycles(&[true; 6]), [vec![1, 2], vec![4]]);
        assert_eq!(graph.cycles(&[true, false, true, true, false, true]), Vec::<Vec<usize>>::new());
        assert!(graph.uses_any(3, &[true; 6]) && !graph.uses_any(4, &[true; 6]));
    }

    #[test]
    fn the_name_of_a_function_is_before_its_parameters() {
        for (declaration, name) in [
            ("f(a: list(int), b) -> map(string, int)", "f"),
            ("map(string, string).role() -> string", "map(string, string).role"),
            (" acme.f ()", "acme.f"),
            ("f", "f"),
        ] {
            assert_eq!(function_name(declaration), name);
        }
    }
}
