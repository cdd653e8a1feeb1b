//! Calls, and the macros among them. A macro is a call with the name, form and number of arguments
//! of a macro whose library is on; any other call is a function call. If an argument that must name
//! a variable is not a plain name, that is an error, except for macros of [`Library::Gateway`]:
//! hosts have functions of these names, so it is then a function call.

use super::code::Code;
use super::{Parse, Parser};
use crate::ast::{Expr, FoldKind, Literal, Name, NodeId};
use crate::cel::foreign;
use crate::cel::lexer::Token;
use crate::cel::macros::{self, Expansion, Macro};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::stdlib::Library;

/// The variable that holds the range of a `sortBy`, which is evaluated once. No source can mention this name.
pub(crate) const RANGE: &str = "@range";

/// The name of the variable that `mapValues` and `filterKeys` do not name. No source can mention it.
pub(crate) const UNNAMED: &str = "@";

/// A plain name that may be a macro's variable. It becomes a node only if it turns out to be an argument.
type Variable = (Name, Span);

/// The scratch entry of an argument that is kept as a [`Variable`].
const KEPT: NodeId = NodeId(u32::MAX);

/// Whether the first argument is a plain name.
fn is_named(arguments: &Arguments) -> bool {
    matches!(arguments.variables, [Some(_), _])
}

/// The error of an operand of `has`.
pub(crate) fn no_selection(operand: Span) -> Diagnostic {
    let mut diagnostic = Code::MacroArgument.at(operand, "`has` takes a field selection");
    diagnostic.help.push("write `has(a.b)`; a key is tested with `\"key\" in a`, and `default(a[\"key\"], ..)` gives a value in its absence".to_owned());
    diagnostic
}

/// Parsed arguments: the scratch entries from `base` on.
struct Arguments {
    base: usize,
    variables: [Option<Variable>; 2],
}

impl Parser<'_> {
    /// Parses the arguments of the function named by `focus`; `has(..)`, `default(..)` and `coalesce(..)` are macros.
    pub(super) fn call(&mut self, start: u32, rooted: bool, focus: Span) -> Parse {
        let text = self.text(focus);
        let arguments = self.arguments(false)?;
        if text == "has"
            && !rooted
            && let &[argument] = self.scratch.get(arguments.base..).unwrap_or(&[])
        {
            self.scratch.truncate(arguments.base);
            return self.has(start, argument);
        }
        let count = self.scratch.len().saturating_sub(arguments.base);
        if let Some(&Macro { expansion: Expansion::Fallback(kind), library, .. }) =
            macros::expansion(text, count, false)
            && !rooted
            && library.is_none_or(|library| self.libraries.contains(library))
        {
            let (operands, below) = self.children(arguments.base);
            return self.push(Expr::Fallback { kind, operands }, self.since(start), focus, below);
        }
        let function = self.name(text);
        let (args, below) = self.children(arguments.base);
        self.push(Expr::Call { target: None, function, rooted, args }, self.since(start), focus, below)
    }

    /// The help for `has(a["key"])`.
    fn key_test(&self, map: NodeId, key: NodeId) -> Option<String> {
        let text = |id: NodeId| foreign::repeated(self.text(self.node(id)?.span));
        matches!(self.node(key)?.expr, Expr::Literal(_))
            .then(|| Some(format!("write `{} in {}`", text(key)?, text(map)?)))?
    }

    /// Turns the last node, which must be a selection or a name, into a test for presence. The checker tells which
    /// names are those of variables that can be absent: in CEL `has` takes a selection only.
    fn has(&mut self, start: u32, argument: NodeId) -> Parse {
        let span = self.since(start);
        match self.nodes.get_mut(argument.0 as usize) {
            Some(node) => match &mut node.expr {
                Expr::Select { test, optional: false, .. } | Expr::Ident { test, .. } if !*test => {
                    *test = true;
                    node.span = span;
                    Ok(argument)
                }
                Expr::Error => Ok(argument),
                expr => {
                    let mut diagnostic = no_selection(node.span);
                    if let Expr::Index { operand, index, optional: false } = *expr
                        && let Some(help) = self.key_test(operand, index)
                    {
                        diagnostic.help = vec![help];
                    }
                    self.report(diagnostic)?;
                    self.error_node(span)
                }
            },
            None => self.error_node(span),
        }
    }

    /// Parses the arguments of the method named by `focus`, and expands it if it is a macro.
    pub(super) fn method(&mut self, start: u32, target: NodeId, focus: Span) -> Parse {
        let text = self.text(focus);
        let mut receiver = None;
        let namespace = macros::namespace(text);
        if let Some(name) = namespace
            && self.names(target, name)
        {
            receiver = self.take_name(target);
        }
        let candidate = if namespace.is_some() { receiver.is_some() } else { macros::is_method(text) };
        let mut arguments = self.arguments(candidate)?;
        let count = self.scratch.len().saturating_sub(arguments.base);
        if matches!(text, "greatest" | "least") && count > 2 && self.names(target, "math") {
            self.gather(arguments.base, text)?;
        }
        if candidate
            && let Some(&Macro { expansion, variables, library, .. }) = macros::expansion(text, count, true)
            && library.is_none_or(|library| self.libraries.contains(library))
            && (library != Some(Library::Gateway) || is_named(&arguments))
        {
            return match expansion {
                Expansion::Extension { test } => self.extension(test, start, focus, arguments),
                _ => self.expand(expansion, variables, start, target, focus, arguments),
            };
        }
        for at in 0..arguments.variables.len() {
            self.restore(&mut arguments, at)?;
        }
        let target = match receiver {
            Some((name, span)) => self.leaf(Expr::Ident { name, rooted: false, test: false }, span)?,
            None => target,
        };
        let function = self.name(text);
        let (args, below) = self.children(arguments.base);
        let below = below.max(self.depth(target));
        let expr = Expr::Call { target: Some(target), function, rooted: false, args };
        self.push(expr, self.since(start), focus, below)
    }

    /// `proto.getExt(message, package.extension)`: the selection of the field with that full name.
    fn extension(&mut self, test: bool, start: u32, focus: Span, mut arguments: Arguments) -> Parse {
        let second = self.scratch.get(arguments.base.saturating_add(1)).copied().unwrap_or(KEPT);
        let field = match arguments.variables[1].take() {
            Some((name, _)) => Some(name),
            // The nodes of the last argument are the last ones.
            None if self.is_path(second) => Some(self.type_name(second)),
            None => None,
        };
        self.restore(&mut arguments, 0)?;
        let message = self.scratch.get(arguments.base).copied();
        self.scratch.truncate(arguments.base);
        let span = self.since(start);
        let (Some(operand), Some(field)) = (message, field) else {
            let span = self.node(second).map_or(span, |node| node.span);
            self.report(
                Code::MacroArgument.at(span, "this must be the full name of an extension: `package.extension`"),
            )?;
            return self.error_node(span);
        };
        let below = self.depth(operand);
        self.push(Expr::Select { operand, field, test, optional: false }, span, focus, below)
    }

    /// Whether a node is names with dots between them.
    fn is_path(&self, mut id: NodeId) -> bool {
        loop {
            match self.node(id).map(|node| &node.expr) {
                Some(Expr::Select { operand, test: false, optional: false, .. }) => id = *operand,
                Some(Expr::Ident { test: false, .. }) => return true,
                _ => return false,
            }
        }
    }

    /// Whether a node is this plain name.
    fn names(&self, id: NodeId, text: &str) -> bool {
        match self.node(id).map(|n| &n.expr) {
            Some(Expr::Ident { name, rooted: false, test: false }) => {
                self.names.get(name.0 as usize).is_some_and(|n| n.as_ref() == text)
            }
            _ => false,
        }
    }

    /// Collects the arguments from `base` on in one list: `math.greatest(a, b, c)` is
    /// `math.greatest([a, b, c])`. Literals that are not numbers are reported here, because the
    /// list hides them from the checker.
    fn gather(&mut self, base: usize, function: &str) -> Parse<()> {
        let mut span: Option<Span> = None;
        for at in base..self.scratch.len() {
            let Some(node) = self.scratch.get(at).and_then(|id| self.node(*id)) else { continue };
            let wrong = match &node.expr {
                Expr::Literal(literal) => !matches!(literal, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)),
                Expr::List { .. } | Expr::Map { .. } => true,
                _ => false,
            };
            let this = node.span;
            span = Some(span.map_or(this, |all| Span { start: all.start, end: this.end }));
            if wrong {
                self.report(Code::MacroArgument.at(this, format!("`math.{function}` takes numbers, or one list")))?;
            }
        }
        let (elements, below) = self.children(base);
        let span = span.unwrap_or_default();
        let list = self.push(Expr::List { elements, optional: Box::default() }, span, span, below)?;
        self.scratch.push(list);
        Ok(())
    }

    /// `cel.bind(@range, range, @sortBy(@range, @range.map(x, key)))`
    fn sort_by(&mut self, range: NodeId, var: Name, key: NodeId, span: Span, focus: Span) -> Parse {
        let name = self.name(RANGE);
        let function = self.name("@sortBy");
        let source = self.leaf(Expr::Ident { name, rooted: false, test: false }, span)?;
        let kind = FoldKind::Map;
        let keys = Expr::Fold { kind, range: source, var, var2: None, filter: None, transform: Some(key) };
        let keys = self.push(keys, span, focus, self.depth(key).max(1))?;
        let list = self.leaf(Expr::Ident { name, rooted: false, test: false }, span)?;
        let base = self.scratch.len();
        self.scratch.extend([list, keys]);
        let (args, below) = self.children(base);
        let body = self.push(Expr::Call { target: None, function, rooted: false, args }, span, focus, below)?;
        let below = self.depth(body).max(self.depth(range));
        self.push(Expr::Bind { var: name, init: range, body, with: false }, span, focus, below)
    }

    /// `range.mapValues(x, body)` and `range.filterKeys(x, body)`: folds over entries with one variable unnamed.
    fn over_entries(
        &mut self,
        expansion: Expansion,
        range: NodeId,
        var: Name,
        body: NodeId,
        span: Span,
        focus: Span,
    ) -> Parse {
        let unnamed = self.name(UNNAMED);
        let fold = if matches!(expansion, Expansion::MapValues) {
            let kind = FoldKind::MapValues;
            Expr::Fold { kind, range, var: unnamed, var2: Some(var), filter: None, transform: Some(body) }
        } else {
            let end = Span { start: span.end, end: span.end };
            let value = self.leaf(Expr::Ident { name: unnamed, rooted: false, test: false }, end)?;
            let kind = FoldKind::FilterKeys;
            Expr::Fold { kind, range, var, var2: Some(unnamed), filter: Some(body), transform: Some(value) }
        };
        let below = self.depth(range).max(self.depth(body)).max(1);
        self.push(fold, span, focus, below)
    }

    /// Parses arguments in parentheses. With `variables`, plain names among the first two are kept out of the arena.
    fn arguments(&mut self, variables: bool) -> Parse<Arguments> {
        let base = self.scratch.len();
        let mut kept = [None, None];
        self.open(Token::CloseParen)?;
        let mut more = self.token != Token::CloseParen;
        while more {
            let mut argument = self.expression()?;
            let at = self.scratch.len().saturating_sub(base);
            if variables && let Some(slot) = kept.get_mut(at) {
                *slot = self.take_name(argument);
                if slot.is_some() {
                    argument = KEPT;
                }
            }
            self.scratch.push(argument);
            let (comma, clean) = (self.span, !self.recovering);
            more = self.separator("`,` or `)`")?;
            if more && self.token == Token::CloseParen {
                more = false;
                if clean {
                    let mut diagnostic = Code::TrailingComma.at(comma, "a call's arguments can't end in a comma");
                    diagnostic.help.push("remove the comma".to_owned());
                    self.report(diagnostic)?;
                }
            }
        }
        self.close()?;
        Ok(Arguments { base, variables: kept })
    }

    /// Adds the node of a kept name that is an ordinary argument.
    fn restore(&mut self, arguments: &mut Arguments, at: usize) -> Parse<()> {
        let Some((name, span)) = arguments.variables.get_mut(at).and_then(Option::take) else { return Ok(()) };
        let id = self.leaf(Expr::Ident { name, rooted: false, test: false }, span)?;
        if let Some(argument) = self.scratch.get_mut(arguments.base.saturating_add(at)) {
            *argument = id;
        }
        Ok(())
    }

    fn expand(
        &mut self,
        expansion: Expansion,
        variables: usize,
        start: u32,
        target: NodeId,
        focus: Span,
        mut arguments: Arguments,
    ) -> Parse {
        // With one variable, a second plain name is an operand.
        if variables < 2 {
            self.restore(&mut arguments, 1)?;
        }
        let span = self.since(start);
        let named = self.check_variables(variables, &arguments)?;
        let base = arguments.base;
        let argument = |at: usize| self.scratch.get(base.saturating_add(at)).copied();
        let (first, second) = (argument(variables), argument(variables.saturating_add(1)));
        self.scratch.truncate(base);
        let [var, var2] = arguments.variables.map(|v| v.map(|(name, _)| name));
        let (true, Some(var), Some(first)) = (named, var, first) else { return self.error_node(span) };
        if matches!(expansion, Expansion::SortBy) {
            return self.sort_by(target, var, first, span, focus);
        }
        if matches!(expansion, Expansion::MapValues | Expansion::FilterKeys) {
            return self.over_entries(expansion, target, var, first, span, focus);
        }
        let fold = |kind, filter, transform| Expr::Fold { kind, range: target, var, var2, filter, transform };
        let expr = match (expansion, second) {
            (Expansion::Test(kind), _) => fold(kind, Some(first), None),
            (Expansion::Transform(kind), None) => fold(kind, None, Some(first)),
            (Expansion::Transform(kind), Some(second)) => fold(kind, Some(first), Some(second)),
            (Expansion::Bind, Some(body)) => Expr::Bind { var, init: first, body, with: false },
            (Expansion::With, _) => Expr::Bind { var, init: target, body: first, with: true },
            (Expansion::Bind, None)
            | (Expansion::SortBy | Expansion::MapValues | Expansion::FilterKeys, _)
            | (Expansion::Has | Expansion::Fallback(_) | Expansion::Extension { .. }, _) => Expr::Error,
            (Expansion::OptMap { flat }, _) => Expr::OptMap { target, var, body: first, flat },
        };
        let mut below = self.depth(first).max(second.map_or(0, |id| self.depth(id)));
        if !matches!(expansion, Expansion::Bind) {
            below = below.max(self.depth(target));
        }
        self.push(expr, span, focus, below)
    }

    /// Returns whether the first arguments are distinct plain names; otherwise reports which one is not.
    fn check_variables(&mut self, variables: usize, arguments: &Arguments) -> Parse<bool> {
        let mut named = true;
        for (at, variable) in arguments.variables.iter().enumerate().take(variables) {
            if variable.is_some() {
                continue;
            }
            named = false;
            let argument = self.scratch.get(arguments.base.saturating_add(at)).copied();
            if let Some(node) = argument.and_then(|id| self.node(id))
                && node.expr != Expr::Error
            {
                let mut diagnostic = Code::MacroVariable.at(node.span, "a macro's variable must be a plain name");
                diagnostic.help.push("write a name such as `x`".to_owned());
                self.report(diagnostic)?;
            }
        }
        if let [Some((first, _)), Some((second, span))] = arguments.variables
            && variables == 2
            && first == second
        {
            self.report(Code::DuplicateVariable.at(span, "both variables have the same name"))?;
            named = false;
        }
        Ok(named)
    }
}
