//! What authors write who know another language: its words for operators and functions, and what
//! CEL has instead. Messages suggest it.

use crate::span::Span;

/// Longest piece of a rule that a message repeats, in bytes.
const MAX_REPEATED: usize = 160;

/// Returns a piece of a rule if a message can repeat it: it is short and on one line.
pub(super) fn repeated(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && text.len() <= MAX_REPEATED && !text.contains(char::is_control) && !text.contains('`'))
        .then_some(text)
}

/// Returns the operator that a word between two operands means in SQL, Python, or Cloudflare's and Wireshark's filters.
pub(super) fn operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" | "AND" => "&&",
        "or" | "OR" => "||",
        "eq" | "EQ" | "is" | "IS" | "equals" => "==",
        "ne" | "NE" => "!=",
        "lt" | "LT" => "<",
        "le" | "LE" => "<=",
        "gt" | "GT" => ">",
        "ge" | "GE" => ">=",
        _ => return None,
    })
}

/// What a word or sign between two operands means in another language, where CEL has a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// A method of the first operand.
    Method(&'static str),
    /// A pattern of regular expressions.
    Pattern { negated: bool, ignores_case: bool },
    /// A pattern of SQL, with `%`.
    Like { ignores_case: bool },
    /// `not in`
    NotIn,
    /// `a between 1 and 9` of SQL. Its second operand is the first end.
    Between,
    /// `a xor b`
    Xor,
    /// `a unless b`
    Unless,
}

/// Returns what a word or sign between two operands means.
pub(super) fn relation(word: &str) -> Option<Relation> {
    let pattern = |negated, ignores_case| Relation::Pattern { negated, ignores_case };
    Some(match word {
        "contains" | "includes" => Relation::Method("contains"),
        "startsWith" | "starts_with" | "startswith" => Relation::Method("startsWith"),
        "endsWith" | "ends_with" | "endswith" => Relation::Method("endsWith"),
        "wildcard" => Relation::Method("wildcard"),
        "matches" | "~" | "=~" | "==~" | "~=" => pattern(false, false),
        "~*" | "=~*" => pattern(false, true),
        "!~" => pattern(true, false),
        "!~*" => pattern(true, true),
        "like" | "LIKE" => Relation::Like { ignores_case: false },
        "ilike" | "ILIKE" => Relation::Like { ignores_case: true },
        "not" | "NOT" => Relation::NotIn,
        "between" | "BETWEEN" => Relation::Between,
        "xor" | "XOR" => Relation::Xor,
        "unless" => Relation::Unless,
        _ => return None,
    })
}

impl Relation {
    /// Whether it joins whole conditions, as `||` does.
    pub(super) fn joins_conditions(self) -> bool {
        matches!(self, Self::Xor | Self::Unless)
    }

    /// Returns the relation of two operands in CEL.
    pub(super) fn written(self, left: &str, right: &str) -> String {
        let literal = right.starts_with(['"', '\'']);
        match self {
            Self::Method(name) => format!("{left}.{name}({right})"),
            Self::Pattern { negated, ignores_case } => {
                let sign = if negated { "!" } else { "" };
                let pattern = match (ignores_case, right.split_at_checked(1)) {
                    (true, Some((quote, rest))) if literal => format!("{quote}(?i){rest}"),
                    (true, _) => format!("\"(?i)\" + {right}"),
                    (false, _) => right.to_owned(),
                };
                format!("{sign}{left}.matches({pattern})")
            }
            Self::Like { ignores_case } => {
                let name = if ignores_case { "wildcard" } else { "strictWildcard" };
                let pattern = if literal { right.replace('%', "*") } else { right.to_owned() };
                format!("{left}.{name}({pattern})")
            }
            Self::NotIn => format!("!({left} in {right})"),
            // Both ends, as the parser joins them.
            Self::Between => match right.split_once('\n') {
                Some((first, last)) => format!("{left} >= {first} && {left} <= {last}"),
                None => format!("{left} >= {right} && {left} <= .."),
            },
            Self::Xor => format!("({left}) != ({right})"),
            Self::Unless => format!("{left} && !({right})"),
        }
    }
}

/// Returns the help for an address or a network that is written without quotes.
pub(super) fn address(text: &str) -> Option<String> {
    let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    address.parse::<std::net::Ipv4Addr>().ok()?;
    match prefix {
        None => Some(format!("the text of an address is written `\"{text}\"`")),
        Some(prefix) => {
            prefix.parse::<u8>().ok()?;
            Some(format!("a network is written `cidr(\"{text}\")`"))
        }
    }
}

/// Returns the rule without the braces of templates, `{{ a }}` or `${a}`, if they can be why parsing
/// failed at this place.
pub(super) fn without_braces(source: &str, failed: Span) -> Option<String> {
    let open = ["{{", "${"].into_iter().find(|open| source.contains(open))?;
    let before = source.get(..source.find(open)?)?;
    let is_in_text = ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1);
    if is_in_text || before.len() > failed.end as usize {
        return None;
    }
    let close = if open == "{{" { "}}" } else { "}" };
    let mut bare = String::new();
    let mut rest = source;
    while let Some((before, inside)) = rest.split_once(open) {
        let (inner, after) = inside.split_once(close)?;
        bare.push_str(before);
        if is_template_call(inner) {
            return Some(format!("a rule is an expression, without `{open}` and `{close}`"));
        }
        match inner.trim().strip_prefix('.') {
            // Go's templates have fields with a capital, as in `.Request.Path`.
            Some(field) => {
                let part = |part: &str| {
                    let first = part.get(..1).unwrap_or_default().to_ascii_lowercase();
                    first + part.get(1..).unwrap_or_default()
                };
                bare.push_str(&field.split('.').map(part).collect::<Vec<_>>().join("."));
            }
            None => bare.push_str(inner.trim()),
        }
        rest = after;
    }
    bare.push_str(rest);
    let bare = repeated(&bare)?;
    Some(format!("a rule is an expression without `{open}` and `{close}`: `{bare}`"))
}

/// Whether the inside of braces calls a function as Go's templates do: `eq .Request.Path "/"`.
fn is_template_call(inner: &str) -> bool {
    let mut words = inner.split_whitespace();
    let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    words.next().is_some_and(is_name)
        && words.next().is_some_and(|word| {
            word != "in" && word.starts_with(|c: char| c.is_ascii_alphanumeric() || "._\"'$(".contains(c))
        })
}

/// Returns the name with `-` that a part of a rule is, as in `request.headers.x-team`, in
/// brackets. `at` is the place of a word in it, of this length, that has a `-` before it.
pub(super) fn dashed(source: &str, at: usize, length: usize) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let (before, after) = (source.get(..at)?, source.get(at.checked_add(length)?..)?);
    let head = before.trim_end_matches(is_name);
    let path = head.strip_suffix('.')?;
    let start = path.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let path = path.get(start.len()..).filter(|path| !path.is_empty())?;
    let tail = after.get(..after.len().checked_sub(after.trim_start_matches(is_name).len())?)?;
    let name = format!("{}{}{tail}", before.get(head.len()..)?, source.get(at..at.checked_add(length)?)?);
    let is_dashed = name.contains('-') && before.ends_with('-');
    is_dashed.then(|| repeated(&name).map(|name| format!("a name with `-` is in brackets: `{path}[\"{name}\"]`")))?
}

/// Returns what CEL has for a function that other languages have.
pub(super) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "not" | "NOT" => "!",
        "len" | "length" | "strlen" | "count" => "size",
        "lower" | "toLower" | "toLowerCase" | "tolower" | "strings.ToLower" | "std.tolower" => "lowerAscii",
        "upper" | "toUpper" | "toUpperCase" | "toupper" | "strings.ToUpper" | "std.toupper" => "upperAscii",
        "hasPrefix" | "strings.HasPrefix" => "startsWith",
        "hasSuffix" | "strings.HasSuffix" => "endsWith",
        "strings.Contains" => "contains",
        "parseInt" | "Number" => "int",
        "JSON.parse" => "json",
        "math.max" | "max" => "math.greatest",
        "math.min" | "min" => "math.least",
        "any" | "some" => "exists",
        "every" => "all",
        "includes" | "has_substring" => "contains",
        "match" | "test" | "regex_match" | "re.match" => "matches",
        "strip" => "trim",
        "substr" => "substring",
        _ => return None,
    })
}

/// A value of another language, where a text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Null,
    /// A truth value, in CEL's spelling.
    Truth(&'static str),
}

/// Returns the value that a name is in other languages.
pub(super) fn word(name: &str) -> Option<Word> {
    Some(match name {
        "nil" | "None" | "NULL" | "Null" | "undefined" => Word::Null,
        "True" | "TRUE" => Word::Truth("true"),
        "False" | "FALSE" => Word::Truth("false"),
        _ => return None,
    })
}

/// Returns whether a function of another language says whether a network contains an address.
pub(super) fn is_network_test(name: &str) -> bool {
    let letters: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    matches!(
        &*letters,
        "cidrmatch"
            | "cidrcontains"
            | "ipinrange"
            | "inipranges"
            | "iniprange"
            | "ipincidr"
            | "incidr"
            | "insubnet"
            | "isinsubnet"
            | "ipmatch"
            | "isinrange"
            | "innetwork"
    )
}

/// Returns a name in the spelling of CEL's functions: `startsWith` of `starts_with`.
pub(super) fn camel_case(name: &str) -> String {
    let mut upper = false;
    let mut camel = String::new();
    for c in name.chars() {
        if c == '_' {
            upper = !camel.is_empty();
        } else {
            camel.push(if std::mem::take(&mut upper) { c.to_ascii_uppercase() } else { c });
        }
    }
    camel
}

/// Returns whether a function of another language is a macro of CEL, whose arguments use a variable.
pub(super) fn is_macro(name: &str) -> bool {
    matches!(name, "any" | "some" | "every")
}

/// Returns the help for a number that is followed by a unit of time or size, as in `500ms` and `1MB`.
pub(super) fn number(text: &str) -> Option<String> {
    if text.contains('_') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return Some(format!("a number has digits only: `{}`", text.replace('_', "")));
    }
    let mut units = text.split(|c: char| c.is_ascii_digit() || c == '.').filter(|unit| !unit.is_empty());
    if units.clone().all(|unit| matches!(unit, "ns" | "us" | "ms" | "s" | "m" | "h")) {
        return Some(format!("a duration is written `duration(\"{text}\")`"));
    }
    let unit = units.next()?.to_ascii_lowercase();
    matches!(&*unit, "b" | "k" | "kb" | "kib" | "mb" | "mib" | "g" | "gb" | "gib")
        .then(|| "a size is a number of bytes: `64 * 1024`".to_owned())
}
