//! Trees of celero as `cel.expr` trees. Macros are expanded as cel-go expands them (`parser/macro.go`,
//! `ext/comprehensions.go`, `ext/bindings.go`, `cel/library.go`), names and functions of checked trees are replaced by
//! what they were resolved to. What has no equal there stays a call of a name that no function can have, so that other
//! implementations refuse it.

use super::build::{Builder, Made, Part};
use super::message::{MessageId, Messages, Value};
use super::names::{path_of, type_name};
use super::numbers::{
    AND, COALESCE, CONDITIONAL, DEFAULT, GREATEST, INDEX, LEAST, OPTIONAL_INDEX, OPTIONAL_SELECT, OR, PRESENCE, expr,
};
use super::schema::Shape;
use celero_frontend::{
    Ast, BinaryOp, Checked, Declarations, Expr, FallbackKind, Literal, LogicOp, Name, NodeId, Overload, Reference,
    Type, with_stack,
};

/// The tree of a parsed expression.
pub(super) fn parsed(ast: &Ast) -> (Messages, MessageId) {
    let mut exporter = Exporter::new(ast, None);
    let root = exporter.root();
    let info = exporter.source_info();
    let fields = vec![(2, Value::Message(root)), (3, Value::Message(info))];
    let tree = exporter.build.messages.add(Shape::ParsedExpr, fields);
    (exporter.build.messages, tree)
}

/// The tree of a checked expression.
pub(super) fn checked(checked: &Checked, declarations: &Declarations) -> (Messages, MessageId) {
    let mut exporter = Exporter::new(checked.ast(), Some((checked, declarations)));
    let root = exporter.root();
    let info = exporter.source_info();
    let mut fields = vec![(4, Value::Message(root)), (5, Value::Message(info))];
    let notes = std::mem::take(&mut exporter.build.notes);
    let is_message = |name: &str| declarations.messages().has_fields(name);
    for (id, reference) in notes.references {
        let entry = vec![(1, Value::Int(id)), (2, Value::Message(reference))];
        fields.push((2, Value::Message(exporter.build.messages.add(Shape::ReferenceEntry, entry))));
    }
    for (id, ty) in notes.types {
        let ty = exporter.build.type_message(&ty, &is_message);
        let entry = vec![(1, Value::Int(id)), (2, Value::Message(ty))];
        fields.push((3, Value::Message(exporter.build.messages.add(Shape::TypeEntry, entry))));
    }
    let tree = exporter.build.messages.add(Shape::CheckedExpr, fields);
    (exporter.build.messages, tree)
}

/// Recursion over a level of the tree takes more than one frame.
const FRAMES: u32 = 4;

pub(super) struct Exporter<'e> {
    pub(super) ast: &'e Ast,
    pub(super) checked: Option<(&'e Checked, &'e Declarations)>,
    pub(super) build: Builder,
    /// The variables of the macros around, innermost last.
    pub(super) scope: Vec<Name>,
    /// Offsets of characters, in bytes and in code points, each at most [`STEP`] bytes and a character after the last.
    marks: Vec<(usize, u32)>,
    /// The offset of each line but the first in code points, and one that is after the last.
    lines: Vec<u32>,
}

/// Bytes between two marks.
const STEP: usize = 64;

impl<'e> Exporter<'e> {
    fn new(ast: &'e Ast, checked: Option<(&'e Checked, &'e Declarations)>) -> Self {
        let build = Builder::new(checked.is_some());
        let (mut marks, mut lines) = (vec![(0, 0)], Vec::new());
        let (mut bytes, mut points) = (0usize, 0u32);
        for c in ast.source().chars() {
            bytes = bytes.saturating_add(c.len_utf8());
            points = points.saturating_add(1);
            if c == '\n' {
                lines.push(points);
            }
            if marks.last().is_none_or(|(last, _)| bytes.saturating_sub(*last) >= STEP) {
                marks.push((bytes, points));
            }
        }
        lines.push(points.saturating_add(1));
        Self { ast, checked, build, scope: Vec::new(), marks, lines }
    }

    fn root(&mut self) -> MessageId {
        let levels = self.ast.depth().saturating_mul(FRAMES);
        let made = with_stack(levels, || self.node(self.ast.root()));
        Builder::message(made)
    }

    /// The offset of a byte of the source in code points.
    fn points(&self, byte: u32) -> u32 {
        let byte = byte as usize;
        let mark = self.marks.partition_point(|(start, _)| *start <= byte).saturating_sub(1);
        let (start, points) = self.marks.get(mark).copied().unwrap_or_default();
        let before = self.ast.source().get(start..byte).unwrap_or("");
        points.saturating_add(u32::try_from(before.chars().count()).unwrap_or(u32::MAX))
    }

    fn source_info(&mut self) -> MessageId {
        let mut fields = vec![(2, Value::Text("<input>".into()))];
        fields.extend(self.lines.iter().map(|offset| (3, Value::Int((*offset).into()))));
        let messages = &mut self.build.messages;
        for &(id, offset) in &self.build.notes.positions {
            let entry = vec![(1, Value::Int(id)), (2, Value::Int(offset.into()))];
            fields.push((4, Value::Message(messages.add(Shape::PositionEntry, entry))));
        }
        for &(id, call) in &self.build.notes.macro_calls {
            let entry = vec![(1, Value::Int(id)), (2, Value::Message(call))];
            fields.push((5, Value::Message(messages.add(Shape::MacroCallEntry, entry))));
        }
        messages.add(Shape::SourceInfo, fields)
    }

    pub(super) fn type_of(&self, id: NodeId) -> Type {
        self.checked.map_or(Type::Dyn, |(checked, _)| checked.type_of(id).clone())
    }

    pub(super) fn reference(&self, id: NodeId) -> &'e Reference {
        self.checked.map_or(&Reference::None, |(checked, _)| checked.reference(id))
    }

    /// Takes the place of a node for what is made next, and returns an identifier.
    pub(super) fn begin(&mut self, node: NodeId) -> i64 {
        let (span, focus) = (self.ast.span(node), self.ast.node(node).focus);
        let begins = matches!(
            self.ast.expr(node),
            Expr::Literal(_) | Expr::Ident { .. } | Expr::List { .. } | Expr::Map { .. } | Expr::Message { .. }
        );
        self.build.offset = self.points(if begins { span.start } else { focus.start });
        self.build.new_id()
    }

    /// The expression of a node.
    pub(super) fn node(&mut self, node: NodeId) -> Made {
        let id = self.begin(node);
        let ty = self.type_of(node);
        let (ast, reference) = (self.ast, self.reference(node));
        let is_test = ast.expr(node).is_test();
        if let Some(name) = self.resolved(node, reference).filter(|_| !is_test) {
            self.build.set_type(id, &ty);
            let constant = if let Reference::Constant(number) = reference { Some(*number) } else { None };
            self.build.refer_to_name(id, &name, constant);
            return self.build.ident(id, &name);
        }
        if !matches!(ast.expr(node), Expr::Literal(_)) {
            self.build.set_type(id, &ty);
        }
        match ast.expr(node) {
            // No tree of a parser has one.
            Expr::Error => self.build.ident(id, "<error>"),
            Expr::Literal(literal) => self.build.literal(id, literal),
            Expr::Ident { name, rooted, test } => {
                let name = format!("{}{}", if *rooted { "." } else { "" }, ast.name(*name));
                if !*test {
                    return self.build.ident(id, &name);
                }
                self.presence(id, reference, &name)
            }
            // A variable of the container: its name in full has no beginning that could be selected from.
            Expr::Select { test: true, .. }
                if let Some(name) = self.resolved(node, reference)
                    && path_of(ast, node).is_some_and(|path| path != name) =>
            {
                self.presence(id, reference, &name)
            }
            Expr::Select { operand, field, test, optional: false } => {
                self.refer(id, reference, "");
                let operand = self.node(*operand);
                let field = ast.name(*field);
                let made = self.build.select(id, operand, field, *test);
                if !*test {
                    return made;
                }
                self.begin_again(node);
                let arg = self.build.new_id();
                let arg = self.build.select(arg, operand, field, false);
                self.build.expanded(made, None, "has", &[arg])
            }
            Expr::Select { operand, field, .. } => {
                self.refer(id, reference, "select_named_list");
                let operand = self.node(*operand);
                let field = self.build.new_literal(&Literal::String(ast.name(*field).into()));
                self.build.call(id, None, OPTIONAL_SELECT, &[operand, field])
            }
            Expr::Index { operand, index, optional } => {
                self.refer(id, reference, "index_named_list");
                let args = [self.node(*operand), self.node(*index)];
                self.build.call(id, None, if *optional { OPTIONAL_INDEX } else { INDEX }, &args)
            }
            Expr::Unary { op, operand } => {
                self.refer(id, reference, "");
                let operand = self.node(*operand);
                self.build.call(id, None, op.function(), &[operand])
            }
            Expr::Binary { op, left, right } => {
                self.refer(id, reference, if *op == BinaryOp::In { "in_named_list" } else { "" });
                let args = [self.node(*left), self.node(*right)];
                self.build.call(id, None, op.function(), &args)
            }
            Expr::Logic { op, operands } => {
                let operands: Vec<Made> = ast.children(*operands).iter().map(|operand| self.node(*operand)).collect();
                self.begin_again(node);
                self.logic(Some(id), *op, &operands)
            }
            Expr::Cond { condition, then, otherwise } => {
                self.build.refer_to_overloads(id, &["conditional"]);
                let args = [self.node(*condition), self.node(*then), self.node(*otherwise)];
                self.build.call(id, None, CONDITIONAL, &args)
            }
            Expr::Call { target, function, rooted, args } => {
                let args: &[NodeId] = ast.children(*args);
                self.call(id, node, *target, ast.name(*function), *rooted, args)
            }
            Expr::List { elements, optional } => {
                let elements: Vec<Made> = ast.children(*elements).iter().map(|element| self.node(*element)).collect();
                self.build.list(id, &elements, optional)
            }
            Expr::Map { entries, optional } => {
                let mut fields = Vec::new();
                for (at, pair) in ast.children(*entries).chunks_exact(2).enumerate() {
                    let &[key, value] = pair else { continue };
                    self.begin_again(key);
                    let entry = self.build.new_id();
                    let key = self.node(key);
                    fields.push(self.entry(entry, (3, key.into()), value, optional.get(at) == Some(&true)));
                }
                self.build.expr(id, expr::STRUCT, Shape::CreateStruct, fields)
            }
            Expr::Message { name, fields: names, values, optional } => {
                let name = match reference {
                    Reference::Message(full) => &**full,
                    _ => ast.name(*name),
                };
                self.build.refer_to_name(id, name, None);
                let mut fields = vec![(1, name.into())];
                for (at, (field, value)) in names.iter().zip(ast.children(*values)).enumerate() {
                    self.begin_again(*value);
                    let entry = self.build.new_id();
                    let key = (2, ast.name(*field).into());
                    fields.push(self.entry(entry, key, *value, optional.get(at) == Some(&true)));
                }
                self.build.expr(id, expr::STRUCT, Shape::CreateStruct, fields)
            }
            Expr::Fold { .. } | Expr::Bind { .. } | Expr::OptMap { .. } => self.expansion(id, node),
            Expr::Fallback { kind, operands } => {
                let operands: Vec<Made> = ast.children(*operands).iter().map(|operand| self.node(*operand)).collect();
                let name = match kind {
                    FallbackKind::Default => DEFAULT,
                    FallbackKind::Coalesce => COALESCE,
                };
                self.build.refer_to_overloads(id, &[name]);
                self.build.call(id, None, name, &operands)
            }
        }
    }

    /// The test whether a variable is present, which has no other form in a tree.
    fn presence(&mut self, id: i64, reference: &Reference, name: &str) -> Made {
        let arg = self.build.new_id();
        let arg = self.build.ident(arg, name);
        self.refer(id, reference, PRESENCE);
        self.build.call(id, None, PRESENCE, &[arg])
    }

    /// Takes the place of a node for what is made next.
    pub(super) fn begin_again(&mut self, node: NodeId) {
        self.build.offset = self.points(self.ast.node(node).focus.start);
    }

    fn entry(&mut self, id: i64, key: (u32, Part), value: NodeId, optional: bool) -> (u32, Part) {
        let value = self.node(value);
        let (id, optional) = (Part::Value(Value::Int(id)), Part::Value(Value::Bool(optional)));
        let fields = vec![(1, id), key, (4, value.into()), (5, optional)];
        let (full, short) = self.build.both(Shape::Entry, fields);
        (2, Part::Both(full, short))
    }

    /// A chain of one operator as a balanced tree, as cel-go builds it.
    fn logic(&mut self, id: Option<i64>, op: LogicOp, operands: &[Made]) -> Made {
        let (function, overload) = match op {
            LogicOp::And => (AND, "logical_and"),
            LogicOp::Or => (OR, "logical_or"),
        };
        if let &[one] = operands {
            return one;
        }
        let (left, right) = operands.split_at(operands.len().div_ceil(2));
        let id = id.unwrap_or_else(|| {
            let id = self.build.new_id();
            self.build.set_type(id, &Type::Bool);
            id
        });
        self.build.refer_to_overloads(id, &[overload]);
        let args = [self.logic(None, op, left), self.logic(None, op, right)];
        self.build.call(id, None, function, &args)
    }

    /// What a name was resolved to, in full; `None` for what is no name.
    fn resolved(&self, node: NodeId, reference: &Reference) -> Option<String> {
        let (_, declarations) = self.checked?;
        let name = match reference {
            Reference::Variable(index) => declarations.variables().get(*index as usize)?.name.to_string(),
            Reference::Local(_) => return Some(path_of(self.ast, node)?.trim_start_matches('.').to_owned()),
            Reference::Type(ty) => match type_name(ty) {
                Some(name) => name,
                None => path_of(self.ast, node)?,
            },
            Reference::Constant(number) => {
                let path = path_of(self.ast, node)?;
                let messages = declarations.messages();
                let absolute = path.strip_prefix('.');
                let mut scope = if absolute.is_some() { "" } else { declarations.container() };
                let path = absolute.unwrap_or(&path);
                loop {
                    let full = if scope.is_empty() { path.to_owned() } else { format!("{scope}.{path}") };
                    if scope.is_empty() || messages.constant(&full) == Some(*number) {
                        break full;
                    }
                    scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
                }
            }
            Reference::Call { overloads, .. }
                if matches!(self.ast.expr(node), Expr::Ident { .. } | Expr::Select { optional: false, .. }) =>
            {
                let Some(Overload::Defined(index)) = overloads.first() else { return None };
                declarations.definitions().get(*index as usize)?.name().to_owned()
            }
            _ => return None,
        };
        // A variable of a macro would hide it.
        let first = name.split('.').next().unwrap_or_default();
        let is_hidden = self.scope.iter().any(|local| self.ast.name(*local) == first);
        Some(if is_hidden { format!(".{name}") } else { name })
    }

    /// Records what an operator, a call or a test refers to; `list` is the overload of what asks a named list.
    pub(super) fn refer(&mut self, id: i64, reference: &Reference, list: &str) {
        match (reference, self.checked) {
            (Reference::Call { overloads, receiver }, Some((_, declarations))) => {
                let ids = self.overload_ids(overloads, *receiver, declarations);
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                self.build.refer_to_overloads(id, &ids);
            }
            (Reference::InList(_) | Reference::ListValue { .. }, _) if !list.is_empty() => {
                self.build.refer_to_overloads(id, &[list]);
            }
            (Reference::Variable(index), Some((_, declarations))) => {
                if let Some(variable) = declarations.variables().get(*index as usize) {
                    self.build.refer_to_name(id, &variable.name, None);
                }
            }
            _ => {}
        }
    }

    fn overload_ids(&self, overloads: &[Overload], receiver: bool, declarations: &Declarations) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for overload in overloads {
            let id = match overload {
                Overload::Builtin(builtin) => builtin.overload_id(receiver).to_owned(),
                Overload::Host(index) => match declarations.functions().get(*index as usize) {
                    Some(function) => declared_id(&function.name, receiver, &function.signature.params),
                    None => continue,
                },
                Overload::Defined(index) => match declarations.definitions().get(*index as usize) {
                    Some(definition) => declared_id(definition.name(), receiver, &definition.signature().params),
                    None => continue,
                },
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// The full name of the function that a call refers to, if it is not called on a value.
    fn function(&self, reference: &Reference) -> Option<String> {
        let (_, declarations) = self.checked?;
        let Reference::Call { overloads, .. } = reference else { return None };
        Some(match *overloads.first()? {
            Overload::Builtin(builtin) => celero_frontend::stdlib::TABLE.row(builtin)?.name.to_owned(),
            Overload::Host(index) => declarations.functions().get(index as usize)?.name.to_string(),
            Overload::Defined(index) => declarations.definitions().get(index as usize)?.name().to_owned(),
        })
    }

    fn call(
        &mut self,
        id: i64,
        node: NodeId,
        target: Option<NodeId>,
        function: &str,
        rooted: bool,
        args: &[NodeId],
    ) -> Made {
        let reference = self.reference(node);
        if let Some(target) = target
            && let Some(name) = self.extreme(target, function, reference)
            && let &[first, ..] = args
        {
            return self.extremes(id, node, target, (function, name), first, args);
        }
        self.refer(id, reference, "");
        let is_qualified = matches!(reference, Reference::Call { receiver: false, overloads } if !overloads.is_empty());
        let full = if is_qualified { self.function(reference) } else { None };
        let target = if full.is_some() { None } else { target.map(|target| self.node(target)) };
        let args: Vec<Made> = args.iter().map(|arg| self.node(*arg)).collect();
        let name = match full {
            Some(full) => full,
            None if rooted => format!(".{function}"),
            None => function.to_owned(),
        };
        self.build.call(id, target, &name, &args)
    }

    /// The function that the macro `math.greatest` or `math.least` calls, if this is one.
    fn extreme(&self, target: NodeId, function: &str, reference: &Reference) -> Option<&'static str> {
        let Expr::Ident { name, rooted: false, test: false } = *self.ast.expr(target) else { return None };
        let is_hidden = || self.scope.iter().any(|local| self.ast.name(*local) == "math");
        let is_library = match reference {
            Reference::Call { overloads, .. } => matches!(overloads.first(), Some(Overload::Builtin(_))),
            _ => self.checked.is_none(),
        };
        if self.ast.name(name) != "math" || !is_library || is_hidden() {
            return None;
        }
        match function {
            "greatest" => Some(GREATEST),
            "least" => Some(LEAST),
            _ => None,
        }
    }

    fn extremes(
        &mut self,
        id: i64,
        node: NodeId,
        target: NodeId,
        (written, function): (&str, &str),
        first: NodeId,
        args: &[NodeId],
    ) -> Made {
        let reference = self.reference(node);
        self.refer(id, reference, "");
        let math = self.begin(target);
        let math = self.build.ident(math, "math");
        // More than two arguments were collected in one list.
        let span = self.ast.span(first);
        let is_written = self.ast.source().get(span.start as usize..).is_some_and(|text| text.starts_with('['));
        if let (Expr::List { elements, .. }, false) = (self.ast.expr(first), is_written) {
            let list = self.begin(first);
            self.build.set_type(list, &self.type_of(first));
            let made: Vec<Made> = self.ast.children(*elements).iter().map(|element| self.node(*element)).collect();
            let list = self.build.list(list, &made, &[]);
            let call = self.build.call(id, None, function, &[list]);
            return self.build.expanded(call, Some(math), written, &made);
        }
        let made: Vec<Made> = args.iter().map(|arg| self.node(*arg)).collect();
        let call = self.build.call(id, None, function, &made);
        self.build.expanded(call, Some(math), written, &made)
    }
}

/// The identifier of an overload of the host: its types and its name, as cel-go's are.
fn declared_id(name: &str, receiver: bool, params: &[Type]) -> String {
    let text = |ty: &Type| {
        let shown = ty.to_string();
        let kept = shown.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|part| !part.is_empty());
        kept.collect::<Vec<_>>().join("_")
    };
    let mut parts: Vec<String> = params.iter().map(text).collect();
    parts.insert(usize::from(receiver && !parts.is_empty()), name.replace('.', "_"));
    parts.join("_")
}
