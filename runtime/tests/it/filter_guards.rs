//! Warnings about filter rules as guards: what a client can do to pass them.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests")]

use celero::diagnostics::{Severity, diagnostic_codes};
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env};

/// The warnings about a deny rule with this code: the text that each points at, its message and its help.
fn found(rule: &str, code: &str, nil_not_equal: bool) -> Vec<(String, String)> {
    let language = FilterLanguage::http().nil_not_equal(nil_not_equal);
    let env = Env::<RequestContext<'_>>::new().filter_language(language);
    let checked = Engine::new().check(&env, rule).unwrap();
    let warnings = checked.guard_warnings(&env, true);
    assert_eq!(warnings, checked.guard_warnings(&env, false), "a filter rule fails in no way: {rule}");
    for warning in &warnings {
        assert_eq!(warning.severity, Severity::Warning);
        assert!(diagnostic_codes().any(|info| info.code == warning.code), "{}", warning.code);
    }
    let shown = |d: &celero::Diagnostic| {
        (rule[d.span.start as usize..d.span.end as usize].to_owned(), format!("{}: {}", d.message, d.help.concat()))
    };
    warnings.iter().filter(|warning| warning.code == code).map(shown).collect()
}

#[test]
fn guards_that_leaving_something_out_passes() {
    for (rule, places) in [
        (r#"http.referer ne "a""#, &[r#"http.referer ne "a""#][..]),
        (
            r#"ssl and (http.referer != "a" or http.user_agent ne "b")"#,
            &[r#"http.referer != "a""#, r#"http.user_agent ne "b""#],
        ),
        (r#"not not lower(http.referer) ne "a""#, &[r#"lower(http.referer) ne "a""#]),
        (r#"ssl xor http.referer ne "a""#, &[r#"http.referer ne "a""#]),
        ("ip.src ne 192.0.2.1", &["ip.src ne 192.0.2.1"]),
        (r#"http.request.headers["x-team"][0] ne "a""#, &[r#"http.request.headers["x-team"][0] ne "a""#]),
        (r#"http.request.uri.args["t"][0] ne "a""#, &[r#"http.request.uri.args["t"][0] ne "a""#]),
        (r#"any(http.request.headers["x-team"][*] ne "a")"#, &[r#"http.request.headers["x-team"][*] ne "a""#]),
        (r#"not all(http.request.headers["x-team"][*] eq "a")"#, &[r#"http.request.headers["x-team"][*] eq "a""#]),
        (r#"any(not http.request.cookies["s"][*] contains "a")"#, &[r#"http.request.cookies["s"][*] contains "a""#]),
        // What is not there is found by these.
        (r#"not http.referer eq "a""#, &[]),
        (r#"not http.referer contains "a""#, &[]),
        (r#"not (http.referer ne "a")"#, &[]),
        (r#"not any(http.request.headers["x-team"][*] eq "a")"#, &[]),
        (r#"all(http.request.headers["x-team"][*] ne "a")"#, &[]),
        // What a client cannot leave out, or says what is bad.
        (r#"http.request.method ne "GET" or http.request.uri.query ne "a""#, &[]),
        (r#"http.user_agent contains "bot" or any(http.request.headers["x-team"][*] eq "b")"#, &[]),
    ] {
        let warnings = found(rule, "guard-passed-by-absence", false);
        let at: Vec<&str> = warnings.iter().map(|(at, _)| &**at).collect();
        assert_eq!(at, places, "{rule}");
        assert!(
            warnings.iter().all(|(_, text)| text.starts_with("without ") && text.contains("eq ..")),
            "{warnings:?}"
        );
    }
    // Where a missing value is unequal, `ne` finds it; `any` has nothing to find it in.
    assert!(found(r#"http.referer ne "a""#, "guard-passed-by-absence", true).is_empty());
    assert_eq!(found(r#"any(http.request.cookies["s"][*] ne "a")"#, "guard-passed-by-absence", true).len(), 1);
}

/// The warning is right: a request without what it names passes the guard, and one with another
/// value does not. What the help says to write keeps both back.
#[test]
fn what_is_warned_of_is_so() {
    let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
    let without = http::Request::get("/").body(()).unwrap();
    let other = http::Request::get("/").header("x-team", "b").header("referer", "b").body(()).unwrap();
    for (guard, better) in [
        (r#"http.referer ne "a""#, r#"not http.referer eq "a""#),
        (r#"any(http.request.headers["x-team"][*] ne "a")"#, r#"not any(http.request.headers["x-team"][*] eq "a")"#),
        (
            r#"not all(http.request.headers["x-team"][*] eq "a")"#,
            r#"not any(http.request.headers["x-team"][*] eq "a")"#,
        ),
    ] {
        let test = |rule: &str, request| {
            let program = Engine::new().compile(&env, rule).unwrap();
            program.test(&RequestContext::new(request)).unwrap()
        };
        assert!(!test(guard, &without) && test(guard, &other), "{guard}");
        assert!(test(better, &without) && test(better, &other), "{better}");
        assert!(found(better, "guard-passed-by-absence", false).is_empty(), "{better}");
    }
}

#[test]
fn guards_that_a_header_twice_passes() {
    for (rule, help) in [
        (r#"http.user_agent eq "bot""#, Some(r#"any(http.request.headers["user-agent"][*] eq "bot")"#)),
        (r#"not http.user_agent ne "bot""#, Some(r#"all(http.request.headers["user-agent"][*] ne "bot")"#)),
        (
            r#"lower(http.referer) in {"a" "b"}"#,
            Some(r#"any(lower(http.request.headers["referer"][*])[*] in {"a" "b"})"#),
        ),
        (
            r#"http.request.headers["x-role"][0] eq "guest""#,
            Some(r#"any(http.request.headers["x-role"][*] eq "guest")"#),
        ),
        (r#"any(http.request.headers["x-role"][*] eq "guest")"#, None),
        (r#"http.user_agent contains "bot""#, None),
        (r#"http.host eq "a" or http.request.uri.path eq "/a""#, None),
        (r#"not http.user_agent eq "bot""#, None),
    ] {
        let warnings = found(rule, "guard-passed-by-repeating", false);
        assert_eq!(warnings.len(), usize::from(help.is_some()), "{rule}: {warnings:?}");
        if let (Some(help), [(_, text)]) = (help, &warnings[..]) {
            assert!(text.contains(help), "{rule}: {text}");
        }
    }
}
