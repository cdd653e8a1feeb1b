//! What a run of generated programs has met, as a table whose lines come from the tables of the project: functions,
//! operations, helpers, types, errors. A new row there is a line here, and fails the run until programs meet it.
//!
//! A line counts cases: pairs of a program that has it and a set of inputs.

use super::Declared;
use super::value::Owned;
use celero::ErrorKind;
use celero::settings::Explanation;
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Checked, Expr, FallbackKind, FoldKind, LogicOp, NodeId, Overload, Reference, Type};
use celero_ir::{Helper, Op, Ty};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

/// A part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Rows of the library that the checker resolved a call to, alone.
    Function,
    /// Functions of the host.
    Host,
    /// Functions defined in CEL.
    Defined,
    /// Kinds of syntax, macros by the type of what they iterate.
    Syntax,
    /// Types of the language that a part of a program has.
    Intermediate,
    /// Variables that are read.
    Variable,
    /// Operations of graphs, as lowered or after passes.
    Operation,
    /// Types of the nodes of graphs.
    Node,
    /// Types of elements that lie in the host, one after the other.
    Element,
    /// Helpers that the native code calls.
    Helper,
    /// Types of results.
    Result,
    /// Errors that cases ended with.
    Error,
    /// Errors that `||` hid.
    Absorbed,
    /// Errors that `default` or `coalesce` went on after.
    Caught,
    /// Errors that `default` let through.
    Passed,
}

type Line = (Group, Cow<'static, str>);

/// Counts by line.
#[derive(Clone, Debug)]
pub struct Coverage {
    lines: BTreeMap<Line, u64>,
}

/// The kinds of syntax that a run must meet, without the macros that iterate.
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
    "bind of a dyn",
    "with",
    "with of a dyn",
    "default",
    "default of a dyn",
    "coalesce",
    "coalesce of a dyn",
    "coalesce of one",
    "optMap",
    "optFlatMap",
];

/// The macros that iterate; each is met over each of its [`ranges`].
const FOLDS: &[&str] = &[
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
    "mapValues",
    "filterKeys",
];

/// What a macro iterates.
pub(super) fn ranges(fold: &str) -> &'static [&'static str] {
    if matches!(fold, "mapValues" | "filterKeys") { &["a map", "a dyn"] } else { &["a list", "a map", "a dyn"] }
}

/// Types of elements that native code reads where they lie.
pub(super) const ELEMENTS: [Type; 6] = [Type::Bool, Type::Int, Type::Uint, Type::Double, Type::String, Type::Bytes];

impl Default for Coverage {
    fn default() -> Self {
        let mut coverage = Self { lines: BTreeMap::new() };
        // Random hosts have no messages: `tests/tests/it/judges/messages.rs` reads them.
        let of_values = Builtin::ALL.iter().filter(|builtin| **builtin != Builtin::OptionalSelectMessage);
        coverage.expect(Group::Function, of_values.map(|b| function(*b).into()));
        coverage.expect(Group::Syntax, SYNTAX.iter().map(|s| Cow::Borrowed(*s)));
        for fold in FOLDS {
            coverage.expect(Group::Syntax, ranges(fold).iter().map(|range| format!("{fold} over {range}").into()));
        }
        coverage.expect(Group::Intermediate, Owned::KINDS.iter().copied().chain(["dyn"]).map(Cow::Borrowed));
        // Random hosts have no lists of structs: `runtime/tests/it/lists_in_place.rs` reads their
        // members in both tiers.
        let operations = Op::EACH.iter().filter(|op| !matches!(op, Op::Member { .. }));
        coverage.expect(Group::Operation, operations.map(|op| op.decl().name.into()));
        let types = Ty::ALL.iter().filter(|ty| **ty != Ty::Record);
        coverage.expect(Group::Node, types.map(|ty| ty.name().into()));
        coverage.expect(Group::Element, ELEMENTS.iter().filter_map(type_name).map(Cow::Borrowed));
        // Only functions of several rules look up several headers at once, and only the filter
        // language has patterns on bytes. Only requests have text that has to be made, and random
        // rules seldom search one text for several literals: the file tests `headers/host` and
        // `passes/literals` do. Random rules declare no named lists: `runtime/tests/it/lists.rs`
        // asks them in both tiers.
        let elsewhere = [
            // Messages have a judge of their own, `tests/tests/it/judges/messages.rs`.
            Helper::message_field,
            Helper::message_fields,
            Helper::message_has,
            Helper::headers_get,
            Helper::byte_regex_find,
            Helper::text_made,
            Helper::literals_find,
            Helper::list_has,
            Helper::list_has_address,
            Helper::list_has_text,
            Helper::list_has_bytes,
            Helper::list_has_integer,
            Helper::list_find,
            Helper::list_find_address,
            Helper::list_find_text,
            Helper::list_find_integer,
            Helper::list_entry,
            Helper::list_value_text,
            Helper::list_value_int,
            Helper::list_value_bool,
            Helper::list_value_has,
            Helper::list_value_optional,
        ];
        let helpers = Helper::ALL.iter().filter(|helper| !elsewhere.contains(helper));
        coverage.expect(Group::Helper, helpers.map(|helper| helper.decl().name.into()));
        coverage.expect(Group::Result, Owned::KINDS.iter().map(|s| Cow::Borrowed(*s)));
        // Values that are not known yet have judges of their own: `tests/tests/it/partial.rs`.
        let of = |fits: fn(ErrorKind) -> bool| {
            let known = ErrorKind::ALL.iter().filter(|kind| **kind != ErrorKind::Unknown);
            known.filter(move |kind| fits(**kind)).map(|k| k.name().into())
        };
        coverage.expect(Group::Error, of(|_| true));
        coverage.expect(Group::Absorbed, of(|kind| !kind.is_final()));
        coverage.expect(Group::Caught, of(|kind| !kind.is_final()));
        coverage.expect(Group::Passed, of(|kind| kind != ErrorKind::NoSuchKey));
        coverage
    }
}

impl Coverage {
    /// Adds lines that must be met.
    pub fn expect(&mut self, group: Group, names: impl IntoIterator<Item = Cow<'static, str>>) {
        for name in names {
            self.lines.entry((group, name)).or_default();
        }
    }

    fn add(&mut self, lines: BTreeSet<Line>, cases: u64) {
        for line in lines {
            *self.lines.entry(line).or_default() += cases;
        }
    }

    /// Counts the operations of a program, which ran in `cases` cases.
    pub fn note(&mut self, checked: &Checked, declared: &celero_frontend::Declarations, cases: u64) {
        let ast = checked.ast();
        let mut lines = BTreeSet::new();
        for (index, node) in ast.nodes().iter().enumerate() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let reference = checked.reference(id);
            match reference {
                Reference::Call { overloads, .. } => {
                    for overload in overloads {
                        match overload {
                            Overload::Builtin(builtin) if overloads.len() == 1 => {
                                lines.insert((Group::Function, function(*builtin).into()));
                            }
                            Overload::Builtin(_) => {}
                            Overload::Defined(index) => {
                                let name = declared.definitions().get(*index as usize).map_or("?", |d| d.name());
                                lines.insert((Group::Defined, name.to_owned().into()));
                            }
                            Overload::Host(index) => {
                                let name = declared.functions().get(*index as usize).map_or("?", |f| &f.name);
                                lines.insert((Group::Host, name.to_owned().into()));
                            }
                        }
                    }
                }
                Reference::Variable(index) => {
                    let name = declared.variables().get(*index as usize).map_or("?", |v| &v.name);
                    lines.insert((Group::Variable, name.to_owned().into()));
                }
                _ => {}
            }
            if let Some(name) = syntax(&node.expr, reference, checked) {
                lines.insert((Group::Syntax, name));
            }
            if id != ast.root() {
                lines.extend(type_name(checked.type_of(id)).map(|name| (Group::Intermediate, name.into())));
            }
        }
        self.add(lines, cases);
    }

    /// Counts what became of a program over some variables on its way to native code.
    pub fn note_stages(&mut self, stages: &Explanation, variables: &[Declared], cases: u64) {
        let mut lines = BTreeSet::new();
        for (title, text) in stages.sections() {
            match title {
                "graph" | "optimized graph" => {
                    for node in text.lines().filter_map(|line| line.split_once(": ")) {
                        let mut words = node.1.split(' ');
                        if let (Some(ty), Some("="), Some(name)) = (words.next(), words.next(), words.next()) {
                            lines.insert((Group::Node, ty.to_owned().into()));
                            lines.insert((Group::Operation, name.to_owned().into()));
                            if name == "elements"
                                && let Some(Ok(field)) = words.next().map(str::parse::<usize>)
                                && let Some(Declared { ty: Type::List(element), .. }) = variables.get(field)
                            {
                                lines.extend(type_name(element).map(|name| (Group::Element, name.into())));
                            }
                        }
                    }
                }
                "cranelift ir" => {
                    for remark in text.lines().filter(|line| line.contains("call_indirect")) {
                        let names = remark.split(" = ").skip(2).filter_map(|rest| rest.split(',').next());
                        let helpers = names.filter_map(Helper::from_name);
                        lines.extend(helpers.map(|helper| (Group::Helper, helper.decl().name.into())));
                    }
                }
                _ => {}
            }
        }
        self.add(lines, cases);
    }

    /// Counts how a case ended.
    pub fn note_result(&mut self, value: Result<&Owned, ErrorKind>) {
        let line = match value {
            Ok(value) => (Group::Result, value.kind().into()),
            Err(kind) => (Group::Error, kind.name().into()),
        };
        *self.lines.entry(line).or_default() += 1;
    }

    /// Counts what became of an error inside of a larger expression.
    pub fn note_error(&mut self, group: Group, kind: ErrorKind) {
        *self.lines.entry((group, kind.name().into())).or_default() += 1;
    }

    /// Whether there is such a line.
    #[cfg(test)]
    pub(super) fn has(&self, group: Group, name: &str) -> bool {
        self.lines.contains_key(&(group, Cow::Owned(name.to_owned())))
    }

    /// How many cases a line has.
    #[must_use]
    pub fn of(&self, group: Group, name: &str) -> u64 {
        self.lines.get(&(group, Cow::Owned(name.to_owned()))).copied().unwrap_or(0)
    }

    /// Adds the counts of another run.
    pub fn merge(&mut self, other: &Self) {
        for (line, count) in &other.lines {
            *self.lines.entry(line.clone()).or_default() += count;
        }
    }

    /// The lines of some groups that have fewer than `least` cases.
    pub fn missing(&self, groups: &[Group], least: u64) -> Vec<String> {
        let few = self.lines.iter().filter(|((group, _), count)| groups.contains(group) && **count < least);
        few.map(|((group, name), count)| format!("{group:?} {name}: {count}")).collect()
    }

    /// All groups.
    pub const GROUPS: &'static [Group] = &[
        Group::Function,
        Group::Host,
        Group::Defined,
        Group::Syntax,
        Group::Intermediate,
        Group::Variable,
        Group::Operation,
        Group::Node,
        Group::Element,
        Group::Helper,
        Group::Result,
        Group::Error,
        Group::Absorbed,
        Group::Caught,
        Group::Passed,
    ];
}

/// The name of a row of the library.
pub(super) fn function(builtin: Builtin) -> &'static str {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| Builtin::ALL.iter().map(|b| format!("{b:?}")).collect());
    NAMES.get(builtin as usize).map_or("?", String::as_str)
}

/// The name of a type in the table; `None` for what no value is of.
fn type_name(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Null => "null",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::Double => "double",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Duration => "duration",
        Type::Timestamp => "timestamp",
        Type::List(_) => "list",
        Type::Map(_) => "map",
        Type::Type(_) => "type",
        Type::Optional(_) => "optional",
        Type::Opaque(name, _) if &**name == "net.IP" => "net.IP",
        Type::Opaque(name, _) if &**name == "net.CIDR" => "net.CIDR",
        Type::Dyn => "dyn",
        _ => return None,
    })
}

fn syntax(expr: &Expr, reference: &Reference, checked: &Checked) -> Option<Cow<'static, str>> {
    let marked =
        |name: &'static str, with: &'static str, optional: &[bool]| if optional.contains(&true) { with } else { name };
    Some(Cow::Borrowed(match expr {
        Expr::Literal(_) => "literal",
        expr if expr.is_test() && matches!(reference, Reference::Variable(_)) => "has variable",
        Expr::Ident { .. } | Expr::Select { .. } if *reference != Reference::None => match reference {
            Reference::Variable(_) => "variable",
            Reference::Local(_) => "local",
            Reference::Type(_) => "type",
            _ => return None,
        },
        Expr::Select { test, .. } => {
            if *test {
                "has"
            } else {
                "select"
            }
        }
        Expr::Logic { op: LogicOp::And, .. } => "and",
        Expr::Logic { op: LogicOp::Or, .. } => "or",
        Expr::Cond { .. } => "cond",
        Expr::List { optional, .. } => marked("list", "list ?", optional),
        Expr::Map { optional, .. } => marked("map", "map ?", optional),
        Expr::Bind { with, init, .. } => match (with, checked.type_of(*init)) {
            (false, Type::Dyn) => "bind of a dyn",
            (false, _) => "bind",
            (true, Type::Dyn) => "with of a dyn",
            (true, _) => "with",
        },
        Expr::Fallback { kind, operands } => {
            let operands = checked.ast().children(*operands);
            match (kind, operands.iter().any(|operand| checked.type_of(*operand).is_dyn())) {
                (FallbackKind::Default, false) => "default",
                (FallbackKind::Default, true) => "default of a dyn",
                (FallbackKind::Coalesce, _) if operands.len() == 1 => "coalesce of one",
                (FallbackKind::Coalesce, false) => "coalesce",
                (FallbackKind::Coalesce, true) => "coalesce of a dyn",
            }
        }
        Expr::OptMap { flat: true, .. } => "optFlatMap",
        Expr::OptMap { .. } => "optMap",
        Expr::Fold { kind, var2, filter, range, .. } => {
            let two = if var2.is_some() { " 2" } else { "" };
            let filtered = if filter.is_some() { " filtered" } else { "" };
            let name = match kind {
                FoldKind::All => format!("all{two}"),
                FoldKind::Exists => format!("exists{two}"),
                FoldKind::ExistsOne => format!("exists_one{two}"),
                FoldKind::Filter => "filter".into(),
                FoldKind::Map => format!("map(){filtered}"),
                FoldKind::TransformList => format!("transformList{filtered}"),
                FoldKind::TransformMap => format!("transformMap{filtered}"),
                FoldKind::TransformMapEntry => format!("transformMapEntry{filtered}"),
                FoldKind::MapValues => "mapValues".into(),
                FoldKind::FilterKeys => "filterKeys".into(),
            };
            let over = match checked.type_of(*range) {
                Type::List(_) => "a list",
                Type::Map(_) => "a map",
                _ => "a dyn",
            };
            return Some(format!("{name} over {over}").into());
        }
        _ => return None,
    }))
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for ((group, name), count) in &self.lines {
            if last.replace(*group) != Some(*group) {
                writeln!(f, "{:40}{:>10}", format!("-- {group:?}"), "cases")?;
            }
            writeln!(f, "{name:40}{count:>10}")?;
        }
        Ok(())
    }
}
