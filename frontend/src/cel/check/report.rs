//! The checker's messages.

use super::infer::Excess;
use super::names::is_operator;
use super::select::Path;
use super::{Argument, Checker, RECEIVER, codes};
use crate::ast::{Name, NodeId};
use crate::cel::foreign;
use crate::cel::macros::usage;
use crate::cel::named_lists;
use crate::declarations::LISTS;
use crate::diagnostic::{Diagnostic, Label, Severity, Stage};
use crate::similar::similar;
use crate::span::Span;
use crate::stdlib::{Library, Signature};
use crate::types::{MAX_TYPE_DEPTH, MAX_TYPE_PARTS, Type};
use std::fmt::Arguments;

/// Most names or signatures listed in one help.
const MAX_LISTED: usize = 8;

/// Most names that an unknown name may be a part of to be suggested.
const MAX_MEANT: usize = 3;

impl Checker<'_> {
    /// Whether the limit of diagnostics is reached, so that further errors are counted but not kept.
    pub(super) fn full(&self) -> bool {
        self.errors.len() >= self.limits.max_diagnostics as usize
    }

    /// Adds an error. Beyond the limit, only the last one is kept, and it is dropped in the end.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        self.push_error(diagnostic(Severity::Error, code, span, message))
    }

    /// Adds an error, as [`error`](Self::error) does.
    pub(super) fn push_error(&mut self, error: Diagnostic) -> &mut Diagnostic {
        self.errors.truncate(self.limits.max_diagnostics as usize);
        self.errors.push_mut(error)
    }

    pub(super) fn warning(&mut self, code: &'static str, span: Span, message: String) {
        if self.warnings.len() < self.limits.max_diagnostics as usize {
            self.warnings.push(diagnostic(Severity::Warning, code, span, message));
        }
    }

    /// Returns a type as rule authors write it.
    pub(super) fn show(&mut self, ty: &Type) -> String {
        self.infer.resolve(ty, false).to_string()
    }

    pub(super) fn show_path(&self, names: &[Name]) -> String {
        names.iter().map(|n| self.ast.name(*n)).collect::<Vec<_>>().join(".")
    }

    /// Reports what is no `bool`, and returns the error.
    pub(super) fn expect_bool(&mut self, id: NodeId, ty: &Type, what: Arguments<'_>) -> Option<&mut Diagnostic> {
        if self.infer.assign(ty, &Type::Bool) {
            return None;
        }
        let shown = self.show(ty);
        let message = format!("{what} must be `bool`, this is `{shown}`");
        Some(self.error(codes::NOT_BOOL, self.ast.span(id), message))
    }

    pub(super) fn report_excess(&mut self, id: NodeId, excess: Option<Excess>) {
        if std::mem::replace(&mut self.too_complex, true) {
            return;
        }
        let message = match excess {
            Some(Excess::Depth) => {
                format!("the type of this is nested more than {MAX_TYPE_DEPTH} levels deep")
            }
            Some(Excess::Parts) => format!("the type of this has more than {MAX_TYPE_PARTS} parts"),
            None => format!("inferring types takes more than {} steps", self.steps),
        };
        self.error(codes::TYPE_TOO_COMPLEX, self.ast.span(id), message).stage = Stage::Limit;
    }

    pub(super) fn report_branches(
        &mut self,
        id: NodeId,
        what: &str,
        then: (NodeId, &Type),
        otherwise: (NodeId, &Type),
    ) -> Type {
        let (left, right) = (self.show(then.1), self.show(otherwise.1));
        let message = format!("{what} differ in type: `{left}` and `{right}`");
        let labels = vec![this_is(self.ast.span(then.0), &left), this_is(self.ast.span(otherwise.0), &right)];
        let error = self.error(codes::BRANCH_TYPES, self.ast.node(id).focus, message);
        error.labels = labels;
        error.help.push("wrap one of them in `dyn(..)` if both types are meant".to_owned());
        Type::Error
    }

    /// Reports a path of which no prefix is declared.
    pub(super) fn report_undeclared(&mut self, path: &Path) {
        let full = self.show_path(&path.names);
        // Marks the longest prefix below which something is declared, and one more part: that part is wrong.
        let mut known = 0;
        let mut below = Vec::new();
        if !self.full() {
            for (i, _) in path.names.iter().enumerate() {
                let count = i.saturating_add(1);
                let prefix = self.show_path(path.names.get(..count).unwrap_or(&[]));
                let found = self.names.below(&prefix, path.rooted);
                if found.is_empty() {
                    break;
                }
                (known, below) = (count, found);
            }
        }
        let wrong = if known == 0 { 0 } else { known.min(path.names.len().saturating_sub(1)) };
        let node = path.nodes.get(wrong).or(path.nodes.last()).copied().unwrap_or(NodeId(0));
        let name = self.show_path(path.names.get(..=wrong).unwrap_or(&path.names));
        let mut help = Vec::new();
        if let Some(meant) = self.name_meant(path) {
            help.push(meant);
        } else if known == 0 && self.path_parts(path).first() == Some(&LISTS) {
            help.push(named_lists::known(self.names.declarations));
        } else if known == path.names.len() {
            help.push(format!("`{name}` is only the start of declared names: {}", list(&below)));
        } else if known > 0 {
            help = self.did_you_mean(&full, &below);
            if help.is_empty() {
                help = self.did_you_mean(&name, &below);
            }
            if help.is_empty() {
                help.push(format!("declared are {}", list(&below)));
            }
        } else if !self.full() {
            help = self.did_you_mean(&full, &self.names.values());
            if help.is_empty() && full != name {
                help = self.did_you_mean(&name, &self.names.values());
            }
            if help.is_empty() {
                help = self.longer_or_shorter(&full);
            }
            if help.is_empty() && self.names.function(&name, path.rooted).is_some() {
                help.push(format!("`{name}` is a function: call it"));
            }
        }
        if name == RECEIVER && self.defining.is_some() {
            help.push(format!("`{RECEIVER}` is what a function is called on that is declared as `TYPE.name(..)`"));
        }
        let span = self.ast.node(node).focus;
        let error = self.error(codes::UNDECLARED_NAME, span, format!("undeclared reference to `{name}`"));
        error.help = help;
    }

    /// Returns the help for a name that lacks the first parts of a declared one, or has more:
    /// `path` and `http.request.path` for `request.path`.
    fn longer_or_shorter(&self, full: &str) -> Vec<String> {
        if self.full() {
            return Vec::new();
        }
        let first = full.split('.').next().unwrap_or(full);
        let ends_with = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
        let names = self.names.values();
        let meant = |name: &&&str| ends_with(name, first) || name.contains('.') && ends_with(full, name);
        let meant: Vec<&&str> = names.iter().filter(meant).collect();
        if meant.is_empty() || meant.len() > MAX_MEANT {
            Vec::new()
        } else {
            vec![format!("did you mean {}?", list(&meant))]
        }
    }

    /// Reports a function or syntax of a library that is off.
    pub(super) fn report_library_off(&mut self, id: NodeId, what: &str, library: Library) -> Type {
        let message = format!("{what} is of the library `{}`, which is turned off", library.name());
        self.error(codes::LIBRARY_OFF, self.ast.node(id).focus, message);
        Type::Error
    }

    /// Reports a macro, a function or an operator that the environment has taken away. Returns whether it has.
    pub(super) fn refuse_excluded(&mut self, id: NodeId, name: &str) -> bool {
        let excluded = self.names.declarations.is_excluded(name);
        if excluded {
            let message = format!("the environment does not have `{}`", symbol(name));
            self.error(codes::LIBRARY_OFF, self.ast.node(id).focus, message);
        }
        excluded
    }

    pub(super) fn report_undeclared_function(&mut self, id: NodeId, name: &str, mut help: Vec<String>) -> Type {
        if self.refuse_excluded(id, name) {
            return Type::Error;
        }
        help.extend(self.only_earlier(name));
        let message = format!("undeclared function `{name}`");
        self.error(codes::UNDECLARED_FUNCTION, self.ast.node(id).focus, message).help = help;
        Type::Error
    }

    /// The help for a definition that calls itself or an undeclared function.
    fn only_earlier(&self, name: &str) -> Option<String> {
        let defining = self.defining?;
        Some(if name == defining {
            format!(
                "`{name}` is what is being defined: a definition uses only functions defined before it, never itself"
            )
        } else {
            "a definition uses only functions that are defined before it".to_owned()
        })
    }

    /// Suggests functions for a call of an unknown one.
    pub(super) fn macro_or_function_like(&self, name: &str) -> Vec<String> {
        match (usage(name), foreign::function(name)) {
            (Some(form), _) => vec![format!("`{name}` is a macro, written `{form}`")],
            (None, Some(meant)) => vec![format!("did you mean `{meant}`?")],
            (None, None) => self.function_like(name),
        }
    }

    /// Suggests a function of a similar name, or those of the same namespace.
    pub(super) fn function_like(&self, name: &str) -> Vec<String> {
        let names = self.names.function_names();
        let help = self.did_you_mean(name, &names);
        if !help.is_empty() || self.full() {
            return help;
        }
        if let Some(meant) = foreign::function(name) {
            return vec![format!("did you mean `{meant}`?")];
        }
        let below = |space: &str| {
            let below = |known: &&&str| known.strip_prefix(space).is_some_and(|rest| rest.starts_with('.'));
            names.iter().filter(below).collect::<Vec<_>>()
        };
        let space = name.rsplit_once('.').map_or(name, |(space, _)| space);
        match below(space) {
            found if found.is_empty() => Vec::new(),
            found => vec![format!("the functions of `{space}` are {}", list(&found))],
        }
    }

    /// Reports a call in the wrong form: as a method instead of a function, or the reverse.
    pub(super) fn report_call_form(&mut self, id: NodeId, name: &str, receiver: bool, args: &[Argument]) -> Type {
        let shown: Vec<&str> = std::iter::once("x").chain(args.iter().skip(1).map(|_| "..")).collect();
        let other = self.other_form(name, receiver, args).unwrap_or_else(|| show_call(name, !receiver, &shown));
        let message = if receiver {
            format!("`{name}` is not called on a value")
        } else {
            format!("`{name}` is called on a value")
        };
        let error = self.error(codes::CALL_FORM, self.ast.node(id).focus, message);
        error.help.push(format!("write `{other}`"));
        Type::Error
    }

    pub(super) fn report_no_overload(
        &mut self,
        id: NodeId,
        name: &str,
        signatures: &[&Signature],
        receiver: bool,
        args: &[Argument],
    ) -> Type {
        if args.iter().any(|(_, ty)| self.infer.shallow(ty) == Type::Error) || self.refuse_excluded(id, name) {
            return Type::Error;
        }
        let types: Vec<Type> = args.iter().map(|(_, ty)| self.infer.resolve(ty, false)).collect();
        let shown: Vec<String> = types.iter().map(Type::to_string).collect();
        let message = format!("no overload of `{}` fits `{}`", symbol(name), show_call(name, receiver, &shown));
        let meant = self.operands_meant(name, &types, args);
        let mut help: Vec<String> = meant.or_else(|| conversion(name, &types).map(str::to_owned)).into_iter().collect();
        if help.is_empty() {
            help.push(candidates(name, signatures, receiver, &types));
        }
        if let Some(library) = self.names.library_off(name) {
            help.push(format!("the library `{}`, which is turned off, has others", library.name()));
        }
        if self.defining == Some(name) {
            help.extend(self.only_earlier(name));
        }
        let labels = args
            .iter()
            .zip(&shown)
            .filter(|((node, _), _)| *node != id)
            .map(|((node, _), ty)| this_is(self.ast.span(*node), ty))
            .collect();
        let error = self.error(codes::NO_OVERLOAD, self.ast.node(id).focus, message);
        error.labels = labels;
        error.help = help;
        Type::Error
    }

    /// Returns the help that suggests the most similar names, if any is similar enough.
    pub(super) fn did_you_mean(&self, name: &str, names: &[&str]) -> Vec<String> {
        if self.full() {
            return Vec::new();
        }
        similar(name, names.iter().copied()).map(|n| format!("did you mean `{n}`?")).into_iter().collect()
    }
}

pub(super) fn diagnostic(severity: Severity, code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic { severity, stage: Stage::Check, code, message, span, labels: Vec::new(), help: Vec::new() }
}

fn this_is(span: Span, ty: &str) -> Label {
    Label { span, text: format!("this is `{ty}`") }
}

/// Lists the first names, in backquotes.
fn list<S: AsRef<str>>(names: &[S]) -> String {
    let mut text: Vec<String> = names.iter().take(MAX_LISTED).map(|n| format!("`{}`", n.as_ref())).collect();
    if names.len() > MAX_LISTED {
        text.push(format!("and {} more", names.len().saturating_sub(MAX_LISTED)));
    }
    text.join(", ")
}

/// Lists the overloads that fit best.
fn candidates(name: &str, signatures: &[&Signature], receiver: bool, types: &[Type]) -> String {
    let form: Vec<&&Signature> = signatures.iter().filter(|s| s.receiver == receiver).collect();
    let near: Vec<&&Signature> = form
        .iter()
        .copied()
        .filter(|s| s.params.len() == types.len() && s.params.iter().zip(types).any(|(p, t)| p == t))
        .collect();
    let shown: Vec<String> = if near.is_empty() { form } else { near }
        .iter()
        .map(|s| {
            let params: Vec<String> = s.params.iter().map(Type::to_string).collect();
            show_call(name, receiver, &params)
        })
        .collect();
    format!("possible are {}", list(&shown))
}

/// Returns help for common mistakes.
fn conversion(name: &str, types: &[Type]) -> Option<&'static str> {
    let number = |t: &Type| matches!(t, Type::Int | Type::Uint | Type::Double);
    match (name, types) {
        ("-_", [Type::Uint]) => Some("a `uint` has no negative: convert it with `int(..)`"),
        ("_%_", [Type::Double, _] | [_, Type::Double]) => Some("`%` is for `int` and `uint` only"),
        (_, [a, b]) if is_operator(name) && name != "@in" && a != b && number(a) && number(b) => {
            Some("convert one side with `int(..)`, `uint(..)` or `double(..)`")
        }
        ("contains", [Type::Opaque(..), Type::String]) => Some("`containsIP(..)` tests an address"),
        ("@in", [Type::String, Type::String]) => {
            Some("`b.contains(a)` looks for a text in another, `cidr(b).containsIP(a)` for an address in a network")
        }
        ("_+_", [Type::String, other] | [other, Type::String]) if is_text(other) => {
            Some("convert to text with `string(..)`")
        }
        (
            "_<_" | "_<=_" | "_>_" | "_>=_" | "_==_" | "_!=_" | "_+_" | "_-_",
            [Type::Duration, other] | [other, Type::Duration],
        ) if number(other) || *other == Type::String => Some("a duration is written `duration(\"10s\")`"),
        (_, [Type::Timestamp, Type::String] | [Type::String, Type::Timestamp]) if is_operator(name) => {
            Some("a time is written `timestamp(\"2026-01-31T12:00:00Z\")`")
        }
        ("_==_" | "_!=_", [_, _]) => Some("values of these types are never equal"),
        (_, [Type::String, Type::List(_)] | [Type::String, _, _, ..]) => match name {
            "startsWith" => Some("`[a, b].exists(x, text.startsWith(x))` tests several"),
            "endsWith" => Some("`[a, b].exists(x, text.endsWith(x))` tests several"),
            "contains" => Some("`[a, b].exists(x, text.contains(x))` tests several"),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether `string(..)` accepts this type.
fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Bytes | Type::Duration | Type::Timestamp)
}

/// Returns a function's name as rule authors write it: `+` for `_+_`.
pub(super) fn symbol(name: &str) -> String {
    match name {
        "_[_]" => "[]".to_owned(),
        "_[?_]" => "[?]".to_owned(),
        "_?._" => ".?".to_owned(),
        _ if is_operator(name) => name.replace(['_', '@'], ""),
        _ => name.to_owned(),
    }
}

/// Returns the text of a call with these arguments.
fn show_call<S: AsRef<str>>(name: &str, receiver: bool, args: &[S]) -> String {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    match (name, args.as_slice()) {
        ("_[_]", [a, b]) => format!("{a}[{b}]"),
        ("_[?_]", [a, b]) => format!("{a}[?{b}]"),
        ("_?._", [a, _]) => format!("{a}.?field"),
        ("@sortBy", [a, b]) => format!("{a}.sortBy(x, ..) with keys `{b}`"),
        (_, [a]) if is_operator(name) => format!("{}{a}", symbol(name)),
        (_, [a, b]) if is_operator(name) => format!("{a} {} {b}", symbol(name)),
        (_, [target, rest @ ..]) if receiver => format!("{target}.{name}({})", rest.join(", ")),
        _ => format!("{name}({})", args.join(", ")),
    }
}
