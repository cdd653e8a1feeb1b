//! Rules in the filter language over the contexts of hosts: both tiers, and what they must say.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::lists::{Kind, Limits, Lists};
use celero::{Context, Engine, Env, ErrorKind, Scratch, Tier, Value};
use std::collections::BTreeMap;
use std::net::IpAddr;

#[derive(Context)]
struct Data {
    text: String,
    raw: Vec<u8>,
    absent: Option<String>,
    port: i64,
    missing_port: Option<i64>,
    secure: bool,
    peer: IpAddr,
    tags: Vec<String>,
    none: Vec<String>,
    flags: Vec<bool>,
    numbers: Vec<i64>,
    labels: BTreeMap<String, String>,
    groups: BTreeMap<String, Vec<String>>,
}

fn data() -> Data {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Data {
        text: "Hello.Example".into(),
        raw: b"\xff\x00ab".to_vec(),
        absent: None,
        port: 8443,
        missing_port: None,
        secure: true,
        peer: "192.0.2.7".parse().unwrap(),
        tags: texts(&["One", "two", "three"]),
        none: Vec::new(),
        flags: vec![true, false],
        numbers: vec![1, 5, 9],
        labels: [("a".to_owned(), "x".to_owned()), ("b".to_owned(), "y".to_owned())].into(),
        groups: [("g".to_owned(), texts(&["m", "n"])), ("h".to_owned(), texts(&["o"]))].into(),
    }
}

fn env(nil_not_equal: bool) -> Env<Data> {
    Env::<Data>::new()
        .lists(&lists(8443))
        .pure_function("twice", |n: i64| n.saturating_mul(2))
        .pure_function("shout", |text: &str| text.to_uppercase())
        .alias("length", "size(text)")
        .filter_language(
            FilterLanguage::new()
                .nil_not_equal(nil_not_equal)
                .field("score", "double(port) / 0.0 > 1.0 ? 7 : 8")
                .field("broken", "port / (port - port)"),
        )
}

/// Rules, and whether each holds for [`data`].
const RULES: &[(&str, bool)] = &[
    (r#"text eq "Hello.Example""#, true),
    (r#"text ne "Hello.Example""#, false),
    (r#"text lt "Hello.F" and text ge "H" and not text gt "I""#, true),
    (r#"text contains "o.E" and not text contains "o.e""#, true),
    (r#"text in {"a" "Hello.Example"}"#, true),
    (r#"text in {"a" "\xff"}"#, false),
    (r#"text in {}"#, false),
    (r#"raw eq "\xff\x00ab""#, true),
    (r#"raw contains 00:61"#, true),
    (r#"raw gt "\xfe" and raw le "\xff\x00ab""#, true),
    (r#"text wildcard "hello.*""#, true),
    (r#"text strict wildcard "hello.*""#, false),
    (r#"text strict wildcard "H*.E*e""#, true),
    (r#"text matches "^H[a-z]+\.""#, true),
    (r#"raw matches "\xff""#, true),
    (r#"raw matches r"^(?-u:\xff)""#, true),
    ("port eq 8443 and port in {80 8000..9000} and not port in {1..10 20}", true),
    ("port & 1 and not port & 0x100", true),
    ("port ge 8443 and port le 8443 and not port lt 8443 and not port gt 8443 and port ne 1", true),
    ("secure and not secure xor secure", true),
    ("secure xor secure xor secure", true),
    (r#"absent eq "a" or absent contains "" or absent in {""} or absent wildcard "*""#, false),
    (r#"not absent eq "a""#, true),
    ("missing_port lt 1 or missing_port ge 0", false),
    ("peer eq 192.0.2.7 and not peer ne 192.0.2.7", true),
    ("peer in {192.0.2.0/24 10.0.0.0/8} and not peer in {192.0.2.8..192.0.2.255 2001:db8::/32}", true),
    ("peer in {192.0.2.1..192.0.2.7}", true),
    ("peer lt 192.0.2.8 and peer gt 192.0.2.6 and peer ge 192.0.2.7 and peer le 192.0.2.7", true),
    ("peer lt ::1 or peer gt ::1 or peer eq ::ffff:192.0.2.7 or peer in {::/0}", false),
    ("peer ne ::1 and peer ne ::ffff:192.0.2.7", true),
    ("peer in $bad and port in $ports", true),
    ("text in $names and text in $sites and not raw in $names and not lower(text) in $names", true),
    ("absent in $names or missing_port in $ports", false),
    ("any(tags[*] in $names) or any(numbers[*] in $ports)", false),
    (r#"tags[0] eq "One" and tags[2] eq "three" and not tags[3] eq "" "#, true),
    (r#"any(tags[*] eq "two") and not any(tags[*] eq "four")"#, true),
    (r#"all(tags[*] contains "e") or not all(tags[*] ne "x")"#, false),
    (r#"any(not tags[*] contains "e")"#, true),
    (r#"any((tags[*] eq "One" and tags[*] contains "n"))"#, true),
    (r#"any((tags[*] eq "One" and not numbers[*] eq 1))"#, false),
    (r#"any((tags[*] eq "One" and numbers[*] eq 1))"#, true),
    (r#"all((flags[*] or numbers[*] eq 5))"#, true),
    (r#"any((flags[*] xor numbers[*] eq 1))"#, false),
    (r#"all(none[*] eq "a") and not any(none[*] ne "a")"#, true),
    ("any(flags) and not all(flags)", true),
    (r#"any(lower(tags[*])[*] eq "one") and not any(upper(tags[*])[*] eq "one")"#, true),
    (r#"all(len(tags[*])[*] ge 3)"#, true),
    (r#"lower(tags[*])[0] eq "one""#, true),
    (r#"len(tags) eq 3 and len(text) eq 13 and len(lower(tags[*])) eq 3"#, true),
    (r#"join(upper(tags[*]), "-") eq "ONE-TWO-THREE""#, true),
    (r#"any(substring(tags[*], 1)[*] eq "wo")"#, true),
    (r#"labels["a"] eq "x" and not labels["c"] eq "x" and not labels["c"] ne "x""#, true),
    (r#"any(labels[*] eq "y") and all(labels[*] in {"x" "y"})"#, true),
    (r#"any(groups["g"][*] eq "n") and not any(groups["x"][*] eq "n") and all(groups["x"][*] eq "n")"#, true),
    (r#"any(groups[*][*] eq "o") and not all(groups[*][*] eq "o")"#, true),
    (r#"any(groups[*][1] eq "n") and all(groups[*][1] eq "n")"#, true),
    (r#"any(not groups[*][1] eq "n")"#, false),
    (r#"starts_with(text, "Hello") and ends_with(text, "ple") and not starts_with(raw, "a")"#, true),
    (r#"starts_with(absent, "a")"#, false),
    (r#"concat(text, "/", absent, raw) eq "Hello.Example/\xff\x00ab""#, true),
    (r#"lower(text) eq "hello.example" and upper(text) contains "HELLO" and not lower(text) eq "Hello.example""#, true),
    (
        r#"lower(text) contains "lo.ex" and not lower(text) contains "Lo" and upper(text) in {"A" "HELLO.EXAMPLE"}"#,
        true,
    ),
    (
        r#"starts_with(lower(text), "hello") and ends_with(upper(text), "PLE") and not starts_with(lower(text), "H")"#,
        true,
    ),
    (r#"lower(absent) ne "a" or lower(absent) eq "a" or not lower(text) ne "hello.example""#, true),
    (r#"regex_replace(text, "l+", "L") eq "HeLo.Example""#, true),
    (r#"wildcard_replace(text, "h*.*", "${2}-${1}") eq "Example-ello""#, true),
    (r#"any(split(text, ".", 2)[*] eq "Example")"#, true),
    (r#"to_string(port) eq "8443" and to_string(peer) eq "192.0.2.7""#, true),
    ("cidr(peer, 24, 64) eq 192.0.2.0", true),
    ("cidr(peer, 24, 64) in {192.0.2.0/32} and cidr(peer, 8, 64) lt 192.0.0.1", true),
    ("twice(port) eq 16886 and twice(missing_port) eq 0", false),
    (r#"shout(text) eq "HELLO.EXAMPLE" and not shout(raw) ne """#, true),
    ("length eq 13 and score eq 7", true),
    ("broken eq 1 or broken ne 1", false),
    (r#"sha256("a") contains "\xca\x97""#, true),
];

#[test]
fn both_tiers_say_what_the_language_says() {
    let (env, data) = (env(false), data());
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    let mut wrong = Vec::new();
    for &(rule, expected) in RULES {
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            match engine.compile(&env, rule) {
                Ok(program) => {
                    let found = program.test(&data);
                    if found != Ok(expected) {
                        wrong.push(format!("{tier:?} {rule}: {found:?}"));
                    }
                }
                Err(error) => wrong.push(format!("{tier:?} {rule}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_value_is_unequal_if_the_host_says_so() {
    let data = data();
    for (rule, by_default) in
        [(r#"absent ne "a""#, false), ("missing_port != 1", false), (r#"labels["c"] ne "x""#, false)]
    {
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            assert_eq!(engine.compile(&env(false), rule).unwrap().test(&data), Ok(by_default), "{rule}");
            assert_eq!(engine.compile(&env(true), rule).unwrap().test(&data), Ok(!by_default), "{rule}");
        }
    }
}

#[test]
fn a_rule_can_be_a_value() {
    let (env, data) = (env(false), data());
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let (mut scratch, mut other) = (Scratch::new(), Scratch::new());
        let joined = engine.compile(&env, r#"concat("/x", text)"#).unwrap();
        assert!(matches!(joined.eval(&data, &mut scratch), Ok(Value::Bytes(b"/xHello.Example"))), "{tier:?}");
        for (rule, expected) in [
            ("text", "Bytes([72, 101, 108, 108, 111, 46, 69, 120, 97, 109, 112, 108, 101])"),
            ("labels[\"a\"]", "Bytes([120])"),
            ("labels", "Map(Sorted([(String(\"a\"), Bytes([120])), (String(\"b\"), Bytes([121]))]))"),
            ("tags[0]", "Bytes([79, 110, 101])"),
            ("upper(tags[*])", "List(Slice([Bytes([79, 78, 69]), Bytes([84, 87, 79]), Bytes([84, 72, 82, 69, 69])]))"),
            ("peer", "Ip(192.0.2.7)"),
            ("port", "Int(8443)"),
            ("flags", "List(Slice([Bool(true), Bool(false)]))"),
        ] {
            let program = engine.compile(&env, rule).unwrap();
            let found = format!("{:?}", program.eval(&data, &mut scratch).unwrap());
            assert_eq!(found, expected, "{tier:?} {rule}");
        }
        let missing = engine.compile(&env, "lower(absent)").unwrap();
        let error = missing.eval(&data, &mut other).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NoSuchKey, "{tier:?}");
        assert_eq!(missing.describe(&error, &data).message(), "the value is missing");
    }
}

#[test]
fn documented_fields_are_those_of_requests() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    let request = http::Request::get("https://Example.com/a/b.TXT?x=1&y=2&x=3")
        .header("host", "example.com")
        .header("user-agent", http::HeaderValue::from_bytes(b"curl/\xff8").unwrap())
        .header("x-many", "one")
        .header("x-many", "two")
        .header("cookie", "id=7; theme=dark")
        .header("accept-language", "de;q=0.5, en")
        .body(())
        .unwrap();
    let context = RequestContext::new(&request).with_source("192.0.2.7:4711".parse().unwrap());
    let rules = [
        (r#"http.host eq "example.com" and ssl"#, true),
        (r#"http.request.method eq "GET" and http.request.version eq "HTTP/1.1""#, true),
        (r#"http.request.uri eq "/a/b.TXT?x=1&y=2&x=3" and http.request.uri.path eq "/a/b.TXT""#, true),
        (r#"http.request.full_uri eq "https://example.com/a/b.TXT?x=1&y=2&x=3""#, true),
        (r#"http.request.uri.path.extension eq "txt" and http.request.uri.query contains "y=2""#, true),
        (r#"http.request.uri.args["x"][1] eq "3" and any(http.request.uri.args["x"][*] eq "1")"#, true),
        (r#"any(http.request.uri.args.names[*] eq "y") and http.request.uri.args.values[1] eq "2""#, true),
        (r#"http.user_agent contains "\xff" and http.user_agent eq "curl/\xff8""#, true),
        (r#"http.user_agent matches r"^curl/(?-u:\xff)""#, true),
        (r#"http.request.headers["x-many"][1] eq "two" and len(http.request.headers["x-many"]) eq 2"#, true),
        (r#"any(http.request.headers["x-many"][*] contains "wo")"#, true),
        (r#"any(http.request.headers["X-Many"][*] contains "wo") or http.request.headers["x-none"][0] eq """#, false),
        (r#"any(http.request.headers.names[*] eq "x-many") and any(http.request.headers.values[*] eq "two")"#, true),
        (r#"any(http.request.headers[*][*] eq "two")"#, true),
        (r#"http.cookie contains "id=7" and http.request.cookies["theme"][0] eq "dark""#, true),
        (r#"http.request.accepted_languages[0] eq "en" and not http.request.headers.truncated"#, true),
        (r#"ip.src in {192.0.2.0/24} and ip.src eq 192.0.2.7 and tcp.srcport eq 4711"#, true),
        (r#"cf.threat_score gt 10 or cf.bot_management.score lt 30 or not http.referer contains """#, true),
        (r#"http.x_forwarded_for eq "" or http.referer ne "a""#, false),
        ("true and not false", true),
    ];
    for (rule, expected) in rules {
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            let program = engine.compile(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            assert_eq!(program.test(&context), Ok(expected), "{tier:?} {rule}");
        }
    }
    let program =
        Engine::new().compile(&env, r#"http.request.headers["x-a"][0] eq "1" and http.user_agent eq "b""#).unwrap();
    assert!(program.fields().headers("request.headers").eq(["user-agent", "x-a"]));
    assert!(!program.fields().reads_any_header("request.headers"));
}

#[test]
fn rules_of_two_languages_are_in_one_set() {
    let cel = Env::<RequestContext<'_>>::new();
    let filter = cel.clone().filter_language(FilterLanguage::http());
    let request = http::Request::get("/admin").header("user-agent", "curl/8").body(()).unwrap();
    let context = RequestContext::new(&request);
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let mut rules = engine.rules(&cel);
        for number in 0..50 {
            let filtered = engine.check(
                &filter,
                &format!(r#"http.request.uri.path eq "/page{number}" or http.user_agent contains "bot{number}""#),
            );
            rules = rules.with_rule(celero::Rule::checked("filter", filtered.unwrap(), number)).rule(
                "cel",
                &format!("request.path == '/path{number}'"),
                number,
            );
        }
        let last =
            engine.check(&filter, r#"http.request.uri.path eq "/admin" and http.user_agent contains "curl""#).unwrap();
        let set = rules
            .with_rule(celero::Rule::checked("last", last, 1000))
            .rule("cel", "request.path.startsWith('/admin')", 1001)
            .build()
            .unwrap();
        let mut scratch = Scratch::new();
        let matched: Vec<i32> = set.all(&context, &mut scratch).unwrap().map(|found| *found.action).collect();
        assert_eq!(matched, [1000, 1001], "{tier:?}");
        if tier == Tier::Native {
            // A prefix of a path is tested faster than it is looked up.
            assert!(set.unindexed().eq([101]));
        }
    }
}

/// The bytes that a residual predicate is about are in its parameter row, not in its code.
#[test]
fn rules_that_differ_in_bytes_share_a_template() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let engine = Engine::builder().tier(Tier::Native).build();
    let rules = || {
        (0..60).fold(engine.rules(&env), |rules, n| {
            let rule = format!(
                r#"http.host eq "h{n}" and http.user_agent gt "\xff{n:02}" and not http.user_agent eq "\xfe{n}""#
            );
            rules.rule(&format!("r{n}"), &rule, n)
        })
    };
    let explanation = rules().explain().unwrap();
    // Rules of which a constant is also that of another rule have one of their own.
    assert!(explanation.templates().len() <= 3, "{explanation}");
    let set = rules().build().unwrap();
    for (agent, matches) in [(&b"\xff07"[..], false), (b"\xff08", true), (b"\xfe7", false), (b"", false)] {
        let agent = http::HeaderValue::from_bytes(agent).unwrap();
        let request = http::Request::get("/").header("host", "h7").header("user-agent", agent).body(()).unwrap();
        let found = set.first(&RequestContext::new(&request), &mut Scratch::new()).unwrap().map(|rule| *rule.action);
        assert_eq!(found, matches.then_some(7), "{request:?}");
    }
}

/// Lists of addresses, texts, hosts, and of one port.
fn lists(port: i64) -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, kind, entry) in [
        ("bad", Kind::Addresses, "192.0.2.7"),
        ("ports", Kind::Integers, &*port.to_string()),
        ("names", Kind::Texts, "Hello.Example"),
        ("sites", Kind::Hosts, "*.example"),
    ] {
        lists.declare(name, kind).unwrap();
        lists.change().insert(name, entry).commit().unwrap();
    }
    lists
}

#[test]
fn the_rules_of_a_set_have_the_same_lists() {
    let (first, second) = (lists(1), lists(8443));
    let env = |lists| Env::<Data>::new().lists(lists).filter_language(FilterLanguage::new());
    let (first, second) = (env(&first), env(&second));
    let engine = Engine::new();
    let rule = celero::Rule::checked("", engine.check(&first, "port in $ports").unwrap(), ());
    let refused = engine.rules(&second).with_rule(rule).build().unwrap_err();
    assert!(refused.to_string().contains("another environment"), "{refused}");
}

/// Fields that are expressions are read as CEL reads them: an address as text, a name that no
/// header can have as a missing value.
#[test]
fn expressions_are_fields_of_their_own_types() {
    let language = FilterLanguage::http()
        .field("peer.text", "string(source.address)")
        .field("http.odd", "request.headers['no name']")
        .field("http.agent", "default(request.headers['user-agent'], '-')");
    let env = Env::<RequestContext<'_>>::new().filter_language(language);
    assert!(env.problems().is_empty(), "{:?}", env.problems());
    let agent = http::HeaderValue::from_bytes(b"a\xff").unwrap();
    let request = http::Request::get("/").header("user-agent", agent).body(()).unwrap();
    let context = RequestContext::new(&request).with_source("192.0.2.7:1".parse().unwrap());
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        for (rule, expected) in [
            (r#"peer.text eq "192.0.2.7" and peer.text contains ".2.""#, true),
            (r#"http.odd eq "" or http.odd contains "a""#, false),
            // Through CEL text is UTF-8.
            (r#"http.agent eq "a\xef\xbf\xbd" and not http.agent contains "\xff""#, true),
            (r#"http.user_agent eq "a\xff""#, true),
        ] {
            let program = engine.compile(&env, rule).unwrap_or_else(|error| panic!("{tier:?} {rule}: {error}"));
            assert_eq!(program.test(&context), Ok(expected), "{tier:?} {rule}");
        }
    }
}
