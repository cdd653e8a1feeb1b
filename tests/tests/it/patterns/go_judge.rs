//! Go's package `regexp`, which cel-go uses, as a judge of patterns: the program `tests/cel-go/patterns`.

#![expect(clippy::unwrap_used, reason = "tests")]

use crate::go_program::GoProgram;
use serde_json::{Value as Json, json};

pub(super) struct GoJudge(GoProgram);

/// What a pattern finds in one text.
pub(super) struct Finding {
    pub(super) matches: bool,
    /// Each match: its text, and the text of its first group, if the pattern has one that takes part in the match.
    pub(super) all: Vec<Vec<Option<String>>>,
    /// The text with each match in angle brackets.
    pub(super) marked: String,
    /// The text with the first match replaced by the template.
    pub(super) replaced: String,
}

pub(super) struct Answer {
    pub(super) groups: u64,
    pub(super) findings: Vec<Finding>,
}

impl GoJudge {
    /// `None`, and a line about it, where Go is not installed.
    pub(super) fn new() -> Option<Self> {
        GoProgram::build("patterns", "patterns are not judged by its package regexp").map(Self)
    }

    /// What each pattern finds in the texts; for one that is refused, why.
    pub(super) fn judge(&self, patterns: &[String], texts: &[String], template: &str) -> Vec<Result<Answer, String>> {
        let question = |pattern: &String| json!({"pattern": pattern, "template": template, "texts": texts});
        let questions: Vec<Json> = patterns.iter().map(question).collect();
        self.0.ask(&questions).iter().map(answer).collect()
    }
}

fn answer(json: &Json) -> Result<Answer, String> {
    let text = |json: &Json| json.as_str().map(str::to_owned);
    if let Some(error) = text(&json["error"]).filter(|error| !error.is_empty()) {
        return Err(error);
    }
    let part = |parts: &Json| parts.as_array().unwrap().iter().map(text).collect();
    let finding = |found: &Json| Finding {
        matches: found["matches"].as_bool().unwrap(),
        all: found["all"].as_array().unwrap().iter().map(part).collect(),
        marked: text(&found["marked"]).unwrap(),
        replaced: text(&found["replaced"]).unwrap(),
    };
    let findings = json["findings"].as_array().into_iter().flatten().map(finding).collect();
    Ok(Answer { groups: json["groups"].as_u64().unwrap(), findings })
}
