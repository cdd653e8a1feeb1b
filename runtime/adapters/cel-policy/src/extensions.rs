//! What the names in environment files stand for: extensions, features, limits, validators.

use celero::settings::{Library, SourceLimits};

/// An extension of cel-go by its names, with the newest version of it that celero has.
struct Extension {
    names: &'static [&'static str],
    newest: u32,
    /// Empty: it is always there.
    libraries: &'static [Library],
}

const EXTENSIONS: &[Extension] = &[
    Extension { names: &["bindings", "cel.lib.ext.cel.bindings"], newest: 1, libraries: &[] },
    Extension { names: &["optional", "cel.lib.optional"], newest: 4, libraries: &[] },
    Extension { names: &["protos", "cel.lib.ext.protos"], newest: 1, libraries: &[] },
    Extension {
        names: &["encoders", "cel.lib.ext.encoders"],
        newest: 2,
        libraries: &[Library::Encoders, Library::Yaml],
    },
    Extension { names: &["lists", "cel.lib.ext.lists"], newest: 5, libraries: &[Library::Lists] },
    Extension { names: &["math", "cel.lib.ext.math"], newest: 3, libraries: &[Library::Math] },
    Extension { names: &["sets", "cel.lib.ext.sets"], newest: 1, libraries: &[Library::Sets] },
    Extension { names: &["strings", "cel.lib.ext.strings"], newest: 5, libraries: &[Library::Strings] },
    Extension { names: &["regex", "cel.lib.ext.regex"], newest: 1, libraries: &[Library::Regex] },
    Extension {
        names: &["two-var-comprehensions", "cel.lib.ext.comprev2"],
        newest: 1,
        libraries: &[Library::Comprehensions],
    },
    Extension { names: &["celero.hmac", "cel.lib.ext.security.hmac"], newest: 0, libraries: &[Library::Hmac] },
    Extension { names: &["celero.jwt", "cel.lib.ext.security.jwt"], newest: 0, libraries: &[Library::Jwt] },
    // Libraries that only celero has.
    Extension { names: &["celero.network"], newest: 0, libraries: &[Library::Network] },
    Extension { names: &["celero.json"], newest: 0, libraries: &[Library::Json] },
    Extension { names: &["celero.gateway"], newest: 0, libraries: &[Library::Gateway] },
    Extension { names: &["celero.http"], newest: 0, libraries: &[Library::Http] },
];

/// Libraries that are on whatever a file says: policies need optionals.
pub(crate) const ALWAYS: &[Library] = &[Library::Standard, Library::Optionals, Library::Bindings];

/// The macros of the standard library.
pub(crate) const MACROS: &[&str] = &["has", "all", "exists", "exists_one", "map", "filter"];

/// Operators that are no functions of a library.
pub(crate) const OPERATORS: &[&str] = &["_&&_", "_||_", "_?_:_"];

/// The short names of the extensions.
pub(crate) fn names() -> Vec<&'static str> {
    EXTENSIONS.iter().filter_map(|extension| extension.names.first().copied()).collect()
}

/// Returns the libraries of an extension; one that is always on has none.
///
/// # Errors
/// There is none of this name (`None`), or not in this version: the newest one.
pub(crate) fn libraries(name: &str, version: u32) -> Result<&'static [Library], Option<u32>> {
    let extension = EXTENSIONS.iter().find(|extension| extension.names.contains(&name)).ok_or(None)?;
    if version > extension.newest && version != u32::MAX {
        return Err(Some(extension.newest));
    }
    Ok(extension.libraries)
}

/// Whether celero does what a feature says where it has this value; `None` for an unknown feature.
pub(crate) fn has_feature(name: &str, enabled: bool) -> Option<bool> {
    Some(match name {
        // Of no effect on results.
        "cel.feature.macro_call_tracking" => true,
        "cel.feature.cross_type_numeric_comparisons" | "cel.feature.backtick_escape_syntax" => enabled,
        "cel.feature.json_field_names" => !enabled,
        _ => return None,
    })
}

/// Sets a limit, and returns whether celero has it.
pub(crate) fn set_limit(limits: &mut SourceLimits, name: &str, value: u32) -> bool {
    match name {
        "cel.limit.expression_code_points" => limits.max_source_bytes = value,
        "cel.limit.parse_recursion_depth" => limits.max_depth = value,
        "cel.limit.expression_node_count" => limits.max_nodes = value,
        "cel.limit.parse_error_recovery" => limits.max_diagnostics = value,
        // Of expressions that are no text: there are none.
        "cel.limit.max_ast_depth" => {}
        _ => return false,
    }
    true
}
