//! The names of CEL's macros, for completion: the table of functions does not have them.

use celero::language::macro_forms;

/// Returns the names of CEL's macros as they are written, each once: `all`, `cel.bind`.
pub fn macro_names() -> Vec<&'static str> {
    let written = macro_forms().map(|form| match form.usage.split_once('(') {
        Some((name, _)) if name.starts_with("cel.") => name,
        _ => form.name,
    });
    let mut names: Vec<_> = written.collect();
    names.dedup();
    names
}
