//! Misuse of `#[derive(Context)]` is refused with a message at its place. Each file of
//! `tests/compile_fail` is compiled against the library of this build, and the compiler's output is
//! compared with the `.stderr` file beside it. `BLESS=1` rewrites those.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::string_slice, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library `celero` that was built last into the folder of this test program.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let built = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).unwrap();
    let entries = std::fs::read_dir(program.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libcelero-") && name.ends_with(".rlib")
    };
    entries.filter(is_library).max_by_key(built).expect("no libcelero-*.rlib beside the test program")
}

/// A message without what changes with unrelated edits of the library: lines of its files, and how
/// many types implement a trait.
fn stable(text: &str) -> String {
    let line = |line: &str| {
        if let Some((before, place)) =
            line.split_once("--> runtime/src/").or_else(|| line.split_once("::: runtime/src/"))
        {
            let file = place.split(':').next().unwrap_or_default();
            return format!("{before}--> runtime/src/{file}");
        }
        match line.split_once("and ") {
            Some((before, rest)) if before.trim().is_empty() && rest.ends_with(" others") => {
                format!("{before}and others")
            }
            _ => line.to_owned(),
        }
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// What the compiler says about a file, without the closing summary.
fn compile(file: &Path, library: &Path) -> String {
    let compiler = Path::new(env!("CARGO")).with_file_name("rustc");
    let compiler = if compiler.exists() { compiler } else { PathBuf::from("rustc") };
    let dependencies = library.parent().unwrap();
    let output = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--cap-lints=allow", "--color=never"])
        .arg("-o")
        .arg(std::env::temp_dir().join(format!("celero-compile-fail-{}", std::process::id())))
        .arg(format!("--extern=celero={}", library.display()))
        .arg(format!("-Ldependency={}", dependencies.display()))
        .arg(file)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(!output.status.success(), "{} compiles", file.display());
    let text = String::from_utf8(output.stderr).unwrap();
    let end = text.find("error: aborting due to").unwrap_or(text.len());
    stable(text[..end].trim_end())
}

#[test]
fn misuse_is_explained() {
    let library = library();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        count += 1;
        // The path as the messages show it.
        let shown = Path::new("tests/compile_fail").join(path.file_name().unwrap());
        let (said, expected) = (compile(&shown, &library), path.with_extension("stderr"));
        if bless {
            std::fs::write(&expected, &said).unwrap();
        }
        assert_eq!(said, std::fs::read_to_string(&expected).unwrap(), "{}", shown.display());
    }
    assert!(count > 2, "the files were not found");
}
