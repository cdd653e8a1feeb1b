//! What a document may look like, as data: the tables of `shapes.rs` are read by the check here, by the JSON schema and by the tests of
//! the documentation, so that these can't tell different things.

use crate::problems::Problems;
use crate::yaml::{Entry, Node, Value};

/// A mapping with known keys.
pub(crate) struct Shape {
    /// What it is called, with its article.
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a mapping.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// What it is for, in a sentence.
    pub(crate) about: &'static str,
}

/// What may stand at a place.
pub(crate) enum Kind {
    /// Any text that is not empty.
    Text,
    /// A CEL expression.
    Expression,
    /// Text in which `${..}` are expressions.
    Template,
    /// Whatever JSON can hold.
    Data,
    /// The word `true`.
    True,
    Integer {
        least: u64,
        most: u64,
    },
    /// More than 0, at most 1.
    Chance,
    /// Bytes: `65536`, `64KiB`, `1MiB`.
    Size,
    /// Seconds: `30`, `30s`.
    Seconds,
    Word(&'static [&'static str]),
    List(&'static Kind),
    /// Any keys.
    Map(&'static Kind),
    Object(&'static Shape),
    /// The first that is of the node's kind.
    Any(&'static [Kind]),
}

impl Shape {
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// Reports whatever does not fit at a node, and below it. `what` names the node.
pub(crate) fn check(node: &Node, kind: &Kind, what: &str, problems: &mut Problems) {
    match (kind, &node.value) {
        (Kind::Any(kinds), _) if !node.is_nothing() => {
            let fitting = kinds.iter().find(|kind| kind.takes(node)).or(kinds.last());
            if let Some(kind) = fitting {
                if kind.takes(node) { check(node, kind, what, problems) } else { misfit(node, kinds, what, problems) }
            }
        }
        (Kind::List(element), Value::List(elements)) => {
            elements.iter().for_each(|node| check(node, element, what, problems));
        }
        (Kind::Map(kind), Value::Map(entries)) => {
            for Entry { key, value } in entries {
                check(value, kind, &format!("`{}`", key.text), problems);
            }
        }
        (Kind::Object(shape), Value::Map(entries)) => object(node, shape, entries, problems),
        _ if kind.takes(node) || node.is_nothing() && kind.may_be_nothing() => {}
        _ => misfit(node, std::slice::from_ref(kind), what, problems),
    }
}

fn misfit(node: &Node, kinds: &[Kind], what: &str, problems: &mut Problems) {
    let expected: Vec<String> = kinds.iter().map(Kind::expected).collect();
    let shown = node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{}`", text.text));
    let message = format!("{what} is {}, not {shown}", expected.join(" or "));
    problems.add("policy-value", node.place, message);
}

fn object(node: &Node, shape: &Shape, entries: &[Entry], problems: &mut Problems) {
    for Entry { key, value } in entries {
        if let Some(known) = shape.key(&key.text) {
            check(value, &known.kind, &format!("`{}`", known.name), problems);
            continue;
        }
        let names: Vec<&str> = shape.keys.iter().map(|key| key.name).collect();
        let problem = problems.add("policy-key", key.place, format!("{} has no key `{}`", shape.name, key.text));
        match similar(&key.text, &names) {
            Some(name) => problem.help(format!("did you mean `{name}`?")),
            None => problem.help(format!("there are `{}`", names.join("`, `"))),
        };
    }
    for key in shape.keys.iter().filter(|key| key.required && node.get(key.name).is_none()) {
        problems.add("policy-missing", node.place, format!("{} needs `{}`", shape.name, key.name)).help(key.about);
    }
}

impl Kind {
    /// Whether a node is of this kind, whatever lies below it.
    fn takes(&self, node: &Node) -> bool {
        let text = || node.text().map(|text| text.text);
        let plain = |fits: &dyn Fn(&str) -> bool| node.plain().is_some_and(fits);
        match self {
            Self::Text | Self::Expression | Self::Template => {
                text().is_some_and(|text| !text.is_empty() || matches!(self, Self::Template))
            }
            Self::Data => true,
            Self::True => plain(&|text| text == "true"),
            Self::Integer { least, most } => {
                plain(&|text| text.parse().is_ok_and(|number: u64| (*least..=*most).contains(&number)))
            }
            Self::Chance => plain(&|text| chance(text).is_some()),
            Self::Size => plain(&|text| size(text).is_some()),
            Self::Seconds => plain(&|text| seconds(text).is_some()),
            Self::Word(words) => text().is_some_and(|text| words.contains(&&*text)),
            Self::List(_) => matches!(node.value, Value::List(_)),
            Self::Map(_) | Self::Object(_) => matches!(node.value, Value::Map(_)),
            Self::Any(kinds) => kinds.iter().any(|kind| kind.takes(node)),
        }
    }

    /// Whether a key may stand without a value: lists and mappings are empty then.
    fn may_be_nothing(&self) -> bool {
        match self {
            Self::List(_) | Self::Map(_) => true,
            Self::Any(kinds) => kinds.iter().any(Self::may_be_nothing),
            _ => false,
        }
    }

    /// What it is, in words.
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Text | Self::Template => "text".to_owned(),
            Self::Data => "anything".to_owned(),
            Self::Expression => "an expression".to_owned(),
            Self::True => "`true`".to_owned(),
            Self::Integer { least, most } => format!("a number from {least} to {most}"),
            Self::Chance => "a number above 0 and up to 1".to_owned(),
            Self::Size => "a number of bytes, as in `64KiB`".to_owned(),
            Self::Seconds => "a number of seconds, as in `30s`".to_owned(),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
            Self::Object(shape) => shape.name.to_owned(),
            Self::Any(kinds) => kinds.iter().map(Self::expected).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// A share of requests.
pub(crate) fn chance(text: &str) -> Option<f64> {
    text.parse().ok().filter(|chance| *chance > 0.0 && *chance <= 1.0)
}

/// A number of bytes, up to 1 GiB.
pub(crate) fn size(text: &str) -> Option<usize> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit: usize = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(unit).filter(|bytes| *bytes <= 1 << 30)
}

/// A number of seconds, up to a day.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    text.strip_suffix('s').unwrap_or(text).parse().ok().filter(|seconds| *seconds <= 86_400)
}

/// The name that was probably meant.
pub(crate) fn similar<'n>(wrong: &str, names: &[&'n str]) -> Option<&'n str> {
    let lower = wrong.to_ascii_lowercase();
    let near = names.iter().map(|name| (distance(&lower, &name.to_ascii_lowercase()), *name));
    let (distance, name) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= wrong.chars().count().min(name.len()) / 3).then_some(name)
}

/// How many letters must be changed, added or left out to make one of the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().take(64).enumerate() {
        let mut before = line.saturating_add(1);
        let mut next = vec![before];
        for (other, above) in to.iter().zip(row.windows(2)) {
            let [diagonal, above] = *above else { continue };
            let changed = diagonal.saturating_add(usize::from(letter != *other));
            before = changed.min(above.saturating_add(1)).min(before.saturating_add(1));
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units_and_bounds() {
        assert_eq!(
            [size("5"), size("64KiB"), size("1 MiB"), size("1GiB")],
            [Some(5), Some(65_536), Some(1 << 20), Some(1 << 30)]
        );
        assert_eq!([size("2GiB"), size("1kb"), size(""), size("-1")], [None; 4]);
        assert_eq!([seconds("30"), seconds("30s"), seconds("1m"), seconds("86401")], [Some(30), Some(30), None, None]);
        assert_eq!(
            [chance("0.5"), chance("1"), chance("0"), chance("1.1"), chance("NaN")],
            [Some(0.5), Some(1.0), None, None, None]
        );
    }

    #[test]
    fn names_that_are_near_are_found() {
        assert_eq!(similar("setHeader", &["addHeaders", "setHeaders", "deny"]), Some("setHeaders"));
        assert_eq!(similar("dney", &["deny", "allow"]), None);
        assert_eq!(similar("denny", &["deny", "allow"]), Some("deny"));
        assert_eq!(similar("log", &["request", "deny"]), None);
    }
}
