//! What authors write who mean a named list, and the help that each gets, in both languages.
#![cfg(feature = "http")]
#![expect(clippy::string_slice, clippy::unwrap_used, reason = "tests")]

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::lists::{Kind, Limits, Lists};
use celero::{Context, Diagnostic, Engine, Env, Tier};

/// What a help suggests in its last backquotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suggested {
    /// A rule.
    Rule,
    /// What stands in the place of what the error points at.
    Part,
    /// Nothing that is complete.
    Nothing,
}

use Suggested::{Nothing, Part, Rule};

fn lists(names: &[(&str, Kind)]) -> Lists {
    let lists = Lists::new(Limits::default());
    for (name, kind) in names {
        lists.declare(name, *kind).unwrap();
    }
    lists
}

fn env(names: &[(&str, Kind)]) -> Env<RequestContext<'static>> {
    let env = Env::new();
    if names.is_empty() { env } else { env.lists(&lists(names)) }
}

fn found<C: Context>(env: &Env<C>, source: &str) -> Vec<Diagnostic> {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    engine.check(env, source).map_or_else(|error| error.diagnostics().to_vec(), |_| Vec::new())
}

fn check(env: &Env<RequestContext<'static>>, rows: &[(&str, &str, Suggested)]) {
    let mut wrong = Vec::new();
    for (source, help, kind) in rows {
        let errors = found(env, source);
        let helps: Vec<&String> = errors.iter().flat_map(|error| &error.help).collect();
        let ([error], [given]) = (&*errors, &*helps) else {
            wrong.push(format!("{source}\n  wanted: {help}\n  found: {} errors, {helps:?}", errors.len()));
            continue;
        };
        if given != help {
            wrong.push(format!("{source}\n  wanted: {help}\n  found: {given}"));
        }
        let suggested = given.rsplit('`').nth(1).unwrap_or_default();
        let span = error.span;
        let rule = match kind {
            Rule => suggested.to_owned(),
            Part => format!("{}{suggested}{}", &source[..span.start as usize], &source[span.end as usize..]),
            Nothing => continue,
        };
        if let [first, ..] = &*found(env, &rule) {
            wrong.push(format!("{source}\n  help: {given}\n  refused: {rule}: {}", first.message));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

const DECLARED: [(&str, Kind); 3] =
    [("blocked", Kind::Addresses), ("tenants", Kind::Hosts), ("partners.eu", Kind::Addresses)];

#[test]
fn lists_that_are_declared_are_named_in_cel() {
    let others = "there are the lists `lists.blocked`, `lists.partners.eu`, `lists.tenants`";
    check(
        &env(&DECLARED),
        &[
            ("source.address in blocked", "did you mean `lists.blocked`?", Part),
            ("!(source.address in blocked)", "did you mean `lists.blocked`?", Part),
            ("source.address in blokced", "did you mean `lists.blocked`?", Part),
            ("source.address in partners.eu", "did you mean `lists.partners.eu`?", Part),
            ("source.address in $blocked", "did you mean `lists.blocked`?", Part),
            ("source.address in @blocked", "did you mean `lists.blocked`?", Part),
            ("source.address in lists['blocked']", "did you mean `lists.blocked`?", Part),
            ("source.address in internal", others, Nothing),
            ("source.address in $internal", others, Nothing),
            ("source.address in lists", others, Nothing),
            ("source.address in lists['internal']", others, Nothing),
            ("source.address in lists.internal", others, Nothing),
            ("source.address == blocked", "write `source.address in lists.blocked`", Rule),
            ("source.address != blocked", "write `!(source.address in lists.blocked)`", Rule),
            ("source.address ~ blocked", "write `source.address in lists.blocked`", Rule),
            ("source.address !~ blocked", "write `!(source.address in lists.blocked)`", Rule),
            ("source.address matches blocked", "write `source.address in lists.blocked`", Rule),
            ("source.address not in blocked", "write `!(source.address in lists.blocked)`", Rule),
            ("client.ip ~ blocked", "write `source.address in lists.blocked`", Rule),
            ("client.ip ~ internal", others, Nothing),
            ("request.host ~ tenants", "write `request.host in lists.tenants`", Rule),
            ("blocked.contains(source.address)", "write `source.address in lists.blocked`", Rule),
            ("lists.blocked.contains(source.address)", "write `source.address in lists.blocked`", Rule),
            ("inList('blocked', source.address)", "write `source.address in lists.blocked`", Rule),
            ("in_list(source.address, 'blocked')", "write `source.address in lists.blocked`", Rule),
        ],
    );
}

#[test]
fn without_lists_the_help_says_so() {
    check(
        &env(&[]),
        &[
            ("source.address in internal", "a named list is written `lists.internal`; none is declared", Nothing),
            ("source.address in $internal", "a named list is written `lists.internal`; none is declared", Nothing),
            ("client.ip ~ internal", "a named list is written `lists.internal`; none is declared", Nothing),
            ("source.address in lists.internal", "no named list is declared", Nothing),
            ("source.address in lists['internal']", "no named list is declared", Nothing),
            ("lists.internal", "no named list is declared", Nothing),
        ],
    );
}

/// What is near a list, and isn't one.
#[test]
fn other_meanings_come_before_lists() {
    check(
        &env(&DECLARED),
        &[
            ("source.address == internal", "a text is in quotes: `\"internal\"`", Part),
            ("request.path ~ '^/a'", "write `request.path.matches('^/a')`", Rule),
            ("request.path ~ request.host", "write `request.path.matches(request.host)`", Rule),
            ("'a' in request.heders", "did you mean `request.headers`?", Rule),
            ("['a'].exists(a, source.address ~ a)", "write `source.address.matches(a)`", Nothing),
            ("$host == 'a'", "did you mean `request.host`?", Part),
        ],
    );
}

#[test]
fn lists_that_are_declared_are_named_in_the_filter_language() {
    let others = "a list is written `$name`: the lists of type Ip are $blocked, $partners.eu";
    check(
        &env(&DECLARED).filter_language(FilterLanguage::http()),
        &[
            ("ip.src in blocked", "did you mean `$blocked`?", Part),
            ("not ip.src in blocked", "did you mean `$blocked`?", Part),
            ("ip.src in blokced", "did you mean `$blocked`?", Part),
            ("ip.src in @blocked", "did you mean `$blocked`?", Part),
            ("ip.src in \"blocked\"", "did you mean `$blocked`?", Part),
            ("ip.src in lists.blocked", "did you mean `$blocked`?", Part),
            ("ip.src in lists.partners.eu", "did you mean `$partners.eu`?", Part),
            ("ip.src in {blocked}", "did you mean `$blocked`?", Part),
            ("ip.src in {$blocked}", "did you mean `$blocked`?", Part),
            ("ip.src in internal", others, Nothing),
            ("ip.src eq $blocked", "write `ip.src in $blocked`", Rule),
            ("ip.src == blocked", "write `ip.src in $blocked`", Rule),
            ("ip.src ne $blocked", "write `not ip.src in $blocked`", Rule),
            ("ip.src ~ blocked", "write `ip.src in $blocked`", Rule),
            ("ip.src matches $blocked", "write `ip.src in $blocked`", Rule),
            ("http.host eq $tenants", "write `http.host in $tenants`", Rule),
            ("http.host ~ tenants", "write `http.host in $tenants`", Rule),
            ("client.ip ~ blocked", "did you mean `ip.src`?", Nothing),
            ("ip.src in 10.0.0.0/8", "write `{10.0.0.0/8}`", Part),
            ("tcp.dstport in 80", "write `{80}`", Part),
            ("http.host in \"a\"", "write `{\"a\"}`", Part),
            ("http.host in \"a,b\"", "write `{\"a\" \"b\"}`", Part),
            ("http.host in [\"a\", \"b\"]", "write `{\"a\" \"b\"}`", Part),
            ("http.host in (\"a\", \"b\") and ssl", "write `{\"a\" \"b\"}`", Part),
            ("ip.src in [10.0.0.0/8, 192.0.2.1]", "write `{10.0.0.0/8 192.0.2.1}`", Part),
        ],
    );
    check(
        &env(&[]).filter_language(FilterLanguage::http()),
        &[("ip.src in internal", "a list is written `$name`: there are no lists of type Ip", Nothing)],
    );
}
