//! Rules of a set that are excluded from evaluations: removed for good, or disabled.
//!
//! Invariant: a disabled rule is not evaluated. A removed rule may be evaluated until its segment is compiled again,
//! but no result shows it. Test: `runtime/tests/it/live/mod.rs::what_is_disabled_is_not_evaluated`.

/// The excluded rules of a set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Excluded {
    removed: Bits,
    disabled: Bits,
    /// Number of rules that are removed or disabled.
    count: usize,
}

impl Excluded {
    /// Excludes a rule for good.
    pub(crate) fn remove(&mut self, rule: usize) {
        self.change(|this| this.removed.set(rule, true), rule);
    }

    /// Disables a rule or enables it again. A removed rule stays excluded.
    pub(crate) fn disable(&mut self, rule: usize, disabled: bool) {
        self.change(|this| this.disabled.set(rule, disabled), rule);
    }

    fn change(&mut self, change: impl FnOnce(&mut Self), rule: usize) {
        let before = self.has(rule);
        change(self);
        match (before, self.has(rule)) {
            (false, true) => self.count = self.count.saturating_add(1),
            (true, false) => self.count = self.count.saturating_sub(1),
            _ => (),
        }
    }

    /// Whether a rule is excluded.
    pub(crate) fn has(&self, rule: usize) -> bool {
        self.is_removed(rule) || self.is_disabled(rule)
    }

    pub(crate) fn is_removed(&self, rule: usize) -> bool {
        self.removed.has(rule)
    }

    pub(crate) fn is_disabled(&self, rule: usize) -> bool {
        self.disabled.has(rule)
    }

    /// Number of removed rules.
    pub(crate) fn count_removed(&self) -> usize {
        self.removed.0.iter().fold(0_usize, |sum, word| sum.saturating_add(word.count_ones() as usize))
    }

    /// Number of excluded rules.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether some of these rules are excluded, and whether some are disabled. Disabled rules must
    /// not be evaluated: the cost of evaluation may be the reason for disabling them.
    pub(super) fn among(&self, rules: impl Iterator<Item = usize>) -> (bool, bool) {
        let (mut removed, mut disabled) = (false, false);
        for rule in rules {
            removed |= self.is_removed(rule);
            disabled |= self.is_disabled(rule);
        }
        (removed || disabled, disabled)
    }
}

/// A set of indices.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word.wrapping_shr(bit(index)) & 1 != 0)
    }

    fn set(&mut self, index: usize, on: bool) {
        let word = index / 64;
        if on && word >= self.0.len() {
            self.0.resize(word.saturating_add(1), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            let mask = 1_u64.wrapping_shl(bit(index));
            *word = if on { *word | mask } else { *word & !mask };
        }
    }
}

/// The bit of an index in its word.
fn bit(index: usize) -> u32 {
    u32::try_from(index % 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_excluded_is_counted_once() {
        let mut excluded = Excluded::default();
        excluded.disable(70, true);
        excluded.remove(70);
        excluded.remove(3);
        assert_eq!(excluded.count(), 2);
        excluded.disable(70, false);
        assert!(excluded.has(70) && excluded.has(3) && !excluded.has(6));
        excluded.disable(5, true);
        excluded.disable(5, false);
        assert_eq!(excluded.count(), 2);
    }

    #[test]
    fn some_of_many_are_found() {
        let mut excluded = Excluded::default();
        excluded.remove(64);
        excluded.disable(130, true);
        assert_eq!(excluded.among(0..64), (false, false));
        assert_eq!(excluded.among(60..65), (true, false));
        assert_eq!(excluded.among(65..130), (false, false));
        assert_eq!(excluded.among(65..900), (true, true));
        excluded.disable(130, false);
        assert_eq!(excluded.among(65..900), (false, false));
    }
}
