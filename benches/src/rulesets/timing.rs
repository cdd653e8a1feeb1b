//! Checks that engines find the same rules, then times them on the same requests, all engines in every round.

use super::engines::PreparedEngine;
use super::generate::RequestSample;
use std::hint::black_box;
use std::time::Instant;

/// Seconds that a round should take. Fast engines repeat the requests until then; slow ones get the
/// first few requests only.
const ROUND_SECONDS: f64 = 0.002;
/// Seconds that a round may take.
const MAX_ROUND_SECONDS: f64 = 1.5;
/// Seconds for all rounds of an engine together.
const ENGINE_SECONDS: f64 = 3.0;

/// What was measured of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    /// Median nanoseconds for a request.
    pub(crate) ns: f64,
    /// How many different requests it was timed on.
    pub(crate) requests: usize,
    /// How many rounds the median is over.
    pub(crate) rounds: usize,
}

/// How an engine is timed.
struct TimingPlan {
    /// How many of the requests it gets.
    requests: usize,
    /// How often a round repeats them.
    passes: u32,
    rounds: usize,
}

fn pass(engine: &PreparedEngine, samples: &[RequestSample], matched: &mut Vec<usize>) -> f64 {
    let start = Instant::now();
    for sample in samples {
        matched.clear();
        (engine.find)(black_box(sample), matched);
        black_box(&*matched);
    }
    start.elapsed().as_secs_f64()
}

fn plan(engine: &PreparedEngine, samples: &[RequestSample], matched: &mut Vec<usize>) -> TimingPlan {
    let few = samples.get(..2).unwrap_or(samples);
    let each = pass(engine, few, matched) / few.len().max(1) as f64;
    let requests = ((MAX_ROUND_SECONDS / each) as usize).clamp(1, samples.len());
    let one = pass(engine, samples.get(..requests).unwrap_or(samples), matched).max(1e-7);
    let passes = ((ROUND_SECONDS / one) as u32).max(1);
    let rounds = ((ENGINE_SECONDS / (one * f64::from(passes))) as usize).clamp(3, 31);
    // A pass as long as this averages out short disturbances.
    TimingPlan { requests, passes, rounds: if one > MAX_ROUND_SECONDS { 1 } else { rounds } }
}

/// Describes the first request on which an engine disagrees with the reference. Slow engines get the first few only.
fn disagreement(reference: &PreparedEngine, engine: &PreparedEngine, samples: &[RequestSample]) -> Option<String> {
    let (mut want, mut got) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for (number, sample) in samples.iter().enumerate() {
        if number >= 2 && start.elapsed().as_secs_f64() > 2.0 * MAX_ROUND_SECONDS {
            break;
        }
        want.clear();
        got.clear();
        (reference.find)(sample, &mut want);
        (engine.find)(sample, &mut got);
        want.truncate(if engine.once { 1 } else { usize::MAX });
        if want != got {
            let request = &sample.request;
            let (name, right) = (engine.name, reference.name);
            return Some(format!("{name} finds {got:?}, {right} {want:?} for {request:?} from {}", sample.peer));
        }
    }
    None
}

/// Times engines. The first is the reference for which rules match.
///
/// # Errors
/// A description of the first engine that finds other rules.
pub(crate) fn compare(engines: &[&PreparedEngine], samples: &[RequestSample]) -> Result<Vec<Timing>, String> {
    if let Some((reference, others)) = engines.split_first() {
        let wrong = others.iter().find_map(|engine| disagreement(reference, engine, samples));
        wrong.map_or(Ok(()), Err)?;
    }
    let matched = &mut Vec::new();
    let plans: Vec<TimingPlan> = engines.iter().map(|engine| plan(engine, samples, matched)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); engines.len()];
    let most = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    let mut order: Vec<usize> = (0..engines.len()).collect();
    for round in 0..most {
        for &i in &order {
            let (Some(engine), Some(plan), Some(times)) = (engines.get(i), plans.get(i), times.get_mut(i)) else {
                continue;
            };
            if round < plan.rounds {
                let given = samples.get(..plan.requests).unwrap_or(samples);
                let took: f64 = (0..plan.passes).map(|_| pass(engine, given, matched)).sum();
                times.push(took * 1e9 / f64::from(plan.passes) / given.len().max(1) as f64);
            }
        }
        order.rotate_left(1.min(engines.len()));
    }
    let timed = engines.iter().zip(plans).zip(times).map(|((engine, plan), mut times)| {
        times.sort_by(f64::total_cmp);
        let ns = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        Timing { name: engine.name, ns, requests: plan.requests, rounds: plan.rounds }
    });
    Ok(timed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_wrong_engine_is_not_timed() {
        let samples =
            [RequestSample::new("/a", &[], Ipv4Addr::LOCALHOST), RequestSample::new("/b", &[], Ipv4Addr::LOCALHOST)];
        let right = PreparedEngine::all("right", |_, matched| matched.extend([3, 5]));
        let first = PreparedEngine { name: "first", find: Box::new(|_, matched| matched.push(3)), once: true };
        let timed = compare(&[&right, &first], &samples).unwrap();
        assert_eq!(timed.iter().map(|t| (t.name, t.requests)).collect::<Vec<_>>(), [("right", 2), ("first", 2)]);
        let wrong = PreparedEngine::all("wrong", |sample: &RequestSample, matched: &mut Vec<usize>| {
            matched.extend(if sample.request.uri() == "/b" { vec![3] } else { vec![3, 5] });
        });
        let message = compare(&[&right, &wrong], &samples).unwrap_err();
        assert!(message.contains("wrong finds [3], right [3, 5]") && message.contains("/b"), "{message}");
    }
}
