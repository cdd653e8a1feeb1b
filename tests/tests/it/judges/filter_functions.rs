//! Every function of the filter language, called with random arguments in both tiers, and judged as
//! Cloudflare documents it.

use super::encoders::base64;
use super::filter_judge::{Argument, judge};
use super::{No, number};
use celero::filter::{
    Accepts, ArgumentKind, Filter, FilterFunction, FilterOptions, FilterParameter, FilterType, FilterValue,
    LiteralRule, Scheme, StandardFunction, standard_functions,
};
use celero_tests::filter::{Values, evaluate_other_tier, interpret, show};
use celero_tests::generate::Rng;
use celero_tests::shared::say;
use ring::hmac;
use std::sync::Arc;

/// Functions without a judge, and why. `tests/README.md` names them.
pub(super) const NOT_JUDGED: &[(&str, &str)] = &[
    ("bit_slice", "only a host can compute it"),
    ("is_jwt_present", "only a host can compute it"),
    ("is_jwt_valid", "only a host can compute it"),
];

/// Random arguments for each function.
const CASES: u64 = 4_000;

/// Hosts for each rule.
const HOSTS: u64 = 10;

const FIELDS: &[(&str, &str)] = &[
    ("b", "Bytes"),
    ("c", "Bytes"),
    ("i", "Int"),
    ("j", "Int"),
    ("a", "Ip"),
    ("t", "Array<Bytes>"),
    ("n", "Array<Int>"),
    ("f", "Bool"),
    ("m", "Map<Bytes>"),
    ("d", "Map<Int>"),
];

/// Texts that a function reads, for its first argument.
fn texts(function: StandardFunction) -> &'static [&'static [u8]] {
    use StandardFunction as F;
    match function {
        F::DecodeBase64 => {
            &[b"YWJj", b"YQ==", b"YQ", b"YQ=", b"YR==", b"-_", b"+/8=", b"", b"=", b"Y", b"YWJj\n", b"YWJj===="]
        }
        F::LookupJsonInteger | F::LookupJsonString => &[
            br#"{"a":{"b":["x",7,1.0,1e2,"\u00e9\u0000"]},"b":-3,"":"e"}"#,
            br#"[{"a":"q"},[1,[2]],9223372036854775807,9223372036854775808,null,true]"#,
            br#"{"a":1,"a":"last"}"#,
            br#""a""#,
            b"7",
            b"{\"a\":\"\xff\"}",
            br#"{"a":1"#,
            br#" {"a" : 5 } "#,
            b"",
        ],
        F::RemoveQueryArgs => &[b"a=1&b=2&a=3", b"", b"a", b"a&b&&c=", b"&a=1&", b"%61=1&a=2", b"aa=1&a=1=2", b"=1&a"],
        F::UrlDecode => &[
            b"a%20b+c",
            b"%41%4",
            b"%u0041%uD83D%uDE00",
            b"%2541",
            b"%252541+",
            b"%%3141",
            b"%u004",
            b"%uD83D%u0041",
            b"%uDE00",
            b"%25u0041",
            b"%25252525252525252525252525252525252525252525252525252525252525252525252525252525252525252e",
            b"%u0025%u0032%u0035",
            b"%ff%FE",
            b"%+1",
            b"%2b%252b",
        ],
        F::Split | F::RegexReplace | F::WildcardReplace => {
            &[b"a.b.c", b"aab", b"", b"Ab/cAB", b".", b"a*b\\c", b"\xff.a", b"/a/b/", b"a,b,,c"]
        }
        F::Uuidv4 => &[b"0123456789abcdef", b"", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffz"],
        _ => &[b"", b"a", b"abcABC", b"\xff\x00z", b"index.php", b"\xc3\xa9", b"aaa", b"[@`{"],
    }
}

/// Literals that suit a parameter.
fn literals(function: StandardFunction, position: usize) -> &'static [&'static [u8]] {
    use StandardFunction as F;
    match (function, position) {
        (F::RegexReplace, 1) => &[b"a", b"(a)(b)?", br"\.", b"^", b"[^a]+$", b"(?i)ab", br"(.)\.(.)", b"(a|b)+"],
        (F::WildcardReplace, 1) => &[b"*", b"a*", b"*b", b"*.*", br"a\**", b"/*/*/", b"AB*", br"*\\c", b"", b"*a*b*"],
        (F::RegexReplace | F::WildcardReplace, 2) => {
            &[b"", b"-", b"${1}", b"<${2}${1}>", b"$$1", b"$1", b"${10}", b"${", b"$", b"$$${1}$$"]
        }
        (F::Split, 1) => &[b".", b"a", b"ab", b"/", b",", b"aa"],
        (F::LookupJsonInteger | F::LookupJsonString | F::RemoveQueryArgs, _) => &[b"a", b"b", b"", b"aa", b"%61"],
        (F::IsTimedHmacValidV0, 0) => {
            &[b"key", b"", b"a key of more than sixty-four bytes, which is hashed before it is used as a key"]
        }
        _ => &[b"", b"a", b"b", b"AB", b"php", b".", b"\xff", b"\"\\", b"\xc3\xa9"],
    }
}

fn token(rng: &mut Rng) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, literals(StandardFunction::IsTimedHmacValidV0, 0)[rng.below(3)]);
    let message: &[u8] = rng.pick::<&[u8]>(&[b"/a", b"/a-1484063137-b", b"", b"/\xff?verify="]);
    let time: &[u8] = rng.pick::<&[u8]>(&[b"1484063137", b"0000000000", b"9999999999"]);
    let code = hmac::sign(&key, &[message, time].concat());
    let (last, padding) = if rng.chance(30) { ("-_", false) } else { ("+/", rng.chance(50)) };
    let mut code = base64(code.as_ref(), last, padding);
    if rng.chance(50) {
        code = code.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D");
    }
    let separator: &[u8] = rng.pick::<&[u8]>(&[b"", b"", b"?verify="]);
    let mut token = [message, separator, time, b"-", code.as_bytes()].concat();
    if rng.chance(10) {
        let at = rng.below(token.len());
        token[at] ^= 1;
    }
    token
}

fn host(rng: &mut Rng, scheme: &Arc<Scheme>, function: StandardFunction) -> Values {
    let mut host = Values::new(scheme);
    for (index, (name, ty)) in FIELDS.iter().enumerate() {
        let text = |rng: &mut Rng, pool: &[&[u8]]| {
            let mut text = rng.pick(pool).to_vec();
            if rng.chance(20) {
                text.extend_from_slice(rng.pick::<&[u8]>(pool));
            }
            FilterValue::Bytes(text)
        };
        let number = |rng: &mut Rng| {
            let edges = [
                0,
                1,
                2,
                3,
                -1,
                -2,
                5,
                100,
                i64::MIN,
                i64::MAX,
                1_484_063_137,
                1_484_063_197,
                1_484_063_136,
                9_999_999_999,
            ];
            FilterValue::Int(*rng.pick(&edges))
        };
        let value = match (*name, *ty) {
            ("b" | "c", _) if function == StandardFunction::IsTimedHmacValidV0 => FilterValue::Bytes(token(rng)),
            ("c", _) => text(rng, literals(function, 1)),
            (_, "Bytes") => text(rng, texts(function)),
            (_, "Int") => number(rng),
            (_, "Ip") => FilterValue::Ip(
                rng.pick(&[
                    "203.0.113.7",
                    "255.255.255.255",
                    "0.0.0.0",
                    "2001:db8::1",
                    "::ffff:10.0.0.1",
                    "::",
                    "ffff:ffff::ffff",
                ])
                .parse()
                .unwrap(),
            ),
            (_, "Bool") => rng.chance(50).into(),
            (_, "Map<Bytes>" | "Map<Int>") => {
                let entry = |rng: &mut Rng| {
                    let value = if *ty == "Map<Int>" { number(rng) } else { text(rng, texts(function)) };
                    // An environment has maps with keys that are text.
                    (String::from_utf8_lossy(rng.pick::<&[u8]>(literals(function, 1))).into_owned().into_bytes(), value)
                };
                FilterValue::Map((0..rng.below(4)).map(|_| entry(rng)).collect())
            }
            (_, "Array<Int>") => (0..rng.below(4)).map(|_| number(rng)).collect::<Vec<_>>().into_iter().collect(),
            _ => (0..rng.below(4)).map(|_| text(rng, texts(function))).collect::<Vec<_>>().into_iter().collect(),
        };
        host.set(index, (!rng.chance(8)).then_some(value));
    }
    host
}

/// An argument: a field, or a literal with its value.
#[derive(Clone)]
enum Written {
    Field(usize),
    Literal(FilterValue),
}

fn quoted(bytes: &[u8]) -> String {
    let byte = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b' ' => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    format!("\"{}\"", bytes.iter().map(byte).collect::<String>())
}

fn argument(
    rng: &mut Rng,
    function: StandardFunction,
    position: usize,
    parameter: &FilterParameter,
    first: Option<&FilterType>,
) -> (String, Written) {
    let field = |rng: &mut Rng, ty: &FilterType| {
        let fitting: Vec<usize> = (0..FIELDS.len()).filter(|at| FIELDS[*at].1 == ty.to_string()).collect();
        let at = *rng.pick(&fitting);
        (FIELDS[at].0.to_owned(), Written::Field(at))
    };
    let types: Vec<FilterType> = parameter
        .accepts
        .iter()
        .filter_map(|accepted| match accepted {
            Accepts::Type(ty) => (parameter.takes(ty, first)
                && (parameter.accepts.len() == 1 || first.is_none() || parameter.kind == ArgumentKind::Literal))
                .then(|| ty.clone()),
            Accepts::AnyArray => {
                Some(FilterType::array(if rng.chance(50) { FilterType::Bytes } else { FilterType::Int }))
            }
            Accepts::AnyMap => Some(FilterType::map(FilterType::Bytes)),
            Accepts::PrimitiveCollection => {
                let names = ["Array<Bytes>", "Array<Int>", "Map<Bytes>", "Map<Int>"];
                Some(rng.pick(&names).parse().unwrap())
            }
            Accepts::Anything => Some(rng.pick(FIELDS).1.parse().unwrap()),
            Accepts::SameAsFirst => first.cloned(),
            Accepts::ElementOfFirst => match first {
                Some(FilterType::Array(element) | FilterType::Map(element)) => Some((**element).clone()),
                _ => None,
            },
        })
        .collect();
    let ty = rng.pick(&types).clone();
    let is_literal = match parameter.kind {
        ArgumentKind::Literal => true,
        ArgumentKind::Field => false,
        ArgumentKind::Any => matches!(ty, FilterType::Bytes | FilterType::Int) && rng.chance(40),
    };
    match (is_literal, &ty, parameter.rule) {
        (true, FilterType::Int, LiteralRule::Between(from, to)) => {
            let value =
                if rng.chance(30) { *rng.pick(&[from, to]) } else { from + rng.below((to - from + 1) as usize) as i64 };
            (value.to_string(), Written::Literal(FilterValue::Int(value)))
        }
        (true, FilterType::Int, _) => {
            let value =
                *rng.pick(&[0_i64, 1, 2, 3, 8, 10, 60, 100]) * if position < 3 && rng.chance(30) { -1 } else { 1 };
            (value.to_string(), Written::Literal(FilterValue::Int(value)))
        }
        (true, FilterType::Bytes, LiteralRule::Flags(flags)) => {
            let chosen: String = flags.chars().filter(|_| rng.chance(60)).collect();
            (format!("\"{chosen}\""), Written::Literal(FilterValue::Bytes(chosen.into_bytes())))
        }
        (true, FilterType::Bytes, rule) => {
            let value = rng.pick(literals(function, position)).to_vec();
            let text = match rule {
                LiteralRule::Pattern | LiteralRule::Wildcard => {
                    format!("r#\"{}\"#", std::str::from_utf8(&value).unwrap())
                }
                _ => quoted(&value),
            };
            (text, Written::Literal(FilterValue::Bytes(value)))
        }
        (_, ty, _) => field(rng, ty),
    }
}

/// A call with random arguments, and whether it is for each element of the first one.
fn call(rng: &mut Rng, function: &FilterFunction, standard: StandardFunction) -> (String, Vec<Written>, bool) {
    let repeated = if function.repeated.is_some() { rng.below(3) } else { 0 };
    let count = function.required.len() + rng.below(function.optional.len() + 1) + repeated;
    let (mut sources, mut args, mut first) = (Vec::new(), Vec::new(), None);
    for position in 0..count {
        let parameter = function.parameter(position).unwrap();
        let (source, written) = argument(rng, standard, position, parameter, first.as_ref());
        if position == 0 {
            first = Some(match &written {
                Written::Field(at) => FIELDS[*at].1.parse().unwrap(),
                Written::Literal(FilterValue::Bytes(_)) => FilterType::Bytes,
                // Literals are bytes or numbers.
                Written::Literal(_) => FilterType::Int,
            });
        }
        sources.push(source);
        args.push(written);
    }
    let is_each = matches!(args[0], Written::Field(0 | 1)) && rng.chance(25);
    if is_each {
        sources[0] = "t[*]".to_owned();
        args[0] = Written::Field(5);
    }
    (format!("{}({})", function.name, sources.join(", ")), args, is_each)
}

fn judge_for(host: &Values, standard: StandardFunction, args: &[Written], is_each: bool) -> Result<Argument, No> {
    let args: Vec<Argument> = args
        .iter()
        .map(|arg| match arg {
            Written::Field(at) => host.fields()[*at].clone(),
            Written::Literal(value) => Some(value.clone()),
        })
        .collect();
    if !is_each {
        return judge(standard, &args);
    }
    let Some(FilterValue::Array(elements)) = &args[0] else { return Ok(None) };
    let results = elements.iter().map(|element| judge(standard, &[&[Some(element.clone())], &args[1..]].concat()));
    let results: Vec<Argument> = results.collect::<Result<_, _>>()?;
    Ok(Some(results.into_iter().flatten().collect()))
}

#[test]
fn every_filter_function_gives_what_its_judge_gives() {
    let mut scheme = Scheme::new();
    for (name, ty) in FIELDS {
        scheme.add_field(name, ty.parse().unwrap()).unwrap();
    }
    let scheme = Arc::new(scheme);
    let cases = number("CELERO_JUDGED_CASES", CASES);
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for function in standard_functions() {
        let standard = function.standard.unwrap();
        if NOT_JUDGED.iter().any(|(name, _)| **name == *function.name) {
            assert_eq!(judge(standard, &[]), Err(No::Unjudged), "{} has a judge: take it from the list", function.name);
            continue;
        }
        let mut rng = Rng::new(number("CELERO_SEED", 1) ^ (standard as u64) << 32);
        let (mut known, mut missing) = (0, 0);
        for _ in 0..cases / HOSTS {
            let (source, args, is_each) = call(&mut rng, &function, standard);
            let filter = Filter::compile_value(&source, &scheme, &FilterOptions::default());
            let filter = filter.unwrap_or_else(|error| panic!("{source}: {error}"));
            let hosts: Vec<Values> = (0..HOSTS).map(|_| host(&mut rng, &scheme, standard)).collect();
            let tiers = [interpret(&filter, &hosts), evaluate_other_tier(&filter, &hosts).unwrap()];
            for (at, host) in hosts.iter().enumerate() {
                let Ok(wanted) = judge_for(host, standard, &args, is_each) else { continue };
                known += 1;
                missing += u64::from(wanted.is_none());
                for (tier, name) in tiers.iter().zip(["interpreter", "native"]) {
                    if tier[at] != Ok(wanted.clone()) {
                        let result = tier[at].as_ref().map(|value| show(value.as_ref()));
                        let wanted = show(wanted.as_ref());
                        wrong.push(format!("{source}: {name}: {result:?}, judge: {wanted}, host:\n{host:?}"));
                    }
                }
            }
        }
        judged += 1;
        assert!(known * 2 > cases && missing * 10 < known * 9, "{}: {known} known, {missing} missing", function.name);
    }
    say(&format!("{judged} functions of the filter language are judged, each by {cases} random arguments"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}
