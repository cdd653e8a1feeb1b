//! The example runs, and finds itself right.

use std::process::Command;

#[test]
fn a_guarded_proxy_admits_and_denies() {
    // Cargo builds the examples of a crate with its tests, into the folder beside them.
    let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("guarded");
    let output = Command::new(&program).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(output.status.success() && text.contains("HTTP/1.1 403"), "{}\n{text}", program.display());
}
