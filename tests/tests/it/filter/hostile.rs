//! Rules made to hurt, on a small stack: each is compiled and evaluated, or refused with
//! diagnostics, in time about linear in its length; rules with random faults too.

use celero::filter::{Filter, FilterHost, FilterOptions, FilterValue};
use celero::settings::SourceLimits;
use celero::{ErrorKind, Limits};
use celero_tests::filter::Values;
use celero_tests::generate::Rng;
use celero_tests::generate::filter::{Generator, scheme};
use celero_timing::{cpu_time_of, least_times};

/// Runs on a thread with little stack.
fn small_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(f).unwrap().join().unwrap()
}

type Shape = (&'static str, fn(usize) -> String);

/// Shapes that repeat something `n` times.
const SHAPES: &[Shape] = &[
    ("not", |n| "not ".repeat(n) + "ssl"),
    ("signs", |n| "!".repeat(n) + "ssl"),
    ("parentheses", |n| "(".repeat(n) + "ssl" + &")".repeat(n)),
    ("calls", |n| "lower(".repeat(n) + "ab" + &")".repeat(n) + " eq \"a\""),
    ("mapped calls", |n| "lower(".repeat(n) + "names[*]" + &")[*]".repeat(n) + "[0] eq \"a\""),
    ("quantifiers", |n| "any(".repeat(n) + "flags" + &")".repeat(n)),
    ("and", |n| "ssl".to_owned() + &" and ssl".repeat(n)),
    ("or of different", |n| "ssl".to_owned() + &(0..n).map(|k| format!(" or port eq {k}")).collect::<String>()),
    ("xor of many", |n| "any((flags".to_owned() + &" xor flags".repeat(n) + "))"),
    ("contains", |n| "ssl".to_owned() + &(0..n).map(|k| format!(" or ab contains \"{k}\"")).collect::<String>()),
    ("numbers", |n| "port in {".to_owned() + &(0..n).map(|k| format!("{k} ")).collect::<String>() + "}"),
    ("ranges", |n| "port in {".to_owned() + &(0..n).map(|k| format!("{k}..{} ", k + 9)).collect::<String>() + "}"),
    ("networks", |n| {
        "ip.src in {".to_owned()
            + &(0..n).map(|k| format!("10.{}.{}.0/24 ", k / 256 % 256, k % 256)).collect::<String>()
            + "}"
    }),
    ("strings", |n| "ab in {".to_owned() + &(0..n).map(|k| format!("\"{k}\"")).collect::<String>() + "}"),
    ("sets of many", |n| "any(ports[*] in {".to_owned() + &"1 ".repeat(n) + "})"),
    ("long string", |n| "ab eq \"".to_owned() + &"\\x61".repeat(n) + "\""),
    ("stars", |n| "ab wildcard \"".to_owned() + &"*a".repeat(n) + "\""),
    ("stars at the end", |n| "ab wildcard \"".to_owned() + &"a*".repeat(n) + "b\""),
    ("wildcards", |n| "ssl".to_owned() + &" or ab wildcard \"*a*b*c\"".repeat(n)),
    ("arguments", |n| "concat(ab".to_owned() + &",\"a\"".repeat(n) + ") eq \"\""),
    ("keys", |n| "lookup_json_string(ab".to_owned() + &",\"a\"".repeat(n) + ") eq \"\""),
    ("alternatives", |n| "ab matches \"".to_owned() + &"(a|b)*".repeat(n) + "c\""),
    ("repeated repetition", |n| "ab matches \"".to_owned() + &"(".repeat(n) + "a" + &"){9}".repeat(n) + "\""),
    ("nested stars", |n| "ab matches \"".to_owned() + &"(".repeat(n) + "a" + &"*)*".repeat(n) + "\""),
    ("faults", |n| "sl and (port eq x or ab contains \"\\q\") xor ".repeat(n)),
    ("unclosed", |n| "any((lower(ab) eq \"a\" or ".repeat(n)),
];

/// A host whose texts are as long as rules are large.
fn host(size: usize) -> Values {
    let scheme = scheme(false);
    let mut host = Values::new(&scheme);
    for (index, field) in scheme.fields().iter().enumerate() {
        let text = || FilterValue::Bytes(b"a".repeat(size));
        host.set(
            index,
            match &*field.name {
                "ssl" => Some(false.into()),
                "port" => Some((-1).into()),
                "ab" => Some(text()),
                "names" => Some([text(), "".into()].into_iter().collect()),
                "flags" => Some([true, false].into_iter().collect()),
                "ports" => Some([2i64, 3].into_iter().collect()),
                _ => None,
            },
        );
    }
    host
}

fn options() -> FilterOptions {
    let limits = SourceLimits { max_source_bytes: u32::MAX, max_nodes: u32::MAX, ..SourceLimits::default() };
    FilterOptions { limits, ..FilterOptions::default() }
}

/// Compiles and evaluates. Returns whether the rule was accepted.
fn run(source: &str, options: &FilterOptions, host: &dyn FilterHost) -> bool {
    match Filter::compile(source, &scheme(false), options) {
        Ok(filter) => {
            let result = filter.test(host);
            assert!(result.is_ok() || result.is_err_and(|error| error.kind == ErrorKind::OutOfBudget));
            let small = filter.with_limits(Limits { steps: 100, ..Limits::default() }).test(host);
            assert!(small.is_ok() || small.is_err_and(|error| error.kind == ErrorKind::OutOfBudget));
            true
        }
        Err(error) => {
            assert!(!error.diagnostics().is_empty() && error.diagnostics().len() <= 16);
            assert!(error.render("rule", false).len() < 100_000 + 2 * source.len());
            false
        }
    }
}

#[test]
fn shapes_of_every_size_end() {
    let accepted = small_stack(|| {
        let mut accepted = 0;
        for (_, shape) in SHAPES {
            for n in [0, 1, 2, 5, 127, 128, 129, 1_000, 20_000] {
                let source = shape(n);
                accepted += usize::from(run(&source, &FilterOptions::default(), &host(50)));
                run(&source, &options(), &host(50));
            }
        }
        accepted
    });
    assert!(accepted > 100, "hardly any shape is a rule: {accepted}");
}

#[test]
fn time_is_about_linear() {
    let slow = small_stack(|| {
        let mut slow = Vec::new();
        for (name, shape) in SHAPES {
            let time = |n: usize| {
                let (source, host) = (shape(n), host(n));
                cpu_time_of(|| run(&source, &options(), &host))
            };
            // Sixteen times as large: quadratic time would be 256 times as much.
            let ratio = |[small, large]: [f64; 2]| large / small.max(1e-5);
            let fit = |times| ratio(times) <= 90.0;
            let times = least_times([500, 8_000], 3..=12, time, fit).map(|time| time.as_secs_f64());
            if !fit(times) {
                let ratio = ratio(times);
                slow.push(format!("{name}: {ratio}"));
            }
        }
        slow
    });
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn rules_with_random_faults_end() {
    let accepted = small_stack(|| {
        let mut rng = Rng::new(4);
        let host = host(20);
        let mut accepted = 0;
        for case in Generator::new(9).filter(|case| !case.is_value).take(2_000) {
            let mut bytes = case.source.into_bytes();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bytes.len());
                match rng.below(3) {
                    0 => drop(bytes.drain(at..(at + rng.below(6)).min(bytes.len()))),
                    1 => bytes.insert(at, u8::try_from(rng.below(128)).unwrap()),
                    _ => {
                        let copied = bytes.iter().skip(at).take(rng.below(20)).copied().collect::<Vec<_>>();
                        bytes.splice(at..at, copied);
                    }
                }
            }
            let source = String::from_utf8_lossy(&bytes);
            accepted += usize::from(run(&source, &FilterOptions::default(), &host));
        }
        accepted
    });
    assert!((50..1_900).contains(&accepted), "{accepted}");
}
