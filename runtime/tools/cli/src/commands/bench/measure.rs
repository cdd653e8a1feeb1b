//! Measures subjects: time for a request with its spread, allocations, throughput. All subjects
//! take turns in each round, so what disturbs the machine disturbs all of them alike.

use super::subject::{Runner, Subject};
use crate::output::units::number;
use celero_tooling::progress::Progress;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// The number of rounds.
const ROUNDS: usize = 31;
/// The part of the time of a measurement that a round takes at least.
const ROUND: u32 = 50;
/// The largest number of requests that are also measured one by one.
const MAX_REQUESTS: usize = 100;
/// The least time of the measurement of one request.
const ONE: Duration = Duration::from_micros(50);

/// What was measured of a subject.
pub(crate) struct Measured {
    /// Nanoseconds per request in each round, sorted.
    rounds: Vec<f64>,
    /// Nanoseconds of single requests, the fastest of three measurements, by request.
    pub(crate) requests: Vec<f64>,
    /// Allocations per request of a warm runner.
    pub(crate) allocations: f64,
    /// Bytes that are allocated per request.
    pub(crate) bytes: f64,
    /// Requests per second on one core: the median of as many slices of the time as there are rounds.
    pub(crate) on_one: f64,
    /// Requests per second on all cores, the sum of their medians.
    pub(crate) on_all: f64,
    /// The number of cores.
    pub(crate) cores: usize,
    /// The answers, by request.
    pub(crate) answers: Vec<String>,
}

impl Measured {
    /// Returns the nanoseconds per request that this share of the rounds does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let last = self.rounds.len().saturating_sub(1);
        let at = (number(last) * share).round() as usize;
        self.rounds.get(at.min(last)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the median of the rounds, in nanoseconds per request.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the cheapest and the most expensive of the requests that were measured one by one, with its number.
    pub(crate) fn extremes(&self) -> Option<(f64, usize, f64)> {
        let least = self.requests.iter().copied().min_by(f64::total_cmp)?;
        let (number, most) = self.requests.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((least, number, most))
    }
}

/// Measures all subjects. `time` is that of each measurement: of throughput, and about that of all rounds of a subject.
///
/// # Errors
/// Values that are not of the type of their variable.
pub(crate) fn measure(subjects: &[Subject<'_>], time: Duration) -> Result<Vec<Measured>, String> {
    let progress = Progress::new("measuring");
    let steps = number(subjects.len()) * number(ROUNDS.saturating_add(10));
    let mut step = 0.0;
    let mut advance = |by: f64| {
        step += by;
        progress.done("measuring", step / steps);
    };
    let mut times = Vec::new();
    for subject in subjects {
        times.push(calibrate(subject, time.checked_div(ROUND).unwrap_or(time))?);
    }
    let mut rounds = vec![Vec::with_capacity(ROUNDS); subjects.len()];
    for _ in 0..ROUNDS {
        for ((subject, times), rounds) in subjects.iter().zip(&times).zip(&mut rounds) {
            subject.with(&mut |runner| {
                runner.pass(0..runner.len(), 1);
                rounds.push(timed(runner, *times));
            })?;
            advance(1.0);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut measured = Vec::new();
    for (subject, mut rounds) in subjects.iter().zip(rounds) {
        rounds.sort_by(f64::total_cmp);
        let (mut requests, mut answers, mut allocated) = (Vec::new(), Vec::new(), (0.0, 0.0));
        subject.with(&mut |runner| {
            let len = runner.len();
            runner.pass(0..len, 2);
            let info = allocation_counter::measure(|| runner.pass(0..len, 1));
            let per_request = |count: u64| count as f64 / number(len.max(1));
            allocated = (per_request(info.count_total), per_request(info.bytes_total));
            requests = (0..len.min(MAX_REQUESTS)).map(|request| one(runner, request)).collect();
            answers = (0..len).map(|request| runner.answer(request)).collect();
        })?;
        let on_one = throughput(subject, 1, time)?;
        let on_all = if cores > 1 { throughput(subject, cores, time)? } else { on_one };
        let (allocations, bytes) = allocated;
        measured.push(Measured { rounds, requests, allocations, bytes, on_one, on_all, cores, answers });
        advance(10.0);
    }
    Ok(measured)
}

/// Returns how many times all requests are evaluated in a round.
fn calibrate(subject: &Subject<'_>, round: Duration) -> Result<usize, String> {
    let mut times = 1_usize;
    subject.with(&mut |runner| {
        let len = runner.len();
        runner.pass(0..len, 1);
        loop {
            let began = Instant::now();
            runner.pass(0..len, times);
            if began.elapsed() >= round || times > 1 << 24 {
                break;
            }
            times = times.saturating_mul(2);
        }
    })?;
    Ok(times)
}

/// Returns the nanoseconds per request.
fn timed(runner: &mut dyn Runner, times: usize) -> f64 {
    let len = runner.len();
    let began = Instant::now();
    runner.pass(0..len, times);
    began.elapsed().as_secs_f64() * 1e9 / (number(len.max(1)) * number(times))
}

/// Returns the nanoseconds of one request: the fastest of three measurements.
fn one(runner: &mut dyn Runner, request: usize) -> f64 {
    let range = request..request.saturating_add(1);
    let (mut times, mut best) = (1_usize, f64::INFINITY);
    for _ in 0..3 {
        loop {
            let began = Instant::now();
            runner.pass(range.clone(), times);
            let elapsed = began.elapsed();
            if elapsed >= ONE || times > 1 << 24 {
                best = best.min(elapsed.as_secs_f64() * 1e9 / number(times));
                break;
            }
            times = times.saturating_mul(2);
        }
    }
    best
}

/// Returns the requests per second on this many threads.
fn throughput(subject: &Subject<'_>, threads: usize, time: Duration) -> Result<f64, String> {
    let barrier = Barrier::new(threads);
    let run = || -> Result<f64, String> {
        let mut rate = 0.0;
        let mut started = false;
        let result = subject.with(&mut |runner| {
            let len = runner.len();
            runner.pass(0..len, 1);
            started = true;
            barrier.wait();
            // Enough requests that looking at the clock does not count.
            let times = 256_usize.checked_div(len).unwrap_or(1).max(1);
            let slice = time.checked_div(u32::try_from(ROUNDS).unwrap_or(u32::MAX)).unwrap_or(time);
            let (all, mut rates) = (Instant::now(), Vec::with_capacity(ROUNDS));
            // The median, as of the time of a request: other work of the machine makes a mean smaller.
            while rates.is_empty() || all.elapsed() < time {
                let (began, mut evaluated) = (Instant::now(), 0_usize);
                while evaluated == 0 || began.elapsed() < slice {
                    runner.pass(0..len, times);
                    evaluated = evaluated.saturating_add(len.saturating_mul(times));
                }
                rates.push(number(evaluated) / began.elapsed().as_secs_f64());
            }
            rates.sort_by(f64::total_cmp);
            rate = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
        });
        if !started {
            barrier.wait();
        }
        result.map(|()| rate)
    };
    let rates = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let joined =
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())));
        joined.collect::<Result<Vec<f64>, String>>()
    })?;
    Ok(rates.iter().sum())
}
