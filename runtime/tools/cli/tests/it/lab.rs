//! `celero lab` starts the program beside `celero` or on the PATH.

use crate::support::Run;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder with nothing but the command.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let command = folder.join("celero");
    let _ = std::fs::remove_file(&command);
    std::fs::hard_link(env!("CARGO_BIN_EXE_celero"), &command).unwrap();
    folder
}

fn lab(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(folder.join("celero"));
    command.arg("lab").args(args).env("PATH", "/bin:/usr/bin");
    Run::of(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()), b"")
}

#[cfg(unix)]
#[test]
fn the_program_beside_the_command_gets_the_arguments() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("with-lab");
    let program = folder.join("celero-lab");
    std::fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = lab(&folder, &["compare", "a", "b", "--counter", "instructions", "--help"]);
    assert_eq!((run.code, &*run.out), (7, "compare a b --counter instructions --help\n"), "{}", run.err);
}

#[test]
fn without_the_program_the_error_says_how_to_build_it() {
    let run = lab(&folder("without-lab"), &["run"]);
    assert_eq!((run.code, &*run.out), (2, ""));
    assert!(run.err.contains("cargo build --release -p celero-lab"), "{}", run.err);
}
