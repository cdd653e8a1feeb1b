//! Which names may be declared (language definition, "Syntax"): names that a rule cannot mention are refused.

use celero_frontend::cel::{KEYWORDS, RESERVED, is_macro_name};

/// Whether this is one or more identifiers with dots between them.
///
/// # Errors
/// The reason why it is not.
pub(super) fn qualified(name: &str) -> Result<(), String> {
    written(name, false)
}

/// As [`qualified`], of a name that is written after a dot or not.
fn written(name: &str, after_dot: bool) -> Result<(), String> {
    for (position, segment) in name.split('.').enumerate() {
        let mut letters = segment.bytes();
        let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_');
        if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == b'_') {
            return Err(format!("`{segment}` is not an identifier (a letter or `_`, then letters, digits and `_`)"));
        }
        if KEYWORDS.contains(&segment) || (position == 0 && !after_dot && RESERVED.contains(&segment)) {
            return Err(format!("`{segment}` is a reserved word"));
        }
    }
    Ok(())
}

/// Whether a rule in CEL can name a list of this name, `lists.NAME`.
///
/// # Errors
/// The reason why not.
pub(crate) fn list(name: &str) -> Result<(), String> {
    written(name, true)
}

/// Whether a variable may have this name.
///
/// # Errors
/// The reason why not.
pub(super) fn variable(name: &str) -> Result<(), String> {
    qualified(name)
}

/// Whether a parameter of a function defined in CEL may have this name.
///
/// # Errors
/// The reason why not.
pub(super) fn parameter(name: &str) -> Result<(), String> {
    qualified(name)?;
    if name.contains('.') { Err("the name of a parameter has no dots".to_owned()) } else { Ok(()) }
}

/// Whether a function with this many parameters, the receiver included, may have this name.
///
/// # Errors
/// The reason why not.
pub(super) fn function(name: &str, receiver: bool, params: usize) -> Result<(), String> {
    written(name, receiver)?;
    if receiver && name.contains('.') {
        return Err("the name of a method has no dots".to_owned());
    }
    if receiver && params == 0 {
        return Err("a method needs a parameter for what it is called on".to_owned());
    }
    // `math.greatest(a, b, c)` gathers its arguments, whatever `math` is.
    let gathers = receiver && params > 3 && matches!(name, "greatest" | "least");
    if gathers || is_macro_name(name, receiver) {
        return Err("a macro has this name".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_with_dots_are_accepted_and_nothing_else() {
        for good in ["a", "_", "request.path", "a.if", "x1"] {
            assert_eq!(qualified(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "a.", ".a", "1a", "a-b", "a..b", "in", "a.in", "if", "ä", "a b"] {
            assert!(qualified(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn macros_keep_their_names_in_their_form_only() {
        assert!(function("has", false, 1).is_err());
        assert!(function("has", true, 1).is_ok());
        assert!(function("exists", true, 3).is_err());
        assert!(function("exists", false, 1).is_ok());
        assert!(function("sortBy", true, 2).is_err());
        assert!(function("greatest", true, 4).is_err());
        assert!(function("greatest", true, 3).is_ok());
        assert!(function("f", true, 0).is_err());
        assert!(function("a.f", true, 1).is_err());
    }
}
