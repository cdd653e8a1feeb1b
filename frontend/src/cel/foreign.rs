//! What authors write who know another language: its words for operators and functions, and what
//! CEL has instead. Messages suggest it.

/// Returns the operator that a word between two operands means in SQL, Python, or Cloudflare's and Wireshark's filters.
pub(super) fn operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" | "AND" => "&&",
        "or" | "OR" => "||",
        "eq" | "EQ" => "==",
        "ne" | "NE" => "!=",
        "lt" | "LT" => "<",
        "le" | "LE" => "<=",
        "gt" | "GT" => ">",
        "ge" | "GE" => ">=",
        _ => return None,
    })
}

/// Returns the help for a word that stands between two operands, where CEL has a function or another form.
pub(super) fn between_operands(word: &str) -> Option<String> {
    match word {
        "matches" | "contains" | "startsWith" | "endsWith" => {
            Some(format!("`{word}` is called on a text: `a.{word}(b)`"))
        }
        "not" => Some("write `!(a in b)`".to_owned()),
        "like" | "LIKE" => Some("a text is compared with a pattern by `a.matches(b)`".to_owned()),
        _ => None,
    }
}

/// Returns the help for a function that other languages have.
pub(super) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "not" | "NOT" => "did you mean `!`?",
        "len" | "length" | "strlen" => "did you mean `size`?",
        "lower" | "toLower" | "toLowerCase" | "tolower" => "did you mean `lowerAscii`?",
        "upper" | "toUpper" | "toUpperCase" | "toupper" => "did you mean `upperAscii`?",
        "math.max" | "max" => "did you mean `math.greatest`?",
        "math.min" | "min" => "did you mean `math.least`?",
        "any" | "some" => "did you mean `exists`?",
        "every" => "did you mean `all`?",
        "includes" | "has_substring" => "did you mean `contains`?",
        _ => return None,
    })
}

/// Returns whether a function of another language is a macro of CEL, whose arguments use a variable.
pub(super) fn is_macro(name: &str) -> bool {
    matches!(name, "any" | "some" | "every")
}

/// Returns the help for a number that is followed by a unit of time or size, as in `500ms` and `1MB`.
pub(super) fn number(text: &str) -> Option<String> {
    let mut units = text.split(|c: char| c.is_ascii_digit() || c == '.').filter(|unit| !unit.is_empty());
    if units.clone().all(|unit| matches!(unit, "ns" | "us" | "ms" | "s" | "m" | "h")) {
        return Some(format!("a duration is written `duration(\"{text}\")`"));
    }
    let unit = units.next()?.to_ascii_lowercase();
    matches!(&*unit, "b" | "k" | "kb" | "kib" | "mb" | "mib" | "g" | "gb" | "gib")
        .then(|| "a size is a number of bytes: `64 * 1024`".to_owned())
}
