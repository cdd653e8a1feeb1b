//! Policies as input: a policy in YAML and, behind it, files of its cases. A policy is measured as
//! a whole, and each of its expressions as a rule.

use super::fingerprint::fingerprint;
use crate::counters::Probe;
use crate::read::SourceRule;
use celero_policy::{Exchange, Outline, Policy};
use celero_tooling::language::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The partition of policies.
pub(crate) const PARTITION: &str = "policy";

/// A policy to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPolicy {
    /// A fingerprint of its text: equal in all runs.
    pub id: String,
    /// The file.
    pub name: String,
    /// Where relative paths in it start.
    pub base: PathBuf,
    /// Its text.
    pub text: String,
    /// Its files of cases: name and text.
    pub cases: Vec<(String, String)>,
}

/// Returns whether a file is a policy or cases, by its name.
pub(crate) fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Reads policies and cases, in their order. Cases belong to the policy before them; they are a
/// list, a policy is a mapping.
///
/// # Errors
/// A file that can't be read, a policy or cases with mistakes, a case that fails, or cases without
/// a policy before them.
pub fn policies(paths: &[&PathBuf]) -> Result<Vec<PlannedPolicy>, String> {
    let mut found: Vec<PlannedPolicy> = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        if is_list(&text) {
            let policy = found.last_mut().ok_or_else(|| format!("{name}: cases; expected their policy before them"))?;
            policy.cases.push((name, text));
        } else {
            let base = path.parent().unwrap_or(Path::new("")).to_owned();
            let id = fingerprint(Language::cel(), &text);
            found.push(PlannedPolicy { id, name, base, text, cases: Vec::new() });
        }
    }
    for planned in &found {
        let policy = planned.parse()?;
        for (name, text) in &planned.cases {
            let report = policy.test(name, text).map_err(|error| error.render(false))?;
            if !report.passed() {
                return Err(report.render(false));
            }
        }
    }
    Ok(found)
}

/// Whether the first line of YAML with content begins a list.
fn is_list(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "---"
    });
    lines.next().is_some_and(|line| line.starts_with("- ") || line.starts_with('[') || line == "-")
}

impl PlannedPolicy {
    /// Returns the conditions and values of a policy and of the files that it includes. Literal
    /// texts and bodies of functions with parameters are none: they read no request.
    #[must_use]
    pub fn expressions(&self) -> Vec<SourceRule> {
        let mut found = Vec::new();
        let (mut pending, mut known) = (vec![(PathBuf::from(&self.name), self.text.clone())], BTreeSet::new());
        while let Some((name, text)) = pending.pop() {
            let base = name.parent().unwrap_or(Path::new(""));
            let Some(outline) = Outline::of(&name.display().to_string(), &text, base) else { continue };
            for expression in outline.expressions.into_iter().filter(|expression| expression.parameters.is_empty()) {
                let language = expression.language;
                found.push(SourceRule { source: expression.source.trim().to_owned(), language });
            }
            for (path, _) in outline.includes {
                if known.insert(path.clone())
                    && let Ok(text) = std::fs::read_to_string(&path)
                {
                    pending.push((path, text));
                }
            }
        }
        found
    }

    fn parse(&self) -> Result<Policy, String> {
        Policy::parse(&self.name, &self.text, &self.base).map_err(|error| error.render(false))
    }
}

/// A policy made ready to be measured.
pub(crate) struct PolicyUnit {
    planned: PlannedPolicy,
    policy: Policy,
    heads: Vec<(http::request::Parts, Option<SocketAddr>)>,
}

impl PolicyUnit {
    /// `None` if the policy does not compile.
    pub(crate) fn new(planned: &PlannedPolicy, requests: &[crate::read::Request]) -> Option<Self> {
        let heads =
            requests.iter().filter_map(|request| Some((request.message().ok()?.into_parts().0, request.source)));
        Some(Self { planned: planned.clone(), policy: planned.parse().ok()?, heads: heads.collect() })
    }

    /// Runs all stages once.
    pub(crate) fn record(&self, probe: &mut Probe) {
        drop(black_box(probe.stage("policy-load", || self.planned.parse())));
        // Two times, as rules are: the first request of a thread makes what the next ones use again.
        self.requests(&mut Probe::new(Vec::new()));
        self.requests(probe);
        for (name, text) in &self.planned.cases {
            let cases = self.policy.test(name, text).map_or(0, |report| report.cases().count());
            let _ = black_box(probe.averaged("policy-cases", cases, || self.policy.test(name, text)));
        }
    }

    /// The phases of the head of a request, and of the response of a server, on copies of all requests.
    fn requests(&self, probe: &mut Probe) {
        let client = |source: &Option<SocketAddr>| source.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 1)));
        let mut calls: Vec<_> =
            self.heads.iter().map(|(head, source)| (head.clone(), Exchange::new(Some(client(source)), None))).collect();
        let mut answers = vec![false; calls.len()];
        probe.averaged("policy-request", self.heads.len(), || {
            for ((head, exchange), answered) in calls.iter_mut().zip(&mut answers) {
                *answered = !matches!(self.policy.request(head, exchange).outcome, celero_policy::Outcome::Continue);
            }
        });
        let served: Vec<_> =
            calls.into_iter().zip(answers).filter(|(_, answered)| !answered).map(|(call, _)| call).collect();
        let mut served: Vec<_> =
            served.into_iter().map(|call| (call, http::Response::new(()).into_parts().0)).collect();
        if !served.is_empty() {
            probe.averaged("policy-response", served.len(), || {
                for ((head, exchange), response) in &mut served {
                    let _ = black_box(self.policy.response(head, response, exchange));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Time;
    use crate::read::requests;

    fn example(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
    }

    #[test]
    fn a_policy_has_its_cases_and_its_stages() {
        let (policy, cases) = (example("policy.yaml"), example("cases.yaml"));
        let planned = policies(&[&policy, &cases]).unwrap();
        assert_eq!((planned.len(), planned[0].cases.len()), (1, 1));
        let (requests, _) = requests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("sample/requests.jsonl")).unwrap();
        let unit = PolicyUnit::new(&planned[0], &requests).unwrap();
        let mut probe = Probe::new(vec![Box::new(Time::default())]);
        unit.record(&mut probe);
        let stages: Vec<&str> = probe.take().into_iter().map(|(stage, _)| stage).collect();
        assert_eq!(stages, ["policy-load", "policy-request", "policy-response", "policy-cases"]);
    }

    #[test]
    fn expressions_of_a_policy_are_rules_of_their_languages() {
        let folder = std::env::temp_dir().join(format!("celero-lab-policy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (policy, more) = (folder.join("policy.yaml"), folder.join("more.yaml"));
        let text = "include: [more.yaml]\nfunctions:\n  'own(p: string) -> bool': p == '/'\nrequest:\n\
                    - when: request.path.startsWith('/admin')\n  deny: 403\n\
                    - when: own(request.path)\n  redirect: https://${request.host}/\n\
                    - language: filter\n  when: http.host contains \"x\"\n  deny: 403\n";
        std::fs::write(&policy, text).unwrap();
        std::fs::write(&more, "request:\n- when: request.method in ['GET', 'HEAD']\n  deny: 405\n").unwrap();
        let sample = crate::subjects::plan::Sample { rules: 9, requests: 1, seed: 1 };
        let plan = crate::run::plan(&[policy], &[], sample).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let mut rules: Vec<(&str, &str)> = plan.rules().map(|(partition, rule)| (partition, &*rule.source)).collect();
        rules.sort_unstable();
        assert_eq!(
            rules,
            [
                ("cel/contains", "request.path.startsWith('/admin')"),
                ("cel/plain", "request.host"),
                ("cel/set", "request.method in ['GET', 'HEAD']"),
                ("filter/contains", "http.host contains \"x\""),
            ]
        );
        assert_eq!(plan.partitions["cel/functions"].refused.values().sum::<usize>(), 1, "a function of the policy");
        assert_eq!(plan.policies.len(), 1);
    }

    #[test]
    fn cases_alone_and_policies_with_mistakes_are_refused() {
        let cases = example("cases.yaml");
        let why = policies(&[&cases]).unwrap_err();
        assert!(why.ends_with("cases.yaml: cases; expected their policy before them"), "{why}");
        let config = example("proxy.yaml");
        assert!(policies(&[&config]).is_err(), "a mapping that is no policy");
    }
}
