//! Every program of this folder runs and finds itself right.

use std::process::Command;

/// Runs a program; it must succeed and print something.
fn run(program: &str) {
    let output = Command::new(program).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && !out.is_empty(), "{program}: {}\n{out}\n{error}", output.status);
}

macro_rules! programs {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                run(env!(concat!("CARGO_BIN_EXE_", stringify!($name))));
            }
        )*

        #[test]
        fn all_programs_are_run() {
            let files = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder of this crate");
            for file in files.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|e| e == "rs")) {
                let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
                assert!(name == "programs_test" || [$(stringify!($name)),*].contains(&name), "{name} is not run");
            }
        }
    };
}

programs!(
    own_context,
    host_functions,
    error_handling,
    rule_set,
    live_rules,
    policy_host,
    axum_server,
    tonic_server,
    tracing
);
