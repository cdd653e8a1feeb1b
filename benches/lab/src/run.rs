//! A whole run: times and memory in this process; instructions too, where the processor's counters
//! can be read, else in a second process under callgrind, which gets the same plan.

use crate::counters::{Callgrind, Counter, Hardware, Probe, Space, Time};
use crate::measure::{Bench, Rounds};
use crate::read;
use crate::results::machine::{self, Build, Machine};
use crate::results::record::{Measurement, Partition, Run, RunInfo};
use crate::subjects::plan::{Plan, Sample};
use crate::subjects::policies::{self, is_yaml};
use crate::subjects::sizes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// How much is measured, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which rules and requests.
    pub sample: Sample,
    /// Rounds of times and hardware counters.
    pub timed: Rounds,
    /// Rounds under callgrind, which repeats nearly the same counts and is slow.
    pub counted: Rounds,
    /// Whether times and memory are left out.
    pub instructions_only: bool,
}

impl Settings {
    /// The defaults of a long run: 5 warm-ups and 20 recordings.
    pub const LONG: Self = Self {
        sample: Sample { rules: 24, requests: 32, seed: 1 },
        timed: Rounds { warm_ups: 5, recordings: 20 },
        counted: Rounds { warm_ups: 1, recordings: 3 },
        instructions_only: false,
    };
    /// Those of a short run.
    pub const SHORT: Self = Self {
        sample: Sample { rules: 6, requests: 8, seed: 1 },
        timed: Rounds { warm_ups: 2, recordings: 5 },
        counted: Rounds { warm_ups: 1, recordings: 2 },
        instructions_only: false,
    };
}

/// What the second process is given.
#[derive(Serialize, Deserialize)]
struct Task {
    plan: Plan,
    rounds: Rounds,
}

/// What it returns.
#[derive(Serialize, Deserialize)]
struct Counted {
    features: Vec<String>,
    measurements: Vec<Measurement>,
}

/// Reads rules, policies and requests and chooses what is measured.
///
/// # Errors
/// No file, a file that can't be read, a policy with mistakes, or no rule at all.
pub fn plan(rules: &[PathBuf], traffic: &[PathBuf], sample: Sample) -> Result<Plan, String> {
    if rules.is_empty() {
        return Err("nothing to measure: give files of rules".to_owned());
    }
    let mut sources = Vec::new();
    let (yaml, rules): (Vec<&PathBuf>, Vec<&PathBuf>) = rules.iter().partition(|path| is_yaml(path));
    for path in rules {
        sources.extend(read::rules(path)?);
    }
    let (mut requests, mut left_out) = (Vec::new(), 0);
    for path in traffic {
        let (more, invalid) = read::requests(path)?;
        requests.extend(more);
        left_out += invalid;
    }
    if requests.is_empty() {
        requests.push(read::Request::default());
    }
    let policies = policies::policies(&yaml)?;
    sources.extend(policies.iter().flat_map(policies::PlannedPolicy::expressions));
    let mut plan = Plan::new(&sources, &requests, left_out, sample);
    plan.policies = policies;
    let empty = plan.rules().next().is_none() && plan.policies.is_empty();
    if empty { Err("no rule of these files compiles".to_owned()) } else { Ok(plan) }
}

/// Measures a plan. What can't be measured is said through `say`.
///
/// # Errors
/// The second process could not be run, or failed.
pub fn run(plan: &Plan, settings: Settings, commit: Option<String>, say: &dyn Fn(&str)) -> Result<Run, String> {
    let mut machine = Machine::this();
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let hardware = Hardware::new();
    let mut measurements = Vec::new();
    let counted_here = hardware.is_ok();
    let why = hardware.as_ref().err().cloned();
    if !settings.instructions_only || counted_here {
        let mut bench = Bench::new(plan);
        let mut warm = Probe::new(Vec::new());
        let mut counters: Vec<Box<dyn Counter>> = Vec::new();
        if let Ok(hardware) = hardware {
            counters.push(Box::new(hardware));
        }
        counters.push(Box::new(Time::default()));
        measurements = bench.measure("times", settings.timed, &mut warm, || Probe::new(counters));
        if settings.instructions_only {
            measurements.retain(|measurement| measurement.counter == "instructions");
        } else {
            let once = Rounds { warm_ups: 0, recordings: 1 };
            let space = || Probe::new(vec![Box::new(Space::default())]);
            measurements.extend(bench.measure("memory", once, &mut warm, space));
            measurements.extend(bench.code_bytes());
        }
    }
    if let Some(why) = why {
        match callgrind_version() {
            Some(version) => {
                say(&format!("{why}; instructions are counted by {version}"));
                let counted = count(plan, settings.counted)?;
                machine.counted_features = counted.features;
                measurements.extend(counted.measurements);
            }
            None => say(&format!("{why}; without valgrind on x86-64, instructions are left out")),
        }
    }
    let mut commit = commit.unwrap_or_else(machine::commit);
    if plan.planted.is_some() {
        commit.push_str("-planted");
    }
    let info = RunInfo { commit, time, machine, build: Build::this() };
    Ok(Run { info, partitions: partitions(plan), measurements })
}

fn partitions(plan: &Plan) -> Vec<Partition> {
    let [invalid, not_sampled] = plan.requests_left_out;
    let partition = |(name, partition): (&String, &crate::subjects::plan::Partition)| Partition {
        partition: name.clone(),
        found: partition.found,
        structures: partition.structures,
        refused: partition.refused.clone(),
        requests: [plan.requests.len(), invalid, not_sampled],
        rules: partition.rules.iter().map(|rule| (rule.id.clone(), rule.source.clone())).collect::<BTreeMap<_, _>>(),
    };
    let of_policies = (!plan.policies.is_empty()).then(|| Partition {
        partition: policies::PARTITION.to_owned(),
        found: plan.policies.len(),
        structures: plan.policies.len(),
        requests: [plan.requests.len(), invalid, not_sampled],
        rules: plan.policies.iter().map(|policy| (policy.id.clone(), policy.name.clone())).collect(),
        ..Partition::default()
    });
    let of_sizes = plan.sizes.iter().map(|rules| Partition {
        partition: sizes::partition(*rules),
        found: *rules,
        structures: *rules,
        rules: [(format!("{rules:016x}"), format!("{rules} generated rules"))].into(),
        ..Partition::default()
    });
    plan.partitions.iter().map(partition).chain(of_policies).chain(of_sizes).collect()
}

/// The version of valgrind; `None` if it is not installed, or can't count on this kind of processor.
#[must_use]
pub fn callgrind_version() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let output = Command::new("valgrind").arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs this program again under callgrind.
fn count(plan: &Plan, rounds: Rounds) -> Result<Counted, String> {
    let folder = Folder::new()?;
    let task = folder.0.join("task.json");
    let text = serde_json::to_string(&Task { plan: plan.clone(), rounds }).map_err(|error| error.to_string())?;
    std::fs::write(&task, text).map_err(|error| format!("{}: {error}", task.display()))?;
    let log = folder.0.join("log");
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut child = Command::new("valgrind")
        .args(Callgrind::options(&log))
        .arg(program)
        .arg("count")
        .args([&task, &log])
        // The environment is on the stack: its length would change addresses.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("valgrind: {error}"))?;
    let mut line = String::new();
    if let Some(out) = &mut child.stdout {
        let _ = BufReader::new(out).read_line(&mut line);
    }
    let _ = child.kill();
    let _ = child.wait();
    serde_json::from_str(&line).map_err(|_| {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let end = log.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
        format!("the process under callgrind failed:\n{end}")
    })
}

/// What the process under callgrind does: reads the task, and writes what it counts to `out`.
///
/// # Errors
/// The task can't be read, or `out` can't be written.
pub fn counting_process(task: &Path, log: &Path, out: &mut dyn Write) -> Result<(), String> {
    let text = std::fs::read(task).map_err(|error| format!("{}: {error}", task.display()))?;
    let Task { plan, rounds } =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", task.display()))?;
    let mut bench = Bench::new(&plan);
    let mut warm = Probe::new(Vec::new());
    let counting = || Probe::new(vec![Box::new(Callgrind::start(log))]);
    let measurements = bench.measure("instructions", rounds, &mut warm, counting);
    let counted = Counted { features: machine::features(), measurements };
    serde_json::to_writer(&mut *out, &counted).map_err(|error| error.to_string())?;
    out.write_all(b"\n").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    // At its end callgrind writes the costs of all code, and crashes on code that was generated:
    // wait to be killed instead.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}

/// A folder that is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("celero-lab-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
