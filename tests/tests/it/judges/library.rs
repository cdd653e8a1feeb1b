//! Every overload of CEL's library, called with random arguments in both tiers, and judged.

use super::{Judged, No, arguments, containers, encoders, http, network, number, numbers, text, time};
use celero::values::Arena;
use celero::{Bindings, Engine, Env, Scratch, Tier};
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin, Row, TABLE};
use celero_tests::generate::{Owned, Rng, call_with_variables};
use celero_tests::shared::say;

/// Overloads without a judge, and why. `tests/README.md` names their functions.
const NOT_JUDGED: &[(Builtin, &str)] =
    &[(Builtin::Uuid, "each call gives another value"), (Builtin::Random, "each call gives another value")];

/// Random arguments for each overload.
const CASES: u64 = 2_000;

/// Environments for each overload whose types are open.
const PROGRAMS: u64 = 10;

/// Failures that are shown of each overload.
const SHOWN: usize = 3;

fn judge(builtin: Builtin, args: &[Owned]) -> Option<Judged> {
    let judges = [numbers::judge, time::judge, text::judge, containers::judge];
    let more = [encoders::judge, network::judge, http::judge];
    judges.iter().chain(&more).find_map(|judge| judge(builtin, args))
}

/// Whether a result is what a judge wants. Documents of JSON are compared as such: numbers have several forms.
fn agrees(builtin: Builtin, wanted: &Owned, result: &Owned) -> bool {
    match (builtin, wanted, result) {
        (Builtin::ToJson, Owned::String(wanted), Owned::String(result)) => {
            let [wanted, result] = [wanted, result].map(|json| serde_json::from_str::<serde_json::Value>(json).ok());
            wanted == result
        }
        // Whole numbers are written without a fraction.
        (Builtin::JsonEncode, Owned::String(wanted), Owned::String(result)) => {
            let [wanted, result] = [wanted, result].map(|json| serde_json::from_str::<serde_json::Value>(json).ok());
            wanted.map(with_doubles) == result.map(with_doubles)
        }
        _ => wanted.same(result),
    }
}

fn with_doubles(json: serde_json::Value) -> serde_json::Value {
    match json {
        serde_json::Value::Number(number) => number.as_f64().into(),
        serde_json::Value::Array(elements) => elements.into_iter().map(with_doubles).collect(),
        serde_json::Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, with_doubles(value))).collect()
        }
        other => other,
    }
}

/// What other files judge: selections from messages (`messages.rs`), tokens (`tokens.rs`), YAML
/// (`tests/tests/it/trees/yaml.rs`).
const OTHERS: [Builtin; 9] = [
    Builtin::OptionalSelectMessage,
    Builtin::JwtParse,
    Builtin::JwtClaim,
    Builtin::JwtClaimOfOptional,
    Builtin::JwtPresentedBy,
    Builtin::JwtPresentedByOfOptional,
    Builtin::YamlEncode,
    Builtin::YamlParse,
    Builtin::YamlParseAs,
];

#[derive(Default)]
struct Tally {
    values: u64,
    failures: u64,
    unjudged: u64,
    wrong: Vec<String>,
}

fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Param(_) | Type::Dyn => true,
        Type::List(t) | Type::Optional(t) | Type::Type(t) => is_open(t),
        Type::Map(kv) => is_open(&kv.0) || is_open(&kv.1),
        _ => false,
    }
}

/// Calls an overload with random arguments of one choice of types.
fn call(row: &Row, rng: &mut Rng, cases: u64, tally: &mut Tally) {
    let (source, types, field) = call_with_variables(rng, row);
    let names = ["a", "b", "c", "d"];
    let env = types.iter().zip(names).fold(Env::dynamic(), |env, (ty, name)| env.variable(name, ty.clone()));
    let programs = [Tier::Interpret, Tier::Native].map(|tier| {
        let engine = Engine::builder().tier(tier).build();
        engine.compile(&env, &source).unwrap_or_else(|error| panic!("{source}: {types:?}: {error}"))
    });
    let mut scratch = Scratch::new();
    for _ in 0..cases {
        let mut args = arguments::of(rng, row, &types);
        let arena = Arena::new(1 << 20);
        let mut bindings = Bindings::new(&env);
        for (name, arg) in names.iter().zip(&args) {
            bindings.set(name, arg.in_arena(&arena).unwrap()).unwrap();
        }
        args.extend(field.clone().map(Owned::String));
        let wanted = match judge(row.builtin, &args) {
            None => Err(No::Unjudged),
            Some(wanted) => wanted,
        };
        match &wanted {
            Ok(_) => tally.values += 1,
            Err(No::Fails) => tally.failures += 1,
            Err(No::Unjudged) => {
                tally.unjudged += 1;
                continue;
            }
        }
        for (program, tier) in programs.iter().zip(["interpreter", "native"]) {
            let shown = Arena::new(1 << 20);
            let result = program.eval(&bindings, &mut scratch).map(|value| Owned::of(&value, &shown).unwrap());
            let right = match (&wanted, &result) {
                (Ok(wanted), Ok(result)) => agrees(row.builtin, wanted, result),
                (_, Err(error)) if error.kind.name() == "out_of_budget" => true,
                (wanted, result) => wanted.is_err() && result.is_err(),
            };
            if !right {
                let args: Vec<String> = args.iter().map(Owned::to_string).collect();
                let wanted = wanted.as_ref().map_or("an error".into(), Owned::to_string);
                let result = result.as_ref().map_or_else(|error| error.kind.name().into(), Owned::to_string);
                let args = args.join(", ");
                tally.wrong.push(format!("{:?} {source} of ({args}): {tier}: {result}, judge: {wanted}", row.builtin));
            }
        }
    }
}

#[test]
fn every_overload_gives_what_its_judge_gives() {
    let cases = number("CELERO_JUDGED_CASES", CASES);
    let mut wrong = Vec::new();
    let (mut all, mut judged) = (0, 0);
    for row in TABLE.rows().iter().filter(|row| !OTHERS.contains(&row.builtin)) {
        let mut rng = Rng::new(number("CELERO_SEED", 1) ^ (row.builtin as u64) << 32);
        let mut tally = Tally::default();
        let open = row.params.iter().any(is_open);
        let programs = if open { PROGRAMS } else { 1 };
        for _ in 0..programs {
            call(row, &mut rng, cases / programs, &mut tally);
        }
        let is_left_out = NOT_JUDGED.iter().any(|(builtin, _)| *builtin == row.builtin);
        let known = tally.values + tally.failures;
        // What has no arguments has one result; most arguments of the others must be judged.
        if is_left_out {
            assert_eq!(known, 0, "{:?} has a judge: take it from the list", row.builtin);
        } else if known * 2 < cases || (tally.values == 0 && row.builtin != Builtin::Fail) {
            let counts = (tally.values, tally.failures, tally.unjudged);
            wrong.push(format!("{:?}: too few (values, errors, unknown): {counts:?}", row.builtin));
        }
        wrong.extend(tally.wrong.into_iter().take(SHOWN));
        all += 1;
        judged += u64::from(!is_left_out);
    }
    say(&format!("{judged} of {all} overloads of the library are judged, each by {cases} random arguments"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn functions_without_a_judge_are_named() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, section) = readme.split_once("\n## What judges what").unwrap();
    let paragraph = section.split("\n\n").find(|paragraph| paragraph.starts_with("No independent judge yet")).unwrap();
    let (sentence, _) = paragraph.split_once("`. ").unwrap();
    let named: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let mut wanted: Vec<&str> = NOT_JUDGED
        .iter()
        .map(|(builtin, _)| TABLE.row(*builtin).unwrap().name)
        .chain(super::filter_functions::NOT_JUDGED.iter().map(|(name, _)| *name))
        .collect();
    wanted.dedup();
    assert_eq!(named, wanted, "the sentence `No independent judge yet` of tests/README.md");
}
