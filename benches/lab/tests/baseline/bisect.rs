//! `celero lab bisect` on a small repository whose commits hold the figures that a run of them would have.

use super::say;
use celero_lab::results::machine::{Build, Machine};
use celero_lab::results::record::{Measurement, Run, RunInfo};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository that is removed with the test.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Option<Self> {
        let folder = super::scratch(&format!("bisect-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let repository = Self(folder);
        if Command::new("git").arg("--version").output().is_err() {
            say("left out: celero lab bisect (git is not there)");
            return None;
        }
        repository.git(&["init", "--quiet"]);
        Some(repository)
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").arg("-C").arg(&self.0).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, number: usize, record: &[u8]) {
        std::fs::write(self.0.join("record.jsonl"), record).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", &format!("Change {number}")]);
    }

    fn bisect(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_celero-lab"));
        command.current_dir(&self.0).arg("bisect").args(arguments).output().unwrap()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The records of a run with these factors of the stages `fold` and `codegen`.
fn record(fold: f64, codegen: f64) -> Vec<u8> {
    let measurement = |stage: &str, factor: f64| Measurement {
        counter: "instructions".to_owned(),
        stage: stage.to_owned(),
        partition: "cel/contains".to_owned(),
        values: (1..=16).map(|n| (format!("{n:016x}"), f64::from(n) * 1000.0 * factor)).collect(),
        ..Measurement::default()
    };
    let info = RunInfo { commit: String::new(), time: 1, machine: Machine::default(), build: Build::default() };
    let run = Run {
        info,
        partitions: Vec::new(),
        measurements: vec![measurement("fold", fold), measurement("codegen", codegen)],
    };
    let mut text = Vec::new();
    run.write(&mut text).unwrap();
    text
}

#[test]
fn the_first_slow_commit_is_found_and_nothing_is_left_behind() {
    let Some(repository) = Repository::new("found") else { return };
    // The stage drifts by 1 % in commit 3 and has its slowdown in commit 7. Commit 5 can't be
    // measured; code generation changes in commit 4.
    for number in 1..=10 {
        let fold = [1.0, 1.01, 1.06][usize::from(number >= 3) + usize::from(number >= 7)];
        let codegen = if number >= 4 { 1.2 } else { 1.0 };
        repository.commit(number, &if number == 5 { b"{".to_vec() } else { record(fold, codegen) });
    }
    let before = (repository.git(&["rev-parse", "HEAD"]), repository.git(&["status", "--porcelain", "--branch"]));
    let measure = ["--measure", "cp record.jsonl \"$OUT\""];
    let good = ["--good", "HEAD~9", "--stage"];
    let culprit = |stage: &str, more: &[&str]| {
        let output = repository.bisect(&[&good[..], &[stage], &measure, more].concat());
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        (output.status.code(), out, err)
    };
    let (code, out, err) = culprit("fold", &["--partition", "cel/contains"]);
    assert_eq!((code, &*out), (Some(0), &*format!("{} Change 7\n", repository.git(&["rev-parse", "HEAD~3"]))), "{err}");
    // Commit 5 is not needed to find commit 4.
    assert!(culprit("codegen", &[]).1.ends_with(" Change 4\n"));
    let (code, out, err) = culprit("fold", &["--bad", "HEAD~8"]);
    assert_eq!((code, &*out), (Some(2), ""), "two equal commits");
    assert!(err.contains("1.0000: nothing to find"), "{err}");
    let (code, _, err) = culprit("lower", &[]);
    assert!(code == Some(2) && err.contains("no rule of both runs has instructions of the stage lower"), "{err}");
    let (code, _, err) = culprit("fold", &["--bad", "v9"]);
    assert!(code == Some(2) && err.contains("`v9` is no commit"), "{err}");
    assert_eq!(
        before,
        (repository.git(&["rev-parse", "HEAD"]), repository.git(&["status", "--porcelain", "--branch"]))
    );
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(repository.git(&["for-each-ref", "refs/bisect"]), "");
    assert!(Path::new(&repository.0).join("record.jsonl").is_file());
}
