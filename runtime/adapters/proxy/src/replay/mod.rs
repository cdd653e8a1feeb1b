//! Tries a configuration with recorded requests: what it would do with each, and where another one
//! would do something else.
//!
//! Nothing is sent. Routes and the phase `request` of the policy are run, with the address and the
//! head that the request had; what the record lacks is said.
//!
//! Invariant: replaying an unchanged configuration reports no differences, except in `uuid()` values. Test:
//! `runtime/adapters/proxy/tests/proxy/replaying.rs::the_same_configuration_never_differs`.

mod decision;
mod recorded_request;

use crate::error::Error;
use crate::logs::recorder::REDACTED;
use crate::upstreams::routing;
use decision::{Candidate, ReplayedRequest};
use http::HeaderValue;
use jiff::Timestamp;
use recorded_request::RecordedRequest;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

/// The longest line of a record, in bytes.
const LONGEST_LINE: u64 = 1 << 20;
/// How many kinds of differences are listed; others are counted together.
const KINDS: usize = 50;
/// How many requests are named of each kind.
const EXAMPLES: usize = 3;
/// How many lines that can't be used are named.
const SHOWN_LINES: usize = 5;
/// The longest part of a path that is shown, in characters.
const SHOWN_PATH: usize = 100;

/// What configurations do with recorded requests. Displays as a text for people.
#[derive(Debug)]
pub struct ReplayReport {
    text: String,
    requests: u64,
    differences: u64,
}

impl ReplayReport {
    /// Returns how many requests were tried.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns for how many requests the two configurations do something else.
    #[must_use]
    pub fn differences(&self) -> u64 {
        self.differences
    }
}

impl std::fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Requests for which two configurations do something else in the same way.
#[derive(Default)]
struct Difference {
    count: u64,
    examples: Vec<String>,
}

#[derive(Default)]
struct Replay {
    requests: u64,
    decisions: BTreeMap<String, u64>,
    differences: BTreeMap<String, Difference>,
    different: u64,
    /// Differences of kinds that are not listed.
    more_kinds: u64,
    left_out: u64,
    left_out_examples: Vec<String>,
    bodies: u64,
    redacted: u64,
    with_tls: u64,
}

/// Tries a configuration with the requests of a record, and compares it with the one before, if that is named.
///
/// # Errors
/// Returns the errors in the files of the configurations, or why the record can't be read. A line
/// that is no request is left out, and the report says so.
pub fn replay(record: &Path, config: &Path, before: Option<&Path>) -> Result<ReplayReport, Error> {
    let new = Candidate::load(config)?;
    let old = before.map(Candidate::load).transpose()?;
    let failed = |error: std::io::Error| Error::new(format!("error: {}: {error}", record.display()));
    let mut lines = BufReader::new(File::open(record).map_err(failed)?);
    let mut replay = Replay::default();
    let (mut first, mut time): (Option<Timestamp>, _) = (None, Duration::ZERO);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            break;
        }
        if !line.ends_with(b"\n") && u64::try_from(read).is_ok_and(|read| read == LONGEST_LINE) {
            lines.skip_until(b'\n').map_err(failed)?;
            replay.left_out(number, &format!("it is longer than {LONGEST_LINE} bytes"));
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request = match RecordedRequest::read(&line) {
            Ok(request) => request,
            Err(why) => {
                replay.left_out(number, &why);
                continue;
            }
        };
        if let Some(at) = request.time {
            let since = at.duration_since(*first.get_or_insert(at));
            // Limits read a clock that does not go back.
            time = time.max(Duration::try_from(since).unwrap_or_default());
        }
        replay.note(&request);
        let decision = new.decide(&request, time, number);
        if let Some(old) = &old {
            replay.compare(number, &request, &old.decide(&request, time, number), &decision);
        }
        let count = replay.decisions.entry(decision.text()).or_default();
        *count = count.saturating_add(1);
    }
    if replay.requests == 0 {
        let why = replay.left_out_examples.first().map_or_else(String::new, |line| format!(": {line}"));
        return Err(Error::new(format!("error: {} has no request{why}", record.display())));
    }
    let text = replay.text(record, config, before, &new);
    Ok(ReplayReport { text, requests: replay.requests, differences: replay.different })
}

impl Replay {
    fn left_out(&mut self, number: u64, why: &str) {
        self.left_out = self.left_out.saturating_add(1);
        if self.left_out_examples.len() < SHOWN_LINES {
            self.left_out_examples.push(format!("line {number}: {why}"));
        }
    }

    /// Counts a request, and what its record lacks.
    fn note(&mut self, request: &RecordedRequest) {
        let is_redacted = |value: &HeaderValue| value.to_str().is_ok_and(|value| value.contains(REDACTED));
        let redacted = request.head.headers.values().any(is_redacted)
            || request.head.uri.query().is_some_and(|query| query.contains(&format!("={REDACTED}")));
        for (count, is) in [
            (&mut self.requests, true),
            (&mut self.bodies, request.has_body),
            (&mut self.redacted, redacted),
            (&mut self.with_tls, request.tls.is_some()),
        ] {
            *count = count.saturating_add(u64::from(is));
        }
    }

    /// Notes a request for which two configurations do something else.
    fn compare(&mut self, number: u64, request: &RecordedRequest, old: &ReplayedRequest, new: &ReplayedRequest) {
        let parts = old.differs_in(new);
        let kind = if old.effect != new.effect {
            format!("{} -> {}", old.text(), new.text())
        } else if !parts.is_empty() {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            format!("{}, with another request: {}", new.text(), parts.join(", "))
        } else {
            return;
        };
        self.different = self.different.saturating_add(1);
        let known = self.differences.len();
        let found = match self.differences.get_mut(&kind) {
            Some(found) => found,
            None if known < KINDS => self.differences.entry(kind).or_default(),
            None => {
                self.more_kinds = self.more_kinds.saturating_add(1);
                return;
            }
        };
        found.count = found.count.saturating_add(1);
        if found.examples.len() < EXAMPLES {
            found.examples.push(example(number, request));
        }
    }

    fn text(&self, record: &Path, config: &Path, before: Option<&Path>, new: &Candidate) -> String {
        let mut text = format!("{}: {}\n", record.display(), counted(self.requests, "request"));
        if self.left_out > 0 {
            let _ = writeln!(text, "left out: {} that can't be used", counted(self.left_out, "line"));
            self.left_out_examples.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        let _ = writeln!(text, "decisions of {}", config.display());
        list(&mut text, self.decisions.iter().map(|(what, count)| (&**what, *count)), |_, _| {});
        let failing: Vec<_> = new.policy.rules().filter(|rule| rule.failed > 0).collect();
        for rule in failing {
            let _ = writeln!(text, "failures: {} rule {}: {}", rule.phase.name(), rule.name, rule.failed);
        }
        if let Some(before) = before {
            let _ = writeln!(text, "differences from {}: {}", before.display(), counted(self.different, "request"));
            let kinds = self.differences.iter().map(|(what, found)| (&**what, found.count));
            list(&mut text, kinds, |text, what| {
                let examples = self.differences.get(what).map_or(&[][..], |found| &found.examples);
                examples.iter().for_each(|example| text.push_str(&format!("            {example}\n")));
            });
            if self.more_kinds > 0 {
                let _ = writeln!(text, "{:>10}  of other kinds", self.more_kinds);
            }
        }
        self.lacks(&mut text, new);
        text
    }

    /// Says what was not tried.
    fn lacks(&self, text: &mut String, new: &Candidate) {
        text.push_str("not tried\n");
        let policy = &new.policy;
        let mut line = |what: &str| text.push_str(&format!("  {what}\n"));
        line("the phases connection, requestBody, response, responseBody and log");
        if self.bodies > 0 {
            line(&format!("bodies, which are not recorded: of {}", counted(self.bodies, "request")));
        }
        if self.redacted > 0 {
            line(&format!(
                "secrets, which are not recorded: in {} they read {REDACTED}",
                counted(self.redacted, "request")
            ));
        }
        if self.with_tls > 0 {
            line(&format!("TLS but for its version: of {}", counted(self.with_tls, "request")));
        }
        if policy.remote_services().next().is_some() {
            line("services that count limits: everything is within them");
        }
        if policy.limits().next().is_some() {
            line("limits of open requests: each request ends before the next begins");
        }
        if policy.key_sources().next().is_some() {
            line("keys at URLs: they are not fetched, so their tokens are refused");
        }
        if self.different > 0 {
            line("`uuid()`: each configuration has another one, so that requests with it differ");
        }
        if new.changes_lists() {
            line("changes of lists at run time");
        }
        if policy.list_sources().next().is_some() {
            line("documents of lists at URLs: only copies in `listCopies` are read");
        }
    }
}

/// Adds counts, the largest first, each with what `more` says of it.
fn list<'t>(text: &mut String, counts: impl Iterator<Item = (&'t str, u64)>, more: impl Fn(&mut String, &str)) {
    let mut counts: Vec<(&str, u64)> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (what, count) in counts {
        let _ = writeln!(text, "{count:>10}  {what}");
        more(text, what);
    }
}

/// Names a request, without its query, which may have secrets.
fn example(number: u64, request: &RecordedRequest) -> String {
    let head = &request.head;
    let path: String = head.uri.path().chars().take(SHOWN_PATH).collect();
    format!("line {number}: {} {}{path} from {}", head.method, routing::host(head), request.connection.peer.ip())
}

fn counted(count: u64, thing: &str) -> String {
    crate::config::counted(usize::try_from(count).unwrap_or(usize::MAX), thing)
}
