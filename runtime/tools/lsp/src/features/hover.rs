//! Hover: the type and the documentation of what is at a place, and the value of a constant.

use crate::checks::environment::Checks;
use crate::checks::scope::Scope;
use crate::cursor::locals::locals;
use crate::cursor::tokens::{Token, TokenKind, tokens};
use crate::documents::document::Document;
use crate::documents::region::{Region, Regions};
use crate::features::tree::{filter_node_at, filter_tree, is_constant, node_at, shows_itself};
use crate::features::yaml_keys;
use celero::filter::{Named, Scheme};
use celero::language::{Checked, Declarations, Expr, FoldKind, NodeId, Reference, Variable};
use celero::settings::StaticCost;
use celero::{Bindings, Engine, Env, Limits, Scratch, Tier};
use celero_tooling::language::Language;
use celero_tooling::names::{callables, filter_doc, macros, overload_text};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use std::ops::Range;
use std::sync::Arc;

/// Most steps of the evaluation of a constant, about a tenth of a millisecond.
const STEPS: u32 = 10_000;
/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 200;
/// Most signatures that are shown.
const MAX_SIGNATURES: usize = 8;

/// Returns what is known about a place.
pub(crate) fn hover(document: &Document, offset: usize, checks: &dyn Checks) -> Option<Hover> {
    let regions = Regions::of(document);
    let Some((region, at)) = regions.at(offset) else {
        let (range, text) = yaml_keys::hover(document, regions.outline.as_ref()?, offset)?;
        return Some(shown(document, text, range));
    };
    let scope = Scope::of(region, regions.outline.as_ref(), checks);
    let (range, text) = match (&scope.scheme, region.language.any().checked_language()) {
        (Some(scheme), _) => of_scheme(region, scheme, at)?,
        (None, Some(language)) => of_tree(region, language, &scope.declarations, at)?,
        (None, None) => return None,
    };
    Some(shown(document, text, region.range(range)))
}

fn shown(document: &Document, value: String, range: Range<usize>) -> Hover {
    Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(document.lines.range(&document.text, range)),
    }
}

fn code(text: &str) -> String {
    format!("```cel\n{text}\n```")
}

fn of_scheme(region: &Region, scheme: &Arc<Scheme>, at: usize) -> Option<(Range<usize>, String)> {
    filter_name(region, scheme, at).or_else(|| {
        // No name: the comparison, connective or access whose operator is there.
        let tree = filter_tree(&region.source, scheme)?;
        let id = filter_node_at(&tree, at)?;
        let node = tree.node(id);
        let cost = celero::filter::static_costs(&tree).get(id.0 as usize).and_then(cost_text)?;
        Some((node.span.start as usize..node.span.end as usize, format!("{}{cost}", code(&node.ty.to_string()))))
    })
}

fn filter_name(region: &Region, scheme: &Scheme, at: usize) -> Option<(Range<usize>, String)> {
    let (range, name) = path_at(&region.source, region.language, at, |name| scheme.named(name).is_some())?;
    let text = match scheme.named(name)? {
        Named::Field(index) => {
            let field = scheme.fields().get(index as usize)?;
            code(&format!("{}: {}", field.name, field.ty))
        }
        Named::Function(index) => {
            let function = scheme.functions().get(index as usize)?;
            format!("{}\n\n{}", code(&function.to_string()), filter_doc(function))
        }
    };
    Some((range, text))
}

/// Returns the dotted name at a place of a source: the shortest known one that holds the segment at
/// the place, or the name up to that segment.
pub(crate) fn path_at(
    source: &str,
    language: Language,
    at: usize,
    is_known: impl Fn(&str) -> bool,
) -> Option<(Range<usize>, &str)> {
    let tokens = tokens(source, language);
    let touches = |range: &Range<usize>| (range.start..=range.end).contains(&at);
    let index = tokens.iter().position(|token| token.kind == TokenKind::Name && touches(&token.range))?;
    // `a.b`, without blanks between.
    let joined = |parts: &[Token]| match parts {
        [name, point, next] => {
            let names = name.kind == TokenKind::Name && next.kind == TokenKind::Name;
            names && point.is('.') && name.range.end == point.range.start && point.range.end == next.range.start
        }
        _ => false,
    };
    let mut first = index;
    while let Some(before) = first.checked_sub(2)
        && tokens.get(before..=first).is_some_and(joined)
    {
        first = before;
    }
    let start = tokens.get(first)?.range.start;
    let mut last = index;
    loop {
        let range = start..tokens.get(last)?.range.end;
        let path = source.get(range.clone())?;
        if is_known(path) {
            return Some((range, path));
        }
        let next = last.saturating_add(2);
        if !tokens.get(last..=next).is_some_and(joined) {
            break;
        }
        last = next;
    }
    let range = start..tokens.get(index)?.range.end;
    Some((range.clone(), source.get(range)?))
}

fn of_tree(
    region: &Region,
    language: &dyn celero::language::Language,
    declarations: &Declarations,
    at: usize,
) -> Option<(Range<usize>, String)> {
    let source = &*region.source;
    if let Ok((checked, _)) = language.check(source, declarations, &Limits::default().source)
        && let Some(id) = node_at(&checked, at)
    {
        let span = checked.ast().span(id);
        let text = node(&checked, id, at, declarations)?;
        return Some((span.start as usize..span.end as usize, text));
    }
    // The expression has errors: what the words around the place stand for.
    let (range, path) = path_at(source, region.language, at, |name| declarations.variable(name).is_some())?;
    let (locals, _) = locals(source.get(..range.start)?, declarations);
    let first = path.split('.').next().unwrap_or(path);
    if let Some(local) = locals.iter().rev().find(|local| local.name == first) {
        let end = range.start.saturating_add(first.len());
        return Some((range.start..end, local_text(&local.name, &local.ty.to_string(), local.usage)));
    }
    let variable = declarations.variable(path).map(|(_, variable)| variable);
    let text = match variable {
        Some(variable) => variable_text(variable),
        None => functions(path, declarations)?,
    };
    Some((range, text))
}

fn variable_text(variable: &Variable) -> String {
    let Variable { name, ty, optional, values } = variable;
    let values = values.as_ref().map(|values| format!("\n\nIts value {values}.")).unwrap_or_default();
    let absent = if *optional { "\n\nMay be absent: `has(..)` tests for it." } else { "" };
    format!("{}{values}{absent}", code(&format!("{name}: {ty}")))
}

fn local_text(name: &str, ty: &str, usage: &str) -> String {
    format!("{}\n\nVariable of `{usage}`.", code(&format!("{name}: {ty}")))
}

/// Returns the signatures of the functions and macros of a name, or of its last segment.
fn functions(path: &str, declarations: &Declarations) -> Option<String> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let mut lines: Vec<String> = Vec::new();
    let mut docs: Vec<&str> = Vec::new();
    for form in macros(declarations).filter(|form| form.name == last) {
        lines.push(form.usage.to_owned());
    }
    for callable in callables(declarations).filter(|callable| callable.name == path || callable.name == last) {
        lines.push(callable.text());
        if !callable.doc.is_empty() && !docs.contains(&callable.doc) {
            docs.push(callable.doc);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let more = lines.len().saturating_sub(MAX_SIGNATURES);
    lines.truncate(MAX_SIGNATURES);
    if more > 0 {
        lines.push(format!("// and {more} more"));
    }
    Some(format!("{}\n\n{}", code(&lines.join("\n")), docs.join("\n\n")).trim_end().to_owned())
}

/// Describes a node.
fn node(checked: &Checked, id: NodeId, at: usize, declarations: &Declarations) -> Option<String> {
    let ast = checked.ast();
    let ty = checked.type_of(id).to_string();
    let span = ast.span(id);
    let source = ast.source().get(span.start as usize..span.end as usize).unwrap_or_default();
    let mut text = match (checked.reference(id), ast.expr(id)) {
        (Reference::Variable(index), _) => {
            let variable = declarations.variables().get(*index as usize)?;
            variable_text(variable)
        }
        (Reference::Local(_), _) => {
            let (locals, _) = locals(ast.source().get(..span.start as usize)?, declarations);
            let usage = locals.iter().rev().find(|local| local.name == source).map(|local| local.usage);
            local_text(source, &ty, usage.unwrap_or("a macro"))
        }
        (Reference::Type(named), _) => code(&format!("{source}: {named}")),
        (Reference::Call { overloads, receiver }, _) => {
            let texts = || overloads.iter().filter_map(|found| overload_text(found, *receiver, declarations));
            let mut lines: Vec<String> = texts().map(|(line, _)| line).take(MAX_SIGNATURES).collect();
            let doc = texts().map(|(_, doc)| doc).next().unwrap_or_default();
            lines.dedup();
            if let [Some(index)] = [overloads.first()].map(|found| found.and_then(definition_index))
                && let Some(definition) = declarations.definitions().get(index)
                && declarations.aliases().any(|alias| alias == definition.name())
            {
                lines = vec![format!("{}: {}", definition.name(), definition.signature().result)];
            }
            format!("{}\n\n{doc}", code(&lines.join("\n"))).trim_end().to_owned()
        }
        (_, Expr::Fold { kind, .. }) => code(&format!("{} -> {ty}", fold_usage(*kind, declarations))),
        _ => code(&ty),
    };
    if let Some(value) = constant(checked, id, source) {
        text.push_str(&format!("\n\nValue: `{value}`"));
    } else if let Some(cost) = celero::language::static_costs(checked).get(id.0 as usize).and_then(cost_text) {
        text.push_str(&cost);
    }
    // The expression around white space is not what the place is about.
    let is_blank = ast.source().get(at..).and_then(|rest| rest.chars().next()).is_some_and(char::is_whitespace);
    let (at, focus) = (u32::try_from(at).ok()?, ast.node(id).focus);
    (!is_blank || (focus.start..=focus.end).contains(&at) || span.end == at).then_some(text)
}

/// Returns the static cost of a part of a rule; `None` of a name or a literal, which everybody can count.
fn cost_text(cost: &StaticCost) -> Option<String> {
    let is_one = cost.least <= 1 && cost.most == StaticCost::ONE.most;
    (!is_one && !cost.is_constant()).then(|| format!("\n\nStatic cost: {cost}"))
}

fn definition_index(overload: &celero::language::Overload) -> Option<usize> {
    match overload {
        celero::language::Overload::Defined(index) => Some(*index as usize),
        _ => None,
    }
}

fn fold_usage(kind: FoldKind, declarations: &Declarations) -> &'static str {
    macros(declarations).find(|form| form.name == kind.name()).map_or(kind.name(), |form| form.usage)
}

/// Returns the value of an expression that reads nothing.
fn constant(checked: &Checked, id: NodeId, source: &str) -> Option<String> {
    if shows_itself(checked.ast(), id) || !is_constant(checked, id) {
        return None;
    }
    let limits = Limits { steps: STEPS, memory: 1 << 20, ..Limits::default() };
    let engine = Engine::builder().tier(Tier::Interpret).limits(limits).build();
    let env = Env::dynamic();
    let program = engine.compile(&env, source).ok().filter(celero::Program::is_pure)?;
    let bindings = Bindings::new(&env);
    let mut scratch = Scratch::new();
    let value = program.eval(&bindings, &mut scratch).ok()?;
    // A character has at most four bytes.
    let text = value.source_text(LONGEST_VALUE.saturating_mul(4)).ok()?;
    let short: String = text.chars().take(LONGEST_VALUE).collect();
    Some(if short.len() < text.len() { format!("{short}..") } else { short }.replace('`', "'"))
}
