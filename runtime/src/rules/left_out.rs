//! Rules of a set that count as not there: removed for good, or disabled for a while.

/// The rules that are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    removed: Bits,
    disabled: Bits,
    /// How many are one or the other.
    count: usize,
}

impl LeftOut {
    /// Leaves a rule out for good.
    pub(crate) fn remove(&mut self, rule: usize) {
        self.change(|this| this.removed.set(rule, true), rule);
    }

    /// Leaves a rule out, or lets it in again unless it was removed.
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

    /// Whether a rule is left out.
    pub(crate) fn has(&self, rule: usize) -> bool {
        self.is_removed(rule) || self.is_disabled(rule)
    }

    pub(crate) fn is_removed(&self, rule: usize) -> bool {
        self.removed.has(rule)
    }

    pub(crate) fn is_disabled(&self, rule: usize) -> bool {
        self.disabled.has(rule)
    }

    /// How many rules are removed.
    pub(crate) fn count_removed(&self) -> usize {
        self.removed.0.iter().fold(0_usize, |sum, word| sum.saturating_add(word.count_ones() as usize))
    }

    /// How many rules are left out.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Of these rules: whether some are left out, and whether some are disabled, which must not even be evaluated: what it costs
    /// may be why.
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

/// The place of an index in its word.
fn bit(index: usize) -> u32 {
    u32::try_from(index % 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_once() {
        let mut left_out = LeftOut::default();
        left_out.disable(70, true);
        left_out.remove(70);
        left_out.remove(3);
        assert_eq!(left_out.count(), 2);
        left_out.disable(70, false);
        assert!(left_out.has(70) && left_out.has(3) && !left_out.has(6));
        left_out.disable(5, true);
        left_out.disable(5, false);
        assert_eq!(left_out.count(), 2);
    }

    #[test]
    fn some_of_many_are_found() {
        let mut left_out = LeftOut::default();
        left_out.remove(64);
        left_out.disable(130, true);
        assert_eq!(left_out.among(0..64), (false, false));
        assert_eq!(left_out.among(60..65), (true, false));
        assert_eq!(left_out.among(65..130), (false, false));
        assert_eq!(left_out.among(65..900), (true, true));
        left_out.disable(130, false);
        assert_eq!(left_out.among(65..900), (false, false));
    }
}
