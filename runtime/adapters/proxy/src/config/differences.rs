//! What differs between two configurations, in words for the log.

use super::Config;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many names a list has.
const SHOWN: usize = 10;

impl Config {
    /// Returns what is new, gone and changed since `before`: upstreams and routes by their names, other sections as a whole. Empty: nothing.
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
            ("forwarded", self.forwarded == before.forwarded),
            ("traces", self.traces == before.traces),
            ("timeouts", self.timeouts == before.timeouts),
            ("limits", self.limits == before.limits),
            ("retries", self.retries == before.retries),
            ("reload", self.reload == before.reload),
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
    let added: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
    let gone: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    let differs = |name: &&String| old.get(*name).is_some_and(|value| new.get(*name) != Some(value));
    let changed: Vec<&String> = new.keys().filter(differs).collect();
    for (kind, names) in [("new", added), ("gone", gone), ("changed", changed)] {
        list(text, &format!("{kind} {what}"), &names);
    }
}

/// Adds the first of some names.
fn list(text: &mut String, what: &str, names: &[&String]) {
    if let Some(shown) = names.get(..names.len().min(SHOWN)).filter(|shown| !shown.is_empty()) {
        let shown: Vec<&str> = shown.iter().map(|name| name.as_str()).collect();
        let more = if names.len() > SHOWN { ", .." } else { "" };
        let _ = write!(text, "; {what}: {}{more}", shown.join(", "));
    }
}
