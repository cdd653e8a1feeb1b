//! The modules of a crate form no cycle: imports between the files and folders of one folder point
//! one way, at any level. All may use what the `mod.rs` of their own folder defines.

use super::imports::{Module, Reference, references};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// Which sibling refers to which others, and where first.
type Graph<'r> = BTreeMap<&'r str, BTreeMap<&'r str, &'r Reference>>;

/// By folder: its children's references to each other.
fn siblings(references: &[Reference]) -> BTreeMap<Module, Graph<'_>> {
    let mut levels: BTreeMap<Module, Graph<'_>> = BTreeMap::new();
    for reference in references {
        let (from, to) = (&reference.from, &reference.to);
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
            let graph = levels.entry(from[..common].to_vec()).or_default();
            graph.entry(a).or_default().entry(b).or_insert(reference);
        }
    }
    levels
}

/// The shortest way from a module back to itself, as the references on it.
fn way_back<'r>(graph: &Graph<'r>, start: &'r str) -> Option<Vec<&'r Reference>> {
    let mut queue = VecDeque::from([(start, Vec::new())]);
    let mut seen = BTreeSet::new();
    while let Some((module, way)) = queue.pop_front() {
        for (next, reference) in graph.get(module).into_iter().flatten() {
            let mut way = way.clone();
            way.push(*reference);
            if *next == start {
                return Some(way);
            }
            if seen.insert(*next) {
                queue.push_back((*next, way));
            }
        }
    }
    None
}

/// A shortest cycle through each module that is in one, unless it is in one shown before: the
/// modules, and a place for each step.
fn cycles(references: &[Reference]) -> Vec<String> {
    let mut found = Vec::new();
    for (folder, graph) in siblings(references) {
        let mut ways: Vec<_> = graph.keys().filter_map(|name| Some((*name, way_back(&graph, name)?))).collect();
        let mut shown: BTreeSet<&str> = BTreeSet::new();
        ways.sort_by_key(|(_, way)| way.len());
        for (start, way) in ways {
            if shown.contains(start) {
                continue;
            }
            let mut text = format!("a cycle in {}:", [vec!["crate".to_owned()], folder.clone()].concat().join("::"));
            for reference in way {
                let (from, to) = (&reference.from[folder.len()], &reference.to[folder.len()]);
                shown.insert(from);
                let target = reference.to.join("::");
                let _ = write!(text, "\n  {from} -> {to}: {}:{} uses crate::{target}", reference.file, reference.line);
            }
            found.push(text);
        }
    }
    found
}

#[test]
fn modules_form_no_cycle() {
    let sources = super::sources();
    let mut problems = Vec::new();
    for (name, src) in super::source_folders() {
        let references = references(&src, &sources);
        let cycles = cycles(&references);
        problems.extend(cycles.iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(file, text)| (format!("x/src/{file}"), (*text).to_owned())).collect();
        let references = references("x/src/", &files);
        cycles(&references)
    }

    #[test]
    fn a_cycle_is_found_with_its_places() {
        let found = tree(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "//! A.\nuse crate::b::{self, x::Y};"),
            ("b/mod.rs", "mod x;"),
            ("b/x.rs", "\n\nfn f() { crate::c::g() }"),
            ("c.rs", "use super::a::Z;"),
        ]);
        let expected = "a cycle in crate:\n  a -> b: x/src/a.rs:2 uses crate::b\n  b -> c: x/src/b/x.rs:3 uses crate::c\n  \
                        c -> a: x/src/c.rs:1 uses crate::a";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn two_files_of_one_folder_form_no_cycle() {
        let files = [
            ("m/mod.rs", "mod a; mod b; pub struct Shared;"),
            ("m/a.rs", "use super::{Shared, b::B};"),
            ("m/b.rs", "use crate::m::{a::A, Shared};"),
        ];
        let found = tree(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a cycle in crate::m:\n  a -> b: x/src/m/a.rs:1"), "{found:?}");
        assert_eq!(tree(&[files[0], files[1]]), [""; 0], "the folder itself");
    }

    #[test]
    fn what_is_named_by_a_parent_is_followed_to_its_place() {
        for parent in
            ["pub use b::B; mod a; mod b;", "use self::b::*; mod a; mod b;", "use b::Other as B; mod a; mod b;"]
        {
            let b = ("b.rs", "pub struct B; pub struct Other; use crate::a::A;");
            let found = tree(&[("lib.rs", parent), ("a.rs", "use crate::B; pub struct A;"), b]);
            assert_eq!(found.len(), 1, "{parent}: {found:?}");
        }
    }

    #[test]
    fn a_folder_inside_is_no_way_around() {
        let found = tree(&[
            ("a/mod.rs", "mod inner;"),
            ("a/inner.rs", "mod deep { fn f() { super::super::super::b::g() } }"),
            ("b.rs", "use crate::a;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn parents_tests_and_other_crates_do_not_count() {
        let found = tree(&[
            ("lib.rs", "pub use a::A; mod a; mod b; #[cfg(test)] mod check;"),
            ("a.rs", "use crate::b::B; pub struct A; #[cfg(test)] mod tests { use crate::b; }"),
            (
                "b.rs",
                "use std::fmt; // use crate::a\n const X: &str = \"crate::a::A\"; #[cfg(test)] use crate::a::A; fn f() {}",
            ),
            ("b/tests.rs", "use crate::a::A;"),
            ("check.rs", "use crate::{a, b};"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
