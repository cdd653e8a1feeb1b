//! `cel.expr` expressions as syntax trees of celero. Comprehensions become the macros that they are expansions of;
//! others are refused.
//!
//! Invariant: what is not understood in full is refused, so that no tree changes its meaning. Test:
//! `tests/tests/it/trees/hostile.rs::what_is_not_understood_is_refused`.

use super::error::{TreeError, TreePlace};
use super::message::{MessageId, Messages, Value};
use super::numbers::{
    AND, COALESCE, CONDITIONAL, DEFAULT, FILTER_KEYS, GREATEST, INDEX, LEAST, MAP_VALUES, OPTIONAL_INDEX,
    OPTIONAL_SELECT, OR, PRESENCE, constant, expr,
};
use celero_frontend::{
    Ast, BinaryOp, Expr, FallbackKind, FoldKind, Limits, Literal, LogicOp, Name, NodeId, Reference, Span, TreeBuilder,
    Type, UnaryOp, cel, with_stack,
};
use std::collections::{HashMap, HashSet};

/// A syntax tree, and for each node the identifier of the expression that it stands for.
pub(super) struct Imported {
    pub(super) ast: Ast,
    pub(super) origins: Vec<i64>,
}

/// What the tree's text begins with: a list is written as one, and not as what a macro collected.
const TEXT: &str = "[";

/// A variable of a comprehension.
struct Local {
    name: String,
    /// Whether it accumulates the result, which only what the macro expands to may read.
    accumulates: bool,
}

pub(super) struct Importer<'i> {
    pub(super) messages: &'i Messages,
    limits: &'i Limits,
    pub(super) tree: TreeBuilder,
    origins: Vec<i64>,
    scope: Vec<Local>,
    /// Whether names are absolute, and there are others that they could be mistaken for.
    absolute: bool,
    /// The names of the macros that expressions are expansions of, where the tree says so. They only tell spellings of
    /// one expansion apart.
    macros: HashMap<i64, &'i str>,
}

pub(super) type Import<T = NodeId> = Result<T, TreeError>;

/// Reads an expression. `absolute` says that names that no macro declares are names in the root scope.
pub(super) fn import<'i>(
    messages: &'i Messages,
    root: MessageId,
    absolute: bool,
    macros: HashMap<i64, &'i str>,
    limits: &'i Limits,
) -> Import<Imported> {
    refuse_repeated_ids(messages, root)?;
    let tree = TreeBuilder::new(TEXT);
    let mut importer = Importer { messages, limits, tree, origins: Vec::new(), scope: Vec::new(), absolute, macros };
    // An expression takes the frames of its kind, of comprehensions and of their parts.
    let levels = messages.depth(root).saturating_mul(2);
    let node = with_stack(levels, || importer.expr(root))?;
    let Importer { tree, origins, .. } = importer;
    let ast = tree.finish_ast(node, limits).map_err(|invalid| {
        let origin = invalid.node.and_then(|NodeId(node)| origins.get(node as usize).copied());
        let error = TreeError::new(invalid.message);
        origin.map_or(error.clone(), |id| error.at(TreePlace::new(id)))
    })?;
    Ok(Imported { ast, origins })
}

/// Refuses an identifier that two expressions have. 0 stands for none.
fn refuse_repeated_ids(messages: &Messages, root: MessageId) -> Import<()> {
    let (mut seen, mut todo) = (HashSet::new(), vec![root]);
    while let Some(message) = todo.pop() {
        let id = match messages.shape(message) {
            super::schema::Shape::Expr => messages.int(message, expr::ID),
            super::schema::Shape::Entry => messages.int(message, 1),
            _ => 0,
        };
        if id != 0 && !seen.insert(id) {
            return Err(TreeError::new("two expressions have the same id").at(TreePlace::new(id)));
        }
        todo.extend(messages.fields(message).iter().filter_map(|(_, value)| match value {
            Value::Message(part) => Some(*part),
            _ => None,
        }));
    }
    Ok(())
}

/// The parts of a call.
pub(super) struct Call<'c> {
    pub(super) target: Option<MessageId>,
    pub(super) function: &'c str,
    pub(super) args: Vec<MessageId>,
}

impl<'i> Importer<'i> {
    /// Whether the tree says that an expression is the expansion of this macro.
    pub(super) fn is_written(&self, id: i64, name: &str) -> bool {
        self.macros.get(&id) == Some(&name)
    }

    pub(super) fn id(&self, message: MessageId) -> i64 {
        self.messages.int(message, expr::ID)
    }

    /// The part of an expression of this kind.
    pub(super) fn kind(&self, message: MessageId, number: u32) -> Option<MessageId> {
        self.messages.part(message, number)
    }

    pub(super) fn as_call(&self, message: MessageId) -> Option<Call<'i>> {
        let call = self.kind(message, expr::CALL)?;
        Some(Call {
            target: self.messages.part(call, 1),
            function: self.messages.text(call, 2),
            args: self.messages.parts(call, 3).collect(),
        })
    }

    pub(super) fn as_ident(&self, message: MessageId) -> Option<&'i str> {
        let ident = self.kind(message, expr::IDENT)?;
        Some(self.messages.text(ident, 1))
    }

    /// Adds a node. More nodes than the limit are refused at once.
    pub(super) fn add(&mut self, id: i64, node: Expr) -> Import {
        if self.origins.len() >= self.limits.max_nodes as usize {
            return Err(TreeError::new(format!("the expression has more than {} nodes", self.limits.max_nodes)));
        }
        self.origins.push(id);
        let span = Span::new(0, u32::try_from(TEXT.len()).unwrap_or(0));
        Ok(self.tree.add(node, span, Type::Dyn, Reference::None))
    }

    pub(super) fn expr(&mut self, message: MessageId) -> Import {
        let id = self.id(message);
        self.expr_inner(message, id).map_err(|error| error.or_at(TreePlace::new(id)))
    }

    /// The expression in a field of a message that must have one.
    pub(super) fn part(&mut self, of: MessageId, number: u32, what: &str) -> Import<MessageId> {
        self.messages.part(of, number).ok_or_else(|| TreeError::new(format!("{what} is missing")))
    }

    fn expr_inner(&mut self, message: MessageId, id: i64) -> Import {
        let messages = self.messages;
        let Some((number, Value::Message(part))) = messages.alternative(message) else {
            return Err(TreeError::new("an expression is of no kind that celero knows"));
        };
        let part = *part;
        match number {
            expr::CONST => {
                let literal = self.literal(part)?;
                self.add(id, Expr::Literal(literal))
            }
            expr::IDENT => self.ident(id, messages.text(part, 1)),
            expr::SELECT => {
                let operand = self.part(part, 1, "the operand of a selection")?;
                let operand = self.expr(operand)?;
                let field = self.tree.name(non_empty(messages.text(part, 2), "the name of a field")?);
                let test = messages.is_true(part, 3);
                self.add(id, Expr::Select { operand, field, test, optional: false })
            }
            expr::CALL => self.call(id, message),
            expr::LIST => {
                let elements = messages.parts(part, 1).map(|element| self.expr(element));
                let elements = elements.collect::<Import<Vec<_>>>()?;
                let optional = marks(messages.values(part, 2), elements.len())?;
                let elements = self.tree.children(&elements);
                self.add(id, Expr::List { elements, optional })
            }
            expr::STRUCT => self.literal_of_entries(id, part),
            expr::COMPREHENSION => self.comprehension(id, part),
            _ => Err(TreeError::new("an expression is of no kind that celero knows")),
        }
    }

    fn literal(&self, part: MessageId) -> Import<Literal> {
        Ok(match self.messages.alternative(part) {
            Some((constant::NULL, _)) => Literal::Null,
            Some((constant::BOOL, Value::Bool(value))) => Literal::Bool(*value),
            Some((constant::INT, Value::Int(value))) => Literal::Int(*value),
            Some((constant::UINT, Value::Uint(value))) => Literal::Uint(*value),
            Some((constant::DOUBLE, Value::Double(value))) if value.is_finite() => Literal::Double(*value),
            Some((constant::DOUBLE, Value::Double(value))) => {
                return Err(TreeError::new(format!("a constant is {value}, for which CEL has no literal")));
            }
            Some((constant::STRING, Value::Text(value))) => Literal::String((&**value).into()),
            Some((constant::BYTES, Value::Bytes(value))) => Literal::Bytes((&**value).into()),
            _ => return Err(TreeError::new("a constant has no value of a type that has literals in CEL")),
        })
    }

    /// A name, which may have dots: those of checked trees are names in full.
    fn ident(&mut self, id: i64, name: &str) -> Import {
        let (rooted, path) = name.strip_prefix('.').map_or((false, name), |path| (true, path));
        let mut parts = path.split('.');
        let first = parts.next().unwrap_or_default();
        let local = self.scope.iter().rev().find(|local| local.name == first);
        let is_qualified = path.len() > first.len();
        if local.is_some_and(|local| local.accumulates) && !rooted && !is_qualified {
            return Err(TreeError::new(format!(
                "`{}` accumulates the result of a comprehension, and only its macro may read it",
                first.escape_debug()
            )));
        }
        // A variable of a macro would hide the first part of a name with dots.
        let rooted = rooted || if local.is_some() { is_qualified } else { self.absolute };
        let name = self.plain_name(first)?;
        let mut node = self.add(id, Expr::Ident { name, rooted, test: false })?;
        for part in parts {
            let field = self.plain_name(part)?;
            node = self.add(id, Expr::Select { operand: node, field, test: false, optional: false })?;
        }
        Ok(node)
    }

    /// A name that can be written.
    pub(super) fn plain_name(&mut self, text: &str) -> Import<Name> {
        let mut chars = text.chars();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_plain = chars.next().is_some_and(is_first) && chars.all(|c| is_first(c) || c.is_ascii_digit());
        if !is_plain || cel::KEYWORDS.contains(&text) {
            let shown: String = text.chars().take(40).collect();
            return Err(TreeError::new(format!("`{}` is not a name in CEL", shown.escape_debug())));
        }
        Ok(self.tree.name(text))
    }

    /// What a macro's variables are visible in.
    pub(super) fn within<R>(
        &mut self,
        accumulator: Option<&str>,
        variables: &[&str],
        import: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let outside = self.scope.len();
        let local = |name: &str, accumulates| Local { name: name.to_owned(), accumulates };
        self.scope.extend(accumulator.map(|name| local(name, true)));
        self.scope.extend(variables.iter().map(|name| local(name, false)));
        let imported = import(self);
        self.scope.truncate(outside);
        imported
    }

    fn literal_of_entries(&mut self, id: i64, part: MessageId) -> Import {
        let messages = self.messages;
        let type_name = messages.text(part, 1);
        let (mut names, mut nodes, mut marked) = (Vec::new(), Vec::new(), Vec::new());
        for entry in messages.parts(part, 2) {
            match messages.alternative(entry) {
                Some((2, Value::Text(field))) if !type_name.is_empty() => {
                    names.push(self.tree.name(non_empty(field, "the name of a field")?));
                }
                Some((3, Value::Message(key))) if type_name.is_empty() => nodes.push(self.expr(*key)?),
                Some(_) => return Err(TreeError::new("an entry has a key of the other kind of literal")),
                None => return Err(TreeError::new("the key of an entry is missing")),
            }
            let value = self.part(entry, 4, "the value of an entry")?;
            nodes.push(self.expr(value)?);
            marked.push(messages.is_true(entry, 5));
        }
        let optional: Box<[bool]> = if marked.contains(&true) { marked.into() } else { Box::default() };
        let nodes = self.tree.children(&nodes);
        if type_name.is_empty() {
            return self.add(id, Expr::Map { entries: nodes, optional });
        }
        for name in type_name.strip_prefix('.').unwrap_or(type_name).split('.') {
            self.plain_name(name)?;
        }
        let dot = if self.absolute && !type_name.starts_with('.') { "." } else { "" };
        let name = self.tree.name(&format!("{dot}{type_name}"));
        self.add(id, Expr::Message { name, fields: names.into(), values: nodes, optional })
    }

    fn call(&mut self, id: i64, message: MessageId) -> Import {
        let Some(call) = self.as_call(message) else { return Err(TreeError::new("a call is missing")) };
        let Call { target, function, args } = &call;
        if let Some(node) = self.operator(id, message, &call)? {
            return Ok(node);
        }
        match (*function, target, args.as_slice()) {
            ("", ..) => return Err(TreeError::new("the name of a function is missing")),
            (PRESENCE, None, &[arg]) if let Some(name) = self.as_ident(arg) => {
                return self.presence(id, name);
            }
            (DEFAULT, None, &[_, _]) => return self.fallback(id, FallbackKind::Default, args),
            (COALESCE, None, &[_, ..]) => return self.fallback(id, FallbackKind::Coalesce, args),
            (MAP_VALUES | FILTER_KEYS, &Some(range), &[var, body]) if let Some(var) = self.as_ident(var) => {
                return self.over_entries(id, function, range, var, body);
            }
            (GREATEST, None, [_] | [_, _]) => return self.qualified_call(id, "math.greatest", args),
            (LEAST, None, [_] | [_, _]) => return self.qualified_call(id, "math.least", args),
            _ => {}
        }
        let Some(target) = *target else { return self.qualified_call(id, function, args) };
        let target = self.expr(target)?;
        let function = self.plain_name(function)?;
        let args = self.exprs(args)?;
        let args = self.tree.children(&args);
        self.add(id, Expr::Call { target: Some(target), function, rooted: false, args })
    }

    /// `has(name)`, of a variable.
    fn presence(&mut self, id: i64, name: &str) -> Import {
        let (rooted, path) = name.strip_prefix('.').map_or((false, name), |path| (true, path));
        let (first, fields) = path.split_once('.').map_or((path, None), |(first, fields)| (first, Some(fields)));
        if !rooted && self.scope.iter().any(|local| local.name == first) {
            return Err(TreeError::new("`@has` is about a variable of a macro, and those are always present"));
        }
        let name = self.plain_name(first)?;
        let Some(fields) = fields else { return self.add(id, Expr::Ident { name, rooted, test: true }) };
        let mut node = self.add(id, Expr::Ident { name, rooted: rooted || self.absolute, test: false })?;
        let mut fields = fields.split('.').peekable();
        while let Some(field) = fields.next() {
            let field = self.plain_name(field)?;
            let test = fields.peek().is_none();
            node = self.add(id, Expr::Select { operand: node, field, test, optional: false })?;
        }
        Ok(node)
    }

    fn exprs(&mut self, args: &[MessageId]) -> Import<Vec<NodeId>> {
        args.iter().map(|arg| self.expr(*arg)).collect()
    }

    fn fallback(&mut self, id: i64, kind: FallbackKind, args: &[MessageId]) -> Import {
        let operands = self.exprs(args)?;
        let operands = self.tree.children(&operands);
        self.add(id, Expr::Fallback { kind, operands })
    }

    /// A call of a function whose name may have dots.
    fn qualified_call(&mut self, id: i64, function: &str, args: &[MessageId]) -> Import {
        let (rooted, path) = function.strip_prefix('.').map_or((false, function), |path| (true, path));
        let (target, name, rooted) = match path.rsplit_once('.') {
            Some((space, name)) => {
                let dot = if rooted { "." } else { "" };
                // A variable of a macro, its accumulator too, would hide the first part.
                let first = space.split('.').next().unwrap_or_default();
                let is_hidden = self.scope.iter().any(|local| local.name == first);
                let dot = if is_hidden { "." } else { dot };
                (Some(self.ident(id, &format!("{dot}{space}"))?), name, false)
            }
            None => (None, path, rooted || self.absolute),
        };
        let function = self.plain_name(name)?;
        let args = self.exprs(args)?;
        let args = self.tree.children(&args);
        self.add(id, Expr::Call { target, function, rooted, args })
    }

    /// `@mapValues` and `@filterKeys`: folds over entries with one variable without a name.
    fn over_entries(&mut self, id: i64, function: &str, range: MessageId, name: &str, body: MessageId) -> Import {
        let range = self.expr(range)?;
        let var = self.plain_name(name)?;
        let body = self.within(None, &[name], |importer| importer.expr(body))?;
        let unnamed = self.tree.name("@");
        if function == MAP_VALUES {
            let kind = FoldKind::MapValues;
            let var2 = Some(var);
            return self.add(id, Expr::Fold { kind, range, var: unnamed, var2, filter: None, transform: Some(body) });
        }
        let value = self.add(id, Expr::Ident { name: unnamed, rooted: false, test: false })?;
        let (kind, var2) = (FoldKind::FilterKeys, Some(unnamed));
        self.add(id, Expr::Fold { kind, range, var, var2, filter: Some(body), transform: Some(value) })
    }

    /// The expression of an operator; `None` if the function is none.
    fn operator(&mut self, id: i64, message: MessageId, call: &Call<'_>) -> Import<Option<NodeId>> {
        let operands = match call.function {
            "!_" | "-_" => 1,
            CONDITIONAL => 3,
            AND | OR => 2,
            INDEX | OPTIONAL_INDEX | OPTIONAL_SELECT => 2,
            name if binary(name).is_some() => 2,
            _ => return Ok(None),
        };
        let is_chain = matches!(call.function, AND | OR) && call.args.len() > operands;
        if call.target.is_some() || call.args.len() != operands && !is_chain {
            let message =
                format!("the operator `{}` has {} operands, not {}", call.function, operands, call.args.len());
            return Err(TreeError::new(message));
        }
        if matches!(call.function, AND | OR) {
            return self.logic(id, message, call.function).map(Some);
        }
        if call.function == OPTIONAL_SELECT
            && let &[operand, field] = call.args.as_slice()
        {
            let name = self.kind(field, expr::CONST).and_then(|constant| self.messages.alternative(constant));
            let Some((constant::STRING, Value::Text(name))) = name else {
                return Err(TreeError::new("the second operand of `_?._` is not the name of a field"));
            };
            let operand = self.expr(operand)?;
            let field = self.tree.name(non_empty(name, "the name of a field")?);
            return self.add(id, Expr::Select { operand, field, test: false, optional: true }).map(Some);
        }
        if call.function == CONDITIONAL
            && let Some(node) = self.optional_map_of_name(id, call)?
        {
            return Ok(Some(node));
        }
        let args = self.exprs(&call.args)?;
        let node = match (call.function, args.as_slice()) {
            ("!_", &[operand]) => Expr::Unary { op: UnaryOp::Not, operand },
            ("-_", &[operand]) => Expr::Unary { op: UnaryOp::Neg, operand },
            (CONDITIONAL, &[condition, then, otherwise]) => Expr::Cond { condition, then, otherwise },
            (INDEX, &[operand, index]) => Expr::Index { operand, index, optional: false },
            (OPTIONAL_INDEX, &[operand, index]) => Expr::Index { operand, index, optional: true },
            (name, &[left, right]) if let Some(op) = binary(name) => Expr::Binary { op, left, right },
            _ => return Ok(None),
        };
        self.add(id, node).map(Some)
    }

    /// A chain of one operator, whatever its calls are nested like.
    fn logic(&mut self, id: i64, message: MessageId, function: &str) -> Import {
        let (mut todo, mut operands) = (vec![message], Vec::new());
        while let Some(next) = todo.pop() {
            match self.as_call(next) {
                Some(call) if call.function == function => {
                    if call.target.is_some() || call.args.len() < 2 {
                        let error = TreeError::new(format!("the operator `{function}` has two operands"));
                        return Err(error.at(TreePlace::new(self.id(next))));
                    }
                    todo.extend(call.args.into_iter().rev());
                }
                _ => operands.push(self.expr(next)?),
            }
        }
        let operands = self.tree.children(&operands);
        let op = if function == AND { LogicOp::And } else { LogicOp::Or };
        self.add(id, Expr::Logic { op, operands })
    }
}

fn non_empty<'t>(text: &'t str, what: &str) -> Import<&'t str> {
    if text.is_empty() { Err(TreeError::new(format!("{what} is missing"))) } else { Ok(text) }
}

/// For each element whether it is optional; nothing if none is.
fn marks<'v>(indices: impl Iterator<Item = &'v Value>, elements: usize) -> Import<Box<[bool]>> {
    let mut marked = Vec::new();
    for index in indices {
        let Value::Int(index) = index else { continue };
        marked.resize(elements, false);
        match usize::try_from(*index).ok().and_then(|at| marked.get_mut(at)) {
            Some(mark) => *mark = true,
            None => return Err(TreeError::new("an optional index of a list is the number of no element")),
        }
    }
    Ok(marked.into())
}

fn binary(function: &str) -> Option<BinaryOp> {
    Some(match function {
        "_+_" => BinaryOp::Add,
        "_-_" => BinaryOp::Sub,
        "_*_" => BinaryOp::Mul,
        "_/_" => BinaryOp::Div,
        "_%_" => BinaryOp::Rem,
        "_==_" => BinaryOp::Eq,
        "_!=_" => BinaryOp::Ne,
        "_<_" => BinaryOp::Lt,
        "_<=_" => BinaryOp::Le,
        "_>_" => BinaryOp::Gt,
        "_>=_" => BinaryOp::Ge,
        // The last two are names of earlier versions.
        "@in" | "_in_" | "in" => BinaryOp::In,
        _ => return None,
    })
}
