//! The parser and checker in one pass: which literal follows an operator depends on the type of its
//! left side, so a rule cannot be parsed before its names are resolved.
//!
//! After an error the parser goes on behind the next `and`, `or` or `xor`, in the next argument, or
//! at the next item of a set, so that all mistakes are reported at once. Each step of that moves
//! forward.
//!
//! Invariant: parsing takes time linear in the length of the text, for every text. Test:
//! `frontend/tests/it/filter/hostile.rs::the_time_is_linear_in_the_text`.

mod arguments;
mod comparison;
mod lists;
mod logic;
mod many;
mod operators;
mod recovery;
mod sets;
mod value;

use super::codes;
use super::literal::Scanner;
use super::options::{FilterOptions, MAX_NESTING};
use super::scheme::Scheme;
use super::tree::{FilterExpr, FilterNode, FilterTree};
use super::types::FilterType;
use crate::ast::{NodeId, Nodes};
use crate::diagnostic::{Diagnostic, Severity, Stage};
use crate::limits::{SOURCE_BYTES, with_stack};
use crate::span::Span;
use std::sync::Arc;

/// Why a part could not be read. What is wrong has been reported.
enum Stop {
    /// The parser can go on behind it.
    Here,
    /// The rest of the text cannot be read: a string is not closed, or a bound is exceeded.
    Everything,
}

type Parsed<T> = Result<T, Stop>;

/// Levels of recursion of a walk for each level of nesting: `or`, `xor`, `and`, the parenthesis,
/// the call, its argument.
const LEVELS_PER_NESTING: u32 = 6;

struct Parser<'s> {
    scan: Scanner<'s>,
    scheme: &'s Scheme,
    options: &'s FilterOptions,
    nodes: Vec<FilterNode>,
    pool: Vec<NodeId>,
    /// Items of sets, which count as nodes.
    items: u32,
    diagnostics: Vec<Diagnostic>,
    nesting: u32,
    /// How often each function with a bound is called.
    calls: Vec<(u32, u32)>,
}

/// The outcome of checking: the tree and warnings, or everything that is wrong.
type Checked = Result<(FilterTree, Vec<Diagnostic>), Vec<Diagnostic>>;

/// Parses and checks a rule that is a condition.
///
/// Blanks around the expression, and between its parts, are skipped; a tab is no blank of the
/// language. The time is linear in the text.
///
/// # Errors
///
/// All diagnostics in source order, at least one an error and at most [`Limits::max_diagnostics`](crate::Limits).
pub fn check_filter(source: &str, scheme: &Arc<Scheme>, options: &FilterOptions) -> Checked {
    run(source, scheme, options, |parser| {
        let condition = parser.condition()?;
        parser.end()?;
        if condition.many == Some(true) {
            let ty = FilterType::array(FilterType::Bool);
            let span = parser.span_of(condition.id);
            let message = format!("expected value of type Bool, but got {ty}");
            let mut error = Diagnostic::error(Stage::Check, codes::TYPE, span, message);
            error.help.push("join the results with `any(..)` or `all(..)`".to_owned());
            return Err(parser.report(error));
        }
        Ok(condition.id)
    })
}

/// Parses and checks a rule that is a value: a field, a part of one, or a call. `[*]` is not
/// allowed outside of arguments.
///
/// # Errors
///
/// As [`check_filter`].
pub fn check_value(source: &str, scheme: &Arc<Scheme>, options: &FilterOptions) -> Checked {
    run(source, scheme, options, |parser| {
        let value = parser.value()?;
        parser.end()?;
        if value.each {
            let span = parser.span_of(value.id);
            let ty = value.ty.unwrap_or(FilterType::Bool);
            let message = format!("expected value of type {ty}, but got {}", FilterType::array(ty.clone()));
            return Err(parser.report(Diagnostic::error(Stage::Check, codes::TYPE, span, message)));
        }
        Ok(value.id)
    })
}

fn run(
    source: &str,
    scheme: &Arc<Scheme>,
    options: &FilterOptions,
    read: impl FnOnce(&mut Parser<'_>) -> Parsed<NodeId>,
) -> Checked {
    let allowed = options.limits.max_source_bytes.min(SOURCE_BYTES);
    if source.len() > allowed as usize {
        let message = format!("the source is {} bytes long, the limit is {allowed} (`max_source_bytes`)", source.len());
        return Err(vec![Diagnostic::error(Stage::Limit, codes::SOURCE_TOO_LONG, Span::default(), message)]);
    }
    let trimmed = source.trim_end();
    let mut scan = Scanner::new(trimmed, options.strict);
    scan.go_to(trimmed.len().saturating_sub(trimmed.trim_start().len()));
    let mut parser = Parser {
        scan,
        scheme,
        options,
        nodes: Vec::new(),
        pool: Vec::new(),
        items: 0,
        diagnostics: Vec::new(),
        nesting: 0,
        calls: Vec::new(),
    };
    let depth = deepest(trimmed).min(options.max_nesting).min(MAX_NESTING);
    let depth = depth.saturating_add(2).saturating_mul(LEVELS_PER_NESTING);
    let root = with_stack(depth, || read(&mut parser));
    let Parser { scan, nodes, pool, mut diagnostics, .. } = parser;
    diagnostics.extend(scan.warnings);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match root {
        Ok(root) if !failed => {
            diagnostics.truncate(options.limits.max_diagnostics.max(1) as usize);
            let (source, scheme) = (source.into(), Arc::clone(scheme));
            Ok((FilterTree { source, scheme, nodes, pool, root, depth }, diagnostics))
        }
        _ => Err(bounded(diagnostics, options.limits.max_diagnostics.max(1) as usize)),
    }
}

/// A bound on the nesting of a text: the number of its parentheses and negations. A walk over a
/// short rule then needs little stack, which the thread has.
fn deepest(source: &str) -> u32 {
    let signs = source.bytes().filter(|byte| matches!(byte, b'(' | b'!')).count();
    u32::try_from(signs.saturating_add(source.matches("not").count())).unwrap_or(u32::MAX)
}

/// At most so many diagnostics, warnings left out first.
fn bounded(mut diagnostics: Vec<Diagnostic>, most: usize) -> Vec<Diagnostic> {
    if diagnostics.len() > most {
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        diagnostics.truncate(most);
    }
    diagnostics
}

impl Parser<'_> {
    /// Records an error. Returns how far the parser must go to continue.
    fn report(&mut self, diagnostic: Diagnostic) -> Stop {
        let ends = diagnostic.code == codes::UNTERMINATED || diagnostic.stage == Stage::Limit;
        self.diagnostics.push(diagnostic);
        if ends || self.diagnostics.len() >= self.options.limits.max_diagnostics.max(1) as usize {
            Stop::Everything
        } else {
            Stop::Here
        }
    }

    /// Records an error in the names or types.
    fn wrong<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(self.report(Diagnostic::error(Stage::Check, code, span, message)))
    }

    /// Reads a literal, or records why it is none and stays before it.
    fn read<T>(&mut self, read: impl FnOnce(&mut Scanner<'_>) -> Result<T, Box<Diagnostic>>) -> Parsed<T> {
        let start = self.scan.at();
        read(&mut self.scan).map_err(|error| {
            self.scan.go_to(start);
            self.report(*error)
        })
    }

    /// Takes a bracket or another fixed text. `opened` is the place of the bracket that it closes.
    fn expect(&mut self, word: &str, opened: Option<Span>) -> Parsed<()> {
        if self.scan.eat(word) {
            return Ok(());
        }
        let message = format!("expected literal \"{word}\"");
        let mut error = Diagnostic::error(Stage::Parse, codes::EXPECTED, self.scan.here(), message);
        if let Some(span) = opened {
            error.labels.push(crate::diagnostic::Label { span, text: "opened here".to_owned() });
        }
        error.help.extend(self.hint_at_operator());
        Err(self.report(error))
    }

    /// Requires the end of the text.
    fn end(&mut self) -> Parsed<()> {
        self.scan.skip_space();
        if self.scan.peek().is_none() {
            return Ok(());
        }
        let error = self.unrecognised();
        Err(self.report(error))
    }

    fn add(&mut self, node: FilterNode) -> Parsed<NodeId> {
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.check_size(node.span)?;
        self.nodes.push(node);
        Ok(NodeId(id))
    }

    /// Reports a tree that is too large.
    fn check_size(&mut self, span: Span) -> Parsed<()> {
        let most = self.options.limits.max_nodes;
        if self.nodes.len().saturating_add(self.items as usize) < most as usize {
            return Ok(());
        }
        let message = format!("the expression has more than {most} nodes (`max_nodes`)");
        Err(self.report(Diagnostic::error(Stage::Limit, codes::TOO_MANY_NODES, span, message)))
    }

    fn children(&mut self, ids: &[NodeId]) -> Nodes {
        let start = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        self.pool.extend_from_slice(ids);
        Nodes { start, len: u32::try_from(ids.len()).unwrap_or(u32::MAX) }
    }

    /// Adds a condition: its type follows from whether it has many results.
    fn add_condition(&mut self, expr: FilterExpr, many: bool, span: Span, focus: Span) -> Parsed<NodeId> {
        let ty = if many { FilterType::array(FilterType::Bool) } else { FilterType::Bool };
        self.add(FilterNode { expr, ty, each: false, span, focus })
    }

    fn span_of(&self, id: NodeId) -> Span {
        self.nodes.get(id.0 as usize).map_or(Span::default(), |node| node.span)
    }

    /// Goes one level deeper for the time of `inner`. `from` is where the level begins.
    fn nested<T>(&mut self, from: usize, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let limit = self.options.max_nesting.min(MAX_NESTING);
        if self.nesting >= limit {
            self.scan.go_to(from);
            let message = format!("maximum nesting depth exceeded (limit: {limit})");
            return Err(self.report(Diagnostic::error(Stage::Limit, codes::TOO_DEEP, self.scan.here(), message)));
        }
        self.nesting = self.nesting.saturating_add(1);
        let result = inner(self);
        self.nesting = self.nesting.saturating_sub(1);
        result
    }
}
