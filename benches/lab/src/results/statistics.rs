//! Whether paired figures differ, and by how much, without assumptions about their distribution.
//!
//! For each rule the logarithm of the ratio of its two figures is taken. The estimate is the
//! Hodges–Lehmann estimate: the median of the means of all pairs of these (Walsh averages). The
//! interval is the one that belongs to it, from the distribution of the Wilcoxon signed-rank
//! statistic, which is computed exactly. The effect size is the matched-pairs rank-biserial
//! correlation (Kerby 2014): 1 if all rules became slower, -1 if all became faster, 0 if as much of
//! both.

/// How two paired samples differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The second divided by the first, of a typical rule.
    pub ratio: f64,
    /// The interval of the ratio.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The probability that such an interval holds the ratio. Below [`CONFIDENCE`] if there are too few pairs for that.
    pub confidence: f64,
    /// The rank-biserial correlation.
    pub effect: f64,
    /// The number of pairs.
    pub pairs: usize,
}

/// The confidence of intervals: so high that of 250 cells of a comparison one misses by chance in
/// fewer than one of twenty comparisons.
pub const CONFIDENCE: f64 = 0.9998;
/// The quantile of the normal distribution for it.
const QUANTILE: f64 = 3.719;

/// Pairs beyond which the distribution of the statistic is approximated by a normal distribution.
const EXACT: usize = 60;

/// Returns the median; 0 of nothing.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    if values.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.wrapping_sub(1)), at(middle)) }
}

/// Compares paired figures, none of which is negative. `None` without pairs. Takes time quadratic in their number.
#[must_use]
pub fn compare(pairs: &[(f64, f64)]) -> Option<Estimate> {
    // Counts can be 0: then both are taken one higher.
    let change = |(a, b): &(f64, f64)| if *a > 0.0 && *b > 0.0 { (b / a).ln() } else { ((b + 1.0) / (a + 1.0)).ln() };
    let changes: Vec<f64> = pairs.iter().map(change).filter(|change| change.is_finite()).collect();
    let n = changes.len();
    let mut averages = Vec::with_capacity(n * (n + 1) / 2);
    for (number, a) in changes.iter().enumerate() {
        averages.extend(changes.iter().take(number + 1).map(|b| f64::midpoint(*a, *b)));
    }
    averages.sort_by(f64::total_cmp);
    let (cut, confidence) = cut(n, CONFIDENCE);
    let at = |index: usize| averages.get(index).copied();
    Some(Estimate {
        ratio: median(&averages).exp(),
        low: at(cut)?.exp(),
        high: at(averages.len().checked_sub(cut + 1)?)?.exp(),
        confidence,
        effect: effect(&changes),
        pairs: n,
    })
}

/// How many of the smallest, and of the largest, Walsh averages are outside of the interval, and its confidence.
fn cut(n: usize, wanted: f64) -> (usize, f64) {
    let tail = (1.0 - wanted) / 2.0;
    if n > EXACT {
        let n = n as f64;
        let (mean, deviation) = (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
        return ((mean - QUANTILE * deviation).max(0.0).floor() as usize, CONFIDENCE);
    }
    // In how many of the 2^n choices of signs the ranks of the positive ones add up to each number, as shares.
    let most = n * (n + 1) / 2;
    let mut shares = vec![0.0; most + 1];
    if let Some(first) = shares.first_mut() {
        *first = 1.0;
    }
    for rank in 1..=n {
        let before = shares.clone();
        for (sum, share) in shares.iter_mut().enumerate() {
            let with = sum.checked_sub(rank).and_then(|less| before.get(less)).copied().unwrap_or(0.0);
            *share = f64::midpoint(*share, with);
        }
    }
    // The interval from the (k+1)-th smallest to the (k+1)-th largest average misses with the probability 2 P(W <= k).
    let mut below = 0.0;
    let mut found = None;
    for (sum, share) in shares.iter().enumerate() {
        below += share;
        if below > tail {
            break;
        }
        found = Some((sum, 1.0 - 2.0 * below));
    }
    let smallest = shares.first().copied().unwrap_or(1.0);
    found.unwrap_or((0, (1.0 - 2.0 * smallest).max(0.0)))
}

fn effect(changes: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = changes.iter().map(|change| change.abs()).filter(|size| *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for change in changes.iter().filter(|change| **change != 0.0) {
        // Equal sizes share the mean of their ranks.
        let below = sizes.partition_point(|size| *size < change.abs());
        let up_to = sizes.partition_point(|size| *size <= change.abs());
        sum += change.signum() * (below + up_to + 1) as f64 / 2.0;
    }
    let n = sizes.len() as f64;
    if n > 0.0 { sum / (n * (n + 1.0) / 2.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_tests::generate::Rng;

    #[test]
    fn the_estimate_is_that_of_the_textbook() {
        // Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: the differences, whose
        // estimate is -0.46 and whose interval of 96.1 % is the 6th smallest and largest average,
        // -0.786 to -0.010.
        let differences = [-0.952_f64, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        let pairs: Vec<(f64, f64)> = differences.iter().map(|d| (1.0, d.exp())).collect();
        let estimate = compare(&pairs).unwrap();
        assert!((estimate.ratio.ln() + 0.46).abs() < 0.005, "{estimate:?}");
        assert_eq!(estimate.pairs, 9);
        assert!((estimate.low.ln() + 1.022).abs() < 1e-9, "with so few pairs, that of all of them");
        let (cut, confidence) = cut(9, 0.95);
        assert!(cut == 5 && (confidence - 0.961).abs() < 0.0005, "the 6th, with 96.1 %: {cut}, {confidence}");
    }

    #[test]
    fn few_pairs_have_a_lower_confidence() {
        assert_eq!(cut(1, CONFIDENCE), (0, 0.0));
        assert_eq!(cut(3, CONFIDENCE), (0, 0.75));
        assert!(cut(13, CONFIDENCE).1 < CONFIDENCE && cut(14, CONFIDENCE).1 >= CONFIDENCE);
        // The approximation continues the exact distribution.
        let (exact, approximate) = (cut(EXACT, CONFIDENCE).0, cut(EXACT + 1, CONFIDENCE).0);
        assert!(approximate > exact && approximate < exact + 40, "{exact}, {approximate}");
        assert_eq!(compare(&[]), None);
    }

    #[test]
    fn the_effect_is_one_if_all_become_slower() {
        let effect =
            |changes: &[f64]| compare(&changes.iter().map(|c| (100.0, 100.0 * c)).collect::<Vec<_>>()).unwrap().effect;
        assert!((effect(&[1.1, 1.2, 1.05]) - 1.0).abs() < 1e-9);
        assert!((effect(&[0.9, 0.8, 0.95]) + 1.0).abs() < 1e-9);
        assert!(effect(&[1.0, 1.0]).abs() < 1e-9);
    }

    #[test]
    fn intervals_hold_the_ratio_as_often_as_they_say() {
        let mut rng = Rng::new(1);
        let mut noise = || (0..12).map(|_| rng.below(1_000) as f64 / 1_000.0 - 0.5).sum::<f64>() * 0.02;
        let mut missed = 0;
        const TRIES: usize = 2_000;
        for _ in 0..TRIES {
            let pairs: Vec<(f64, f64)> =
                (0..24).map(|_| (1_000.0, 1_000.0 * (noise() + 0.05_f64.ln_1p()).exp())).collect();
            let estimate = compare(&pairs).unwrap();
            missed += usize::from(estimate.low > 1.05 || estimate.high < 1.05);
        }
        assert!(missed <= 4, "{missed} of {TRIES} missed; expected is 1");
    }

    #[test]
    fn counts_of_zero_are_compared() {
        let estimate = compare(&[(0.0, 0.0), (0.0, 1.0), (0.0, 1.0)]).unwrap();
        assert!(estimate.ratio > 1.2 && estimate.ratio.is_finite());
    }
}
