//! The targets of `fuzz/`, each on seeds that are changed at random. `CELERO_FUZZ_INPUTS` sets how many inputs.
#![expect(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use celero_tests::fuzz::{TARGETS, Target, entries};
use celero_tests::generate::Rng;
use celero_tests::shared::say;
use std::collections::BTreeSet;
use std::path::Path;

/// Inputs of each target.
const INPUTS: usize = 2_000;

/// One of the seeds, with a few changes.
fn changed(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = rng.pick(seeds).clone();
    for _ in 0..rng.below(4) {
        let at = rng.below(input.len() + 1);
        match rng.below(6) {
            0 => input.truncate(at),
            1 => input.insert(at, *rng.pick(&[0, 1, 0x7f, 0x80, 0xff, b'(', b'"', b'.', b'\n'])),
            2 if at < input.len() => drop(input.remove(at)),
            3 if at < input.len() => input[at] ^= 1 << rng.below(8),
            4 => {
                let other = rng.pick(seeds);
                let from = rng.below(other.len() + 1);
                let to = (from + rng.below(40)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let to = (at + rng.below(40)).min(input.len());
                let part = input[at..to].to_vec();
                input.splice(at..at, part);
            }
        }
    }
    input
}

fn run(target: &Target) {
    let inputs = std::env::var("CELERO_FUZZ_INPUTS").map_or(INPUTS, |inputs| inputs.parse().unwrap());
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{}", target.name);
    let mut rng = Rng::new(61);
    for _ in 0..inputs {
        let input = changed(&mut rng, &seeds);
        let shown = Shown(target.name, &input);
        (target.run)(&input);
        std::mem::forget(shown);
    }
    say(&format!("{inputs} inputs of {}", target.name));
}

/// Shows the input if its target panics.
struct Shown<'i>(&'static str, &'i [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        say(&format!("{}: b\"{}\"", self.0, self.1.escape_ascii()));
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(TARGETS.iter().find(|target| target.name == stringify!($name)).unwrap());
        })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

targets!(cel filter trees messages descriptors policy protovalidate graph sets live translation canonical lists);

#[test]
fn every_target_is_tested_and_has_a_program() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(targets, TESTED.iter().map(|name| (*name).to_owned()).collect());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    let programs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(targets, programs.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect());
}

/// Seeds that are refused reach nothing behind the refusal.
#[test]
fn seeds_of_lists_are_lists() {
    let target = TARGETS.iter().find(|target| target.name == "lists").unwrap();
    for seed in (target.seeds)() {
        assert!(entries(&seed).is_some_and(|(_, entries)| !entries.is_empty()), "b\"{}\"", seed.escape_ascii());
    }
}

/// Writes the seeds of all targets into the folder `CELERO_FUZZ_SEEDS`, for `fuzz/run.sh`.
#[test]
fn seeds() {
    let Some(folder) = std::env::var_os("CELERO_FUZZ_SEEDS") else { return };
    for target in TARGETS {
        let folder = Path::new(&folder).join(target.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (at, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{at}")), seed).unwrap();
        }
    }
}
