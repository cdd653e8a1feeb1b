//! Go's package `regexp`, which cel-go uses, as a judge of patterns: the program `tests/cel-go/patterns.go`.

#![expect(clippy::unwrap_used, reason = "tests")]

use celero_tests::shared::say;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The program, built into a folder that is removed with it.
pub(super) struct GoJudge {
    folder: PathBuf,
}

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
    /// Builds the program, without network. `None`, and a line about it, where Go is not installed.
    pub(super) fn new() -> Option<Self> {
        if Command::new("go").arg("version").output().is_err() {
            say("Go is not installed: patterns are not judged by its package regexp");
            return None;
        }
        // Each test has a program of its own, because it removes it.
        static JUDGES: AtomicUsize = AtomicUsize::new(0);
        let number = JUDGES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("celero-go-judge-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let judge = Self { folder };
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(judge.program())
            .arg("patterns.go")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cel-go"))
            .envs([("GOFLAGS", "-mod=mod"), ("GOPROXY", "off"), ("GOTOOLCHAIN", "local")])
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(judge)
    }

    fn program(&self) -> PathBuf {
        self.folder.join("patterns")
    }

    /// What each pattern finds in the texts; for one that is refused, why.
    pub(super) fn judge(&self, patterns: &[String], texts: &[String], template: &str) -> Vec<Result<Answer, String>> {
        let question = |pattern: &String| json!({"pattern": pattern, "template": template, "texts": texts}).to_string();
        let questions: Vec<String> = patterns.iter().map(question).collect();
        let mut program = Command::new(self.program()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = program.stdin.take().unwrap();
        let answered = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(questions.join("\n").as_bytes()).unwrap());
            program.wait_with_output().unwrap()
        });
        let answers = String::from_utf8(answered.stdout).unwrap();
        let answers: Vec<_> = answers.lines().map(|line| answer(&serde_json::from_str(line).unwrap())).collect();
        assert_eq!(answers.len(), patterns.len());
        answers
    }
}

impl Drop for GoJudge {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
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
