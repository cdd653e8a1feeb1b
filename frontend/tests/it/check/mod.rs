//! The checker on text: what type an expression has, or what is said about it.

mod bounds;
mod names;
mod references;
mod reports;
mod types;

use celero_frontend::{Checked, Declarations, Diagnostic, Limits, Reference, Type, Variable};
use std::fmt::Write as _;
use std::sync::Arc;

fn parse(text: &str) -> celero_frontend::Ast {
    celero_frontend::parse(text, &Limits::default()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn check(declarations: &Declarations, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    celero_frontend::check(parse(text), declarations, &Limits::default()).map(|(checked, _)| checked)
}

/// The result type; or, a line each, `code at "text": message (help)`.
fn outcome(declarations: &Declarations, text: &str) -> String {
    let errors = match check(declarations, text) {
        Ok(checked) => return checked.result_type().to_string(),
        Err(errors) => errors,
    };
    let mut out = String::new();
    for error in errors {
        let at = &text[error.span.start as usize..error.span.end as usize];
        let separator = if out.is_empty() { "" } else { "\n" };
        write!(out, "{separator}{} at \"{at}\": {}", error.code, error.message).unwrap();
        for help in error.help {
            write!(out, " ({help})").unwrap();
        }
    }
    out
}

/// Compares all rows before it fails, so that one run shows everything.
fn table(declarations: &Declarations, rows: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in rows {
        let actual = outcome(declarations, text);
        if actual != *expected {
            write!(wrong, "\n{text}\n  expected {expected}\n  actual   {actual}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn variable(declarations: &mut Declarations, name: &str, ty: Type) -> u32 {
    declarations.add_variable(Variable::new(name, ty))
}

fn param(name: &str) -> Type {
    Type::Param(name.into())
}

fn wrapper(ty: Type) -> Type {
    Type::Wrapper(Arc::new(ty))
}

/// Variables of every kind, and some functions of a host.
fn host() -> Declarations {
    let mut d = Declarations::new();
    variable(&mut d, "i", Type::Int);
    variable(&mut d, "u", Type::Uint);
    variable(&mut d, "s", Type::String);
    variable(&mut d, "any", Type::Dyn);
    variable(&mut d, "t", Type::Timestamp);
    variable(&mut d, "ints", Type::list(Type::Int));
    variable(&mut d, "tags", Type::map(Type::String, Type::list(Type::String)));
    variable(&mut d, "ports", Type::map(Type::Int, Type::String));
    variable(&mut d, "maybe", Type::optional(Type::map(Type::String, Type::Int)));
    variable(&mut d, "wi", wrapper(Type::Int));
    variable(&mut d, "ws", wrapper(Type::String));
    variable(&mut d, "request.path", Type::String);
    variable(&mut d, "request.method", Type::String);
    variable(&mut d, "request.headers", Type::map(Type::String, Type::String));
    d.add_function("fn", false, vec![Type::String, Type::Int], Type::String);
    d.add_function("math.twice", false, vec![Type::Int], Type::Int);
    d.add_function("size", false, vec![Type::Timestamp], Type::String);
    d.add_function("pick", true, vec![Type::list(param("T")), Type::Int], param("T"));
    let tuple = |a, b, c| Type::Opaque("tuple".into(), [a, b, c].into());
    d.add_function("tuple", false, vec![param("T"), param("U"), param("V")], tuple(param("T"), param("U"), param("V")));
    let same = || tuple(param("T"), param("T"), param("T"));
    d.add_function("sort", false, vec![same()], same());
    d
}

fn root_reference(declarations: &Declarations, text: &str) -> Reference {
    let checked = check(declarations, text).unwrap();
    checked.reference(checked.ast().root()).clone()
}

/// `range.map(x, BODY).map(x, BODY)..`, `times` times.
fn chain(body: &str, times: usize) -> String {
    format!("[1]{}", format!(".map(x, {body})").repeat(times))
}
