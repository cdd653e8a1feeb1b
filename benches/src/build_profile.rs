//! Which build of celero is measured: figures of builds with and without link-time optimisation (LTO) differ.

use serde_json::{Value, json};

/// The name of the Cargo profile: `release`, `release-nolto`, `dev`.
const PROFILE: &str = env!("CELERO_PROFILE");
/// The profile's LTO setting as Cargo's manifest writes it: `thin`, `false`, ..
const LTO: &str = env!("CELERO_LTO");
/// The profile's optimisation level.
const OPT_LEVEL: &str = env!("CELERO_OPT_LEVEL");

/// One line that says how this program was built, for the head of a report.
#[must_use]
pub fn build_line() -> String {
    format!("build: profile {PROFILE}, LTO {LTO}, optimisation level {OPT_LEVEL}")
}

/// The same for a record: the member `build`.
#[must_use]
pub fn build_record() -> Value {
    json!({ "profile": PROFILE, "lto": LTO, "opt_level": OPT_LEVEL })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_one_of_the_workspace() {
        let settings = ["default", "thin", "fat", "off", "true", "false"];
        assert!(["dev", "release", "release-nolto"].contains(&PROFILE) && settings.contains(&LTO), "{}", build_line());
        assert_eq!(build_record()["profile"], PROFILE);
    }
}
