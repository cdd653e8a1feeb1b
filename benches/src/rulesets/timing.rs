//! Checks that engines agree, then times them on the same requests in turns.

use super::engines::Asked;
use super::generate::Sample;
use std::hint::black_box;
use std::time::Instant;

/// Seconds that one turn should take: fast engines run over the requests again and again, slow ones over the first few.
const TURN: f64 = 0.002;
/// Seconds that a turn may take.
const LONGEST: f64 = 1.5;
/// Seconds for all turns of an engine.
const TOTAL: f64 = 3.0;

/// What was measured of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) name: &'static str,
    /// Median nanoseconds for a request.
    pub(crate) ns: f64,
    /// How many different requests it was timed on.
    pub(crate) requests: usize,
    pub(crate) turns: usize,
}

/// How an engine is timed.
struct Plan {
    requests: usize,
    passes: u32,
    turns: usize,
}

fn pass(engine: &Asked, samples: &[Sample], matched: &mut Vec<usize>) -> f64 {
    let start = Instant::now();
    for sample in samples {
        matched.clear();
        (engine.ask)(black_box(sample), matched);
        black_box(&*matched);
    }
    start.elapsed().as_secs_f64()
}

fn plan(engine: &Asked, samples: &[Sample], matched: &mut Vec<usize>) -> Plan {
    let few = samples.get(..2).unwrap_or(samples);
    let each = pass(engine, few, matched) / few.len().max(1) as f64;
    let requests = ((LONGEST / each) as usize).clamp(1, samples.len());
    let one = pass(engine, samples.get(..requests).unwrap_or(samples), matched).max(1e-7);
    let passes = ((TURN / one) as u32).max(1);
    let turns = ((TOTAL / (one * f64::from(passes))) as usize).clamp(3, 31);
    // A pass that takes this long is not disturbed by little things.
    Plan { requests, passes, turns: if one > LONGEST { 1 } else { turns } }
}

/// The first request on which an engine disagrees with the reference. Slow engines are asked about the first few only.
fn disagreement(reference: &Asked, engine: &Asked, samples: &[Sample]) -> Option<String> {
    let (mut want, mut got) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for (number, sample) in samples.iter().enumerate() {
        if number >= 2 && start.elapsed().as_secs_f64() > 2.0 * LONGEST {
            break;
        }
        want.clear();
        got.clear();
        (reference.ask)(sample, &mut want);
        (engine.ask)(sample, &mut got);
        want.truncate(if engine.once { 1 } else { usize::MAX });
        if want != got {
            let request = &sample.request;
            let (name, right) = (engine.name, reference.name);
            return Some(format!("{name} finds {got:?}, {right} {want:?} for {request:?} from {}", sample.peer));
        }
    }
    None
}

/// Times engines of which the first is the reference for the answers.
///
/// # Errors
/// An engine that answers otherwise.
pub(crate) fn compare(engines: &[&Asked], samples: &[Sample]) -> Result<Vec<Timing>, String> {
    if let Some((reference, others)) = engines.split_first() {
        let wrong = others.iter().find_map(|engine| disagreement(reference, engine, samples));
        wrong.map_or(Ok(()), Err)?;
    }
    let matched = &mut Vec::new();
    let plans: Vec<Plan> = engines.iter().map(|engine| plan(engine, samples, matched)).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); engines.len()];
    let most = plans.iter().map(|plan| plan.turns).max().unwrap_or(0);
    let mut order: Vec<usize> = (0..engines.len()).collect();
    for turn in 0..most {
        for &i in &order {
            let (Some(engine), Some(plan), Some(times)) = (engines.get(i), plans.get(i), times.get_mut(i)) else {
                continue;
            };
            if turn < plan.turns {
                let asked = samples.get(..plan.requests).unwrap_or(samples);
                let took: f64 = (0..plan.passes).map(|_| pass(engine, asked, matched)).sum();
                times.push(took * 1e9 / f64::from(plan.passes) / asked.len().max(1) as f64);
            }
        }
        order.rotate_left(1.min(engines.len()));
    }
    let timed = engines.iter().zip(plans).zip(times).map(|((engine, plan), mut times)| {
        times.sort_by(f64::total_cmp);
        let ns = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        Timing { name: engine.name, ns, requests: plan.requests, turns: plan.turns }
    });
    Ok(timed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_wrong_engine_is_not_timed() {
        let samples = [Sample::new("/a", &[], Ipv4Addr::LOCALHOST), Sample::new("/b", &[], Ipv4Addr::LOCALHOST)];
        let right = Asked::all("right", |_, matched| matched.extend([3, 5]));
        let first = Asked { name: "first", ask: Box::new(|_, matched| matched.push(3)), once: true };
        let timed = compare(&[&right, &first], &samples).unwrap();
        assert_eq!(timed.iter().map(|t| (t.name, t.requests)).collect::<Vec<_>>(), [("right", 2), ("first", 2)]);
        let wrong = Asked::all("wrong", |sample: &Sample, matched: &mut Vec<usize>| {
            matched.extend(if sample.request.uri() == "/b" { vec![3] } else { vec![3, 5] });
        });
        let message = compare(&[&right, &wrong], &samples).unwrap_err();
        assert!(message.contains("wrong finds [3], right [3, 5]") && message.contains("/b"), "{message}");
    }
}
