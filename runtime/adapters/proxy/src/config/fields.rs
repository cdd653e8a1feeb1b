//! Fields of a configuration file: what is there, what it must look like, and what to say if it doesn't.

use celero_policy::problems::Problems;
use celero_policy::yaml::{Node, Text, Value};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Reads fields, and gathers what is wrong with them.
pub(crate) struct Fields<'p> {
    pub(crate) problems: &'p mut Problems,
}

impl Fields<'_> {
    /// Reports what is wrong with a node.
    pub(crate) fn wrong(&mut self, code: &'static str, node: &Node, message: String, help: &str) {
        let problem = self.problems.add(code, node.place, message);
        if !help.is_empty() {
            problem.help(help);
        }
    }

    /// Whether a node is a mapping. Fields of it that nobody knows are reported.
    pub(crate) fn mapping(&mut self, node: &Node, what: &str, known: &[&str]) -> bool {
        let Value::Map(entries) = &node.value else {
            self.wrong(
                "config-type",
                node,
                format!("{what} must be a mapping, this is {}", node.kind()),
                &fields(known),
            );
            return false;
        };
        for entry in entries {
            let name = entry.key.text.as_str();
            if known.contains(&name) {
                continue;
            }
            let help = nearest(name, known).map_or_else(|| fields(known), |near| format!("did you mean `{near}`?"));
            let message = format!("{what} has no field `{name}`");
            self.problems.add("config-field", entry.key.place, message).help(help);
        }
        true
    }

    /// A field that must be there.
    pub(crate) fn required<'n>(&mut self, node: &'n Node, what: &str, name: &str) -> Option<&'n Node> {
        let found = node.get(name);
        if found.is_none() {
            self.wrong("config-missing", node, format!("{what} needs the field `{name}`"), "");
        }
        found
    }

    /// The elements of a list.
    pub(crate) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        if !matches!(node.value, Value::List(_)) {
            self.wrong("config-type", node, format!("{what} must be a list, this is {}", node.kind()), "");
        }
        node.elements()
    }

    /// Text.
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        let text = node.text();
        if text.is_none() {
            self.wrong("config-type", node, format!("{what} must be text, this is {}", node.kind()), "");
        }
        text
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&mut self, node: &Node, what: &str) -> bool {
        match node.plain() {
            Some("true") => true,
            Some("false") => false,
            _ => {
                self.wrong("config-type", node, format!("{what} must be `true` or `false`"), "");
                false
            }
        }
    }

    /// A whole number within bounds.
    pub(crate) fn number(&mut self, node: &Node, what: &str, least: usize, most: usize) -> usize {
        let number = node.plain().and_then(|text| text.parse().ok()).filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.wrong("config-type", node, format!("{what} must be a whole number from {least} to {most}"), "");
        }
        number.unwrap_or(least)
    }

    /// A time such as `250ms`, `10s`, `5m`.
    pub(crate) fn duration(&mut self, node: &Node, what: &str) -> Duration {
        let duration = node.plain().and_then(duration);
        if duration.is_none() {
            self.wrong(
                "config-type",
                node,
                format!("{what} must be a time"),
                "write it as `250ms`, `10s`, `5m` or `1h`",
            );
        }
        duration.unwrap_or(Duration::from_secs(1))
    }

    /// An IP address with a port.
    pub(crate) fn address(&mut self, node: &Node, what: &str) -> Option<SocketAddr> {
        let text = self.text(node, what)?;
        let address = text.text.parse().ok();
        if address.is_none() {
            let help = "write an IP address and a port, as `127.0.0.1:8080`, `0.0.0.0:80` or `\"[::1]:8080\"`";
            self.wrong("config-address", node, format!("{what} can't be `{}`", text.text), help);
        }
        address
    }

    /// A server: an address, or a name that is looked up now.
    pub(crate) fn server(&mut self, node: &Node, what: &str) -> Vec<SocketAddr> {
        let Some(text) = self.text(node, what) else { return Vec::new() };
        let help = "write a host and a port, as `10.0.0.1:8000` or `api.internal:8000`";
        match text.text.to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(error) => {
                self.wrong("config-address", node, format!("{what} can't be `{}`: {error}", text.text), help);
                Vec::new()
            }
        }
    }

    /// One of some words, by its place among them.
    pub(crate) fn choice(&mut self, node: &Node, what: &str, words: &[&str]) -> Option<usize> {
        let text = self.text(node, what)?;
        let found = words.iter().position(|word| *word == text.text);
        if found.is_none() {
            let near = nearest(&text.text, words).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| format!("it is one of {}", quoted(words)));
            self.wrong("config-choice", node, format!("{what} can't be `{}`", text.text), &help);
        }
        found
    }
}

fn fields(known: &[&str]) -> String {
    format!("its fields are {}", quoted(known))
}

pub(crate) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    // More than a day is a mistake in every field there is.
    number.checked_mul(millis).filter(|total| *total <= 86_400_000).map(Duration::from_millis)
}

/// The word that is meant, if one is only a third of its letters are wrong.
pub(crate) fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let close = known.iter().map(|candidate| (distance(word, candidate), *candidate));
    let (least, found) = close.min_by_key(|(distance, _)| *distance)?;
    (least <= found.len().div_ceil(3) && least < found.len()).then_some(found)
}

/// How many letters must be changed, added or left out, whatever their case.
fn distance(a: &str, b: &str) -> usize {
    let lower = |text: &str| {
        text.chars().take(64).flat_map(char::to_lowercase).filter(|c| *c != '_' && *c != '-').collect::<Vec<_>>()
    };
    let (a, b) = (lower(a), lower(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i.saturating_add(1);
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let changed = diagonal.saturating_add(usize::from(x != y));
            left = changed.min(left.saturating_add(1)).min(above.saturating_add(1));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near_are_found() {
        let known = ["listeners", "upstreams", "routes", "h2c"];
        assert_eq!(nearest("listners", &known), Some("listeners"));
        assert_eq!(nearest("up_streams", &known), Some("upstreams"));
        assert_eq!(nearest("H2C", &known), Some("h2c"));
        assert_eq!(nearest("plugins", &known), None);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        for wrong in ["", "5", "s", "-1s", "1.5s", "5 s", "99999999999999999999s", "25h"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
