//! Helpers that several files of tests use: random values with a fixed seed, values of every type, and panics
//! without output.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use celero::{Bindings, Engine, Env, Scratch, Tier, Value};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Random numbers and texts that are the same in every run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// Up to 11 characters of 1 to 4 bytes.
    pub(crate) fn text(&mut self) -> String {
        let letters: Vec<char> = "aé漢😀 /\0z".chars().collect();
        (0..self.below(12)).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// Something in half of the cases.
    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.0.bool().then(|| make(self))
    }
}

/// Runs `body` without output of panics. The hook for panics is the whole process's: one test at a time.
pub(crate) fn quietly(body: impl FnOnce()) {
    static EXCLUSIVE: Mutex<()> = Mutex::new(());
    let guard = EXCLUSIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    std::panic::set_hook(hook);
    drop(guard);
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// Expressions whose values are of every type, with what is easily lost when a value is copied,
/// shown or written: limits of numbers, hidden characters, keys of several types, nesting.
pub(crate) const EXPRESSIONS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-7",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "0u",
    "18446744073709551615u",
    "0.0",
    "-0.0",
    "1.0",
    "-1.5e300",
    "5e-324",
    "double('NaN')",
    "double('Infinity')",
    "double('-Infinity')",
    "''",
    "'Ada'",
    r#"'a"\\b\n\r\t\x07 é漢😀 \u202e\u200b\ufeff'"#,
    "b''",
    r#"b'a"\\\x00\xff'"#,
    "duration('0s')",
    "duration('-1h2m3.000000004s')",
    "timestamp('2024-02-29T12:34:56.789Z')",
    "timestamp('0001-01-01T00:00:00Z')",
    "[]",
    "[1, 2u, 3.0, 'x', b'y', null, [true, [duration('1s')]]]",
    "{}",
    "{'a': 1, 'b': {'c': [1, {'d': null}]}}",
    "{true: 'bool', 10: 'int', 9u: 'uint', 'k': 'text'}",
    "type(1)",
    "type(timestamp(0))",
    "optional.none()",
    "optional.of(1)",
    "optional.of(optional.of(['x']))",
    "[optional.of({'a': optional.none()})]",
    "ip('192.0.2.1')",
    "ip('2001:db8::1')",
    "cidr('10.0.0.0/8')",
    "cidr('2001:db8::/32')",
];

/// The names of all types that a value can have.
pub(crate) const TYPE_NAMES: [&str; 15] = [
    "null_type",
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "list",
    "map",
    "type",
    "optional_type",
    "net.IP",
    "net.CIDR",
];

/// Evaluates each of [`EXPRESSIONS`] and passes it on with its value.
pub(crate) fn each_value(mut take: impl FnMut(&str, Value<'_>)) {
    let env = Env::dynamic();
    let bindings = Bindings::new(&env);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let mut names = BTreeSet::new();
    for source in EXPRESSIONS {
        let program = engine.compile(&env, source).unwrap();
        let mut scratch = Scratch::new();
        let value = program.eval(&bindings, &mut scratch).unwrap();
        names.insert(value.type_name().to_owned());
        take(source, value);
    }
    assert_eq!(names, BTreeSet::from(TYPE_NAMES.map(str::to_owned)), "an expression for each type");
}
