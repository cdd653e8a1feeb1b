//! Validators: what an environment refuses though its types fit. Each is one of cel-go's, which calls them AST
//! validators.
//!
//! Parents have larger numbers than their children, so one pass from the root down knows how deep each node is.

use super::{Lint, MIXED_LITERAL, NESTED_TOO_DEEP, NEVER_VALID, literals, locals};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Ast, Checked, Diagnostic, Expr, NodeId, Severity, Stage, Type};
use celero_matching::pattern::PatternCache;
use std::collections::HashMap;

/// A test of rules in CEL that an [environment](crate::Env::validator) makes besides that of types. Each is a validator
/// of cel-go; those with a number are off where no number is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Validator {
    /// Refuses `duration("..")` of a literal that is no duration, which otherwise causes a warning.
    Durations,
    /// Refuses `timestamp(..)` of a text or an integer that is no timestamp, which otherwise causes a warning.
    Timestamps,
    /// Refuses literal patterns that are no regular expressions, which otherwise cause warnings. Other than cel-go's it
    /// tests the patterns of all functions.
    Patterns,
    /// Refuses literal formats of `format` that are malformed, or have more verbs than values, which otherwise causes a
    /// warning.
    Formats,
    /// Refuses lists whose elements are not all of one type, and maps whose keys or values are not. Lists and maps in a
    /// call of `format` may mix types.
    HomogeneousLiterals,
    /// Refuses loops (`all`, `map`, ..) that are nested deeper than this. A loop over what another one gives is nested
    /// too; one over `[]` is none.
    ComprehensionNesting(u32),
    /// Refuses `cel.bind` and what is made of it (`with`, `optMap`, `optFlatMap`, `sortBy`) nested deeper than this. As
    /// in cel-go, `optMap` of what is no name counts twice.
    BindNesting(u32),
}

impl Validator {
    /// Returns the name in environment files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Durations => "cel.validator.duration",
            Self::Timestamps => "cel.validator.timestamp",
            Self::Patterns => "cel.validator.matches",
            Self::Formats => "cel.validator.string_format",
            Self::HomogeneousLiterals => "cel.validator.homogeneous_literals",
            Self::ComprehensionNesting(_) => "cel.validator.comprehension_nesting_limit",
            Self::BindNesting(_) => "cel.validator.bind_nesting_limit",
        }
    }

    /// Returns the validator of a name. `limit` is for those that have one: `None` without it.
    #[must_use]
    pub fn named(name: &str, limit: Option<u32>) -> Option<Self> {
        let all = [
            Some(Self::Durations),
            Some(Self::Timestamps),
            Some(Self::Patterns),
            Some(Self::Formats),
            Some(Self::HomogeneousLiterals),
            limit.map(Self::ComprehensionNesting),
            limit.map(Self::BindNesting),
        ];
        all.into_iter().flatten().find(|validator| validator.name() == name)
    }

    /// Whether it tests the literals of this function.
    fn tests(self, builtin: Builtin) -> bool {
        match self {
            Self::Durations => builtin == Builtin::DurationFromString,
            Self::Timestamps => matches!(builtin, Builtin::TimestampFromString | Builtin::TimestampFromInt),
            Self::Patterns => literals::takes_pattern(builtin),
            Self::Formats => builtin == Builtin::Format,
            Self::HomogeneousLiterals | Self::ComprehensionNesting(_) | Self::BindNesting(_) => false,
        }
    }
}

/// Returns what validators refuse in an expression, in the order of the source.
pub(crate) fn validate(checked: &Checked, validators: &[Validator], patterns: &PatternCache) -> Vec<Diagnostic> {
    if validators.is_empty() {
        return Vec::new();
    }
    let mut found = invalid_literals(checked, validators, patterns);
    let mut refuse = |id: NodeId, code, message| {
        found.push(Diagnostic::error(Stage::Check, code, checked.ast().span(id), message));
    };
    for (id, nesting) in nestings(checked.ast()) {
        for validator in validators {
            match *validator {
                Validator::HomogeneousLiterals if !nesting.in_format => mixed(checked, id, &mut refuse),
                Validator::ComprehensionNesting(limit) if nesting.is_loop && nesting.loops > limit => {
                    let message = format!("loops are nested {} deep here, {limit} is the limit", nesting.loops);
                    refuse(id, NESTED_TOO_DEEP, message);
                }
                Validator::BindNesting(limit) if nesting.is_bind && nesting.binds > limit => {
                    let message = format!("bindings are nested {} deep here, {limit} is the limit", nesting.binds);
                    refuse(id, NESTED_TOO_DEEP, message);
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|error| (error.span.start, error.span.end));
    found
}

/// Warnings about literals of the functions that a validator tests, as errors.
fn invalid_literals(checked: &Checked, validators: &[Validator], patterns: &PatternCache) -> Vec<Diagnostic> {
    let (ast, origins, records) = (checked.ast(), locals::origins(checked), HashMap::new());
    let mut lint = Lint { checked, ast, fields: &[], patterns, origins, records, found: Vec::new(), compiled: 0 };
    for id in ids(ast) {
        if let Some((builtin, _)) = lint.call(id)
            && validators.iter().any(|validator| validator.tests(builtin))
        {
            lint.literals(id);
        }
    }
    lint.found.retain(|warning| warning.code == NEVER_VALID);
    lint.found.iter_mut().for_each(|warning| warning.severity = Severity::Error);
    lint.found
}

/// What a node is nested in.
#[derive(Clone, Copy, Debug, Default)]
struct Nesting {
    is_loop: bool,
    is_bind: bool,
    /// The loops that the node is in, itself counted.
    loops: u32,
    /// The same of bindings.
    binds: u32,
    /// Whether it is in a call of `format`.
    in_format: bool,
}

fn ids(ast: &Ast) -> impl DoubleEndedIterator<Item = NodeId> {
    (0..u32::try_from(ast.nodes().len()).unwrap_or(u32::MAX)).map(NodeId)
}

/// The nesting of each node, from the root down.
fn nestings(ast: &Ast) -> Vec<(NodeId, Nesting)> {
    let mut nestings = vec![Nesting::default(); ast.nodes().len()];
    let mut all = Vec::with_capacity(nestings.len());
    for id in ids(ast).rev() {
        let Some(own) = nestings.get_mut(id.0 as usize) else { continue };
        let mut bound_target = None;
        match ast.expr(id) {
            Expr::Fold { range, .. } => own.is_loop = !is_empty_list(ast, *range),
            Expr::Bind { .. } => own.is_bind = true,
            Expr::OptMap { target, .. } => {
                own.is_bind = true;
                // The target is bound, too.
                if !matches!(ast.expr(*target), Expr::Ident { .. }) {
                    own.binds = own.binds.saturating_add(1);
                    bound_target = Some(*target);
                }
            }
            Expr::Call { function, .. } => own.in_format |= ast.name(*function) == "format",
            _ => {}
        }
        own.loops = own.loops.saturating_add(own.is_loop.into());
        own.binds = own.binds.saturating_add(own.is_bind.into());
        let here = *own;
        all.push((id, here));
        ast.each_child(id, |child| {
            if let Some(below) = nestings.get_mut(child.0 as usize) {
                let outside = u32::from(bound_target == Some(child));
                *below = Nesting { is_loop: false, is_bind: false, binds: here.binds.saturating_sub(outside), ..here };
            }
        });
    }
    all
}

fn is_empty_list(ast: &Ast, id: NodeId) -> bool {
    matches!(ast.expr(id), Expr::List { elements, .. } if ast.children(*elements).is_empty())
}

/// Refuses the first part of a list, and those entries of a map, that are of another type than the first ones.
fn mixed(checked: &Checked, id: NodeId, refuse: &mut impl FnMut(NodeId, &'static str, String)) {
    let ast = checked.ast();
    let type_of = |id: NodeId, is_optional: bool| match checked.type_of(id) {
        Type::Optional(inner) if is_optional => &**inner,
        ty => ty,
    };
    let mut differ = |what: &str, first: &Type, (id, ty): (NodeId, &Type)| {
        let differs = !is_equivalent(first, ty);
        if differs {
            refuse(id, MIXED_LITERAL, format!("{what} is `{ty}`, the first one is `{first}`"));
        }
        differs
    };
    match ast.expr(id) {
        Expr::List { elements, optional } => {
            let is_optional = |at: usize| optional.get(at).copied().unwrap_or(false);
            let elements = ast.children(*elements).iter().enumerate();
            let mut types = elements.map(|(at, &element)| (element, type_of(element, is_optional(at))));
            if let Some((_, first)) = types.next() {
                types.any(|element| differ("this element", first, element));
            }
        }
        Expr::Map { entries, optional } => {
            let mut first: Option<(&Type, &Type)> = None;
            for (at, entry) in ast.children(*entries).chunks(2).enumerate() {
                let &[key, value] = entry else { continue };
                let types = (checked.type_of(key), type_of(value, optional.get(at).copied().unwrap_or(false)));
                let &mut (keys, values) = first.get_or_insert(types);
                differ("this key", keys, (key, types.0));
                differ("this value", values, (value, types.1));
            }
        }
        _ => {}
    }
}

/// Whether types are the same, wrappers being what they wrap.
fn is_equivalent(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Wrapper(one), other) | (other, Type::Wrapper(one)) => is_equivalent(one, other),
        (Type::List(one), Type::List(other))
        | (Type::Optional(one), Type::Optional(other))
        | (Type::Type(one), Type::Type(other)) => is_equivalent(one, other),
        (Type::Map(one), Type::Map(other)) => is_equivalent(&one.0, &other.0) && is_equivalent(&one.1, &other.1),
        (one, other) => one == other,
    }
}
