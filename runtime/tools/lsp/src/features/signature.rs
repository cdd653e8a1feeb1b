//! Signature help: the signatures of the call around a cursor, and which argument the cursor is in.

use crate::checks::environment::Checks;
use crate::cursor::context::{open_calls, selected_from};
use crate::cursor::tokens::tokens;
use crate::documents::document::Document;
use crate::features::completion::{AtCursor, Typed, at_cursor};
use celero::filter::Named;
use celero_tooling::names::{callables, macros};
use lsp_types::{Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation};

/// Returns the signatures of the innermost call around a place.
pub(crate) fn signature_help(document: &Document, offset: usize, checks: &dyn Checks) -> Option<SignatureHelp> {
    let AtCursor::Expression(typed) = at_cursor(document, offset, checks)? else { return None };
    let Typed { before, language, scope } = &*typed;
    let tokens = tokens(before, *language);
    let call = open_calls(&tokens, before.len()).pop()?;
    let name = tokens.get(call.name)?.text(before);
    let argument = call.arguments.len().saturating_sub(1);
    let mut signatures = Vec::new();
    if let Some(scheme) = &scope.scheme {
        if let Named::Function(index) = scheme.named(name)? {
            let text = scheme.functions().get(index as usize)?.to_string();
            let parameters = text.split_once('(').and_then(|(_, rest)| rest.split_once(") ->"))?.0;
            let parameters: Vec<String> = parameters.split(", ").map(str::to_owned).collect();
            signatures.push(information(text, &parameters, "", argument));
        }
    } else {
        let receiver = selected_from(&tokens, call.name).and_then(|range| before.get(range));
        let qualified = receiver.map(|receiver| format!("{}.{name}", receiver.trim()));
        for form in macros(&scope.declarations).filter(|form| form.name == name) {
            let parameters = form.usage.split_once('(').map(|(_, rest)| rest.trim_end_matches(')')).unwrap_or_default();
            let parameters: Vec<String> = parameters.split(", ").map(str::to_owned).collect();
            signatures.push(information(form.usage.to_owned(), &parameters, "", argument));
        }
        for callable in callables(&scope.declarations) {
            let is_it = match callable.signature.receiver {
                true => receiver.is_some() && callable.name == name,
                false => qualified.as_deref() == Some(callable.name) || receiver.is_none() && callable.name == name,
            };
            if is_it {
                signatures.push(information(callable.text(), &callable.parameters(), callable.doc, argument));
            }
        }
    }
    // The first signature that has the argument.
    let active = signatures.iter().position(|s| s.parameters.as_ref().is_some_and(|p| p.len() > argument)).unwrap_or(0);
    (!signatures.is_empty()).then(|| SignatureHelp {
        signatures,
        active_signature: u32::try_from(active).ok(),
        active_parameter: u32::try_from(argument).ok(),
    })
}

fn information(label: String, parameters: &[String], doc: &str, argument: usize) -> SignatureInformation {
    let parameter =
        |text: &String| ParameterInformation { label: ParameterLabel::Simple(text.clone()), documentation: None };
    SignatureInformation {
        label,
        documentation: (!doc.is_empty()).then(|| Documentation::String(doc.to_owned())),
        parameters: Some(parameters.iter().filter(|text| !text.is_empty()).map(parameter).collect()),
        active_parameter: u32::try_from(argument).ok(),
    }
}
