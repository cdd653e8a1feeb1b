//! Every bound of the frontend, one below, at, and one above; the message names the bound and its value.

use celero_frontend::{Ast, Diagnostic, Limits, Stage, parse};

fn exceeded(result: Result<Ast, Vec<Diagnostic>>, code: &str, name: &str, value: u32) {
    let diagnostics = result.unwrap_err();
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [code]);
    for diagnostic in diagnostics {
        assert_eq!(diagnostic.stage, Stage::Limit);
        assert!(diagnostic.message.contains(name), "{}", diagnostic.message);
        assert!(diagnostic.message.contains(&value.to_string()), "{}", diagnostic.message);
    }
}

#[test]
fn source_bytes() {
    let source = "é + b";
    let length = 6;
    assert_eq!(source.len(), length as usize);
    for max_source_bytes in [length, length + 1] {
        let codes = parse(source, &Limits { max_source_bytes, ..Limits::default() }).unwrap_err();
        assert!(codes.iter().all(|d| d.stage == Stage::Parse));
    }
    let max_source_bytes = length - 1;
    let limits = Limits { max_source_bytes, ..Limits::default() };
    exceeded(parse(source, &limits), "source-too-long", "max_source_bytes", max_source_bytes);
    assert!(parse("", &Limits { max_source_bytes: 0, ..Limits::default() }).is_err());
}

#[test]
fn source_offsets_fit_24_bits() {
    let limits = Limits { max_source_bytes: u32::MAX, ..Limits::default() };
    let blank = |bytes: usize| " ".repeat(bytes - 1) + "1";
    assert!(parse(&blank(0xff_ffff), &limits).is_ok());
    exceeded(parse(&blank(0x100_0000), &limits), "source-too-long", "max_source_bytes", 0xff_ffff);
}

/// Trees of depth `n`, by what they nest.
fn trees(n: usize) -> Vec<String> {
    vec![
        "1".to_owned() + &"+1".repeat(n - 1),
        "a".to_owned() + &".b".repeat(n - 1),
        "a".to_owned() + &".f()".repeat(n - 1),
        "a".to_owned() + &"[0]".repeat(n - 1),
        "!".repeat(n - 1) + "a",
        "-".repeat(n) + "1",
        "a?1:".repeat(n - 1) + "1",
        "f(".repeat(n - 1) + "1" + &")".repeat(n - 1),
        "[".repeat(n) + &"]".repeat(n),
        "{1:".repeat(n - 1) + "1" + &"}".repeat(n - 1),
        "M{a:".repeat(n - 1) + "1" + &"}".repeat(n - 1),
        "cel.bind(x,1,".repeat(n - 1) + "x" + &")".repeat(n - 1),
        "a.map(x,".repeat(n - 1) + "x" + &")".repeat(n - 1),
        "x".to_owned() + &".optMap(x,x)".repeat(n - 1),
        "(".repeat(n) + "1" + &")".repeat(n),
        "a||(".repeat(n - 1) + "b" + &")".repeat(n - 1),
    ]
}

#[test]
fn depth() {
    for max_depth in [2, 3, 10, 250, 251] {
        let limits = Limits { max_depth, ..Limits::default() };
        let n = max_depth as usize;
        for (kind, source) in trees(n).into_iter().enumerate() {
            let ast = parse(&source, &limits);
            assert!(ast.is_ok(), "{kind}: {ast:?}");
        }
        for source in trees(n - 1) {
            assert!(parse(&source, &limits).is_ok(), "{source}");
        }
        // Merged chains may be deeper by the last bracket, which is why they are not among these.
        for source in trees(n + 1).into_iter().take(15) {
            exceeded(parse(&source, &limits), "too-deep", "max_depth", max_depth);
        }
        for source in trees(n + 2) {
            exceeded(parse(&source, &limits), "too-deep", "max_depth", max_depth);
        }
    }
}

#[test]
fn nodes() {
    for source in [
        "a + b + c",
        "[1, 2, 3, 4]",
        "r.all(x, x)",
        "r.all(i, x, p)",
        "cel.bind(x, 1, x)",
        "a && (b && c)",
        "has(a.b)",
        "{1: 2, 3: 4}",
        "cel.bind(a, b)",
    ] {
        let nodes = u32::try_from(parse(source, &Limits::default()).unwrap().nodes().len()).unwrap();
        for max_nodes in [nodes, nodes + 1] {
            let ast = parse(source, &Limits { max_nodes, ..Limits::default() });
            assert!(ast.is_ok(), "{source}: {ast:?}");
        }
        let max_nodes = nodes - 1;
        exceeded(parse(source, &Limits { max_nodes, ..Limits::default() }), "too-many-nodes", "max_nodes", max_nodes);
    }
}

#[test]
fn diagnostics() {
    let source = "[a b, a b, a b, a b]";
    for (max_diagnostics, reported) in [(0, 1), (1, 1), (3, 3), (4, 4), (5, 4)] {
        let diagnostics = parse(source, &Limits { max_diagnostics, ..Limits::default() }).unwrap_err();
        assert_eq!(diagnostics.len(), reported, "{max_diagnostics}");
    }
}
