//! `celero explain` of an expression: the machine code that runs, with its source.

use crate::support::celero;
use serde_json::Value as Json;

fn explained(expression: &str) -> Json {
    celero(&["explain", "-e", expression, "--json"]).json()
}

fn span(value: &Json) -> Option<(usize, usize)> {
    let at = |number: usize| usize::try_from(value[number].as_u64()?).ok();
    Some((at(0)?, at(1)?))
}

#[test]
fn the_listing_is_whole_and_in_order() {
    let text = "request.path.startsWith(\"/api/\") && size(request.query) < 100";
    let json = explained(text);
    let code = json["code"].as_array().unwrap();
    let mut next = 0;
    for line in code {
        assert_eq!(line["offset"].as_u64(), Some(next), "{line}");
        next += line["bytes"].as_str().unwrap().split(' ').count() as u64;
    }
    assert_eq!(json["summary"]["code_bytes"].as_u64(), Some(next));
    // From the source to the code, and back, is the same.
    for position in json["positions"].as_array().unwrap() {
        let (start, end) = span(&position["span"]).unwrap();
        assert_eq!(position["text"], text[start..end], "{position}");
        for range in position["ranges"].as_array().unwrap() {
            let (from, to) = span(range).unwrap();
            let within = code.iter().filter(|line| (from..to).contains(&(line["offset"].as_u64().unwrap() as usize)));
            for line in within {
                assert_eq!(span(&line["span"]), Some((start, end)), "{line}");
            }
        }
    }
    assert!(json["positions"].as_array().unwrap().iter().any(|position| position["text"] == "size(request.query)"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_are_named() {
    let json = explained("request.headers['x-team'].matches('^[a-z]+[0-9]+$') || request.path.lowerAscii() == 'x'");
    let calls: Vec<&str> =
        json["summary"]["calls"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(calls.len() > 1 && calls.iter().any(|name| name.contains("regex")), "{calls:?}");
    let code = json["code"].as_array().unwrap();
    let called = code.iter().filter(|line| line["text"].as_str().unwrap().starts_with("call"));
    for line in called {
        assert!(line["name"].is_string() && line["calls"] == true, "a call without a name: {line}");
    }
    let run = celero(&["explain", "-e", "'a'.matches(request.path)"]);
    for part in [
        "type  bool\n",
        "calls ",
        "== optimized graph\n",
        "== machine code\n",
        "== from the source to the code\n",
        "ret\n",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("label1") && !run.out.contains("== tree"), "{}", run.out);
    let all = celero(&["explain", "-e", "1 + 1 > 1", "--all"]).out;
    assert!(all.contains("== tree\n") && all.contains("== cranelift ir\n"), "{all}");
    let one = celero(&["explain", "-e", "request.path == '/'", "--show", "clif"]).out;
    assert!(one.contains("== cranelift ir\n") && !one.contains("== machine code"), "{one}");
}
