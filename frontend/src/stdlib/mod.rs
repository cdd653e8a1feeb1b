//! The functions of the libraries, as one table that all rule languages share: a [`Builtin`] for
//! each overload, with its library, its name in CEL, its signature and its documentation.
//!
//! The checker of CEL reads the names and signatures; another language maps its own syntax to the
//! same builtins. The runtime library implements each: it matches on [`Builtin`] exhaustively, so a
//! row without an implementation does not compile. The lowering to native code names those that
//! have a faster form than a call of the library.

mod library;
mod overload_ids;
mod signature;
mod table;

use crate::types::Type;
pub use library::{Libraries, Library};
pub use signature::{Overload, Signature};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
pub use table::Builtin;

/// How a function may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `f(x, y)`; operators too, under names such as `_+_`.
    Global,
    /// `x.f(y)`
    Member,
    /// Both.
    Both,
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    /// The implementation.
    pub builtin: Builtin,
    /// The library that it is of.
    pub library: Library,
    /// The function's name.
    pub name: &'static str,
    /// Documentation, one line.
    pub doc: &'static str,
    /// Whether calls are written `f(x, y)`, `x.f(y)` or both.
    pub style: Style,
    /// Whether equal arguments give equal results, so that calls may be folded, shared and dropped.
    pub pure: bool,
    /// Parameter types, receiver first.
    pub params: Arc<[Type]>,
    /// Result type.
    pub result: Type,
}

/// The table and its index by name.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Row>,
    by_name: HashMap<&'static str, Vec<(Library, Signature)>>,
}

impl Table {
    /// All rows, in order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of an implementation.
    #[must_use]
    pub fn row(&self, builtin: Builtin) -> Option<&Row> {
        self.rows.get(builtin as usize)
    }

    /// The signatures of a function in some libraries, in the order of the table; a row of
    /// [`Style::Both`] gives one for each form.
    pub fn signatures(&self, name: &str, libraries: Libraries) -> impl Iterator<Item = &Signature> {
        let all = self.by_name.get(name).map_or(&[][..], |s| s);
        all.iter().filter(move |(library, _)| libraries.contains(*library)).map(|(_, signature)| signature)
    }

    /// As [`signatures`](Self::signatures), in one library.
    pub fn signatures_of(&self, library: Library, name: &str) -> impl Iterator<Item = &Signature> {
        let all = self.by_name.get(name).map_or(&[][..], |s| s);
        all.iter().filter(move |(of, _)| *of == library).map(|(_, signature)| signature)
    }

    /// The libraries that have a function of this name, once for each signature.
    pub fn libraries_of(&self, name: &str) -> impl Iterator<Item = Library> {
        self.by_name.get(name).into_iter().flatten().map(|(library, _)| *library)
    }

    /// The names of all functions of some libraries, operators included.
    pub fn names(&self, libraries: Libraries) -> impl Iterator<Item = &'static str> {
        let has = move |s: &[(Library, Signature)]| s.iter().any(|(library, _)| libraries.contains(*library));
        self.by_name.iter().filter(move |(_, s)| has(s)).map(|(name, _)| *name)
    }
}

/// The table.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut rows = table::rows();
    let mut docs: HashMap<(Library, &str), &str> = HashMap::new();
    for row in &mut rows {
        let doc = docs.entry((row.library, row.name)).or_insert(row.doc);
        if row.doc.is_empty() {
            row.doc = doc;
        }
    }
    let mut by_name: HashMap<&'static str, Vec<(Library, Signature)>> = HashMap::new();
    for row in &rows {
        let signatures = by_name.entry(row.name).or_default();
        let forms: &[bool] = match row.style {
            Style::Global => &[false],
            Style::Member => &[true],
            Style::Both => &[false, true],
        };
        for &receiver in forms {
            let signature = Signature {
                overload: Overload::Builtin(row.builtin),
                receiver,
                params: row.params.clone(),
                result: row.result.clone(),
            };
            signatures.push((row.library, signature));
        }
    }
    Table { rows, by_name }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_documented() {
        for row in TABLE.rows() {
            assert!(row.doc.ends_with('.') && !row.doc.contains('\n'), "{:?}: {:?}", row.builtin, row.doc);
            assert_eq!(TABLE.row(row.builtin).map(|r| r.builtin), Some(row.builtin));
        }
    }
}
