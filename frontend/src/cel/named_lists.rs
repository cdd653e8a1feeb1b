//! What authors write who mean a named list, and how CEL asks one.

use super::foreign_names;
use crate::declarations::{Declarations, LISTS};
use crate::diagnostic::Diagnostic;
use crate::similar::{listed, similar};

/// The help where no list is declared and one is asked as CEL asks it.
pub(super) const NONE: &str = "no named list is declared";

/// Returns the declared list of a name, or the one whose name is most similar.
pub(super) fn meant<'d>(name: &str, declarations: &'d Declarations) -> Option<&'d str> {
    let names = || declarations.lists().iter().map(|list| &*list.name);
    names().find(|known| *known == name).or_else(|| similar(name, names()))
}

/// Returns the help that names the lists that are declared.
pub(super) fn known(declarations: &Declarations) -> String {
    let names: Vec<String> = declarations.lists().iter().map(|list| format!("`{LISTS}.{}`", list.name)).collect();
    if names.is_empty() { NONE.to_owned() } else { format!("there are the lists {}", listed(names)) }
}

/// Returns the help for a name that stands where a list does.
pub(super) fn in_place(name: &str, declarations: &Declarations) -> String {
    match meant(name, declarations) {
        Some(list) => format!("did you mean `{LISTS}.{list}`?"),
        None => otherwise(name, declarations),
    }
}

/// Returns the help for another language's question whether a list has a value.
pub(super) fn question(value: &str, name: &str, negated: bool, declarations: &Declarations) -> String {
    match meant(name, declarations) {
        Some(list) if negated => format!("write `!({value} in {LISTS}.{list})`"),
        Some(list) => format!("write `{value} in {LISTS}.{list}`"),
        None => otherwise(name, declarations),
    }
}

fn otherwise(name: &str, declarations: &Declarations) -> String {
    if declarations.lists().is_empty() {
        format!("a named list is written `{LISTS}.{name}`; none is declared")
    } else {
        known(declarations)
    }
}

/// Explains lists as other proxies ask them, where parsing failed: `client.ip ~ internal` of Varnish, and `$internal`
/// of the filter language.
pub(super) fn explain(source: &str, found: &mut [Diagnostic], declarations: &Declarations) {
    for diagnostic in found {
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        let (Some(before), Some(word), Some(after)) = (source.get(..start), source.get(start..end), source.get(end..))
        else {
            continue;
        };
        if let ("$" | "@", true) = (word, diagnostic.help.is_empty()) {
            let name = name_after(after);
            let length = u32::try_from(name.len()).ok().and_then(|length| diagnostic.span.end.checked_add(length));
            if let Some(end) = length
                && !name.is_empty()
                && is_behind_in(before)
            {
                diagnostic.span.end = end;
                diagnostic.help.push(in_place(name, declarations));
            }
            continue;
        }
        let negated = match word {
            "~" | "~*" | "=~" | "matches" => false,
            "!~" | "!~*" => true,
            _ if word.starts_with("not") && word.ends_with("in") => true,
            _ => continue,
        };
        let after = after.trim_start();
        let (Some(value), whole) = (value_before(before), name_after(after)) else { continue };
        let is_more = after.get(whole.len()..).is_some_and(|rest| rest.starts_with(['(', '[']));
        let name = whole.strip_prefix(LISTS).and_then(|rest| rest.strip_prefix('.')).unwrap_or(whole);
        let parts: Vec<&str> = value.split('.').collect();
        let read = foreign_names::expression(&parts, declarations);
        let value = read.as_deref().unwrap_or(value);
        let is_list = meant(name, declarations).is_some() || is_address(value);
        if is_list && !is_more && !name.is_empty() && !is_variable(name, source, declarations) {
            diagnostic.help = vec![question(value, name, negated, declarations)];
        }
    }
}

fn is_behind_in(before: &str) -> bool {
    let before = before.trim_end().strip_suffix("in");
    before.is_some_and(|before| !before.ends_with(is_part_of_name))
}

fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// The name at the start of a text; empty if there is none.
fn name_after(text: &str) -> &str {
    let name = text.get(..text.find(|c| !is_part_of_name(c)).unwrap_or(text.len())).unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { name } else { "" }
}

/// The value at the end of a text, if it is a name and not a part of an operation.
fn value_before(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let before = text.trim_end_matches(is_part_of_name);
    let name = name_after(text.get(before.len()..)?);
    let is_whole = before.trim_end().chars().next_back().is_none_or(|c| "(!&|?:,".contains(c));
    (is_whole && !name.is_empty()).then_some(name)
}

/// Whether a value is an address, by its name.
pub(super) fn is_address(value: &str) -> bool {
    let last = value.rsplit('.').next().unwrap_or_default();
    let last = last.rsplit('_').next().unwrap_or_default();
    matches!(last, "ip" | "addr" | "address") || last.ends_with("Ip") || last.ends_with("Address")
}

/// Whether a name is that of a variable, of the environment or of a macro.
fn is_variable(name: &str, source: &str, declarations: &Declarations) -> bool {
    let of_macro =
        |inside: &str| inside.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(','));
    let first = name.split('.').next().unwrap_or_default();
    let is_start = |known: &str| known.strip_prefix(first).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    declarations.variables().iter().any(|variable| is_start(&variable.name)) || source.split('(').any(of_macro)
}
