//! The parser against a second, independent one (`cel-parser`, generated from the official
//! grammar), on expressions that people have written: both must build the same tree. Where the
//! second parser is known to be wrong, a line of `second-parser-known-wrong.txt` says how; nothing
//! else may differ.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use cel_parser::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr as Theirs, IdedExpr};
use cel_parser::reference::Val;
use celero_frontend::{Ast, BinaryOp, Expr, FallbackKind, FoldKind, Limits, Literal, LogicOp, NodeId, UnaryOp, parse};
use celero_tests::conformance::{report::read_list, suite::Suite};
use celero_tests::shared;
use std::collections::BTreeMap;
use std::panic::catch_unwind;

/// A tree that both parsers' trees are brought to.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Leaf(String),
    Node(String, Vec<Tree>),
}

fn node(head: impl Into<String>, children: Vec<Tree>) -> Tree {
    let head = head.into();
    match (head.as_str(), children.as_slice()) {
        // `-1` and `-(1)` are one tree.
        ("-_", [Tree::Leaf(text)]) if text.starts_with("int ") || text.starts_with("double ") => {
            let (kind, digits) = text.split_once(' ').unwrap();
            let digits = digits.strip_prefix('-').map_or(format!("-{digits}"), str::to_owned);
            Tree::Leaf(format!("{kind} {digits}"))
        }
        // Chains of `&&` and `||` are one node, however they are nested.
        ("_&&_" | "_||_", _) => {
            let mut flat = Vec::new();
            for child in children {
                match child {
                    Tree::Node(h, inner) if h == head => flat.extend(inner),
                    other => flat.push(other),
                }
            }
            Tree::Node(head, flat)
        }
        _ => Tree::Node(head, children),
    }
}

fn fold(kind: &str, var: &str, mut children: Vec<Tree>) -> Tree {
    let same = matches!(children.last(), Some(Tree::Leaf(l)) if *l == format!("ident {var}"));
    if kind == "map" && children.len() == 3 && same {
        // `map(x, p, x)` and `filter(x, p)` are one expansion.
        children.pop();
        return node(format!("filter {var}"), children);
    }
    node(format!("{kind} {var}"), children)
}

/// The tree of celero's parser, or the construct that the second parser has no tree for.
fn ours(ast: &Ast, id: NodeId) -> Result<Tree, &'static str> {
    let sub = |id: &NodeId| ours(ast, *id);
    let subs = |ids: &[NodeId]| ids.iter().map(sub).collect::<Result<Vec<_>, _>>();
    Ok(match ast.expr(id) {
        Expr::Error => return Err("an error node"),
        Expr::Literal(literal) => Tree::Leaf(match literal {
            Literal::Null => "null".into(),
            Literal::Bool(v) => format!("bool {v}"),
            Literal::Int(v) => format!("int {v}"),
            Literal::Uint(v) => format!("uint {v}"),
            Literal::Double(v) => format!("double {v:?}"),
            Literal::String(v) => format!("string {v:?}"),
            Literal::Bytes(v) => format!("bytes {v:?}"),
        }),
        Expr::Ident { rooted: true, .. } => return Err("leading dot"),
        Expr::Ident { test: true, .. } => return Err("`has` of a variable"),
        Expr::Ident { name, .. } => Tree::Leaf(format!("ident {}", ast.name(*name))),
        Expr::Select { optional: true, .. } | Expr::Index { optional: true, .. } => return Err("optional selection"),
        Expr::Select { operand, field, test, .. } => {
            node(format!("{} {}", if *test { "has" } else { "select" }, ast.name(*field)), vec![sub(operand)?])
        }
        Expr::Index { operand, index, .. } => node("_[_]", vec![sub(operand)?, sub(index)?]),
        Expr::Unary { op, operand } => node(if *op == UnaryOp::Not { "!_" } else { "-_" }, vec![sub(operand)?]),
        Expr::Binary { op, left, right } => {
            let name = match op {
                BinaryOp::Add => "_+_",
                BinaryOp::Sub => "_-_",
                BinaryOp::Mul => "_*_",
                BinaryOp::Div => "_/_",
                BinaryOp::Rem => "_%_",
                BinaryOp::Eq => "_==_",
                BinaryOp::Ne => "_!=_",
                BinaryOp::Lt => "_<_",
                BinaryOp::Le => "_<=_",
                BinaryOp::Gt => "_>_",
                BinaryOp::Ge => "_>=_",
                BinaryOp::In => "@in",
            };
            node(name, vec![sub(left)?, sub(right)?])
        }
        Expr::Logic { op, operands } => {
            node(if *op == LogicOp::And { "_&&_" } else { "_||_" }, subs(ast.children(*operands))?)
        }
        Expr::Cond { condition, then, otherwise } => node("_?_:_", subs(&[*condition, *then, *otherwise])?),
        Expr::Call { target, function, args, rooted } => {
            if *rooted {
                return Err("leading dot");
            }
            let mut children = subs(ast.children(*args))?;
            let form = if let Some(target) = target {
                children.insert(0, sub(target)?);
                "member"
            } else {
                "call"
            };
            node(format!("{form} {}", ast.name(*function)), children)
        }
        Expr::List { .. } if ast.source().as_bytes().get(ast.span(id).start as usize) != Some(&b'[') => {
            return Err("arguments gathered in a list");
        }
        Expr::List { elements, optional } if optional.is_empty() => node("list", subs(ast.children(*elements))?),
        Expr::Map { entries, optional } if optional.is_empty() => node("map", subs(ast.children(*entries))?),
        Expr::Message { name, fields, values, optional } if optional.is_empty() => {
            let names: Vec<_> = fields.iter().map(|f| ast.name(*f)).collect();
            node(format!("message {} {}", ast.name(*name), names.join(" ")), subs(ast.children(*values))?)
        }
        Expr::List { .. } | Expr::Map { .. } | Expr::Message { .. } => return Err("optional entries"),
        Expr::Fold { var2: Some(_), .. } => return Err("a second variable"),
        Expr::Fold { kind, range, var, filter, transform, .. } => {
            let name = match kind {
                FoldKind::All => "all",
                FoldKind::Exists => "exists",
                FoldKind::ExistsOne => "exists_one",
                FoldKind::Filter => "filter",
                FoldKind::Map => "map",
                _ => return Err("a second variable"),
            };
            let mut children = vec![sub(range)?];
            for part in [filter, transform].into_iter().flatten() {
                children.push(sub(part)?);
            }
            fold(name, ast.name(*var), children)
        }
        Expr::Bind { var, init, body, with: true } => {
            let variable = Tree::Leaf(format!("ident {}", ast.name(*var)));
            node("member with", vec![sub(init)?, variable, sub(body)?])
        }
        Expr::Bind { .. } => return Err("`cel.bind`"),
        Expr::Fallback { kind, operands } => {
            let name = match kind {
                FallbackKind::Default => "call default",
                FallbackKind::Coalesce => "call coalesce",
            };
            node(name, subs(ast.children(*operands))?)
        }
        Expr::OptMap { .. } => return Err("`optMap`"),
    })
}

/// The tree of the second parser.
fn theirs(expr: &Theirs) -> Tree {
    let sub = |e: &IdedExpr| theirs(&e.expr);
    match expr {
        Theirs::Unspecified => panic!("an unspecified expression"),
        Theirs::Literal(value) => Tree::Leaf(match value {
            Val::Null => "null".into(),
            Val::Boolean(v) => format!("bool {v}"),
            Val::Int(v) => format!("int {v}"),
            Val::UInt(v) => format!("uint {v}"),
            Val::Double(v) => format!("double {v:?}"),
            Val::String(v) => format!("string {v:?}"),
            Val::Bytes(v) => format!("bytes {v:?}"),
        }),
        Theirs::Ident(name) => Tree::Leaf(format!("ident {name}")),
        Theirs::Select(s) => {
            node(format!("{} {}", if s.test { "has" } else { "select" }, s.field), vec![sub(&s.operand)])
        }
        Theirs::List(list) => node("list", list.elements.iter().map(sub).collect()),
        Theirs::Map(map) => {
            let entries = map.entries.iter().flat_map(|e| match &e.expr {
                EntryExpr::MapEntry(e) => [sub(&e.key), sub(&e.value)],
                EntryExpr::StructField(_) => panic!("a field in a map"),
            });
            node("map", entries.collect())
        }
        Theirs::Struct(message) => {
            let fields = message.entries.iter().map(|e| match &e.expr {
                EntryExpr::StructField(f) => (f.field.as_str(), sub(&f.value)),
                EntryExpr::MapEntry(_) => panic!("an entry in a message"),
            });
            let (names, values): (Vec<_>, Vec<_>) = fields.unzip();
            node(format!("message {} {}", message.type_name, names.join(" ")), values)
        }
        Theirs::Call(CallExpr { func_name, target, args }) => {
            let mut children: Vec<_> = args.iter().map(sub).collect();
            match target {
                Some(target) => {
                    children.insert(0, sub(target));
                    node(format!("member {func_name}"), children)
                }
                None if func_name.contains('_') && !func_name.chars().any(char::is_alphanumeric)
                    || func_name == "@in" =>
                {
                    node(func_name.as_str(), children)
                }
                None => node(format!("call {func_name}"), children),
            }
        }
        Theirs::Comprehension(c) => comprehension(c),
    }
}

/// Finds the macro that a comprehension of the second parser was expanded from.
fn comprehension(c: &ComprehensionExpr) -> Tree {
    let range = theirs(&c.iter_range.expr);
    let Theirs::Call(step) = &c.loop_step.expr else { panic!("a step that is no call") };
    let arg = |call: &CallExpr, i: usize| call.args.get(i).unwrap().expr.clone();
    let appended = |call: &CallExpr| match arg(call, 1) {
        Theirs::List(list) => theirs(&list.elements.first().unwrap().expr),
        other => panic!("{other:?} is appended"),
    };
    match &c.accu_init.expr {
        Theirs::Literal(Val::Boolean(all)) => {
            fold(if *all { "all" } else { "exists" }, &c.iter_var, vec![range, theirs(&arg(step, 1))])
        }
        Theirs::Literal(Val::Int(0)) => fold("exists_one", &c.iter_var, vec![range, theirs(&arg(step, 0))]),
        Theirs::List(_) if step.func_name == "_?_:_" => {
            let Theirs::Call(append) = arg(step, 1) else { panic!("no append") };
            fold("map", &c.iter_var, vec![range, theirs(&arg(step, 0)), appended(&append)])
        }
        Theirs::List(_) => fold("map", &c.iter_var, vec![range, appended(step)]),
        other => panic!("a comprehension that starts with {other:?}"),
    }
}

enum Comparison {
    Same,
    /// The second parser has no tree for it: why.
    OursOnly(&'static str),
    Different(String),
}

fn compare(source: &str) -> Comparison {
    let ast = match parse(source, &Limits::default()) {
        Ok(ast) => ast,
        Err(diagnostics) => {
            return Comparison::Different(format!("celero rejects it: {}", diagnostics.first().unwrap().message));
        }
    };
    let tree = match ours(&ast, ast.root()) {
        Ok(tree) => tree,
        Err(reason) => return Comparison::OursOnly(reason),
    };
    let text = source.to_owned();
    let second =
        catch_unwind(|| cel_parser::Parser::new().parse(&text).map(|e| theirs(&e.expr)).map_err(|e| e.to_string()));
    match second {
        Err(_) => Comparison::Different("the second parser panics".into()),
        Ok(Err(error)) => Comparison::Different(format!("the second parser rejects it: {error}")),
        Ok(Ok(second)) if second == tree => Comparison::Same,
        Ok(Ok(second)) => Comparison::Different(format!("trees differ\n  ours   {tree:?}\n  second {second:?}")),
    }
}

#[test]
fn both_parsers_build_the_same_trees() {
    let Some(path) = shared::find("corpora/cel_expressions.jsonl", "comparison with a second parser") else { return };
    let known = read_list(include_str!("../../second-parser-known-wrong.txt")).unwrap();
    let mut used: BTreeMap<&str, u32> = known.keys().map(|k| (k.as_str(), 0)).collect();
    let (mut same, mut failures) = (0u32, Vec::new());
    let mut beyond: BTreeMap<&str, u32> = BTreeMap::new();
    let mut sources = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        sources.push(row["expr"].as_str().unwrap().to_owned());
    }
    let suite = shared::find("conformance", "comparison with a second parser on the conformance suite");
    if let Some(suite) = &suite {
        sources.extend(Suite::read(suite).unwrap().cases.into_iter().filter(|c| c.file != "block_ext").map(|c| c.expr));
    }
    for source in &sources {
        match compare(source) {
            Comparison::Same => same += 1,
            Comparison::OursOnly(why) => *beyond.entry(why).or_default() += 1,
            Comparison::Different(how) => {
                let reasons: Vec<_> = known.keys().filter(|k| source.contains(k.as_str())).collect();
                if reasons.is_empty() || how.starts_with("celero") {
                    failures.push(format!("{source}\n  {how}"));
                }
                for key in reasons {
                    *used.get_mut(key.as_str()).unwrap() += 1;
                }
            }
        }
    }
    shared::say(&format!("second parser: {same} trees equal, beyond it {beyond:?}, known to be wrong: {used:?}"));
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(same > 1000, "only {same} trees were compared");
    // What the second parser gets wrong is found in the suite.
    assert!(
        suite.is_none() || used.values().all(|n| *n > 0),
        "a line of second-parser-known-wrong.txt explains nothing: {used:?}"
    );
}

/// The comparison itself: it must see a difference.
#[test]
fn wrong_answers_are_seen() {
    for source in ["!!x", "--x", "'a\\\"b'", "-0x80 == -128"] {
        assert!(matches!(compare(source), Comparison::Different(_)), "{source}");
    }
    for source in ["!x", "-(1) + -1", "a.b(c)[1u].d", "[1].map(x, x > 1, x)", "a && (b && c) || d", "{'a': b'\\x01'}"] {
        assert!(matches!(compare(source), Comparison::Same), "{source}");
    }
    assert!(matches!(compare("a.?b"), Comparison::OursOnly(_)));
}
