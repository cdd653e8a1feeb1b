//! JSON in rules against `serde_json`: the same documents are accepted and refused, with the same values; and parts of
//! documents, which native code finds without building the whole, are what the interpreter reads of the whole.
//!
//! `CELERO_JSON_CASES` sets how many documents are tried, `CELERO_SEED` the seed.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::values::Arena;
use celero::{Bindings, Engine, Env, EvalError, Limits, Program, Scratch, Tier, Type, Value};
use celero_tests::generate::{Owned, Rng};
use serde_json::Value as Json;

const CASES: u64 = 20_000;

/// Rules over the bytes `b` and the same as text, `s`, where they are text.
const RULES: &[&str] = &[
    "json(b)",
    "json(b).a",
    "json(b).a.b",
    "json(b)['a']['b']",
    "json(b).items[0].name",
    "json(b)[0]",
    "json(b)[1][0]",
    "json(b).items[2]",
    "has(json(b).a)",
    "has(json(b).a.b)",
    "json(b).?a.?b.orValue('none')",
    "json(b)[?1].hasValue()",
    "json(b).a == 'x'",
    "json(b).a.b == 'x' || json(b).a.b == b'x'",
    "json(b).a.b.c",
    "json(b).b.c == 0",
    "'' != json(b).b || json(b).b == 'a text of more than thirty-two bytes'",
    "json(b).a.?b.orValue(json(b).a)",
    "json(b).items == [[1], [2], [3]]",
    "json(b).a == 1 || json(b).b == [1, 2]",
    "json(b).a.b == 'x' && json(b).a.c == 2 && json(b).items[1] != null",
    "json(b).items.exists(i, i.name == 'n')",
    "cel.bind(d, json(b), [d.?a, d.?b.?c, d.?items[?1]])",
    "string(json(b).a)",
    "json(b).a + json(b).b",
    "size(json(b).a)",
    "json(json(b).a).b",
    "json(s).a.b",
    "toJson(json(b))",
    "json(toJson(json(b))) == json(b)",
];

/// Those that hostile documents are tried with.
const HOSTILE: &[&str] = &[
    "json(b)",
    "json(b).a",
    "json(b).a.b",
    "json(b)[1][0]",
    "json(b).a == 1 || json(b).b == [1, 2]",
    "json(toJson(json(b))) == json(b)",
];

const DOCUMENTS: &[&str] = &[
    r#"{"a":{"b":"x","c":2},"b":[1,2],"items":[{"name":"n"},null,{"name":"\u006e","x":[[]]}]}"#,
    r#"{"model":"gpt","a":"x","a":{"b":1.5e3},"b":{"c":-0},"items":[]}"#,
    r#" [ {"a" : 1} , [ true , false ] , "é\ud83d\ude00" , 18446744073709551616 , 9223372036854775808 ] "#,
    r#"{"a":{"b":1},"a":{"c":2},"\u0061":{"b":"\"\\\/\b\f\n\r\t"}}"#,
    r#"{"a":"{\"b\":7}","b":"tail","items":[[1],[2],[3]]}"#,
    r#""a string of more than sixteen bytes, with é and \u00e9 and a \" in it""#,
    "[1e308, 1e-400, 0.1, -1, 123456789012345678901234567890, 5e-324, 1E+2, 0e0]",
    "{\"\":{\"\":0},\"a\":{},\"b\":[],\"items\":{\"0\":1}}",
    r#"{"a":{"b":{"c":[1],"d":"x"}},"b":{"c":0},"a":{"b":{"c":{"d":"x"}}}}"#,
    "null",
    "-12.5e-3",
];

/// What is put into documents.
const TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"\\udc00",
    b"\\u0000",
    b"0",
    b"-",
    b".",
    b"e",
    b"E+",
    b"1e999",
    b"99999999999999999999",
    b" ",
    b"\n",
    b"\0",
    b"\x1f",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xa9",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    "é".as_bytes(),
    "日".as_bytes(),
    b"true",
    b"nul",
    b"null",
    b"\"a\":",
    b"\"a\":{\"b\":1},",
    b"[[",
    b"]]",
    b"{\"b\":",
    b"//",
    b"'",
    b"\xef\xbb\xbf",
    b"\"items\":[0,{\"name\":\"n\"}]",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

fn document(rng: &mut Rng) -> Vec<u8> {
    let mut json = rng.pick(DOCUMENTS).as_bytes().to_vec();
    for _ in 0..rng.below(4) {
        let at = rng.below(json.len() + 1);
        let to = (at + rng.below(6)).min(json.len());
        match rng.below(6) {
            0 => drop(json.drain(at..to)),
            1 => json.truncate(at),
            2 => {
                let part = json.get(at..(at + rng.below(40)).min(json.len())).unwrap().to_vec();
                let place = rng.below(json.len() + 1);
                json.splice(place..place, part);
            }
            3 => {
                if let Some(byte) = json.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
            4 => {
                let other = rng.pick(DOCUMENTS).as_bytes().to_vec();
                json.splice(at..to, other);
            }
            _ => {
                let token = rng.pick(TOKENS).to_vec();
                json.splice(at..to, token);
            }
        }
    }
    json
}

/// Whether a value is the one that `serde_json` reads. It reads `-0` as a double.
fn same(value: &Value<'_>, json: &Json, arena: &Arena) -> bool {
    match (value, json) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::Int(0), Json::Number(n)) => n.as_f64() == Some(0.0),
        (Value::Int(a), Json::Number(n)) => n.as_i64() == Some(*a),
        (Value::Uint(a), Json::Number(n)) => n.as_i64().is_none() && n.as_u64() == Some(*a),
        (Value::Double(a), Json::Number(n)) => n.is_f64() && n.as_f64().map(f64::to_bits) == Some(a.to_bits()),
        (Value::String(a), Json::String(b)) => a == b,
        (Value::List(a), Json::Array(b)) => {
            let element = |(i, json)| a.get(i, arena).unwrap().is_some_and(|value| same(&value, json, arena));
            a.len() == b.len() && b.iter().enumerate().all(element)
        }
        (Value::Map(a), Json::Object(b)) => {
            let member = |(key, json): (&String, _)| {
                let found = a.get(&Value::String(key), arena).unwrap();
                found.is_some_and(|value| same(&value, json, arena))
            };
            a.len() == b.len() && b.iter().all(member)
        }
        _ => false,
    }
}

type Rule = Program<Bindings<'static>>;

fn env() -> Env<Bindings<'static>> {
    Env::dynamic().variable("b", Type::Bytes).variable("s", Type::String)
}

fn rules(tier: Tier) -> Vec<Rule> {
    let engine = Engine::builder().tier(tier).build();
    RULES.iter().map(|rule| engine.compile(&env(), rule).unwrap()).collect()
}

fn run(rule: &Rule, bindings: &Bindings<'_>, scratch: &mut Scratch) -> Result<Owned, EvalError> {
    let shown = Arena::new(1 << 20);
    rule.eval(bindings, scratch).map(|value| Owned::of(&value, &shown).unwrap())
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn documents_read_as_serde_json_reads_them() {
    let mut rng = Rng::new(number("CELERO_SEED", 1));
    let env = env();
    let rule = Engine::builder().tier(Tier::Interpret).build().compile(&env, "json(b)").unwrap();
    let mut scratch = Scratch::new();
    let (mut accepted, mut refused) = (0_u64, 0_u64);
    for _ in 0..number("CELERO_JSON_CASES", CASES) * 5 {
        let json = document(&mut rng);
        let mut bindings = Bindings::new(&env);
        bindings.set("b", Value::Bytes(&json)).unwrap();
        let shown = || String::from_utf8_lossy(&json).into_owned();
        match (rule.eval(&bindings, &mut scratch), serde_json::from_slice::<Json>(&json)) {
            (Ok(value), Ok(want)) => {
                accepted += 1;
                assert!(same(&value, &want, &Arena::new(1 << 16)), "{}\n{value:?}\n{want}", shown());
            }
            (Err(error), Err(_)) => {
                refused += 1;
                assert_eq!(error.kind.name(), "invalid_argument", "{}", shown());
            }
            (got, want) => panic!("{}\n{:02x?}\ncelero: {got:?}\nserde_json: {want:?}", shown(), json),
        }
    }
    assert!(accepted.min(refused) > (accepted + refused) / 10, "{accepted} accepted, {refused} refused");
}

#[test]
fn parts_are_the_same_in_both_tiers() {
    let mut rng = Rng::new(number("CELERO_SEED", 1) ^ 0x6a73_6f6e);
    let env = env();
    let (interpreted, native) = (rules(Tier::Interpret), rules(Tier::Native));
    let mut scratch = Scratch::new();
    let mut values = vec![0_u64; RULES.len()];
    for _ in 0..number("CELERO_JSON_CASES", CASES) / 4 {
        let json = document(&mut rng);
        let mut bindings = Bindings::new(&env);
        bindings.set("b", Value::Bytes(&json)).unwrap();
        if let Ok(text) = std::str::from_utf8(&json) {
            bindings.set("s", Value::String(text)).unwrap();
        }
        for (index, (a, b)) in interpreted.iter().zip(&native).enumerate() {
            let (a, b) = (run(a, &bindings, &mut scratch), run(b, &bindings, &mut scratch));
            values[index] += u64::from(a.is_ok());
            let agree = match (&a, &b) {
                (Ok(a), Ok(b)) => a.same(b),
                (Err(a), Err(b)) => a == b,
                _ => false,
            };
            assert!(agree, "{}\n{}\ninterpreter: {a:?}\nnative: {b:?}", RULES[index], String::from_utf8_lossy(&json));
        }
    }
    let idle: Vec<_> = RULES.iter().zip(&values).filter(|(_, values)| **values == 0).collect();
    assert!(idle.is_empty(), "never gave a value: {idle:?}");
}

/// Hostile documents, on a small stack: bounded, and the same in both tiers unless a budget is spent.
#[test]
fn hostile_documents_are_bounded() {
    // Some at the size that proxies buffer, the others smaller, for the time that debug builds take.
    let (huge, big) = (1 << 20, 1 << 17);
    let documents: Vec<(&str, Vec<u8>)> = vec![
        ("open arrays", b"[".repeat(huge)),
        ("open objects", b"{\"a\":".repeat(big / 5)),
        ("arrays", [b"[".repeat(huge / 2), b"]".repeat(huge / 2)].concat()),
        ("as deep as may be", [b"[".repeat(128), b"]".repeat(128)].concat()),
        ("empty arrays", [&b"["[..], &b"[],".repeat(big / 3), b"[]]"].concat()),
        ("numbers", [&b"["[..], &b"0,".repeat(big / 2), b"0]"].concat()),
        ("great numbers", [&b"["[..], &b"1e300,".repeat(big / 6), b"0]"].concat()),
        ("one number", b"9".repeat(huge)),
        ("one fraction", [&b"0."[..], &b"3".repeat(big)].concat()),
        ("one string", [&b"\""[..], &b"x".repeat(huge), b"\""].concat()),
        ("one open string", [&b"\""[..], &b"x".repeat(big)].concat()),
        ("escapes", [&b"\""[..], &b"\\u0041".repeat(big / 6), b"\""].concat()),
        ("blanks", b" ".repeat(big)),
        ("equal keys", [&b"{"[..], &b"\"a\":1,".repeat(big / 6), b"\"a\":2}"].concat()),
        (
            "keys",
            format!("{{{}\"a\":2}}", (0..big / 12).map(|i| format!("\"{i:07}\":1,")).collect::<String>()).into_bytes(),
        ),
        ("long keys", {
            let key = |i: usize| format!("\"{}{i:03}\":1,", "k".repeat(1000));
            format!("{{{}\"a\":2}}", (0..1000).map(key).collect::<String>()).into_bytes()
        }),
        ("nested in a part", [&b"{\"a\":"[..], &b"[".repeat(127), &b"]".repeat(127), b"}"].concat()),
    ];
    let env = env();
    let worker = move || {
        let tiers = [rules(Tier::Interpret), rules(Tier::Native)];
        for (name, json) in &documents {
            let mut bindings = Bindings::new(&env);
            bindings.set("b", Value::Bytes(json)).unwrap();
            bindings.set("s", Value::String("")).unwrap();
            for (index, rule) in RULES.iter().enumerate().filter(|(_, rule)| HOSTILE.contains(rule)) {
                let mut ended = Vec::new();
                for rules in &tiers {
                    let mut scratch = Scratch::new();
                    // Results are not copied: they may be as large as the memory's limit.
                    let result = rules[index].eval(&bindings, &mut scratch);
                    ended.push(result.map(|value| value.type_name().to_owned()).map_err(|error| error.kind.name()));
                }
                let spent = ended.contains(&Err("out_of_budget"));
                assert!(spent || ended[0] == ended[1], "{name}: {rule}: {ended:?}");
            }
        }
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(worker).unwrap().join().unwrap();
}

/// The budget pays for the bytes of a document in both tiers.
#[test]
fn scanning_is_paid_for() {
    let json = [&b"{\"b\":["[..], &b"[],".repeat(100_000), b"0],\"a\":1}"].concat();
    for tier in [Tier::Interpret, Tier::Native] {
        let outcome = |rule: &str, steps: u32| {
            let engine = Engine::builder().tier(tier).limits(Limits { steps, ..Limits::default() }).build();
            let rule = engine.compile(&env(), rule).unwrap();
            let mut bindings = Bindings::new(&env());
            bindings.set("b", Value::Bytes(&json)).unwrap();
            rule.test(&bindings).map_err(|error| error.kind.name())
        };
        // A spent budget is final, whatever else would decide.
        for rule in ["json(b).a == 1", "json(b).a == 2 || size(b) > 1", "json(b).a == json(b).c || size(b) > 1"] {
            assert_eq!(outcome(rule, 4_000), Err("out_of_budget"), "{tier:?}: {rule}");
            assert_eq!(outcome(rule, 1_000_000), Ok(true), "{tier:?}: {rule}");
        }
    }
}
