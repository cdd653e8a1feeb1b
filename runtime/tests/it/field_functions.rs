//! Fields and types that functions read (`with = function`): the values and types that rules see.
#![expect(clippy::arithmetic_side_effects, clippy::expect_used, clippy::panic, clippy::ptr_arg, reason = "tests")]

use crate::field_types::{results, types};
use celero::{Context, Engine, Env, FieldType, Scratch, Tier, Value};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// No field type.
struct Version(u16, u16);

fn number(version: &Version) -> i64 {
    i64::from(version.0) * 100 + i64::from(version.1)
}

mod functions {
    use super::Version;
    use std::borrow::Cow;

    pub(super) fn text(version: &Version) -> Cow<'_, str> {
        if version.1 == 0 { "stable".into() } else { format!("{}.{}", version.0, version.1).into() }
    }

    pub(super) fn minor(version: &Version) -> Option<&u16> {
        Some(&version.1).filter(|minor| **minor != 0)
    }

    pub(super) fn fallible(version: &Version) -> Result<bool, String> {
        if version.0 > 9 { Err("no such version".to_owned()) } else { Ok(version.0 == 1) }
    }
}

fn major(version: &Version) -> Value<'_> {
    Value::Uint(version.0.into())
}

/// A type that a function reads wherever it stands.
#[derive(FieldType)]
#[context(with = Semantic::number)]
struct Semantic(Version);

impl Semantic {
    fn number(&self) -> i64 {
        number(&self.0)
    }
}

mod semantic {
    #[expect(clippy::ptr_arg, reason = "`with` gives the function the field as it is")]
    pub(super) fn length(text: &String) -> usize {
        text.len()
    }
}

#[derive(FieldType)]
#[context(with = Pair::shown)]
struct Pair(u8, &'static str);

impl Pair {
    fn shown(&self) -> Option<&'static str> {
        (self.0 > 0).then_some(self.1)
    }
}

#[derive(Context)]
struct WithFunctions {
    #[context(with = number)]
    number: Version,
    #[context(with = functions::text, name = "deep.text")]
    text: Version,
    #[context(with = "functions::minor")]
    minor: Version,
    #[context(with = major)]
    major: Version,
    #[context(with = functions::fallible)]
    first: Version,
    #[context(with = semantic::length)]
    length: String,
    pair: Pair,
    pairs: Vec<Pair>,
}

#[test]
fn functions_make_any_type_a_field() {
    let version = |minor| Version(2, minor);
    let context = WithFunctions {
        number: version(7),
        text: version(7),
        minor: version(7),
        major: version(7),
        first: version(7),
        length: "four".to_owned(),
        pair: Pair(1, "x"),
        pairs: vec![Pair(1, "y"), Pair(0, "z")],
    };
    assert_eq!(
        types::<WithFunctions>(),
        "number: int, deep.text: string, minor?: uint, major: dyn, first: bool, length: uint, pair?: string, pairs: list(string)"
    );
    results(
        &context,
        &[
            ("number", "Int(207)"),
            ("deep.text + pair + pairs[0]", r#"String("2.7xy")"#),
            ("pairs[1]", "no_such_key"),
            ("minor + length", "Uint(11)"),
            ("major == 2u && !first", "Bool(true)"),
        ],
    );
    let old = Version(10, 0);
    let context = WithFunctions { text: version(0), minor: version(0), first: old, pair: Pair(0, "x"), ..context };
    results(
        &context,
        &[
            ("deep.text", r#"String("stable")"#),
            ("minor", "no_such_key"),
            ("pair", "no_such_key"),
            ("first", "host"),
            ("first || number == 207", "Bool(true)"),
        ],
    );
}

#[test]
fn a_type_read_by_a_function_is_an_element() {
    #[derive(Context)]
    struct Versions {
        all: Vec<Semantic>,
        named: HashMap<String, Semantic>,
    }
    let context =
        Versions { all: vec![Semantic(Version(1, 2))], named: [("a".to_owned(), Semantic(Version(3, 4)))].into() };
    results(&context, &[("all[0] + named.a", "Int(406)")]);
}

/// Functions with the names that generated code could have for its own values.
mod names {
    use super::Version;

    pub(super) fn count(version: &Version) -> i64 {
        number(version)
    }

    pub(super) use count as arena;
    pub(super) use count as index;
    pub(super) use count as variables;

    fn number(version: &Version) -> i64 {
        super::number(version)
    }
}

use names::{arena, count, index, variables};

#[derive(Context)]
struct NamesOfGeneratedCode {
    #[context(with = count)]
    a: Version,
    #[context(with = index)]
    b: Version,
    #[context(with = arena)]
    c: Version,
    #[context(with = variables)]
    d: Version,
}

#[test]
fn functions_may_have_any_name() {
    let version = |minor| Version(1, minor);
    let context = NamesOfGeneratedCode { a: version(1), b: version(2), c: version(3), d: version(4) };
    results(&context, &[("a == 101 && b == 102 && c == 103 && d == 104", "Bool(true)")]);
}

/// Functions of each form of result, in each way that they can end.
mod ends {
    use celero::values::{Duration, Timestamp};
    use std::borrow::Cow;

    /// What a function does with a field.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum End {
        Value,
        Absent,
        Failure,
        Panic,
    }

    impl End {
        fn result<T>(self, value: T) -> Result<Option<T>, &'static str> {
            match self {
                Self::Value => Ok(Some(value)),
                Self::Absent => Ok(None),
                Self::Failure => Err("no value"),
                Self::Panic => panic!("a function of the host"),
            }
        }
    }

    macro_rules! functions {
        ($($name:ident: $rust:ty = $value:expr;)*) => {$(
            pub(super) fn $name(end: &End) -> Result<Option<$rust>, &'static str> {
                end.result($value)
            }
        )*};
    }

    functions! {
        truth: bool = true;
        int: i32 = -7;
        uint: u64 = u64::MAX;
        double: f32 = 0.5;
        span: Duration = Duration(1_000_000_000);
        time: Timestamp = Timestamp::new(1, 2).expect("in range");
        late: Timestamp = Timestamp { seconds: i64::MAX, nanos: 0 };
        text: &str = "text";
        empty: &str = "";
        owned: String = "owned".to_owned();
        cow: Cow<'_, str> = "cow".into();
    }

    /// It has no error.
    pub(super) fn shown(end: &End) -> Option<&'static str> {
        end.result("shown").unwrap_or_default()
    }

    /// It is never absent.
    pub(super) fn copied(end: &End) -> String {
        shown(end).unwrap_or_default().replace("shown", "copied")
    }
}

use ends::End;

#[derive(Context)]
struct Ends {
    #[context(with = ends::truth, name = "f.truth")]
    truth: End,
    #[context(with = ends::int, name = "f.int")]
    int: End,
    #[context(with = ends::uint, name = "f.uint")]
    uint: End,
    #[context(with = ends::double, name = "f.double")]
    double: End,
    #[context(with = ends::span, name = "f.span")]
    span: End,
    #[context(with = ends::time, name = "f.time")]
    time: End,
    #[context(with = ends::late, name = "f.late")]
    late: End,
    #[context(with = ends::text, name = "f.text")]
    text: End,
    #[context(with = ends::empty, name = "f.empty")]
    empty: End,
    #[context(with = ends::owned, name = "f.owned")]
    owned: End,
    #[context(with = ends::cow, name = "f.cow")]
    cow: End,
    #[context(with = ends::shown, name = "f.shown")]
    shown: End,
    #[context(with = ends::copied, name = "f.copied")]
    copied: End,
    #[context(with = POINTER, name = "f.pointer")]
    pointer: End,
    other: bool,
}

/// Its type does not tell which function it is.
const POINTER: fn(&End) -> Result<Option<i32>, &'static str> = ends::int;

/// A rule for each field, and a value of the field.
const FIELDS: &[(&str, &str)] = &[
    ("truth", "f.truth"),
    ("int", "f.int == -7"),
    ("uint", "f.uint == 18446744073709551615u"),
    ("double", "f.double == 0.5"),
    ("span", "f.span == duration('1s')"),
    ("time", "f.time > timestamp('1970-01-01T00:00:01Z')"),
    ("late", "f.late > f.time"),
    ("text", "f.text == 'text'"),
    ("empty", "f.empty == ''"),
    ("owned", "f.owned.startsWith('own')"),
    ("cow", "'o' in [f.cow, 'o']"),
    ("shown", "'x' < f.shown || f.shown.startsWith('show')"),
    ("copied", "f.copied.contains('pie') || f.copied == ''"),
    ("pointer", "f.pointer == -7"),
];

/// Both tiers give the same result, wherever a function is read and however it ends: also where an
/// error is absorbed, which a panic is not.
#[test]
fn tiers_agree_on_functions_however_they_end() {
    let mut seen = BTreeSet::new();
    for (field, holds) in FIELDS {
        for end in [End::Value, End::Absent, End::Failure, End::Panic] {
            let context = Ends {
                truth: end,
                int: end,
                uint: end,
                double: end,
                span: end,
                time: if *field == "late" { End::Value } else { end },
                late: end,
                text: end,
                empty: end,
                owned: end,
                cow: end,
                shown: end,
                copied: end,
                pointer: end,
                other: true,
            };
            for rule in [
                (*holds).to_owned(),
                format!("{holds} || other"),
                format!("other || {holds}"),
                format!("[f.{field}] == [f.{field}]"),
                format!("default(f.{field}, f.{field}) == f.{field}"),
                // What is never absent is not read by `has`.
                if *field == "copied" { "true".to_owned() } else { format!("has(f.{field})") },
            ] {
                let results = [Tier::Interpret, Tier::Native].map(|tier| {
                    let program = Engine::builder().tier(tier).build().compile(&Env::<Ends>::new(), &rule);
                    let program = program.unwrap_or_else(|error| panic!("{rule}: {error}"));
                    let mut scratch = Scratch::new();
                    let place = |error: celero::EvalError| (error.kind, error.start, error.end);
                    let tested = [program.test(&context), program.test_with(&context, &mut scratch)];
                    let tested = tested.map(|result| result.map(|truth| format!("Bool({truth})")).map_err(place));
                    let result = program.eval(&context, &mut scratch).map(|value| format!("{value:?}")).map_err(place);
                    assert_eq!(tested, [result.clone(), result.clone()], "{rule}");
                    let (engine, env) = (Engine::builder().tier(tier).build(), Env::<Ends>::new());
                    let set = engine.rules(&env).rule("r", &rule, ()).standalone(true).build().unwrap();
                    let tested = set.test(0, &context, &mut scratch).unwrap();
                    assert_eq!(tested.map(|truth| format!("Bool({truth})")).map_err(place), result, "{rule}");
                    result
                });
                let [interpreted, native] = &results;
                assert_eq!(interpreted, native, "{rule}");
                seen.insert(interpreted.as_ref().map_or_else(|(kind, ..)| kind.to_string(), |_| "value".to_owned()));
            }
        }
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        ["host function failed", "no such key", "value", "value out of range"]
    );
}

/// Collections that a function makes are copied into the memory of the evaluation.
#[test]
fn functions_may_return_owned_collections() {
    fn words(text: &String) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn borrowed(text: &String) -> Option<Vec<&str>> {
        (!text.is_empty()).then(|| text.split(' ').collect())
    }

    fn lengths(text: &String) -> HashMap<&str, usize> {
        text.split(' ').map(|word| (word, word.len())).collect()
    }

    fn positions(text: &String) -> Result<BTreeMap<i32, Option<String>>, String> {
        if text.is_empty() {
            Err("no text".to_owned())
        } else {
            Ok((0..).zip(text.chars().map(|c| Some(c.to_string()))).collect())
        }
    }

    fn pieces(text: &String) -> Vec<Vec<u8>> {
        text.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    }

    fn bytes(text: &String) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[derive(Context)]
    struct Text {
        #[context(with = words)]
        words: String,
        #[context(with = borrowed)]
        borrowed: String,
        #[context(with = lengths)]
        lengths: String,
        #[context(with = positions)]
        positions: String,
        #[context(with = pieces)]
        pieces: String,
        #[context(with = bytes)]
        bytes: String,
    }

    let of = |text: &str| Text {
        words: text.to_owned(),
        borrowed: text.to_owned(),
        lengths: text.to_owned(),
        positions: text.to_owned(),
        pieces: text.to_owned(),
        bytes: text.to_owned(),
    };
    assert_eq!(
        types::<Text>(),
        "words: list(string), borrowed?: list(string), lengths: map(string, uint), \
         positions: map(int, optional_type(string)), pieces: list(bytes), bytes: bytes"
    );
    results(
        &of("ann b"),
        &[
            ("words == ['ann', 'b'] && 'b' in words && words[1].size() == 1", "Bool(true)"),
            ("borrowed == words && words.exists(w, w == 'ann')", "Bool(true)"),
            ("lengths.ann == 3u && has(lengths.b) && lengths == {'b': 1u, 'ann': 3u}", "Bool(true)"),
            ("positions[4] == optional.of('b') && positions.size() == 5", "Bool(true)"),
            ("pieces == [b'ann', b'b'] && bytes == b'ann b'", "Bool(true)"),
        ],
    );
    results(&of(""), &[("borrowed", "no_such_key"), ("positions", "host"), ("words == ['']", "Bool(true)")]);
    assert!(Engine::new().compile(&Env::<Text>::new(), "1 in words").is_err(), "the type of the elements is known");
}

/// The report of a failure has the text of the error.
#[test]
fn functions_say_why_they_failed() {
    fn risk(text: &String) -> Result<i64, String> {
        if text.starts_with("once") && FAILED.replace(true) {
            return Ok(1);
        }
        text.parse().map_err(|_| format!("risk engine down: {text}"))
    }

    fn list(text: &String) -> Result<Vec<i64>, &'static str> {
        risk(text).map(|risk| vec![risk]).map_err(|_| "no list")
    }

    #[derive(Context)]
    struct Risk {
        #[context(with = risk)]
        risk: String,
        #[context(with = list, name = "the.list")]
        list: String,
    }

    let context = Risk { risk: "eu".to_owned(), list: "us".to_owned() };
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        for (rule, message) in [
            ("risk > 3", "the host failed to read `risk`: risk engine down: eu"),
            ("the.list == [1]", "the host failed to read `the.list`: no list"),
            // The error that counts is not the last one.
            ("risk > 3 && the.list == [1]", "the host failed to read `risk`: risk engine down: eu"),
            ("the.list == [1] && risk > 3", "the host failed to read `the.list`: no list"),
        ] {
            let program = engine.compile(&Env::<Risk>::new(), rule).unwrap();
            let error = program.test(&context).unwrap_err();
            assert_eq!(program.describe(&error, &context).message(), message, "{rule} {tier:?}");
        }
        // The second reading succeeds, so that nothing is said.
        FAILED.set(false);
        let context = Risk { risk: "once".to_owned(), list: String::new() };
        let program = engine.compile(&Env::<Risk>::new(), "risk > 3").unwrap();
        let error = program.test(&context).unwrap_err();
        assert_eq!(program.describe(&error, &context).message(), "the host failed to read `risk`", "{tier:?}");
    }
}

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// A function whose text is always copied is called once for a reading of the field.
#[test]
fn functions_of_texts_are_called_once() {
    fn counted(number: &i64) -> String {
        CALLS.set(CALLS.get() + 1);
        number.to_string()
    }

    #[derive(Context)]
    struct Numbered {
        #[context(with = counted)]
        number: i64,
    }

    let context = Numbered { number: 7 };
    for tier in [Tier::Interpret, Tier::Native] {
        let program = Engine::builder().tier(tier).build().compile(&Env::<Numbered>::new(), "number == '7'").unwrap();
        CALLS.set(0);
        assert_eq!(program.test(&context), Ok(true));
        assert_eq!(CALLS.get(), 1, "test in {tier:?}");
        assert_eq!(program.test_with(&context, &mut Scratch::new()), Ok(true));
        assert_eq!(CALLS.get(), 2, "test_with in {tier:?}");
    }
}
