//! Programs in Go that judge by Go's standard library, and by cel-go: the folders of `tests/cel-go`.

#![expect(clippy::unwrap_used, reason = "tests")]

use celero_tests::shared::{left_out, say};
use serde_json::Value as Json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program, built into a folder that is removed with it.
pub(crate) struct GoProgram {
    folder: PathBuf,
}

impl GoProgram {
    /// Builds a folder of `tests/cel-go`, without network. `None`, and a line about what is not
    /// judged, where Go is not installed.
    pub(crate) fn build(source: &str, judged: &str) -> Option<Self> {
        Self::build_in(Path::new("."), source, judged, &[("GOFLAGS", "-mod=mod"), ("GOPROXY", "off")])
    }

    /// Builds a folder of `tests/cel-go` that is a module of its own, with the modules that it needs. `None`, and a
    /// line about it, also where these can't be had.
    pub(crate) fn build_module(source: &str, judged: &str) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cel-go").join(source);
        let downloaded = Command::new("go").args(["mod", "download"]).current_dir(folder).output();
        if downloaded.is_ok_and(|done| !done.status.success()) {
            say(&format!("left out: {judged} (the modules of tests/cel-go/{source} can't be downloaded)"));
            return None;
        }
        Self::build_in(Path::new(source), ".", judged, &[("GOFLAGS", "-mod=readonly")])
    }

    fn build_in(within: &Path, source: &str, judged: &str, settings: &[(&str, &str)]) -> Option<Self> {
        if Command::new("go").arg("version").output().is_err() {
            left_out(&format!("Go is not installed: {judged}"));
            return None;
        }
        // Each test has a program of its own, because it removes it.
        static PROGRAMS: AtomicUsize = AtomicUsize::new(0);
        let number = PROGRAMS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("celero-go-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = Self { folder };
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(program.path())
            .arg(format!("./{source}"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cel-go").join(within))
            .envs(settings.iter().copied())
            .env("GOTOOLCHAIN", "local")
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(program)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("judge")
    }

    /// The program's answer to each question.
    pub(crate) fn ask(&self, questions: &[Json]) -> Vec<Json> {
        let lines: Vec<String> = questions.iter().map(Json::to_string).collect();
        let mut program = Command::new(self.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = program.stdin.take().unwrap();
        let answered = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(lines.join("\n").as_bytes()).unwrap());
            program.wait_with_output().unwrap()
        });
        let answers = String::from_utf8(answered.stdout).unwrap();
        let answers: Vec<Json> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), questions.len());
        answers
    }
}

impl Drop for GoProgram {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
