//! Files and requests that mean no good: an answer or an error, never a panic, and in time.

use crate::support::{ask, ask_response, exchange, head, log, policy, response};
use celero_policy::Policy;
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn parse(text: &str) -> Result<Policy, String> {
    Policy::parse("policy.yaml", text, Path::new("/nowhere")).map_err(|error| error.to_string())
}

#[test]
fn mutated_policies_are_taken_or_refused() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let text = std::fs::read_to_string(examples.join("policy.yaml")).unwrap();
    let pieces = [
        "\n", "  ", "- ", ": ", "{", "}", "[", "]", "\"", "'", "|", ">", "&a", "*a", "!x", "#", "${", "}", "\t", "\r",
        "\u{0}", "ä", "\u{feff}", "---", "? ", "%",
    ];
    let mut random = Random(7);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut changed: Vec<char> = text.chars().collect();
        for _ in 0..=random.below(3) {
            let at = random.below(changed.len());
            let piece = pieces[random.below(pieces.len())];
            match random.below(3) {
                0 => drop(changed.remove(at)),
                1 => drop(changed.splice(at..at, piece.chars())),
                _ => changed.truncate(at + 1),
            }
        }
        match parse(&changed.iter().collect::<String>()) {
            Ok(_) => taken += 1,
            Err(error) => {
                assert!(error.contains("policy.yaml:") && error.contains("error["), "{error}");
                refused += 1;
            }
        }
    }
    assert!(taken > 20 && refused > 50, "{taken} {refused}");
}

#[test]
fn large_files_take_little_time() {
    let start = Instant::now();
    let rules: String = (0..400)
        .map(|n| format!("- when: request.path == '/{n}' && request.headers['x-a'] == '{n}'\n  deny: true\n"))
        .collect();
    let policy = parse(&format!("request:\n{rules}")).unwrap();
    assert_eq!(policy.rules().count(), 400);
    let wrong: String = (0..2000).map(|n| format!("  k{n}: 1\n")).collect();
    assert!(parse(&format!("request:\n- when: 'true'\n{wrong}")).is_err());
    for shape in [
        "[".repeat(50_000),
        "{a: ".repeat(50_000),
        "- ".repeat(50_000),
        "a:\n ".repeat(5_000),
        format!("request: {}", "x".repeat(1_000_000)),
        "&a ".repeat(10_000),
        "? ".repeat(10_000),
    ] {
        assert!(parse(&shape).is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn hostile_requests_are_answered() {
    let policy = policy(
        r#"
request:
  - setHeaders: {x-all: "${request.uri}${request.headers[?'x-a'].orValue('')}", x-json: "${toJson(request.headers)}"}
  - when: request.path.matches("(a+)+$") || request.headers["x-a"].contains("b")
    deny: true
requestBody:
  - when: json(request.body).a.b.c == 1 || form.decode(string(request.body)).x == "1"
    labels: {a: "${request.body}"}
response:
  - setHeaders: {x-code: "${response.headers['x-a']}"}
log:
  - logFields: {body: "${request.headers}"}
"#,
    );
    let deep = "[".repeat(100_000);
    let long = "a".repeat(60_000);
    let mut strange = head("GET /", &[("x-a", &long), ("x-b", "ok")]);
    strange.headers.append("x-a", http::HeaderValue::from_bytes(b"\xff\xfe\x80").unwrap());
    for head in
        [head(&format!("GET /{long}"), &[]), strange, head("CONNECT a.example:443", &[]), head("OPTIONS *", &[])]
    {
        for body in [&b""[..], b"\xff", deep.as_bytes(), b"{\"a\":{\"b\":{\"c\":1}}}", b"x=1&x=%ff%00"] {
            let mut exchange = exchange();
            let _ = ask(&policy, &head, &mut exchange);
            exchange.edits().apply_to_request(&mut head.clone());
            let _ = policy.request_body(&head, body, &mut exchange);
            let _ = ask_response(&policy, &head, &response(599, &[]), &mut exchange);
            let _ = log(&policy, &head, None, &mut exchange).to_string();
        }
    }
}

/// Looking up the letter cases of 75 classes of most characters takes milliseconds.
#[test]
fn the_patterns_of_a_policy_share_one_bound() {
    let wide = r"[B-\x{10FFFF}]".repeat(75);
    let rules = |phase: &str, count: usize| {
        let rule = |n: usize| {
            format!("  - when: request.path.matches(r'(?i){phase}{n}{wide}x')\n    setHeaders: {{x-n: \"{n}\"}}\n")
        };
        format!("{phase}:\n{}", (0..count).map(rule).collect::<String>())
    };
    let templates = |count: usize| {
        let template = |n: usize| format!("      x-{n}: '${{request.path.matches(r\"(?i){n}{wide}\")}}'\n");
        format!("request:\n  - setHeaders:\n{}", (0..count).map(template).collect::<String>())
    };
    parse(&rules("request", 3)).unwrap();
    for text in [
        rules("request", 120),
        rules("request", 60) + &rules("response", 60),
        templates(120),
        (0..120).fold("variables:\n".to_owned(), |text, n| {
            text + &format!("  v{n}: request.path.matches(r'(?i){n}{wide}')\n")
        }) + &rules("request", 1),
    ] {
        let error = parse(&text).unwrap_err();
        assert!(error.contains("[policy-patterns]") && error.contains("8000000 steps"), "{error}");
        assert_eq!(error.matches("[policy-patterns]").count(), 1, "{error}");
    }
}

/// A chain of variables makes millions of nodes of a text of a few kilobytes. Those that no rule
/// uses cost what they are long; what rules use is bounded.
#[test]
fn definitions_that_grow_are_shared_or_refused() {
    let doubled = |count: usize| -> String {
        (0..count).map(|i| format!("  v{}: variables.v{i} + variables.v{i}\n", i + 1)).collect()
    };
    let wide: String = (0..3_000).map(|i| format!("  wide{i}: variables.v13 + {i}\n")).collect();
    let rule = "request:\n  - when: variables.wide99 == 1\n    deny: 403\n";
    parse(&format!("variables:\n  v0: 1 + 1\n{}{wide}{rule}", doubled(13))).unwrap();
    // One that no expression could use is refused by its name; those that use it are not reported.
    let message = parse(&format!("variables:\n  v0: 1 + 1\n{}request:\n  - deny: 403\n", doubled(200))).unwrap_err();
    assert_eq!(message.matches("error[").count(), 1, "{message}");
    assert!(message.contains("v15: variables.v14 + variables.v14") && message.contains("`max_nodes`"), "{message}");
    // One large definition in many rules of two phases.
    let rules =
        |phase: &str| format!("{phase}:\n{}", "  - when: variables.v14 == 1\n    setHeaders: {x-a: b}\n".repeat(100));
    let text = format!("variables:\n  v0: 1\n{}", doubled(14)) + &rules("request") + &rules("response");
    let message = parse(&text).unwrap_err();
    assert!(message.contains("[policy-definitions]") && message.contains("4000000 nodes"), "{message}");
}

/// What the owner of a level has written stands in the log of the host.
#[test]
fn errors_show_no_control_characters() {
    let error =
        parse("request:\n- {when: 'true', deny: 403, \"x\\e[2J\\n2026-01-01 INFO all is well\": 1}\n").unwrap_err();
    assert!(error.contains("a rule has no key `x\u{fffd}[2J"), "{error}");
    assert!(error.lines().all(|line| !line.starts_with("2026")), "{error}");
}
