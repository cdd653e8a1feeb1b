//! Where test data that is not part of the repository is found, and what is said when it isn't there.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The directory of shared test data: `$CELERO_SHARED`, or `shared` beside the workspace.
#[must_use]
pub fn directory() -> PathBuf {
    match std::env::var_os("CELERO_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    }
}

/// A file or directory of the shared test data, if it is there. If not, says in one line what is left out.
#[must_use]
pub fn find(relative: &str, used_for: &str) -> Option<PathBuf> {
    let path = directory().join(relative);
    if path.exists() {
        return Some(path);
    }
    say(&format!("left out: {used_for} ({} is not there; set CELERO_SHARED)", path.display()));
    None
}

/// Says in one line what is left out because a tool is missing.
///
/// # Panics
/// If `CELERO_REQUIRE_TOOLS` is set, as where everything must be tested.
pub fn left_out(line: &str) {
    assert!(std::env::var_os("CELERO_REQUIRE_TOOLS").is_none(), "{line}, but CELERO_REQUIRE_TOOLS is set");
    say(line);
}

/// Prints a line of a test program's report, past the test harness, which would keep the output of tests that pass.
pub fn say(line: &str) {
    // Nobody to tell it to is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}
