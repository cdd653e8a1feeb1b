//! Tells the benches which Cargo profile they are built with, and whether with link-time
//! optimisation (LTO), so that every record says it; and generates types of messages.
//!
//! Cargo does not give a build script these facts. The profile's name is the folder of the build,
//! `target/NAME/build/PACKAGE/out` (`cargo bench` builds into the folder of `release`, from which
//! its profile inherits). The LTO setting is read from the environment, which overrides the
//! workspace's manifest, or from the manifest.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The LTO setting of a profile: its own, or that of the profile from which it inherits.
fn lto(manifest: &str, profile: &str) -> String {
    let variable = format!("CARGO_PROFILE_{}_LTO", profile.replace('-', "_").to_uppercase());
    println!("cargo::rerun-if-env-changed={variable}");
    if let Ok(setting) = std::env::var(variable) {
        return setting;
    }
    let header = format!("profile.{profile}]");
    let section = manifest.split("\n[").find_map(|section| section.strip_prefix(&header)).unwrap_or_default();
    let value = |key: &str| {
        let mut values = section.lines().filter_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
        values.next().map(|value| value.trim().trim_matches('"').to_owned())
    };
    match (value("lto"), value("inherits")) {
        (Some(setting), _) => setting,
        (None, Some(parent)) if parent != profile => lto(manifest, &parent),
        _ => "default".to_owned(),
    }
}

/// Writes the descriptors of the message of `compare --messages`, and the types that buffa generates for it.
fn messages(out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = out.join("record.binpb");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).open_file("record.proto")?;
    std::fs::write(&descriptors, compiler.encode_file_descriptor_set())?;
    let types = buffa_build::Config::new().descriptor_set(descriptors).files(&["record.proto"]);
    types.include_file("record_types.rs").compile()?;
    println!("cargo::rerun-if-changed=proto/record.proto");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let name = out.ancestors().nth(3).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let profile = if name == "debug" { "dev" } else { &*name };
    let manifest = std::fs::read_to_string("../Cargo.toml").unwrap_or_default();
    println!("cargo::rustc-env=CELERO_PROFILE={profile}");
    println!("cargo::rustc-env=CELERO_LTO={}", lto(&manifest, profile));
    println!("cargo::rustc-env=CELERO_OPT_LEVEL={}", std::env::var("OPT_LEVEL").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../Cargo.toml");
    messages(&out)
}
