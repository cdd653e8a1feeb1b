//! Parses types, declarations and function definitions of the command line.

use celero::Type;
use celero::messages::Descriptors;

/// Reads a type: `list(string)`, `map(string, dyn)`, `optional_type(int)`.
///
/// # Errors
/// What is not understood, for people.
pub fn parse(text: &str) -> Result<Type, String> {
    text.parse().map_err(|error| format!("type `{text}`: {error}"))
}

/// Reads declarations: `user.age: int, tags: list(string)`. Messages of the descriptors are types too.
///
/// # Errors
/// What is not understood, for people.
pub fn declarations(text: &str, messages: Option<&Descriptors>) -> Result<Vec<(String, Type)>, String> {
    let names: Vec<&str> = messages.iter().flat_map(|types| types.messages()).map(|message| message.name()).collect();
    celero::values::parse_variables_with(text, &names).map_err(|error| format!("`{text}`: {error}"))
}

/// Reads a definition:
/// `internal(address: string) -> bool = cidr('10.0.0.0/8').containsIP(address)`. A declaration has
/// no `=`, so the first one ends it.
///
/// # Errors
/// What is not understood, for people.
pub fn definition(text: &str) -> Result<(String, String), String> {
    let (declaration, body) =
        text.split_once('=').ok_or_else(|| format!("`{text}`: expected `NAME(PARAMETER: TYPE) -> TYPE = BODY`"))?;
    Ok((declaration.trim().to_owned(), body.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_text() {
        assert!(parse("strin").unwrap_err().starts_with("type `strin`: there is no type `strin`"));
        assert_eq!(declarations("a", None).unwrap_err(), "`a`: expected `NAME: TYPE`");
    }

    #[test]
    fn a_definition_ends_its_declaration_at_the_first_sign() {
        let (declaration, body) = definition("same(a, b) -> bool = a == b").unwrap();
        assert_eq!((&*declaration, &*body), ("same(a, b) -> bool", "a == b"));
        assert!(definition("same(a, b)").unwrap_err().contains("= BODY"));
    }
}
