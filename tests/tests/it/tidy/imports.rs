//! Finds which modules of a crate refer to which: every `use` and every inline path that starts
//! with `crate`, `self` or `super`. Code for tests (`#[cfg(test)]`, files named `tests.rs`, folders
//! named `tests`) is left out.

use super::tokens::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module from the root of its crate; empty for the root.
pub(super) type Module = Vec<String>;

/// A place where one module names another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) from: Module,
    pub(super) to: Module,
    /// File from the root of the repository, and line number.
    pub(super) file: String,
    pub(super) line: usize,
}

/// What one file says.
#[derive(Debug, Default)]
struct Scan {
    /// Paths that it names, as written: the module it stands in, the segments, the line.
    paths: Vec<(Module, Vec<String>, usize)>,
    /// Paths that it imports: the module, the name there (`*` for a glob), the segments.
    imports: Vec<(Module, String, Vec<String>)>,
    /// Names that it defines, by module.
    definitions: BTreeSet<(Module, String)>,
    /// Modules that it declares for tests only.
    test_modules: BTreeSet<Module>,
}

/// The references between the modules of one crate. `files` are sources by path from the root
/// of the repository; `src` is the path of the crate's `src` folder, with a slash at the end.
pub(super) fn references(src: &str, files: &BTreeMap<String, String>) -> Vec<Reference> {
    let mut scans: Vec<(&str, Module, Scan)> = Vec::new();
    for (file, text) in files {
        let Some(inner) = file.strip_prefix(src) else { continue };
        let Some(module) = module_of(inner) else { continue };
        scans.push((file, module.clone(), scan(module, &tokens(text))));
    }
    let for_tests: BTreeSet<&Module> = scans.iter().flat_map(|(_, _, scan)| &scan.test_modules).collect();
    let is_for_tests = |module: &Module| for_tests.iter().any(|tests| module.starts_with(tests));
    let mut names = Names::default();
    for (_, module, scan) in &scans {
        names.modules.extend((0..=module.len()).map(|n| module[..n].to_vec()));
        names.modules.extend(scan.paths.iter().map(|(module, ..)| module.clone()));
        names.definitions.extend(scan.definitions.iter().cloned());
        for (module, name, path) in &scan.imports {
            names.imports.entry(module.clone()).or_default().push((name.clone(), path.clone()));
        }
    }
    let mut found = Vec::new();
    for (file, module, scan) in scans.iter().filter(|(_, module, _)| !is_for_tests(module)) {
        for (from, path, line) in &scan.paths {
            if let Some(to) = names.resolve(from, path, 0) {
                // Modules inside a file are part of that file.
                let (from, file) = (module.clone(), (*file).to_owned());
                found.push(Reference { from, to, file, line: *line });
            }
        }
    }
    found
}

/// The module of a file; `None` for tests and for programs with a root of their own.
fn module_of(inner: &str) -> Option<Module> {
    let mut module: Module = inner.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if module.iter().any(|part| part == "tests") || module[0] == "bin" || inner == "build.rs" {
        return None;
    }
    if matches!(module.last()?.as_str(), "mod") || matches!(inner, "lib.rs" | "main.rs") {
        module.pop();
    }
    Some(module)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn scan(module: Module, tokens: &[Token<'_>]) -> Scan {
    let mut scan = Scan::default();
    // The modules around a place, each with the number of open braces outside of it.
    let mut around = vec![(module, 0usize)];
    let (mut at, mut depth) = (0, 0usize);
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token<'_>| token.text);
    while at < tokens.len() {
        let here = around.last().map(|(module, _)| module.clone()).unwrap_or_default();
        match text(at) {
            "#" if is_for_tests(tokens, at) => {
                let item = after_attributes(tokens, at);
                if text(item) == "mod" {
                    scan.test_modules.insert([here, vec![text(item + 1).to_owned()]].concat());
                }
                at = after_item(tokens, item);
                continue;
            }
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if around.len() > 1 && around.last().is_some_and(|(_, outside)| *outside == depth) {
                    around.pop();
                }
            }
            "mod" if is_name(text(at + 1)) && text(at + 2) == "{" => {
                around.push(([here, vec![text(at + 1).to_owned()]].concat(), depth));
                depth += 1;
                at += 3;
                continue;
            }
            // `use<'a>` is a bound.
            "use" if text(at + 1) != "<" => {
                let line = tokens[at].line;
                let mut leaves = Vec::new();
                at = use_tree(tokens, at + 1, &[], &mut leaves);
                for (name, path) in leaves {
                    scan.paths.push((here.clone(), path.clone(), line));
                    scan.imports.push((here.clone(), name, path));
                }
                continue;
            }
            "crate" | "super" | "self" if text(at + 1) == "::" && text(at.wrapping_sub(1)) != "::" => {
                let line = tokens[at].line;
                let mut path = vec![text(at).to_owned()];
                while text(at + 1) == "::" && is_name(text(at + 2)) {
                    path.push(text(at + 2).to_owned());
                    at += 2;
                }
                scan.paths.push((here, path, line));
            }
            "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" | "macro_rules" => {
                let name = if text(at + 1) == "!" { text(at + 2) } else { text(at + 1) };
                scan.definitions.insert((here, name.to_owned()));
            }
            _ => {}
        }
        at += 1;
    }
    scan
}

/// Whether an attribute starts here that keeps its item for tests.
fn is_for_tests(tokens: &[Token<'_>], at: usize) -> bool {
    let texts: Vec<_> = tokens[at..].iter().take(5).map(|token| token.text).collect();
    texts[1..].starts_with(&["[", "cfg", "(", "test"]) || texts[1..].starts_with(&["[", "test", "]"])
}

/// The first token after the attributes that start here and the visibility behind them.
fn after_attributes(tokens: &[Token<'_>], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at = after_group(tokens, at + 1);
    }
    if tokens.get(at).is_some_and(|token| token.text == "pub") {
        at += 1;
        if tokens.get(at).is_some_and(|token| token.text == "(") {
            at = after_group(tokens, at);
        }
    }
    at
}

/// The first token after the group that opens here.
fn after_group(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The first token after the item that starts here: behind its `;` or its braces.
fn after_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" | "," => return at + 1,
            "{" => {
                let end = after_group(tokens, at);
                // A `use` has braces and then a semicolon.
                return if tokens.get(end).is_some_and(|token| token.text == ";") { end + 1 } else { end };
            }
            "(" | "[" => at = after_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Reads what follows `use`, or a part of it inside braces. Returns the first token after it.
fn use_tree(tokens: &[Token<'_>], mut at: usize, prefix: &[String], leaves: &mut Vec<(String, Vec<String>)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or(";", |token: &Token<'_>| token.text);
    let mut path = prefix.to_vec();
    let mut name = prefix.last().cloned().unwrap_or_default();
    loop {
        match text(at) {
            "::" => {}
            "{" => {
                at += 1;
                while text(at) != "}" && text(at) != ";" {
                    at = use_tree(tokens, at, &path, leaves);
                    if text(at) == "," {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "*" => {
                leaves.push(("*".to_owned(), path));
                return at + 1;
            }
            "as" => {
                text(at + 1).clone_into(&mut name);
                at += 1;
            }
            "self" if !path.is_empty() => {}
            word if is_name(word) => {
                path.push(word.to_owned());
                word.clone_into(&mut name);
            }
            _ => break,
        }
        at += 1;
    }
    leaves.push((name, path));
    at
}

/// What the modules of a crate hold.
#[derive(Debug, Default)]
struct Names {
    modules: BTreeSet<Module>,
    definitions: BTreeSet<(Module, String)>,
    imports: BTreeMap<Module, Vec<(String, Vec<String>)>>,
}

impl Names {
    /// The module in which the thing is defined that `path` names in `from`, as far as it can be
    /// told; `None` if it is of another crate. Names that a module imports from others are followed
    /// to where they come from.
    fn resolve(&self, from: &Module, path: &[String], steps: usize) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.clone(),
            "super" => from.split_last()?.1.to_vec(),
            name => {
                let inner = [from.clone(), vec![name.to_owned()]].concat();
                return if self.modules.contains(&inner) { self.walk(inner, rest, steps) } else { None };
            }
        };
        self.walk(start, rest, steps)
    }

    fn walk(&self, module: Module, path: &[String], steps: usize) -> Option<Module> {
        let Some((first, rest)) = path.split_first() else { return Some(module) };
        if first == "super" {
            return self.walk(module.split_last()?.1.to_vec(), rest, steps);
        }
        let inner = [module.clone(), vec![first.clone()]].concat();
        if self.modules.contains(&inner) {
            return self.walk(inner, rest, steps);
        }
        // Imports may refer to each other in a circle.
        if steps > 8 || self.definitions.contains(&(module.clone(), first.clone())) {
            return Some(module);
        }
        let imports = self.imports.get(&module).map_or(&[][..], Vec::as_slice);
        for (name, target) in imports {
            if name == first {
                let target = [target, rest].concat();
                // What another crate defines is nobody's here.
                return self.resolve(&module, &target, steps + 1);
            }
        }
        for (_, target) in imports.iter().filter(|(name, _)| name == "*") {
            let Some(from) = self.resolve(&module, target, steps + 1) else { continue };
            let Some(to) = self.walk(from.clone(), path, steps + 1) else { continue };
            if self.definitions.contains(&(to.clone(), first.clone())) {
                return Some(to);
            }
        }
        Some(module)
    }
}
