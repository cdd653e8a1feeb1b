//! A slowdown on purpose, by which the lab is tested: a stage takes a share more instructions than
//! it needs. The environment variable `CELERO_LAB_PLANT`, for example `fold=0.05`, plants it. It is
//! work of this program inside the brackets of the stage: no crate of celero knows it.

use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// The environment variable.
pub const VARIABLE: &str = "CELERO_LAB_PLANT";
/// Turns of the loop by which the instructions of one turn are found.
pub(crate) const TRIAL: u64 = 10_000;

/// A slowdown of one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// The stage.
    pub stage: String,
    /// The share of instructions that are added: 0.05 is 5 %.
    pub share: f64,
}

impl Planted {
    /// Reads `STAGE=SHARE`.
    ///
    /// # Errors
    /// The text has another form, or the share is not between 0 and 1.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{VARIABLE}: `{text}`; expected `STAGE=SHARE`, for example `fold=0.05`");
        let (stage, share) = text.split_once('=').ok_or_else(wrong)?;
        let share: f64 = share.parse().map_err(|_| wrong())?;
        if stage.is_empty() || !(0.0..=1.0).contains(&share) {
            return Err(wrong());
        }
        Ok(Self { stage: stage.to_owned(), share })
    }
}

/// Runs an empty loop `turns` times.
#[inline(never)]
pub(crate) fn waste(turns: u64) {
    for turn in 0..turns {
        black_box(turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_and_a_share_are_read() {
        assert_eq!(Planted::parse("fold=0.05"), Ok(Planted { stage: "fold".to_owned(), share: 0.05 }));
        for wrong in ["fold", "=0.05", "fold=five", "fold=1.5", "fold=NaN"] {
            assert!(Planted::parse(wrong).is_err(), "{wrong}");
        }
    }
}
