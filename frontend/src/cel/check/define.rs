//! Checks the bodies of functions that are defined in CEL.

use super::{Checker, RECEIVER, codes, outcome};
use crate::ast::Name;
use crate::cel::notation::FunctionDeclaration;
use crate::checked::Checked;
use crate::declarations::{Declarations, Definition};
use crate::diagnostic::{Diagnostic, Severity};
use crate::expansion::expanded_size;
use crate::inline::guarded;
use crate::limits::{Limits, with_stack};
use crate::span::Span;
use crate::stdlib::{Overload, Signature};
use crate::types::Type;

/// Checks the body of a function and returns its definition. [`Declarations::add_definition`] then
/// declares the function.
///
/// The body can use the parameters and everything declared so far. A method's receiver is its first parameter, `this`.
///
/// # Errors
/// The errors of [`parse`](crate::parse) and [`check`](crate::check) for the body; an error if the
/// body's type is not that of the declared result, or if the body exceeds the limits with the
/// definitions that it uses in their places.
pub fn define(
    declarations: &Declarations,
    declaration: &FunctionDeclaration,
    body: &str,
    limits: &Limits,
) -> Result<Definition, Vec<Diagnostic>> {
    let FunctionDeclaration { name, receiver, parameters, result, .. } = declaration;
    let this = receiver.iter().map(|ty| (RECEIVER, ty));
    let parameters: Vec<(&str, &Type)> = this.chain(parameters.iter().map(|p| (&*p.name, &p.ty))).collect();
    let ast = crate::cel::parser::parse_with(body, limits, declarations.libraries())?;
    let checked = with_stack(super::levels(&ast), || {
        let mut checker = Checker::new(&ast, declarations, limits);
        checker.defining = Some(name);
        for (name, ty) in &parameters {
            // The body has no such name: it does not use the parameter.
            let name = ast.find_name(name).unwrap_or(Name(u32::MAX));
            let ty = if declarations.is_unchecked() { Type::Dyn } else { Type::clone(ty) };
            checker.names.push(name, ty);
        }
        let root = ast.root();
        let ty = checker.check(root);
        if let Some(result) = result
            && !checker.infer.assign(&ty, result)
        {
            let shown = checker.show(&ty);
            let message = format!("the body of `{name}` must be `{result}`, this is `{shown}`");
            checker.error(codes::RESULT_TYPE, ast.span(root), message);
        }
        checker.finish_types();
        outcome(checker)
    })
    .map(|(types, references, _)| Checked::new_unverified(ast, types, references))?;
    let found = checked.result_type().clone();
    let levels = u32::try_from(parameters.len()).unwrap_or(u32::MAX);
    let mut size = expanded_size(&checked, declarations, limits).map_err(|excess| vec![*excess])?;
    let asks_lists = declarations.asks_lists(&checked);
    let mut body = checked;
    let result = result.clone().unwrap_or_else(|| found.clone());
    if result != found && result != Type::Dyn {
        (body, size) = (guarded(&body, levels, &result), size.wrapped());
    }
    let params = parameters.iter().map(|(_, ty)| Type::clone(ty)).collect();
    Ok(Definition {
        name: name.as_str().into(),
        signature: Signature { overload: Overload::Defined(0), receiver: receiver.is_some(), params, result },
        parameters: parameters.iter().map(|(name, _)| (*name).into()).collect(),
        body,
        size,
        asks_lists,
    })
}

/// Returns an error about a declaration, at a place in its text.
#[must_use]
pub fn misdeclared(span: Span, message: String) -> Diagnostic {
    super::report::diagnostic(Severity::Error, codes::DECLARATION, span, message)
}
