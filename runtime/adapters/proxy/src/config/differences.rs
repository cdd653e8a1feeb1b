//! What differs between two configurations, in words for the log.

use super::Config;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many names a list has at most.
const SHOWN: usize = 10;

impl Config {
    /// Returns what is new, gone and changed since `before`: upstreams and routes by their names,
    /// other sections as a whole. Empty: nothing.
    pub(crate) fn differences(&self, before: &Self) -> String {
        let mut text = String::new();
        let upstreams = |config: &Self| -> BTreeMap<String, String> {
            config.upstreams.iter().map(|upstream| (upstream.name.clone(), format!("{upstream:?}"))).collect()
        };
        named(&mut text, "upstreams", &upstreams(before), &upstreams(self));
        named(&mut text, "routes", &before.routes_as_text(), &self.routes_as_text());
        // The first route that fits counts.
        let order = |config: &Self| config.routes.iter().map(|route| route.name()).collect::<Vec<_>>();
        let (mut old, mut new) = (order(before), order(self));
        if old != new {
            old.sort_unstable();
            new.sort_unstable();
            if old == new {
                text.push_str("; the order of routes changed");
            }
        }
        for (section, same) in [
            ("listeners", self.listeners == before.listeners),
            ("rateLimitServices", self.rate_limit_services == before.rate_limit_services),
            ("forwarded", self.forwarded == before.forwarded),
            ("traces", self.traces == before.traces),
            ("compression", self.compression == before.compression),
            ("timeouts", self.timeouts == before.timeouts),
            ("limits", self.limits == before.limits),
            ("metrics.export", self.metrics_export == before.metrics_export),
            ("retries", self.retries == before.retries),
            ("reload", self.reload == before.reload),
            ("admin", self.admin == before.admin),
            ("record", self.record == before.record),
            ("listCopies", self.list_copies == before.list_copies),
        ] {
            if !same {
                let _ = write!(text, "; changed: {section}");
            }
        }
        text
    }

    /// Returns what each route does, by its name. The indexes of upstreams are replaced by names.
    fn routes_as_text(&self) -> BTreeMap<String, String> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for route in &self.routes {
            let does = (self.describe_target(route), &route.timeouts, &route.retry, route.answer());
            let _ = write!(found.entry(route.name()).or_default(), "{does:?}");
        }
        found
    }
}

/// Adds the names that are in one of two maps, and those whose values differ.
fn named(text: &mut String, what: &str, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) {
    let added: Vec<&str> = new.keys().filter(|name| !old.contains_key(*name)).map(String::as_str).collect();
    let gone: Vec<&str> = old.keys().filter(|name| !new.contains_key(*name)).map(String::as_str).collect();
    let differs = |name: &&String| old.get(*name).is_some_and(|value| new.get(*name) != Some(value));
    let changed: Vec<&str> = new.keys().filter(differs).map(String::as_str).collect();
    for (kind, names) in [("new", added), ("gone", gone), ("changed", changed)] {
        if !names.is_empty() {
            let _ = write!(text, "; {kind} {what}: {}", first_names(&names, SHOWN));
        }
    }
}

/// Returns the names with commas between them: at most the first `most`, and then `..` if there are more.
pub(crate) fn first_names(names: &[&str], most: usize) -> String {
    let shown = names.get(..names.len().min(most)).unwrap_or_default().join(", ");
    let more = if names.len() > most { ", .." } else { "" };
    format!("{shown}{more}")
}

/// Returns a number of things: `1 rule`, `2 rules`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_counted() {
        assert_eq!(first_names(&["a", "b"], 2), "a, b");
        assert_eq!(first_names(&["a", "b", "c"], 2), "a, b, ..");
        assert_eq!(first_names(&[], 2), "");
        assert_eq!([0, 1, 2].map(|count| counted(count, "rule")), ["0 rules", "1 rule", "2 rules"]);
    }
}
