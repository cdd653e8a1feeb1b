//! The page for operators: routes, servers, rules and what happened last, as HTML. It has no
//! script, loads nothing from elsewhere, and changes nothing.
//!
//! Invariant: `Page::text` escapes every text that the proxy did not write itself. Test:
//! `runtime/adapters/proxy/src/admin/page.rs::texts_are_escaped`.

use crate::logs::event_history::{Refused, Reloaded};
use crate::state::State;
use celero_policy::RuleInfo;
use std::fmt::{Display, Write};

/// What browsers may do with the page: show it, with the style of this server.
pub(crate) const CONTENT_SECURITY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// How many rules are shown.
const RULES: usize = 1000;

/// The style of the page.
pub(crate) const STYLE: &str = "\
:root { color-scheme: light dark }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; overflow-wrap: anywhere }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.bad { color: #c22; font-weight: 600 } .ok { color: #293 }
";

/// Returns the page.
pub(crate) fn render(state: &State) -> String {
    let mut page = Page::default();
    let now = state.current();
    page.raw(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"10\">",
    );
    page.raw("<title>celero-proxy</title><link rel=\"stylesheet\" href=\"/style.css\"></head><body><h1>celero-proxy ");
    page.text(env!("CARGO_PKG_VERSION"));
    page.raw("</h1><p>");
    page.mark(!state.is_draining(), if state.is_draining() { "draining" } else { "ready" });
    page.text(format_args!(", {} open requests. ", state.metrics.open()));
    page.raw("<a href=\"/metrics\">Metrics</a></p>");

    page.table("Routes", &["route", "leads to"]);
    for route in now.routes() {
        page.row(|page| {
            page.cell(route.name());
            page.cell(now.config.describe_target(route));
        });
    }

    page.table("Servers", &["upstream", "server", "state", "#weight", "#open", "#ejections"]);
    for upstream in &now.upstreams {
        for server in upstream.servers.all().iter() {
            let state = upstream.state_of(server.address);
            page.row(|page| {
                page.cell(&upstream.name);
                page.cell(server.address);
                page.raw("<td>");
                page.mark(state.starts_with("healthy"), &state);
                page.number(server.weight);
                page.number(server.open());
                page.number(server.ejections());
            });
        }
    }

    let rules: Vec<RuleInfo> = now.policy.rules().collect();
    page.table("Rules", &["phase", "rule", "#evaluations", "#matches", "#errors"]);
    for rule in rules.iter().take(RULES) {
        page.row(|page| {
            page.cell(rule.phase.name());
            page.cell(&rule.name);
            page.number(rule.evaluated);
            page.number(rule.matched);
            page.number(rule.failed);
        });
    }
    if let Some(more) = rules.len().checked_sub(RULES).filter(|more| *more > 0) {
        page.row(|page| page.cell(format_args!("and {more} more: see the metrics")));
    }

    let (generation, lists) = state.lists.states(&now.policy);
    if !lists.is_empty() {
        page.table(
            "Lists",
            &["list", "kind", "#entries", "#bytes", "#lookups", "#changes at run time", "#age of the files"],
        );
        for list in &lists {
            page.row(|page| {
                page.cell(&list.name);
                page.cell(&list.ty);
                page.number(list.entries);
                page.number(list.bytes);
                page.number(list.lookups);
                page.number(list.changes);
                page.number(list.age.map(|age| format!("{} s", age.as_secs())).unwrap_or_default());
            });
        }
        page.row(|page| page.cell(format_args!("generation {generation}")));
    }

    page.table("Refused requests", &["time", "client", "request", "#status", "by"]);
    for Refused { at, client, method, host, path, status, by } in state.history.last_refused() {
        page.row(|page| {
            page.cell(format_args!("{at:.0}"));
            page.cell(client);
            page.cell(format_args!("{method} {host}{path}"));
            page.number(status);
            page.cell(by);
        });
    }

    page.table("Reloads", &["time", "cause", "", "result"]);
    for Reloaded { at, worked, cause, result } in state.history.last_reloads() {
        page.row(|page| {
            page.cell(format_args!("{at:.0}"));
            page.cell(cause);
            page.raw("<td>");
            page.mark(worked, if worked { "in force" } else { "refused" });
            page.cell(result);
        });
    }
    page.end_table();
    page.raw("</body></html>\n");
    page.html
}

/// HTML as it grows. Texts of others are only ever written by [`text`](Self::text).
#[derive(Default)]
struct Page {
    html: String,
    in_table: bool,
}

impl Page {
    fn raw(&mut self, html: &'static str) {
        self.html.push_str(html);
    }

    /// Writes a text, with the characters escaped that mean something in HTML.
    fn text(&mut self, text: impl Display) {
        for c in text.to_string().chars() {
            match c {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                // Characters that change the direction of what follows would show another text.
                c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                    let _ = write!(self.html, "\\u{{{:x}}}", u32::from(c));
                }
                c => self.html.push(c),
            }
        }
    }

    fn mark(&mut self, good: bool, text: &str) {
        self.raw(if good { "<span class=\"ok\">" } else { "<span class=\"bad\">" });
        self.text(text);
        self.raw("</span>");
    }

    /// Begins a table. Columns whose title begins with `#` are numbers.
    fn table(&mut self, title: &str, columns: &[&str]) {
        self.end_table();
        self.in_table = true;
        self.raw("<h2>");
        self.text(title);
        self.raw("</h2><table><tr>");
        for column in columns {
            self.raw(if column.starts_with('#') { "<th class=\"n\">" } else { "<th>" });
            self.text(column.trim_start_matches('#'));
        }
    }

    fn end_table(&mut self) {
        if std::mem::take(&mut self.in_table) {
            self.raw("</table>");
        }
    }

    fn row(&mut self, cells: impl FnOnce(&mut Self)) {
        self.raw("<tr>");
        cells(self);
    }

    fn cell(&mut self, text: impl Display) {
        self.raw("<td>");
        self.text(text);
    }

    fn number(&mut self, number: impl Display) {
        self.raw("<td class=\"n\">");
        self.text(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut page = Page::default();
        page.text("<script>\"'&\u{202e}\n");
        assert_eq!(page.html, "&lt;script&gt;&quot;&#39;&amp;\\u{202e}\\u{a}");
    }
}
