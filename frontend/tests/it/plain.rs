//! A rule language of one page, made with the public interface alone: conditions on text, joined by `and`.
//!
//! ```text
//! path is "/admin" and agent has "curl"
//! ```

use celero_frontend::stdlib::Builtin;
use celero_frontend::{
    BinaryOp, Checked, CodeInfo, Declarations, Diagnostic, Expr, Language, Limits, Literal, LogicOp, NodeId, Overload,
    Place, Reference, Span, Stage, TreeBuilder, Type, similar,
};

/// The language; the crate's documentation shows how it comes to be.
#[derive(Debug)]
pub(crate) struct Plain;

const SYNTAX: CodeInfo = CodeInfo {
    code: "plain-syntax",
    stage: Stage::Parse,
    summary: "a condition is not of the form `name is \"text\"`",
};
const UNDECLARED: CodeInfo =
    CodeInfo { code: "plain-undeclared", stage: Stage::Check, summary: "no text of this name is declared" };

/// A word of the source: a name, an operator or a quoted text.
#[derive(Clone, Copy)]
struct Word<'s> {
    text: &'s str,
    span: Span,
}

/// `name is "text"` or `name has "text"`.
struct Condition<'s> {
    name: Word<'s>,
    operator: Word<'s>,
    value: Word<'s>,
}

fn error(info: CodeInfo, span: Span, message: impl Into<String>) -> Vec<Diagnostic> {
    vec![Diagnostic::error(info.stage, info.code, span, message)]
}

fn words(source: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = first == '"';
        let end = if quoted { rest[1..].find('"').map(|at| at + 2) } else { rest.find(char::is_whitespace) };
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        let start = u32::try_from(source.len() - rest.len()).unwrap_or(u32::MAX);
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        words.push(Word { text, span: Span::new(start, start.saturating_add(length)) });
        rest = after.trim_start();
    }
    words
}

fn parse<'s>(source: &'s str, limits: &Limits) -> Result<Vec<Condition<'s>>, Vec<Diagnostic>> {
    if source.len() > limits.max_source_bytes as usize {
        return Err(error(SYNTAX, Span::default(), "the source is too long"));
    }
    let words = words(source);
    let mut conditions = Vec::new();
    for group in words.split(|word| word.text == "and") {
        let &[name, operator, value] = group else {
            let span = group.first().map_or(Span::default(), |word| word.span);
            return Err(error(SYNTAX, span, "expected `name is \"text\"` or `name has \"text\"`"));
        };
        if !matches!(operator.text, "is" | "has") {
            return Err(error(SYNTAX, operator.span, "expected `is` or `has`"));
        }
        if value.text.len() < 2 || !value.text.starts_with('"') || !value.text.ends_with('"') {
            return Err(error(SYNTAX, value.span, "expected text in quotes"));
        }
        conditions.push(Condition { name, operator, value });
    }
    Ok(conditions)
}

/// Adds the nodes of one condition.
fn condition(
    tree: &mut TreeBuilder,
    condition: &Condition<'_>,
    declarations: &Declarations,
) -> Result<NodeId, Vec<Diagnostic>> {
    let Condition { name, operator, value } = condition;
    let Some((index, _)) = declarations.variable(name.text).filter(|(_, variable)| variable.ty == Type::String) else {
        let mut found = error(UNDECLARED, name.span, format!("there is no text `{}`", name.text));
        let names = declarations.variables().iter().map(|variable| &*variable.name);
        if let (Some(meant), Some(error)) = (similar(name.text, names), found.first_mut()) {
            error.help.push(format!("did you mean `{meant}`?"));
        }
        return Err(found);
    };
    let place = Place { span: name.span.to(value.span), focus: operator.span };
    let variable = Expr::Ident { name: tree.name(name.text), rooted: false, test: false };
    let left = tree.add(variable, name.span, Type::String, Reference::Variable(index));
    let text = Literal::String(value.text.trim_matches('"').into());
    let right = tree.add(Expr::Literal(text), value.span, Type::String, Reference::None);
    let call = |builtin, receiver| Reference::Call { overloads: [Overload::Builtin(builtin)].into(), receiver };
    Ok(if operator.text == "is" {
        let expr = Expr::Binary { op: BinaryOp::Eq, left, right };
        tree.add(expr, place, Type::Bool, call(Builtin::Equal, false))
    } else {
        let (function, args) = (tree.name("contains"), tree.children(&[right]));
        let expr = Expr::Call { target: Some(left), function, rooted: false, args };
        tree.add(expr, place, Type::Bool, call(Builtin::Contains, true))
    })
}

impl Language for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn check(
        &self,
        source: &str,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
        let conditions = parse(source, limits)?;
        let mut tree = TreeBuilder::new(source);
        let ids =
            conditions.iter().map(|c| condition(&mut tree, c, declarations)).collect::<Result<Vec<NodeId>, _>>()?;
        let whole = conditions.first().zip(conditions.last()).map(|(first, last)| first.name.span.to(last.value.span));
        let whole = whole.unwrap_or_default();
        let root = match ids.as_slice() {
            &[only] => only,
            several => {
                let operands = tree.children(several);
                tree.add(Expr::Logic { op: LogicOp::And, operands }, whole, Type::Bool, Reference::None)
            }
        };
        let checked = tree.finish(root, declarations, limits);
        checked.map(|checked| (checked, Vec::new())).map_err(|invalid| error(SYNTAX, whole, invalid.to_string()))
    }

    fn format(&self, source: &str, limits: &Limits, _: usize) -> Result<String, Vec<Diagnostic>> {
        let conditions = parse(source, limits)?;
        let text = |c: &Condition<'_>| format!("{} {} {}", c.name.text, c.operator.text, c.value.text);
        Ok(conditions.iter().map(text).collect::<Vec<_>>().join("\n  and ") + "\n")
    }

    fn unparse(&self, checked: &Checked) -> String {
        let ast = checked.ast();
        let text = |id: NodeId| match ast.expr(id) {
            Expr::Ident { name, .. } => ast.name(*name).to_owned(),
            Expr::Literal(Literal::String(text)) => format!("\"{text}\""),
            _ => String::new(),
        };
        let condition = |id: &NodeId| match ast.expr(*id) {
            Expr::Binary { left, right, .. } => format!("{} is {}", text(*left), text(*right)),
            Expr::Call { target: Some(left), args, .. } => {
                format!("{} has {}", text(*left), ast.children(*args).iter().map(|&arg| text(arg)).collect::<String>())
            }
            _ => String::new(),
        };
        let root = ast.root();
        let conditions = match ast.expr(root) {
            Expr::Logic { operands, .. } => ast.children(*operands),
            _ => &[root][..],
        };
        conditions.iter().map(condition).collect::<Vec<_>>().join(" and ")
    }

    fn codes(&self) -> Vec<CodeInfo> {
        vec![SYNTAX, UNDECLARED]
    }
}
