//! What a set says of its rules: how each is found, and which of them are pointless.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::support::Random;
use celero::http::RequestContext;
use celero::sets::{Indexing, RuleSetBuilder, SetExplanation, Unindexed};
use celero::{Context, Engine, Env, ErrorPolicy, Rule, Scratch, Tier};

type Rules<'e> = RuleSetBuilder<'e, RequestContext<'static>, ()>;

fn engine() -> Engine {
    Engine::builder().tier(Tier::Auto).build()
}

fn rules<'e>(env: &'e Env<RequestContext<'static>>, sources: &[&str]) -> Rules<'e> {
    let each = sources.iter().enumerate();
    each.fold(engine().rules(env), |rules, (n, source)| rules.rule(&format!("r{n}"), source, ()))
}

fn explain(sources: &[&str], indexing: Indexing, on_error: ErrorPolicy) -> SetExplanation {
    rules(&Env::new(), sources).index(indexing).on_error(on_error).explain().unwrap()
}

/// The index entries of a rule in a set of its own: keys and residual predicate.
fn entries_of(source: &str, on_error: ErrorPolicy) -> Vec<(Vec<String>, Vec<String>)> {
    let explanation = explain(&[source], Indexing::Always, on_error);
    explanation
        .rules()
        .iter()
        .flat_map(|rule| rule.entries())
        .map(|entry| (entry.keys().to_vec(), entry.residual().to_vec()))
        .collect()
}

/// Rules whose expressions are equal, written in different ways, are each explained by their own text.
#[test]
fn residual_predicates_are_in_the_words_of_their_rule() {
    let first = r#"request.headers["h"] == "b" && request.headers["h"] != "a""#;
    let second = r#"request.headers["h"]=="b" && !(request.headers["h"] == "a")"#;
    let explanation = explain(&[first, second], Indexing::Always, ErrorPolicy::NoMatch);
    for (rule, own) in
        explanation.rules().iter().zip([r#"request.headers["h"] != "a""#, r#"!(request.headers["h"] == "a")"#])
    {
        let residual: Vec<&String> = rule.entries().iter().flat_map(|entry| entry.residual()).collect();
        assert!(residual.iter().all(|text| *text == own), "{residual:?}, expected {own}");
    }
}

#[test]
fn keys_are_told_in_words() {
    for (source, keys) in [
        ("request.host == 'a.example'", &["request.host is \"a.example\""][..]),
        ("request.path.startsWith('/x')", &["request.path starts with \"/x\""]),
        ("request.path.endsWith('.php')", &["request.path ends with \".php\""]),
        ("request.path.contains('..')", &["request.path contains \"..\""]),
        ("request.method in ['PUT', 'POST']", &["request.method is \"POST\"", "request.method is \"PUT\""]),
        ("request.headers['x-a'] == '1'", &["request.headers[\"x-a\"] is \"1\""]),
        ("!('x-a' in request.headers)", &["request.headers[\"x-a\"] is absent"]),
        ("'X-A' in request.headers", &["request.headers[\"x-a\"] is present"]),
        ("cidr('10.0.0.0/8').containsIP(source.address)", &["source.address is in 10.0.0.0/8"]),
    ] {
        let found = entries_of(source, ErrorPolicy::NoMatch);
        assert_eq!(found.iter().map(|(keys, _)| keys.concat()).collect::<Vec<_>>(), keys, "{source}");
        assert!(found.iter().all(|(_, rest)| rest.is_empty()), "{source}: {found:?}");
    }
    let [(keys, rest)] = &entries_of("request.path.matches('(?i)^/.*wp-login')", ErrorPolicy::NoMatch)[..] else {
        panic!()
    };
    assert_eq!(keys, &["request.path contains \"wp-login\" in any case"]);
    assert_eq!(rest, &["request.path.matches('(?i)^/.*wp-login')"]);
}

#[test]
fn keys_of_numbers_and_truths_are_told_in_words() {
    #[derive(Context)]
    struct Call {
        size: i64,
        secure: bool,
    }
    let env = Env::<Call>::new();
    for (source, key) in [
        ("size == 3", "size is 3"),
        ("size >= 3", "size is at least 3"),
        ("size < 3", "size is at most 2"),
        ("secure", "secure is true"),
        ("!secure", "secure is false"),
    ] {
        let builder = engine().rules(&env).rule("a", source, ()).index(Indexing::Always);
        assert_eq!(builder.explain().unwrap().rules()[0].entries()[0].keys(), [key]);
    }
}

#[test]
fn rules_that_may_fail_are_found_by_what_is_absent() {
    let source = "request.headers['x-a'] == '1' && size(request.path) > 3";
    let keys = |on_error| entries_of(source, on_error).into_iter().map(|(keys, _)| keys.concat()).collect::<Vec<_>>();
    assert_eq!(keys(ErrorPolicy::NoMatch), ["request.headers[\"x-a\"] is \"1\""]);
    let mut with_errors = keys(ErrorPolicy::Match);
    with_errors.sort();
    assert_eq!(with_errors, ["request.headers[\"x-a\"] is \"1\"", "request.headers[\"x-a\"] is absent"]);
    let rests: Vec<_> = entries_of(source, ErrorPolicy::Match).into_iter().map(|(_, rest)| rest.len()).collect();
    assert_eq!(rests.iter().sum::<usize>(), 3, "the absent header is told by evaluating all");
}

#[test]
fn a_crowd_is_found_by_a_second_key() {
    let sources: Vec<String> = (0..100)
        .map(|n| format!("request.host == 'a.example' && request.path.startsWith('/{n}/') && size(request.path) > {n}"))
        .collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let explanation = explain(&sources, Indexing::Auto, ErrorPolicy::NoMatch);
    for (n, rule) in explanation.rules().iter().enumerate() {
        let [entry] = rule.entries() else { panic!("{explanation}") };
        assert!(entry.keys().contains(&format!("request.path starts with \"/{n}/\"")), "{explanation}");
        assert_eq!(entry.residual().last().unwrap(), &format!("size(request.path) > {n}"));
        assert_eq!(explanation.templates()[entry.template().unwrap()], 100);
        assert!(entry.chance() > 0.0 && entry.chance() < 0.5 && rule.unindexed().is_none());
    }
    assert_eq!((explanation.rules()[3].name(), explanation.templates().len()), ("r3", 1));
    assert!(explanation.lookups() >= explanation.first_lookups() && explanation.first_lookups() > 0);
    assert!(explanation.index_size() > 0 && explanation.attributes() > 0);
}

#[test]
fn a_lookup_by_presence_is_one() {
    let explanation = explain(&["'x-a' in request.headers"], Indexing::Always, ErrorPolicy::NoMatch);
    assert_eq!((explanation.lookups(), explanation.first_lookups()), (1, 1), "{explanation}");
}

#[test]
fn each_rule_is_found_or_says_why_not() {
    let mut sources: Vec<String> = (0..120).map(|n| format!("request.host == '{n}.example'")).collect();
    sources.push("size(request.path) > 7".into());
    sources.push("request.method == 'PUT'".into());
    sources.push("request.path.startsWith('')".into());
    sources.push("'x' in request.headers || !('x' in request.headers)".into());
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let explanation = explain(&sources, Indexing::Auto, ErrorPolicy::NoMatch);
    let why = |n: usize| explanation.rules()[n].unindexed();
    assert_eq!((why(0), why(119)), (None, None));
    assert_eq!(
        (why(120), why(121), why(123)),
        (Some(Unindexed::NoKey), Some(Unindexed::TooFew), Some(Unindexed::TooCommon))
    );
    let off = explain(&sources, Indexing::Off, ErrorPolicy::NoMatch);
    assert!(off.rules().iter().all(|rule| rule.unindexed() == Some(Unindexed::IndexOff)));
    assert!((off.expected() - 124.0).abs() < 1e-9 && explanation.expected() < 10.0);
}

#[test]
fn an_explanation_is_of_the_set_that_is_built() {
    let env = Env::new();
    let sources: Vec<String> = (0..300)
        .map(|n| match n % 5 {
            0 => format!("request.host == 'h{n}' && size(request.path) > {n}"),
            1 => format!("request.path.startsWith('/{n}')"),
            2 => format!("request.headers['x-{}'] == '{n}' && request.method == 'GET'", n % 3),
            3 => format!("request.path.matches('a{n}b+')"),
            _ => format!("size(request.path) == {n}"),
        })
        .collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    for on_error in [ErrorPolicy::NoMatch, ErrorPolicy::Match] {
        let builder = || rules(&env, &sources).on_error(on_error);
        let (explanation, set) = (builder().explain().unwrap(), builder().build().unwrap());
        let indexed = explanation.rules().iter().filter(|rule| rule.unindexed().is_none()).count();
        assert_eq!(indexed, set.indexed_rules());
        let unindexed = explanation.rules().iter().enumerate().filter(|(_, rule)| rule.unindexed().is_some());
        assert_eq!(set.unindexed().collect::<Vec<_>>(), unindexed.map(|(n, _)| n).collect::<Vec<_>>());
        assert!(indexed >= 200);
        assert_eq!((explanation.index_size(), explanation.code_size()), (set.index_size(), set.code_size()));
        // What is found in vain is found by a key that holds.
        let request = http::Request::get("/6/7?x=a3bb").header("host", "h10").header("x-1", "7").body(()).unwrap();
        let context = RequestContext::new(&request);
        let (mut scratch, mut other) = (Scratch::new(), Scratch::new());
        let found = set.candidates(&context, &mut scratch);
        for rule in set.indices(&context, &mut other).unwrap() {
            assert!(found.contains(rule) || explanation.rules()[*rule].unindexed().is_some(), "{rule}");
        }
        assert!(found.contains(&10) && found.iter().all(|rule| explanation.rules()[*rule].unindexed().is_none()));
    }
}

#[test]
fn explanations_read_well() {
    let mut sources: Vec<String> = (0..90).map(|n| format!("request.host == '{n}.example'")).collect();
    sources[1] = "request.host in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] && size(request.path) > 1".into();
    sources[2] = "size(request.path) > 2".into();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let text = explain(&sources, Indexing::Auto, ErrorPolicy::NoMatch).to_string();
    assert!(text.starts_with("rules    90: 89 found by the index, 1 evaluated every time\n"), "{text}");
    for part in [
        "\n  found if request.host is \"0.example\"\n    left: nothing\n",
        "\n     or if request.host is \"f\"\n    left: size(request.path) > 1   (template 0, of 1 rule)\n  or by 2 more entries\n",
        "rule 2 `r2`, expected always\n  every time: none of its conditions is a test that an index supports\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn rules_that_do_not_compile_are_not_explained() {
    let env = Env::new();
    let error = rules(&env, &["request.pth == '/'", "true", "1"]).explain().unwrap_err();
    assert_eq!(error.rules().map(|(name, _)| name).collect::<Vec<_>>(), ["r0", "r2"]);
    let found: Vec<_> = error.diagnostics().map(|(rule, found)| (rule, found.code)).collect();
    assert_eq!(found, [(0, "undeclared-name"), (2, "not-bool")]);
}

/// The warnings about the set, as rule, code, and the other rule that the message names.
fn warnings(rules: Rules<'_>) -> Vec<(usize, &'static str, Option<usize>)> {
    let set = rules.build().unwrap();
    let other = |message: &str| message.split("rule ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    set.warnings().iter().map(|(rule, warning)| (*rule, warning.code, other(&warning.message))).collect()
}

#[test]
fn rules_that_never_match_are_told() {
    let env = Env::new();
    let sources =
        ["1 == 2", "request.path == '/'", "'a'.startsWith('b') && request.path == '/a'", "{'a': 1}['b'] == 1"];
    let never = "never-matches";
    assert_eq!(warnings(rules(&env, &sources)), [(0, never, None), (2, never, None), (3, never, None)]);
    let failing_matches = rules(&env, &sources).on_error(ErrorPolicy::Match);
    assert_eq!(warnings(failing_matches), [(0, never, None), (2, never, None)]);
    // What the rule's own warnings say is not said again.
    let own = rules(&env, &["request.path == '/' && false", "type(request.path) == int", "request.path.matches('(')"]);
    assert_eq!(
        warnings(own).iter().map(|(_, code, _)| *code).collect::<Vec<_>>(),
        ["constant-condition", "never-equal", "literal-never-valid"]
    );
    let set = rules(&env, &["  1 == 2 // comment"]).build().unwrap();
    let span = set.warnings()[0].1.span;
    assert_eq!((span.start, span.end), (2, 8), "the whole expression");
}

#[test]
fn conditions_that_exclude_each_other_are_told() {
    let env = Env::new();
    let path = "request.path == '/a'";
    for (other, excludes) in [
        ("request.path == '/b'", true),
        ("request.path in ['/b', '/c']", true),
        ("request.path in ['/b', '/a']", false),
        ("request.path.startsWith('/b')", true),
        ("request.path.startsWith('/')", false),
        ("request.path.endsWith('b')", false),
        ("request.query == '/b'", false),
        ("request.path != '/b'", false),
    ] {
        let source = format!("{path} && request.method == 'GET' && {other}");
        let found = warnings(rules(&env, &[&source]));
        assert_eq!(found, if excludes { vec![(0, "never-matches", None)] } else { vec![] }, "{other}");
        let failing_matches = rules(&env, &[&source]).on_error(ErrorPolicy::Match);
        assert_eq!(warnings(failing_matches), found, "no part of it can fail");
        let source = format!("{source} && request.headers['x'] == 'y'");
        let failing_matches = rules(&env, &[&source]).on_error(ErrorPolicy::Match);
        assert_eq!(warnings(failing_matches), [], "what fails would match");
    }
    let set = rules(&env, &["request.host == 'a' && request.method == 'GET' && request.host == 'b'"]).build().unwrap();
    let [(0, warning)] = set.warnings() else { panic!("{:?}", set.warnings()) };
    let spans: Vec<_> = warning.labels.iter().map(|label| (label.span.start, label.span.end)).collect();
    assert_eq!(spans, [(0, 19), (50, 69)]);
    let sizes = |source: &str| warnings(rules(&env, &[source])).len();
    assert_eq!(sizes("size(request.path) > 3 && size(request.path) < 3"), 1);
    assert_eq!(sizes("size(request.path) >= 3 && size(request.path) <= 3"), 0);
}

#[test]
fn rules_that_follow_from_others_are_told() {
    let env = Env::new();
    for (wide, narrow, follows) in [
        ("request.path.startsWith('/a')", "request.path.startsWith('/a/b')", true),
        ("request.path.startsWith('/a/b')", "request.path.startsWith('/a')", false),
        ("request.path.startsWith('/a')", "request.path == '/ab'", true),
        ("request.path.startsWith('/a')", "request.path in ['/ab', '/a']", true),
        ("request.path.startsWith('/a')", "request.path in ['/ab', '/b']", false),
        ("request.path in ['/a', '/b', '/c']", "request.path == '/b'", true),
        ("request.path in ['/a', '/b', '/c']", "request.path in ['/c', '/a']", true),
        ("request.path in ['/a', '/b', '/c']", "request.path in ['/d', '/a']", false),
        ("request.path in ['/a', '/b', '/c']", "request.query == '/b'", false),
        ("request.host in ['a', 'b']", "request.host == 'a'", true),
        ("request.path == '/a' || request.path == '/b' || request.path == '/c'", "request.path in ['/c', '/a']", true),
        ("request.path.startsWith('/a')", "(request.path == '/a' || request.path == '/ab')", true),
        ("request.path.startsWith('/a')", "(request.path == '/a' || request.path == '/b')", false),
        ("request.host == 'a' || request.path == '/a'", "request.host == 'a'", true),
        ("request.host == 'a' || request.path == '/a'", "request.host == 'b'", false),
    ] {
        let narrow = format!("{narrow} && request.method == 'GET'");
        let found = warnings(rules(&env, &[wide, &narrow]));
        assert_eq!(found, if follows { vec![(1, "shadowed-rule", Some(0))] } else { vec![] }, "{wide}, {narrow}");
        assert_eq!(warnings(rules(&env, &[&narrow, wide])), []);
    }
}

#[test]
fn rules_that_repeat_others_are_told() {
    let env = Env::new();
    let sources = [
        "request.path == '/a' && request.host == 'b'",
        "request.host == 'b'",
        "request.host == 'b' && request.path == '/a'",
        "request.host == \"b\"",
        "request.host == 'c'",
    ];
    let (same, late) = ("duplicate-rule", "shadowed-rule");
    assert_eq!(warnings(rules(&env, &sources)), [(2, same, Some(0)), (3, same, Some(1))]);
    // Priorities decide which is first: rule 0 is `request.host == 'b'` then.
    let builder = rules(&env, &sources[..1]).with_rule(Rule::new("first", sources[1], ()).priority(-1));
    assert_eq!(warnings(builder), [(1, late, Some(0))]);
}

#[test]
fn rules_behind_wider_ones_are_told() {
    let env = Env::new();
    let late = "shadowed-rule";
    let sources = [
        "request.host == 'a' && size(request.path) > 3",
        "request.method == 'GET'",
        "size(request.path) > 3 && request.host == 'a' && request.scheme == 'http'",
        "request.method == 'GET' && request.host == 'b'",
        "request.host == 'a' && request.scheme == 'http'",
        "request.method != 'GET' && request.host == 'b'",
    ];
    for on_error in [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop] {
        let found = warnings(rules(&env, &sources).on_error(on_error));
        assert_eq!(found, [(2, late, Some(0)), (3, late, Some(1))], "{on_error:?}");
    }
    let builder = rules(&env, &["request.path == '/'", "true", "request.host == 'b'", "true"]);
    assert_eq!(warnings(builder), [(2, late, Some(1)), (3, "duplicate-rule", Some(1))]);
    // A rule can still be the first of a tag that the other has not.
    let tagged = |a: &str, b: &str| {
        let builder = engine().rules(&env).with_rule(Rule::new("a", "request.host == 'a'", ()).tag(a));
        warnings(builder.with_rule(Rule::new("b", "request.host == 'a' && request.path == '/'", ()).tag(b)))
    };
    assert_eq!(tagged("x", "y"), []);
    assert_eq!(tagged("x", "x"), [(1, late, Some(0))]);
    // And of a request on which both fail, if it counts as a match there and the other does not.
    let failing = |a: ErrorPolicy, b: ErrorPolicy| {
        let rule = |name, policy| Rule::new(name, "request.headers['a'] == 'b'", ()).on_error(policy);
        warnings(engine().rules(&env).with_rules([rule("a", a), rule("b", b)]))
    };
    assert_eq!(failing(ErrorPolicy::NoMatch, ErrorPolicy::Match), []);
    assert_eq!(failing(ErrorPolicy::Match, ErrorPolicy::NoMatch), [(1, "duplicate-rule", Some(0))]);
    assert_eq!(failing(ErrorPolicy::Match, ErrorPolicy::Match), [(1, "duplicate-rule", Some(0))]);
}

#[test]
fn a_shadowed_rule_is_never_the_first() {
    let env = Env::new();
    let tests = [
        "request.path == '/a'",
        "request.headers['x'] == '1'",
        "request.method == 'GET'",
        "size(request.path) / (size(request.path) - 2) > 0",
    ];
    // All conjunctions of these, in orders that mix wide and narrow ones.
    for turn in 0..15_usize {
        let subsets: Vec<usize> = (1..16).map(|n| (n * 7 + turn * 4) % 15 + 1).collect();
        let sources: Vec<String> = subsets
            .iter()
            .map(|bits| {
                let some: Vec<&str> = (0..4).filter(|n| bits >> n & 1 == 1).map(|n| tests[n]).collect();
                some.join(" && ")
            })
            .collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        for on_error in [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop] {
            let set = rules(&env, &sources).on_error(on_error).build().unwrap();
            let told: Vec<usize> = set.warnings().iter().map(|(rule, _)| *rule).collect();
            let expected = (0..15).filter(|&n| subsets[..n].iter().any(|before| before & subsets[n] == *before));
            assert_eq!(told, expected.collect::<Vec<_>>(), "{sources:?}");
            let mut scratch = Scratch::new();
            for (uri, header) in [("/a", None), ("/a", Some("1")), ("/ab", None), ("/ab", Some("1")), ("/a", Some("2"))]
            {
                let request = http::Request::get(uri);
                let request =
                    header.map_or(http::Request::get(uri), |value| request.header("x", value)).body(()).unwrap();
                let first = match set.first(&RequestContext::new(&request), &mut scratch) {
                    Ok(first) => first.map(|first| first.index),
                    Err(error) => Some(error.rule),
                };
                assert!(first.is_none_or(|first| !told.contains(&first)), "{first:?} of {sources:?} for {uri}");
            }
        }
    }
}

#[test]
fn warnings_are_bounded() {
    let env = Env::new();
    let mut sources = vec!["true"];
    sources.extend(["request.path == '/'"; 3000]);
    assert_eq!(warnings(rules(&env, &sources)).len(), 1000);
}

#[test]
fn warnings_are_right_for_random_sets() {
    let atoms = [
        "request.path == '/a'",
        "request.path == '/ab'",
        "request.path in ['/a', '/b']",
        "request.path in ['/a', '/ab', '/b']",
        "request.path.startsWith('/a')",
        "request.path.startsWith('/')",
        "(request.path == '/b' || request.path == '/ab')",
        "size(request.path) > 2",
        "size(request.path) < 3",
        "request.headers['x'] == '1'",
        "request.headers['x'] in ['1', '2']",
        "request.headers['x'].startsWith('1')",
        "(request.headers['x'] == '2' || request.path == '/a')",
        "request.host == 'h'",
        "request.host in ['h', 'i']",
        "request.host.startsWith('h')",
    ];
    let env = Env::new();
    let mut rng = Random::new(7);
    let mut random = |below: usize| rng.below(below);
    let mut requests = Vec::new();
    for path in ["/a", "/ab", "/b", "/", "/abc"] {
        for x in ["", "1", "2", "12"] {
            for host in ["", "h", "i", "hi"] {
                let request = http::Request::get(path);
                let request = if x.is_empty() { request } else { request.header("x", x) };
                let request = if host.is_empty() { request } else { request.header("host", host) };
                requests.push(request.body(()).unwrap());
            }
        }
    }
    let (mut never, mut late) = (0, 0);
    for round in 0..60 {
        let sources: Vec<String> = (0..12)
            .map(|_| (0..=random(3)).map(|_| atoms[random(atoms.len())]).collect::<Vec<_>>().join(" && "))
            .collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let on_error = [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop][round % 3];
        let set = rules(&env, &sources).on_error(on_error).build().unwrap();
        let told = |code: &[&str]| -> Vec<usize> {
            set.warnings().iter().filter(|(_, w)| code.contains(&w.code)).map(|(rule, _)| *rule).collect()
        };
        let (pointless, later) = (told(&["never-matches"]), told(&["duplicate-rule", "shadowed-rule"]));
        never += pointless.len();
        late += later.len();
        let mut scratch = Scratch::new();
        for request in &requests {
            let context = RequestContext::new(request);
            let first = match set.first(&context, &mut scratch) {
                Ok(first) => first.map(|first| first.index),
                Err(error) => Some(error.rule),
            };
            assert!(first.is_none_or(|first| !later.contains(&first)), "{first:?} of {sources:?}: {request:?}");
            let all = set.indices(&context, &mut scratch).unwrap_or_default();
            assert!(pointless.iter().all(|rule| !all.contains(rule)), "{all:?} of {sources:?}: {request:?}");
        }
    }
    assert!(never > 10 && late > 60, "{never} {late}");
}
