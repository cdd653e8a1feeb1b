//! The canonical text of a tree, and what each part of it is in the tree.

use super::error::{TreeError, TreePlace};
use super::import::import;
use super::message::{MessageId, Value};
use super::numbers::expr;
use super::same::same;
use super::types::fits;
use super::{Tree, TreeKind};
use crate::value::type_name_of;
use celero_frontend::{Checked, Declarations, Expr, Limits, NodeId, Reference, Span, parse_with, unparse};
use std::collections::HashMap;

/// The canonical text of a tree. It parses to the syntax tree that the tree stands for.
#[derive(Debug)]
pub(crate) struct TreeSource {
    text: String,
    /// For each node of the text's syntax tree, the identifier of its expression.
    origins: Vec<i64>,
    /// The spans of these nodes, and where errors about them point.
    spans: Vec<(Span, Span)>,
    places: Places,
    /// What expressions refer to by name, and the numbers of constants; of checked trees.
    references: HashMap<i64, (String, Option<i64>)>,
}

impl TreeSource {
    pub(super) fn of(tree: &Tree, declarations: &Declarations, limits: &Limits) -> Result<Self, TreeError> {
        let places = Places::of(tree)?;
        refuse_extensions(tree)?;
        let references = references(tree)?;
        let placed = |error: TreeError| places.complete(error);
        let root = tree.expr().ok_or_else(|| TreeError::new("the tree has no expression"))?;
        let absolute = tree.kind == TreeKind::Checked && !declarations.container().is_empty();
        let imported = import(&tree.messages, root, absolute, macros(tree), limits).map_err(placed)?;
        let text = unparse(&imported.ast);
        let parsed = parse_with(&text, limits, declarations.libraries()).map_err(|found| {
            let why = found.first().map_or("it can't be parsed", |found| &found.message);
            TreeError::new(format!("the tree has no text in CEL: {why}"))
        })?;
        let Some(pairs) = same(&imported.ast, &parsed) else {
            return Err(TreeError::new(
                "the tree has no text in CEL that means the same: a name in it can't be written, or is that of a macro",
            ));
        };
        let mut origins = vec![0; parsed.nodes().len()];
        for (node, own) in pairs {
            let origin = imported.origins.get(own.0 as usize).copied();
            if let (Some(slot), Some(origin)) = (origins.get_mut(node.0 as usize), origin) {
                *slot = origin;
            }
        }
        let spans = parsed.nodes().iter().map(|node| (node.span, node.focus)).collect();
        Ok(Self { text, origins, spans, places, references })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place of the expression that an error at a part of the text is about.
    pub(crate) fn place(&self, span: Span) -> Option<TreePlace> {
        let size = |span: &Span| span.end.saturating_sub(span.start);
        let holds = |whole: &Span| whole.start <= span.start && span.end <= whole.end;
        let exact = self.spans.iter().position(|(_, focus)| *focus == span);
        let around = || {
            let holding = self.spans.iter().enumerate().filter(|(_, (whole, _))| holds(whole));
            holding.min_by_key(|(_, (whole, _))| size(whole)).map(|(node, _)| node)
        };
        let id = self.origins.get(exact.or_else(around)?).copied()?;
        Some(self.places.place(id))
    }

    /// Refuses an expression whose names refer to other variables and constants than the tree says, or to variables of
    /// other types.
    pub(crate) fn refuse_other_names(
        &self,
        tree: &Tree,
        checked: &Checked,
        declarations: &Declarations,
    ) -> Result<(), TreeError> {
        self.refuse_other_types(tree, checked, declarations)?;
        // A name with dots is one expression of the tree and several nodes, of which the last one is the whole.
        let wholes: HashMap<i64, NodeId> = self.origins.iter().copied().zip((0u32..).map(NodeId)).collect();
        for (node, id) in (0u32..).map(NodeId).zip(&self.origins) {
            // Id 0 stands for none.
            let Some((name, constant)) = self.references.get(id).filter(|_| *id != 0) else { continue };
            let wanted = name.trim_start_matches('.');
            let found = match checked.reference(node) {
                Reference::Variable(index) => declarations.variables().get(*index as usize).map(|found| &*found.name),
                Reference::Constant(number) if constant.is_some_and(|constant| constant != *number) => {
                    let number = constant.unwrap_or_default();
                    let message = format!("`{}` is not {number} here, as the tree says", wanted.escape_debug());
                    return Err(TreeError::new(message).at(self.places.place(*id)));
                }
                Reference::Type(ty) => Some(type_name_of(ty)),
                Reference::None
                    if matches!(checked.ast().expr(node), Expr::Select { .. })
                        && !wanted.is_empty()
                        && wholes.get(id) == Some(&node) =>
                {
                    let message = format!("the tree refers to `{}`, which is a field here", wanted.escape_debug());
                    return Err(TreeError::new(message).at(self.places.place(*id)));
                }
                _ => None,
            };
            if let Some(found) = found
                && found != wanted
                && !wanted.is_empty()
            {
                let message = format!("the tree refers to `{}`, which is `{found}` here", wanted.escape_debug());
                return Err(TreeError::new(message).at(self.places.place(*id)));
            }
        }
        Ok(())
    }
}

impl TreeSource {
    fn refuse_other_types(&self, tree: &Tree, checked: &Checked, declarations: &Declarations) -> Result<(), TreeError> {
        if tree.kind == TreeKind::Parsed {
            return Ok(());
        }
        let messages = &tree.messages;
        let entries = messages.parts(tree.root, 3);
        let mut types: HashMap<i64, MessageId> = HashMap::new();
        for entry in entries {
            let id = messages.int(entry, 1);
            if let Some(ty) = messages.part(entry, 2)
                && types.insert(id, ty).is_some()
            {
                let error = TreeError::new("the tree has two types of one expression");
                return Err(error.at(self.places.place(id)));
            }
        }
        for (node, id) in (0u32..).map(NodeId).zip(&self.origins) {
            let Reference::Variable(index) = *checked.reference(node) else { continue };
            let Some(variable) = declarations.variables().get(index as usize) else { continue };
            let differs = *id != 0 && types.get(id).is_some_and(|ty| !fits(messages, *ty, &variable.ty));
            if differs && !checked.ast().expr(node).is_test() {
                let (name, ty) = (&variable.name, &variable.ty);
                let message = format!("`{name}` is `{ty}` here, and of another type in the tree");
                return Err(TreeError::new(message).at(self.places.place(*id)));
            }
        }
        Ok(())
    }
}

/// The names of the macros that expressions are expansions of.
fn macros(tree: &Tree) -> HashMap<i64, &str> {
    let messages = &tree.messages;
    let entries = tree.source_info().into_iter().flat_map(|info| messages.parts(info, 5));
    let named = entries.filter_map(|entry| {
        let call = messages.part(messages.part(entry, 2)?, expr::CALL)?;
        Some((messages.int(entry, 1), messages.text(call, 2)))
    });
    named.collect()
}

/// Refuses what a checker or an evaluator must know of besides the expression.
fn refuse_extensions(tree: &Tree) -> Result<(), TreeError> {
    let messages = &tree.messages;
    for extension in tree.source_info().into_iter().flat_map(|info| messages.parts(info, 6)) {
        // A parser is done.
        if messages.values(extension, 2).any(|component| !matches!(component, Value::Int(0 | 1))) {
            let name: String = messages.text(extension, 1).chars().take(40).collect();
            return Err(TreeError::new(format!("the tree needs the extension `{}`", name.escape_debug())));
        }
    }
    Ok(())
}

/// The references by name of a checked tree.
fn references(tree: &Tree) -> Result<HashMap<i64, (String, Option<i64>)>, TreeError> {
    let mut found = HashMap::new();
    if tree.kind == TreeKind::Parsed {
        return Ok(found);
    }
    let messages = &tree.messages;
    for entry in messages.parts(tree.root, 2) {
        let Some(reference) = messages.part(entry, 2) else { continue };
        let constant = messages.part(reference, 4).and_then(|constant| match messages.alternative(constant) {
            Some((_, Value::Int(number))) => Some(*number),
            _ => None,
        });
        let id = messages.int(entry, 1);
        if found.insert(id, (messages.text(reference, 1).to_owned(), constant)).is_some() {
            return Err(TreeError::new("two references have the same id").at(TreePlace::new(id)));
        }
    }
    Ok(found)
}

/// The places of expressions in the source that a tree was made from.
#[derive(Debug, Default)]
struct Places {
    positions: HashMap<i64, i64>,
    /// Where each line but the first begins.
    lines: Vec<i64>,
    location: Option<String>,
}

impl Places {
    fn of(tree: &Tree) -> Result<Self, TreeError> {
        let messages = &tree.messages;
        let Some(info) = tree.source_info() else { return Ok(Self::default()) };
        let mut positions = HashMap::new();
        for entry in messages.parts(info, 4) {
            let id = messages.int(entry, 1);
            if positions.insert(id, messages.int(entry, 2)).is_some() {
                return Err(TreeError::new("two positions have the same id").at(TreePlace::new(id)));
            }
        }
        let lines = messages.values(info, 3).filter_map(|value| match value {
            Value::Int(offset) => Some(*offset),
            _ => None,
        });
        let mut lines: Vec<i64> = lines.collect();
        // Lines in another order are none.
        if !lines.is_sorted() {
            lines.clear();
        }
        let location = Some(messages.text(info, 2)).filter(|name| !name.is_empty() && *name != "<input>");
        Ok(Self { positions, lines, location: location.map(|name| name.chars().take(200).collect()) })
    }

    fn place(&self, id: i64) -> TreePlace {
        let line_column = self.positions.get(&id).filter(|_| !self.lines.is_empty()).and_then(|offset| {
            let before = self.lines.partition_point(|line| line <= offset);
            let start = before.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
            let column = u32::try_from(offset.checked_sub(start)?.checked_add(1)?).ok()?;
            Some((u32::try_from(before.checked_add(1)?).ok()?, column))
        });
        TreePlace { id, line_column, location: self.location.clone() }
    }

    /// Adds what is known of the place of an error.
    fn complete(&self, error: TreeError) -> TreeError {
        match error.place().map(|place| place.id) {
            Some(id) => error.at(self.place(id)),
            None => error,
        }
    }
}
