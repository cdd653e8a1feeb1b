//! Which definitions of a policy use which, as far as their texts tell.

use crate::expressions::components::components;
use crate::expressions::mentions::{Mention, mentions};
use crate::expressions::name_tree::NameTree;
use celero::Type;
use std::collections::{BTreeSet, HashMap};

/// The text of what is tried again, in bytes for each byte of all definitions, and beside that.
const RETRIED: (usize, usize) = (4, 1 << 16);

/// The keys of what texts mention.
#[derive(Default)]
struct Names<'n> {
    /// Variables, by their names.
    variables: NameTree<'n, usize>,
    /// Functions, by their names.
    functions: HashMap<&'n str, usize>,
    /// Functions that are called on a value, by the last parts of their names.
    methods: HashMap<&'n str, usize>,
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
    /// Whether what looks like a definition is one: no macro declares a variable that is called as
    /// the first part of its name, such as `variables` or `ip`.
    is_certain: bool,
    /// The length of its text, in bytes.
    length: usize,
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
    /// Reads the texts of definitions: the name by which expressions mention it, whether it is a
    /// function, and the body of each.
    pub(crate) fn new<'t>(definitions: impl Iterator<Item = (String, bool, &'t str)>) -> Self {
        let definitions: Vec<_> = definitions.collect();
        let (mut graph, mut names, mut keys) = (Self::default(), Names::default(), Vec::new());
        for (number, (name, is_function, _)) in definitions.iter().enumerate() {
            let is_type = |space: &str| space.parse::<Type>().is_ok();
            let method = name.rsplit_once('.').filter(|(space, _)| *is_function && is_type(space));
            let new = graph.keys.len();
            let key = *match method {
                Some((_, last)) => names.methods.entry(last).or_insert(new),
                None if *is_function => names.functions.entry(name.as_str()).or_insert(new),
                None => names.variables.get_or_insert(name, new),
            };
            if key == new {
                graph.keys.push(Key::default());
            }
            if let Some(key) = graph.keys.get_mut(key) {
                key.definitions.push(number);
            }
            keys.push(key);
        }
        for (number, (key, (_, _, body))) in keys.into_iter().zip(&definitions).enumerate() {
            let node = Node::new(key, body, &names);
            for used in node.variables.iter().chain(&node.functions) {
                if let Some(used) = graph.keys.get_mut(*used) {
                    used.users.push(number);
                }
            }
            graph.nodes.push(node);
        }
        graph
    }

    /// Calls `declare` with each definition, those that it mentions first, and returns which were
    /// declared. A definition whose variables can't be declared is left out.
    ///
    /// Only definitions in a circle of mentions, such as functions of one name of which one calls
    /// another, may be tried more than once: when one that they mention was declared after them.
    /// Those that are tried again have together at most [`RETRIED`] bytes of text, so the cost is
    /// linear in the text.
    pub(crate) fn declare(&self, mut declare: impl FnMut(usize) -> bool) -> Vec<bool> {
        let mut declared = vec![false; self.nodes.len()];
        let text = self.nodes.iter().fold(0_usize, |sum, node| sum.saturating_add(node.length));
        let mut left = text.saturating_mul(RETRIED.0).saturating_add(RETRIED.1);
        let groups = self.groups();
        let mut group_of = vec![0_usize; self.nodes.len()];
        for (number, group) in groups.iter().enumerate() {
            for member in group {
                if let Some(group) = group_of.get_mut(*member) {
                    *group = number;
                }
            }
        }
        let mut is_queued = vec![true; self.nodes.len()];
        for (number, group) in groups.into_iter().enumerate() {
            let (mut round, mut is_first) = (group, true);
            while !round.is_empty() {
                let mut again = Vec::new();
                for tried in round {
                    let Some(node) = self.nodes.get(tried) else { continue };
                    if let Some(queued) = is_queued.get_mut(tried) {
                        *queued = false;
                    }
                    let is_declared = |number: &usize| declared.get(*number) == Some(&true);
                    let lacks =
                        |key: &usize| !self.keys.get(*key).is_some_and(|key| key.definitions.iter().any(is_declared));
                    if !is_first {
                        let Some(rest) = left.checked_sub(node.length) else { continue };
                        left = rest;
                    }
                    if node.is_certain && node.variables.iter().any(lacks) || !declare(tried) {
                        continue;
                    }
                    if let Some(declared) = declared.get_mut(tried) {
                        *declared = true;
                    }
                    for user in self.keys.get(node.key).map_or(&[][..], |key| &key.users) {
                        let is_open = declared.get(*user) == Some(&false) && group_of.get(*user) == Some(&number);
                        if let Some(queued) = is_queued.get_mut(*user).filter(|queued| is_open && !**queued) {
                            *queued = true;
                            again.push(*user);
                        }
                    }
                }
                (round, is_first) = (again, false);
            }
        }
        declared
    }

    /// Returns the circles of mentions, and each other definition alone: first those that others mention.
    fn groups(&self) -> Vec<Vec<usize>> {
        let count = self.nodes.len();
        // Definitions, then keys. A key is between its users and its definitions, whose pairs may be too many.
        let keys_of =
            |node: &Node| node.variables.iter().chain(&node.functions).map(|key| key.saturating_add(count)).collect();
        let of_definitions = self.nodes.iter().map(keys_of);
        let of_keys = self.keys.iter().map(|key| key.definitions.clone());
        let next: Vec<Vec<usize>> = of_definitions.chain(of_keys).collect();
        let mut groups = components(&next);
        groups.iter_mut().for_each(|group| group.retain(|number| *number < count));
        groups.retain(|group| !group.is_empty());
        groups
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

    /// Returns cycles of definitions among those that failed, each from its first definition on.
    /// Each definition is in at most one.
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
    fn new(key: usize, body: &str, names: &Names<'_>) -> Self {
        let (variables, functions) = (BTreeSet::new(), BTreeSet::new());
        let mut node = Self { key, variables, functions, is_certain: true, length: body.len() };
        for Mention { path, is_called, is_member } in mentions(body) {
            node.is_certain &= is_called || !names.variables.has_first(&path);
            if is_called {
                let last = path.rsplit('.').next().unwrap_or(&path);
                node.functions.extend(names.methods.get(last));
                node.functions.extend(names.functions.get(&*path).filter(|_| !is_member));
            }
            if !is_member {
                node.variables.extend(names.variables.prefixes(&path));
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
        assert_eq!(tried(&order, &[]), [2, 3, 1, 5, 4, 0]);
        assert_eq!(tried(&order, &[3]), [2, 3, 5, 4], "what uses a wrong variable is not tried");
        assert_eq!(tried(&order, &[4]), [2, 3, 1, 5, 4, 0], "a function may be another one");
        let chain: Vec<(String, String)> =
            (0..1000).map(|n| (format!("variables.v{n}"), format!("variables.v{}", n + 1))).collect();
        let chain: Vec<(&str, &str)> = chain.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
        let chain = graph(&chain);
        assert_eq!(tried(&chain, &[]), (0..1000).rev().collect::<Vec<_>>());
        assert_eq!(tried(&chain, &[999]), [999]);
    }

    /// Functions of one name: the last one is right alone, each other one after the next one.
    /// Others that call them all are tried once.
    #[test]
    fn what_is_tried_again_is_bounded() {
        for (overloads, are_all_found) in [(1, true), (100, true), (2_000, false)] {
            let users = (0..5_000).map(|n| (format!("u{n}()"), "f(1) + z".to_owned()));
            let namesakes = (0..overloads).map(|_| ("f(x)".to_owned(), "f([x]) + 0123456789".to_owned()));
            let all: Vec<(String, String)> = users.chain(namesakes).collect();
            let all: Vec<(&str, &str)> = all.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
            let (mut calls, mut next) = (0, all.len());
            let declared = graph(&all).declare(|number| {
                calls += 1;
                let is_right = number + 1 == next && number >= 5_000;
                next -= usize::from(is_right);
                is_right
            });
            assert_eq!(declared.iter().filter(|declared| **declared).count() == overloads, are_all_found);
            let (users, length) = (5_000, "f([x]) + 0123456789".len());
            let text = users * "f(1) + z".len() + overloads * length;
            assert!(calls <= users + overloads + (RETRIED.0 * text + RETRIED.1) / length, "{overloads}: {calls}");
        }
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
