//! Bounds the work of verification in a search.

/// Steps of verification that are allowed at the start of a text; each byte of it allows one more.
pub(super) const MIN_STEPS: usize = 64;
/// Bytes of a key that are compared in the time of one step.
pub(super) const BYTES_PER_STEP: usize = 32;

/// Why a scan ends before the end of the text.
#[derive(Debug)]
pub(super) enum End {
    /// The visitor of matches wants no more.
    Stopped,
    /// Verifying takes more steps than are allowed. All keys are found whose anchors begin
    /// [`BLOCK`](super::first_stage::BLOCK) bytes or more before this offset.
    OutOfSteps(usize),
}

/// The steps of verification of a search: one for each candidate of the first stage, one for each
/// key that is compared, and one for each [`BYTES_PER_STEP`] of it.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) taken: usize,
    /// At least so many are allowed.
    pub(super) limit: usize,
}

impl Steps {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { taken: 0, limit: MIN_STEPS }
    }

    /// Allows [`MIN_STEPS`] and a step for each byte before an offset.
    #[inline(always)]
    pub(super) fn allow_up_to(&mut self, offset: usize) {
        self.limit = self.limit.max(offset.saturating_add(MIN_STEPS));
    }

    /// Takes steps to verify what may be at offset `at`.
    #[inline(always)]
    pub(super) fn take(&mut self, steps: usize, at: usize) -> Result<(), End> {
        let taken = self.taken.wrapping_add(steps);
        if taken > self.limit {
            self.allow_up_to(at);
            if taken > self.limit {
                return Err(End::OutOfSteps(at));
            }
        }
        self.taken = taken;
        Ok(())
    }
}
