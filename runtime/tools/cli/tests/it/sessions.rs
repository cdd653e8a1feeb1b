//! `celero repl`, `celero check --watch`, completions and manual pages.

use crate::support::{Run, celero, celero_reading, command, file};
use std::io::{BufRead, BufReader};
use std::path::Path;

fn repl(lines: &str) -> Run {
    celero_reading(&["repl"], lines.as_bytes())
}

#[test]
fn the_session_evaluates_lines() {
    let run = repl("1 + 2\n\n:type [1]\n'a' + 'b'\n:quit\n5\n");
    assert_eq!((run.code, &*run.out, &*run.err), (0, "3\nlist(int)\n\"ab\"\n", ""));
    let run = repl("1 +\n1 / 0\n:tipe 1\n:request /no/such/file\n2\n");
    assert_eq!((run.code, &*run.out), (1, "2\n"));
    for part in ["unexpected-end", "divide_by_zero", "did you mean `:type`?", "/no/such/file"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    assert!(repl(":help\n").out.contains(":explain EXPRESSION"));
}

#[test]
fn the_session_has_a_request() {
    let run = repl("request.path\n");
    assert!(
        run.code == 1 && run.err.contains("there is no `request.path`: :request FILE or a curl line"),
        "{}",
        run.err
    );
    let run =
        repl("curl 'http://example.com/a?b=c' -H 'X-Team: ops'\nrequest.headers['x-team'] + request.path\n:request\n");
    assert_eq!((run.code, &*run.out), (0, "GET /a?b=c\n\"ops/a\"\nGET /a?b=c\n"), "{}", run.err);
    let request = file("repl.http", "POST /orders HTTP/1.1\nhost: x\n\n");
    let run =
        repl(&format!(":request {request}\nrequest.method\n:define f(n: int) = n + 1\nf(1)\n:define g(n: int) = m\n"));
    assert_eq!((run.code, &*run.out), (1, "POST /orders\n\"POST\"\n2\n"), "{}", run.err);
    let bindings = file("repl.json", "{\"n\": 20}");
    let run = repl(&format!(":vars n: int\n:bindings {bindings}\nn + 1\n"));
    assert_eq!((run.code, &*run.out), (0, "21\n"), "{}", run.err);
}

#[test]
fn the_session_gives_variables_values() {
    let run = repl(
        ":let x = 2 + 3\nx * 2\n:let names = ['a', 'b']\nsize(names) + x\n:let x = 'c'\nx in names\n:let none = optional.none()\nnone.orValue(x)\n",
    );
    assert_eq!((run.code, &*run.out, &*run.err), (0, "10\n7\nfalse\n\"c\"\n", ""));
    // As `:vars` and `:bindings`, it takes the place of a request, which the value may be from.
    let run = repl("curl http://example.com/a\n:let p = request.path\np + p\n");
    assert_eq!((run.code, &*run.out, &*run.err), (0, "GET /a\n\"/a/a\"\n", ""));
    for (line, part) in [
        ("x = 5", "help: `:let x = 5` gives the variable `x` this value"),
        ("let x = [1, 2]", "help: `:let x = [1, 2]` gives the variable `x` this value"),
        (":let x", "`:let` needs a name and a value, as in `:let x = 5`"),
        (":let 1 = 2", "`:let` needs a name and a value"),
        (":let x == 2", "`:let` needs a name and a value"),
        (":let x = 1 / 0", "divide_by_zero"),
        (":let x = nope", "nope"),
        (":let in = 5", "in"),
    ] {
        let run = repl(&format!("{line}\n"));
        assert!(run.code == 1 && run.out.is_empty() && run.err.contains(part), "{line}: {}{}", run.out, run.err);
    }
    let run = repl("1 +\n'a' = 'b'\n");
    assert!(!run.err.contains(":let"), "{}", run.err);
    let run = celero_reading(&["repl", "--language", "filter"], b":let port = 80\n");
    assert!(run.code == 1 && run.err.contains("error"), "{}", run.err);
}

#[test]
fn the_session_has_a_language() {
    let lines = "curl 'http://example.com/a?b=c' -H 'X-Team: ops'\nhttp.host eq \"example.com\" and any(http.request.headers[\"x-team\"][*] eq \"ops\")\n:type http.request.headers[\"x-team\"]\n:time ssl\n:explain ssl\n:language\n:language cel\nrequest.path\n";
    let run = celero_reading(&["repl", "--language", "filter"], lines.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("GET /a?b=c\ntrue\nArray<Bytes>\nnative "), "{}", run.out);
    assert!(run.out.ends_with("filter\n\"/a\"\n"), "{}", run.out);
    let run = repl("http.host eq \"a\"\n:language filter\n:language wire\nhttp.hst eq \"a\"\n:time\n");
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in [
        "`:language filter` switches",
        "there is no language `wire`",
        "did you mean `http.host`?",
        "`:time` needs an expression",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    // The variables of CEL are the fields.
    let bindings = file("repl-filter.json", "{\"port\": 80, \"name\": \"a\"}");
    let run = repl(&format!(":language filter\n:bindings {bindings}\nport in {{80 443}} and name eq \"a\"\n"));
    assert_eq!((run.code, &*run.out), (0, "true\n"), "{}", run.err);
}

#[test]
fn the_session_explains_and_measures() {
    let run = repl(":explain size('abc') > 2\n:time 1 + 1\n");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("native ") && run.out.contains("; interpreted "), "{}", run.out);
}

#[test]
fn included_files_are_watched_with_what_the_host_declares() {
    let rule = |name: &str, max: &str| format!("- {{name: {name}, when: tenant.seats > {max}, deny: 402}}\n");
    let included = file("watched-part.yaml", &format!("request:\n{}", rule("part", "5")));
    let name = Path::new(&included).file_name().unwrap().to_str().unwrap();
    let policy = file("watched-policy.yaml", &format!("include: [{name}]\nrequest:\n{}", rule("main", "6")));
    let host = file("watched-host.yaml", "variables: {tenant.seats: int}\n");
    let mut child = command(&["check", "--watch", "--env", &host, &policy]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = |start: &str| {
        let line = lines.next().unwrap();
        assert!(line.starts_with(start), "{line}");
    };
    next("ok: 2 rules");
    next("watching 3 files");
    // A file with an error is watched too.
    std::fs::write(&included, format!("request:\n{}", rule("part", "'many'"))).unwrap();
    next("watching 3 files");
    std::fs::write(&included, format!("request:\n{}{}", rule("part", "5"), rule("other", "7"))).unwrap();
    next("ok: 3 rules");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_changed_file_is_checked_again() {
    let path = file("watched.cel", "1 == 1");
    let mut child = command(&["check", "--watch", &path]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!([lines.next(), lines.next()], [Some("ok: bool".to_owned()), Some("watching 1 file".to_owned())]);
    std::fs::write(&path, "1 + 10000").unwrap();
    assert_eq!(lines.next().as_deref(), Some("ok: int"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(celero(&["check", "--watch", "-e", "1"]).code, 2);
}

#[test]
fn completions_and_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let run = celero(&["completions", shell]);
        assert_eq!(run.code, 0);
        for name in ["bench", "check", "eval", "explain", "fmt", "repl", "--requests", "--deny-warnings"] {
            // Fish writes `-l requests`.
            assert!(run.out.contains(name.trim_start_matches('-')), "{shell}: {name}");
        }
    }
    let page = celero(&["man"]).out;
    assert!(page.contains(".TH celero 1") && page.contains("celero\\-check(1)"), "{page}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    assert_eq!(celero(&["man", "--out", folder.to_str().unwrap()]).code, 0);
    assert!(std::fs::read_to_string(folder.join("celero-check.1")).unwrap().contains("deny"));
}
