//! Tells the lab with which compiler, profile and features it is built, so that every record says it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    // The folder of a build is `target/PROFILE/build/PACKAGE/out`; `dev` and `test` build into
    // `debug` and are told apart by the level of optimisation, as are their records.
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let folder = out.ancestors().nth(3).and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    // Incremental builds have other units of code generation, and so other instructions.
    let incremental = std::env::var("CARGO_INCREMENTAL").map_or(folder == "debug", |value| value != "0");
    println!("cargo::rustc-env=CELERO_LAB_INCREMENTAL={incremental}");
    println!("cargo::rerun-if-env-changed=CARGO_INCREMENTAL");
    println!("cargo::rustc-env=CELERO_LAB_TOOLCHAIN={version}");
    println!("cargo::rustc-env=CELERO_LAB_PROFILE={folder}-{level}");
    println!("cargo::rustc-env=CELERO_LAB_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
