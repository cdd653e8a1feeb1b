//! What a run of generated programs has met.

use celero::ErrorKind;
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Checked, Expr, FoldKind, LogicOp, Overload, Reference};
use std::collections::BTreeMap;
use std::fmt;

/// Counts of builtins, syntax and results.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By row: calls that the checker resolved to it alone, and calls that choose at evaluation and may choose it.
    builtins: BTreeMap<Builtin, (u64, u64)>,
    syntax: BTreeMap<String, u64>,
    /// By name of the error kind, or `value`.
    results: BTreeMap<&'static str, u64>,
}

/// The kinds of syntax that a run must meet.
const SYNTAX: &[&str] = &[
    "literal",
    "variable",
    "local",
    "type",
    "select",
    "has",
    "has variable",
    "cond",
    "and",
    "or",
    "list",
    "list ?",
    "map",
    "map ?",
    "bind",
    "optMap",
    "optFlatMap",
    "all",
    "all 2",
    "exists",
    "exists 2",
    "exists_one",
    "exists_one 2",
    "filter",
    "map()",
    "map() filtered",
    "transformList",
    "transformList filtered",
    "transformMap",
    "transformMap filtered",
    "transformMapEntry",
    "transformMapEntry filtered",
];

impl Coverage {
    /// Counts what a program consists of.
    pub fn note(&mut self, checked: &Checked) {
        let ast = checked.ast();
        for (index, node) in ast.nodes().iter().enumerate() {
            let id = celero_frontend::NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let reference = checked.reference(id);
            if let Reference::Call { overloads, .. } = reference {
                for overload in overloads {
                    if let Overload::Builtin(builtin) = overload {
                        let (alone, among) = self.builtins.entry(*builtin).or_default();
                        *(if overloads.len() == 1 { alone } else { among }) += 1;
                    }
                }
            }
            if let Some(name) = syntax(&node.expr, reference) {
                *self.syntax.entry(name).or_default() += 1;
            }
        }
    }

    /// Counts how an evaluation ended.
    pub fn note_result(&mut self, error: Option<ErrorKind>) {
        *self.results.entry(error.map_or("value", ErrorKind::name)).or_default() += 1;
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Self) {
        for (builtin, (alone, among)) in &other.builtins {
            let counts = self.builtins.entry(*builtin).or_default();
            counts.0 += alone;
            counts.1 += among;
        }
        for (name, count) in &other.syntax {
            *self.syntax.entry(name.clone()).or_default() += count;
        }
        for (name, count) in &other.results {
            *self.results.entry(name).or_default() += count;
        }
    }

    /// The builtins that were met as the only candidate, and the syntax, fewer than `least` times.
    #[must_use]
    pub fn missing(&self, least: u64) -> Vec<String> {
        let builtins = Builtin::ALL.iter().filter(|b| self.builtins.get(b).is_none_or(|c| c.0 < least));
        let syntax = SYNTAX.iter().filter(|s| self.syntax.get(**s).is_none_or(|c| *c < least));
        builtins.map(|b| format!("{b:?}")).chain(syntax.map(|s| (*s).to_owned())).collect()
    }

    /// The names of the error kinds that no evaluation ended with, of those that a rule can cause by itself.
    #[must_use]
    pub fn missing_errors(&self) -> Vec<&'static str> {
        let own = ErrorKind::ALL.iter().filter(|k| !matches!(k, ErrorKind::OutOfBudget | ErrorKind::Host));
        own.map(|k| k.name()).filter(|name| !self.results.contains_key(name)).collect()
    }
}

fn syntax(expr: &Expr, reference: &Reference) -> Option<String> {
    let marked = |optional: &[bool]| if optional.contains(&true) { " ?" } else { "" };
    Some(match expr {
        Expr::Literal(_) => "literal".into(),
        Expr::Select { test: true, .. } if matches!(reference, Reference::Variable(_)) => "has variable".into(),
        Expr::Ident { .. } | Expr::Select { .. } if *reference != Reference::None => match reference {
            Reference::Variable(_) => "variable".into(),
            Reference::Local(_) => "local".into(),
            Reference::Type(_) => "type".into(),
            _ => return None,
        },
        Expr::Select { test, .. } => if *test { "has" } else { "select" }.into(),
        Expr::Logic { op: LogicOp::And, .. } => "and".into(),
        Expr::Logic { op: LogicOp::Or, .. } => "or".into(),
        Expr::Cond { .. } => "cond".into(),
        Expr::List { optional, .. } => format!("list{}", marked(optional)),
        Expr::Map { optional, .. } => format!("map{}", marked(optional)),
        Expr::Bind { .. } => "bind".into(),
        Expr::OptMap { flat, .. } => if *flat { "optFlatMap" } else { "optMap" }.into(),
        Expr::Fold { kind, var2, filter, .. } => {
            let two = if var2.is_some() { " 2" } else { "" };
            let filtered = if filter.is_some() { " filtered" } else { "" };
            match kind {
                FoldKind::All => format!("all{two}"),
                FoldKind::Exists => format!("exists{two}"),
                FoldKind::ExistsOne => format!("exists_one{two}"),
                FoldKind::Filter => "filter".into(),
                FoldKind::Map => format!("map(){filtered}"),
                FoldKind::TransformList => format!("transformList{filtered}"),
                FoldKind::TransformMap => format!("transformMap{filtered}"),
                FoldKind::TransformMapEntry => format!("transformMapEntry{filtered}"),
            }
        }
        _ => return None,
    })
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:32}{:>10}{:>10}", "builtin", "static", "dynamic")?;
        for builtin in Builtin::ALL {
            let (alone, among) = self.builtins.get(builtin).copied().unwrap_or_default();
            writeln!(f, "{:32}{alone:>10}{among:>10}", format!("{builtin:?}"))?;
        }
        writeln!(f, "{:32}{:>10}", "syntax", "nodes")?;
        for name in SYNTAX {
            writeln!(f, "{name:32}{:>10}", self.syntax.get(*name).copied().unwrap_or(0))?;
        }
        writeln!(f, "{:32}{:>10}", "result", "cases")?;
        for (name, count) in &self.results {
            writeln!(f, "{name:32}{count:>10}")?;
        }
        Ok(())
    }
}
