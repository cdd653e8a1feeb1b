//! The candidate set: evaluated after the live rules on a share of the requests, and compared with them.

use super::views::SegmentViews;
use crate::context::Context;
use crate::error::{ErrorKind, EvalError, RuleError};
use crate::function::contained;
use crate::scratch::{Scratch, with_thread_scratch};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Resolution of a share.
const MILLION: u64 = 1_000_000;

/// How the results of a candidate differ from those of the live rules: [`Live::shadow`](super::Live::shadow).
///
/// Rules are compared by name. If only the first match was asked for (`first`, `any`), at most one
/// rule is gained and one is lost. If all were (`all`, `count`), their order does not matter. An
/// evaluation that an error ended ([`ErrorPolicy::Stop`](crate::ErrorPolicy::Stop)) has that error
/// and no rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference<'r> {
    /// Rules that match only in the candidate.
    pub gained: Vec<&'r str>,
    /// Rules that match only in the live rules.
    pub lost: Vec<&'r str>,
    /// Errors of rules that do not fail like that in the live rules.
    pub failed: Vec<(&'r str, EvalError)>,
    /// Errors of rules that do not fail like that in the candidate.
    pub mended: Vec<(&'r str, EvalError)>,
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (what, names) in [("gained", &self.gained), ("lost", &self.lost)] {
            for name in names {
                write!(f, "{separator}{what} `{name}`")?;
                separator = ", ";
            }
        }
        for (what, errors) in [("failed", &self.failed), ("mended", &self.mended)] {
            for (name, error) in errors {
                write!(f, "{separator}{what} `{name}`: {error}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

pub(super) type OnDifference = dyn Fn(&Difference<'_>) + Send + Sync;

/// The settings and counters of a candidate. They stay the same while it is compiled.
pub(super) struct Watch {
    /// In millionths.
    share: u64,
    on_difference: Box<OnDifference>,
    asked: AtomicU64,
    pub(super) compared: AtomicU64,
    pub(super) different: AtomicU64,
}

impl Watch {
    pub(super) fn new(share: f64, on_difference: Box<OnDifference>) -> Self {
        let zero = || AtomicU64::new(0);
        Self { share: millionths(share), on_difference, asked: zero(), compared: zero(), different: zero() }
    }

    /// Whether the candidate is evaluated this time. These evaluations are spread evenly.
    fn chooses(&self) -> bool {
        let turn = self.asked.fetch_add(1, Ordering::Relaxed) % MILLION;
        let before = turn.saturating_mul(self.share) / MILLION;
        turn.saturating_add(1).saturating_mul(self.share) / MILLION > before
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is within 0 and a million, or NaN, which gives 0"
)]
fn millionths(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 1e6).round() as u64
}

/// The candidate of a snapshot.
pub(super) struct Shadow<S, A> {
    pub(super) views: SegmentViews<S, A>,
    pub(super) watch: Arc<Watch>,
}

impl<S: Context + 'static, A> Shadow<S, A> {
    /// Evaluates the candidate and compares the results, if this evaluation is chosen. `scratch`
    /// has the results of `live`.
    #[cold]
    pub(super) fn compare<C: Context<Static = S>>(
        &self,
        live: &SegmentViews<S, A>,
        context: &C,
        scratch: &Scratch,
        result: &Result<(), RuleError>,
        once: bool,
    ) {
        let Self { views, watch } = self;
        if !watch.chooses() {
            return;
        }
        // A panic of the callback must not reach the request.
        let _ = contained(|| {
            with_thread_scratch(|own| {
                let candidate = views.evaluate(context, own, once);
                watch.compared.fetch_add(1, Ordering::Relaxed);
                let (old, new) = (Facts::of(live, scratch, result), Facts::of(views, own, &candidate));
                if let Some(difference) = old.difference(&new) {
                    watch.different.fetch_add(1, Ordering::Relaxed);
                    (watch.on_difference)(&difference);
                }
            });
        });
    }
}

/// The results of an evaluation.
struct Facts<'r> {
    matched: Vec<&'r str>,
    errors: Vec<(&'r str, EvalError)>,
}

impl<'r> Facts<'r> {
    fn of<S, A>(views: &'r SegmentViews<S, A>, scratch: &Scratch, result: &Result<(), RuleError>) -> Self {
        let name = |handle| views.get(handle).map_or("", |rule| rule.name);
        let matched =
            if result.is_ok() { scratch.matched.iter().map(|&rule| name(rule)).collect() } else { Vec::new() };
        Self { matched, errors: scratch.errors.iter().map(|error| (name(error.rule), error.error)).collect() }
    }

    fn difference(&self, new: &Facts<'r>) -> Option<Difference<'r>> {
        let by_name = |name: &&'r str| *name;
        // The place of an error changes with the source: compare the kind.
        let by_kind = |(name, error): &(&'r str, EvalError)| -> (&'r str, ErrorKind) { (*name, error.kind) };
        let difference = Difference {
            gained: without(&new.matched, &self.matched, by_name),
            lost: without(&self.matched, &new.matched, by_name),
            failed: without(&new.errors, &self.errors, by_kind),
            mended: without(&self.errors, &new.errors, by_kind),
        };
        (difference != Difference::default()).then_some(difference)
    }
}

/// The elements of `these` that are not in `those`, counted with repetition.
fn without<T: Copy, K: std::hash::Hash + Eq>(these: &[T], those: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    for that in those {
        let count = counts.entry(key(that)).or_default();
        *count = count.saturating_add(1);
    }
    let mut is_new = |this: &&T| match counts.get_mut(&key(this)) {
        Some(count) if *count > 0 => {
            *count = count.saturating_sub(1);
            false
        }
        _ => true,
    };
    these.iter().filter(&mut is_new).copied().collect()
}
