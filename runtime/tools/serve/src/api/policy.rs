//! The policy that the command was given, or a changed text of it: its rules and cases, and what it does with requests.

use super::policy_run::{Asked, run};
use super::{Refusal, input, recorded};
use crate::files::{self, Files};
use crate::limits;
use celero::Diagnostic;
use celero_policy::{Loader, Outline, Policy, PolicyError, Reach};
use celero_tooling::diagnostic_json::diagnostic_json;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A changed text, with the texts of its cases. Without those, the cases are those of the files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Changed {
    text: String,
    cases: Option<Vec<NamedText>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedText {
    name: String,
    text: String,
}

/// A request to try. Without `text` the policy is that of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    text: Option<String>,
    input: String,
    source: String,
    /// The rule whose reasons are wanted, besides those of the rules that decide.
    rule: Option<String>,
}

/// Recorded requests to try. Without `requests` they are those of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Recorded {
    text: Option<String>,
    requests: Option<String>,
    source: String,
    /// When they arrive, in seconds after the beginning of 1970; so that two policies see the same time.
    time: Option<u64>,
}

/// Returns the policy's text, rules, diagnostics and explanation, and the results of its cases.
///
/// # Errors
/// There is no policy, or a file can't be read.
pub(super) fn whole(files: &Files) -> Result<Json, Refusal> {
    let opened = Opened::of(files, None)?;
    let cases = cases_of(files)?;
    let mut answer = opened.answer(&cases);
    if let (Some(members), Ok(text)) =
        (answer.as_object_mut(), opened.loader.explain_text(&opened.name, &opened.text, &opened.base))
    {
        members.insert("explanation".to_owned(), json!(super::shown::stage(&text)));
    }
    Ok(answer)
}

/// Returns the same about a changed text, without the explanation.
///
/// # Errors
/// The text is too long, or a file can't be read.
pub(super) fn check(files: &Files, changed: &Changed) -> Result<Json, Refusal> {
    let opened = Opened::of(files, Some(&changed.text))?;
    let cases = match &changed.cases {
        Some(given) => given.iter().map(|NamedText { name, text }| (name.clone(), text.clone())).collect(),
        None => cases_of(files)?,
    };
    Ok(opened.answer(&cases))
}

/// Runs the policy for one request.
///
/// # Errors
/// There is no policy, it is not valid, or the input is not a request.
pub(super) fn one(files: &Files, question: &Question) -> Result<Json, Refusal> {
    let policy = Opened::of(files, question.text.as_deref())?.valid()?;
    let client = input::client(&question.source).map_err(Refusal::bad)?;
    let request = input::request(&question.input).map_err(Refusal::bad)?;
    let asked = Asked { client, time: SystemTime::now(), why: true, rule: question.rule.as_deref() };
    let mut answer = run(&policy, request, &asked);
    answer.insert("matched".to_owned(), rules(None, Some(&policy)));
    Ok(Json::Object(answer))
}

/// Runs the policy for recorded requests, each with unused limits.
///
/// # Errors
/// There is no policy, it is not valid, or the requests can't be read.
pub(super) fn recorded(files: &Files, question: &Recorded) -> Result<Json, Refusal> {
    let policy = Opened::of(files, question.text.as_deref())?.valid()?;
    let since = question.time.and_then(|time| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time)));
    let time = since.unwrap_or_else(SystemTime::now);
    recorded::tried(files, question.requests.as_deref(), &question.source, |request, client| {
        policy.clear_limits();
        let mut decision = run(&policy, request, &Asked { client, time, why: false, rule: None });
        // What the log says may differ each time, and decides nothing.
        for left_out in ["log", "request", "response"] {
            decision.remove(left_out);
        }
        Json::Object(decision)
    })
}

/// A policy's text, and how it is loaded.
struct Opened {
    name: String,
    text: String,
    base: PathBuf,
    loader: Loader,
    is_changed: bool,
}

impl Opened {
    /// Returns the policy of the file, or a changed text in its place, which may use what the file uses.
    fn of(files: &Files, changed: Option<&str>) -> Result<Self, Refusal> {
        let path = files.policy.as_deref();
        let name = path.map_or_else(|| "policy.yaml".to_owned(), |path| path.display().to_string());
        let base = path.and_then(Path::parent).unwrap_or(Path::new(".")).to_owned();
        let loader = files.host.clone();
        let Some(text) = changed else {
            let Some(path) = path else {
                return Err(Refusal::not_found("no policy was given: celero serve policy.yaml"));
            };
            let text = files::read(path).map_err(Refusal::not_found)?;
            return Ok(Self { name, text, base, loader, is_changed: false });
        };
        super::admit_text(text.len())?;
        let reach = path.and_then(|path| files::read(path).ok()).map_or_else(Reach::default, |text| {
            match loader.check(&name, &text, &base) {
                Ok(policy) => policy.reach().clone(),
                Err(error) => error.reach().clone(),
            }
        });
        Ok(Self { name, text: text.to_owned(), base, loader: loader.within(reach), is_changed: true })
    }

    /// Returns the policy. A changed text is tried only, so it is not compiled to native code.
    fn policy(&self) -> Result<Policy, PolicyError> {
        let Self { name, text, base, loader, is_changed } = self;
        if *is_changed { loader.check(name, text, base) } else { loader.parse(name, text, base) }
    }

    fn valid(&self) -> Result<Policy, Refusal> {
        self.policy().map_err(|_| Refusal::bad("the policy has errors"))
    }

    fn answer(&self, cases: &[(String, String)]) -> Json {
        let Self { name, text, base, loader, .. } = self;
        let outline = Outline::with_loader(name, text, base, loader);
        let mut answer = json!({ "name": name, "text": text });
        let Some(members) = answer.as_object_mut() else { return answer };
        let mut add = |name: &str, json: Json| drop(members.insert(name.to_owned(), json));
        let policy = match self.policy() {
            Ok(policy) => policy,
            Err(error) => {
                let (shown, more) = placed(error.diagnostics());
                add("ok", json!(false));
                add("diagnostics", shown);
                add("more_diagnostics", json!(more));
                add("rules", rules(outline.as_ref(), None));
                add("cases", untested(cases));
                return answer;
            }
        };
        let (shown, more) = placed(policy.warnings());
        add("ok", json!(true));
        add("diagnostics", shown);
        add("more_diagnostics", json!(more));
        let (cases, unmatched) = tested(&policy, cases);
        add("rules", rules(outline.as_ref(), Some(&policy)));
        add("cases", cases);
        add("unmatched", unmatched);
        answer
    }
}

/// Returns the names and texts of the files of cases.
fn cases_of(files: &Files) -> Result<Vec<(String, String)>, Refusal> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), files::read(path).map_err(Refusal::not_found)?));
    files.cases.iter().map(read).collect()
}

/// Runs cases. Returns their results, and the rules that match in none; null if there are no cases.
fn tested(policy: &Policy, files: &[(String, String)]) -> (Json, Json) {
    let start = Instant::now();
    let wanted = || start.elapsed() < limits::CASES_TIME;
    let (mut results, mut unmatched) = (Vec::new(), None);
    for (name, source) in files {
        let (cases, found, text) = match policy.test_while(name, source, &wanted) {
            Ok(report) => {
                let cases = report.cases().map(|(name, passed)| json!({ "name": name, "passed": passed }));
                unmatched = Some(report.unmatched_rules().to_vec());
                (cases.collect(), placed(report.diagnostics()), report.render(false))
            }
            Err(error) => (Vec::new(), placed(error.diagnostics()), error.render(false)),
        };
        let (diagnostics, text) = (found.0, super::shown::stage(&text));
        results
            .push(json!({ "file": name, "source": source, "cases": cases, "diagnostics": diagnostics, "text": text }));
    }
    (json!(results), json!(unmatched))
}

/// Returns cases that no valid policy runs.
fn untested(files: &[(String, String)]) -> Json {
    files.iter().map(|(name, source)| json!({ "file": name, "source": source, "cases": [] })).collect()
}

/// Returns the rules, those of other files without a place. Those of a policy have how often each
/// matched and failed since it was parsed: for this request or these cases.
fn rules(outline: Option<&Outline>, policy: Option<&Policy>) -> Json {
    let span = |range: &std::ops::Range<usize>| json!([range.start, range.end]);
    let placed = outline.iter().flat_map(|outline| &outline.rules);
    let placed = placed.map(|rule| (rule.phase.name(), &*rule.shown_name, span(&rule.range), span(&rule.name_range)));
    let Some(policy) = policy else {
        return placed
            .map(|(phase, name, span, at)| json!({ "phase": phase, "name": name, "span": span, "name_span": at }))
            .collect();
    };
    let mut places: HashMap<(&str, String), VecDeque<(Json, Json)>> = HashMap::new();
    for (phase, name, span, at) in placed {
        places.entry((phase, name.to_owned())).or_default().push_back((span, at));
    }
    let rule = |rule: celero_policy::RuleInfo| {
        let place = places.get_mut(&(rule.phase.name(), rule.name.to_string())).and_then(VecDeque::pop_front);
        let (span, at) = place.unwrap_or_default();
        json!({
            "phase": rule.phase.name(),
            "name": &*rule.name,
            "span": span,
            "name_span": at,
            "evaluated": rule.evaluated,
            "matched": rule.matched,
            "failed": rule.failed,
        })
    };
    policy.rules().map(rule).collect()
}

/// Returns diagnostics as JSON, each with its file, and the number of those beyond the limit.
fn placed<'d>(found: impl Iterator<Item = (&'d str, Diagnostic)>) -> (Json, usize) {
    let one = |(file, diagnostic): (&str, Diagnostic)| {
        let mut json = diagnostic_json(&diagnostic);
        if let Some(members) = json.as_object_mut() {
            members.insert("file".to_owned(), json!(file));
        }
        json
    };
    let mut found = found.fuse();
    let shown: Json = found.by_ref().take(limits::DIAGNOSTICS).map(one).collect();
    (shown, found.count())
}
