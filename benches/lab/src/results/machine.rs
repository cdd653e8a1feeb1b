//! On which machine, from which commit and with which build figures were made. Instruction counts
//! of different builds, C libraries or processor features can't be compared.

use serde::{Deserialize, Serialize};
use std::process::Command;

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `linux`.
    pub os: String,
    /// `x86_64`.
    pub arch: String,
    /// The processor's name; empty if the system does not say it.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// The C library: its `memcpy` and `memchr` are counted too.
    pub libc: String,
    /// Those extensions of the instruction set that celero and its libraries ask for, as this process sees them.
    pub features: Vec<String>,
    /// The same, as the process saw them that counted instructions under callgrind, which has fewer; empty if none did.
    pub counted_features: Vec<String>,
}

/// How celero was built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// `rustc 1.95.0 (..)`.
    pub toolchain: String,
    /// The folder of the build and the level of optimisation: `debug-1` is `cargo test`'s, `release-3`.
    pub profile: String,
    /// The target's triple.
    pub target: String,
    /// `debug-assertions` and `incremental`, if they are on.
    pub features: Vec<String>,
}

impl Machine {
    /// Returns this machine.
    #[must_use]
    pub fn this() -> Self {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpu: cpu.map(|(_, name)| name.trim().to_owned()).unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            libc: first_line("ldd", &["--version"]),
            features: features(),
            counted_features: Vec::new(),
        }
    }
}

impl Build {
    /// Returns this build.
    #[must_use]
    pub fn this() -> Self {
        Self {
            toolchain: env!("CELERO_LAB_TOOLCHAIN").to_owned(),
            profile: env!("CELERO_LAB_PROFILE").to_owned(),
            target: env!("CELERO_LAB_TARGET").to_owned(),
            features: [
                ("debug-assertions", cfg!(debug_assertions)),
                ("incremental", env!("CELERO_LAB_INCREMENTAL") == "true"),
            ]
            .into_iter()
            .filter(|(_, on)| *on)
            .map(|(name, _)| name.to_owned())
            .collect(),
        }
    }
}

/// Returns the commit of the sources that this program was built from, as they are now; `unknown` without them.
#[must_use]
pub fn commit() -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    let commit = first_line("git", &["-C", folder, "rev-parse", "HEAD"]);
    if commit.is_empty() {
        return "unknown".to_owned();
    }
    let changed = first_line("git", &["-C", folder, "status", "--porcelain", "--untracked-files=no"]);
    if changed.is_empty() { commit } else { commit + "-dirty" }
}

/// The first line that a command prints; empty if it fails.
fn first_line(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output().ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn features() -> Vec<String> {
    macro_rules! detected {
        ($($name:tt),*) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),*]
        };
    }
    let all =
        detected!("sse4.2", "popcnt", "avx", "avx2", "bmi1", "bmi2", "lzcnt", "fma", "avx512f", "avx512bw", "avx512vl");
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn features() -> Vec<String> {
    Vec::new()
}
