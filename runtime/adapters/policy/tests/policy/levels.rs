//! `levels`: files of owners who are trusted less than the owner of the policy's main file.

use crate::support::{Folder, ask, edits, exchange, head, status};
use celero_policy::Policy;
use celero_timing::{assert_linear, cpu_time_of};
use std::fmt::Write;

const PLATFORM: &str = "levels: [team.yaml]
request:
- name: blocked
  when: request.path.startsWith('/admin')
  deny: 403
- name: partners
  when: request.headers[?'x-partner'].orValue('') == 'a'
  setHeaders: {x-tier: gold}
  labels: {backend: partners}
  allow: true
- name: visitors
  when: request.path.startsWith('/public')
  allow: true
- deny: 404
";

#[test]
fn allow_ends_a_level_and_an_answer_ends_the_phase() {
    let folder = Folder::new("levels");
    let main = folder.write("policy.yaml", PLATFORM);
    let team = "request:\n- name: everything\n  priority: 1\n  when: request.path.contains('private')\n  deny: 401\n- setHeaders: {x-team: yes}\n  allow: true\n";
    folder.write("team.yaml", team);
    let policy = Policy::load(&main).unwrap();
    let names: Vec<_> = policy.rules().map(|rule| rule.name.to_string()).collect();
    assert_eq!(names, ["blocked", "partners", "visitors", "request #4", "everything", "request #6"]);
    let asked = |line: &str, headers: &[(&str, &str)]| {
        let mut exchange = exchange();
        let status = status(ask(&policy, &head(line, headers), &mut exchange));
        (status, edits(&exchange).len())
    };
    let partner = [("x-partner", "a")];
    assert_eq!(asked("GET /admin/private", &partner), (403, 0), "a priority counts within its level");
    assert_eq!(asked("GET /", &[]), (404, 0), "a level that does not allow");
    assert_eq!(asked("GET /", &partner), (0, 2), "both levels allow, and both act");
    assert_eq!(asked("GET /private", &partner), (401, 0), "allowed above, denied below");
    assert_eq!(asked("GET /public", &[]), (0, 1));
    let counts: Vec<_> = policy.rules().map(|rule| rule.matched).collect();
    assert_eq!(counts, [1, 2, 1, 1, 1, 2], "skipped rules count nothing");
    assert_eq!(policy.warnings().count(), 0, "{}", policy.render_warnings(false));
}

#[test]
fn a_rule_that_fails_in_a_skipped_part_of_a_level_has_no_effect() {
    let folder = Folder::new("levels-errors");
    for on_error in ["closed", "stop"] {
        let text = format!(
            "levels: [team.yaml]\nrequest:\n  onError: {on_error}\n  rules:\n  - when: request.path == '/a'\n    allow: true\n  - name: fails\n    when: request.headers['x'] == 'y'\n    deny: 500\n"
        );
        folder.write("team.yaml", "request:\n- when: request.path == '/b'\n  deny: 401\n");
        let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
        assert_eq!(status(ask(&policy, &head("GET /a", &[]), &mut exchange())), 0, "{on_error}");
        assert_eq!(status(ask(&policy, &head("GET /c", &[]), &mut exchange())), 500, "{on_error}");
        assert_eq!(policy.rules().map(|rule| rule.failed).sum::<u64>(), 1, "{on_error}: only where it was reached");
    }
}

#[test]
fn three_levels_run_in_their_order() {
    let folder = Folder::new("levels-three");
    folder.write("b.yaml", "request:\n- name: b\n  count: b\n  allow: true\n- name: b2\n  count: b2\n");
    folder.write("c.yaml", "include: [d.yaml]\nrequest:\n- name: c\n  count: c\n");
    folder.write("d.yaml", "request:\n- name: d\n  count: d\n");
    let main = folder.write("policy.yaml", "levels: [b.yaml, c.yaml]\nrequest:\n- name: a\n  count: a\n");
    let policy = Policy::load(&main).unwrap();
    assert_eq!(status(ask(&policy, &head("GET /", &[]), &mut exchange())), 0);
    let counted: Vec<_> = policy.rules().map(|rule| (rule.name.to_string(), rule.matched)).collect();
    let expected =
        [("a", 1), ("b", 1), ("b2", 0), ("d", 1), ("c", 1)].map(|(name, matched)| (name.to_owned(), matched));
    assert_eq!(counted, expected);
    assert_eq!(policy.files().len(), 4);
}

#[test]
fn a_lower_level_cannot_undo_what_a_higher_one_decided() {
    let folder = Folder::new("levels-refused");
    let main = folder.write(
        "policy.yaml",
        format!(
            "{PLATFORM}requestBody:\n- when: request.headers[?'x-scan'].orValue('') == 'on' && size(request.body) > 9\n  deny: 413\nresponse:\n- setStatus: 200\n  setHeaders: {{x-frame-options: DENY}}\n  logFields: {{who: platform}}\n"
        ),
    );
    for (text, why) in [
        ("request:\n- setHeaders: {X-Tier: free}\n", "rule `partners` of a higher level sets `x-tier`"),
        ("request:\n- addHeaders: {x-tier: free}\n", "sets `x-tier`"),
        ("request:\n- removePrefixes: [x-t]\n", "sets `x-tier`"),
        ("requestBody:\n- removeHeaders: [x-tier]\n", "sets `x-tier`"),
        ("headerSets: {t: {names: [x-tier]}}\nrequest:\n- removeHeaderSets: [t]\n", "sets `x-tier`"),
        ("request:\n- setHeaders: {x-partner: a}\n", "rule `partners` of a higher level reads `x-partner`"),
        ("request:\n- removeHeaders: [x-scan]\n", "reads `x-scan`"),
        ("request:\n- labels: {backend: own}\n", "sets the label `backend`"),
        ("log:\n- logFields: {who: team}\n", "sets the log field `who`"),
        ("response:\n- setStatus: 500\n", "sets the status"),
        ("response:\n- removeHeaders: [x-frame-options]\n", "sets `x-frame-options`"),
        (
            "response:\n- when: response.code == 500\n  deny: 502\n",
            "changes the response, which an answer of this rule",
        ),
        ("request:\n- setHeaders: {x_tier: free}\n", "sets `x_tier`"),
        ("request:\n- setHeaders: {Host: admin.example}\n", "can't change `host`"),
        ("request:\n- removePrefixes: [x-forwarded-]\n", "can't change `x-forwarded-for`"),
        ("request:\n- removeHeaders: [content-encoding]\n", "reads `content-encoding`"),
        ("request:\n- setPath: /admin\n", "`setPath` can't be in a rule of a lower level"),
        ("request:\n- removeQuery: [a]\n", "`removeQuery` can't be"),
        ("request: {onError: noMatch, rules: [deny: 403]}\n", "`onError` can't be in a file of a lower level"),
        ("requestBody: {tooLarge: skip}\n", "`tooLarge` can't be"),
        ("defaults: {onError: noMatch}\n", "`defaults` can't be"),
        ("normalize: {slashes: keep}\n", "`normalize` can't be"),
        ("env: [SECRET]\n", "`env` can't be"),
        ("levels: [more.yaml]\n", "only the main file of a policy has `levels`"),
        ("include: [policy.yaml]\n", "includes itself"),
    ] {
        folder.write("team.yaml", text);
        let error = Policy::load(&main).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("team.yaml:"), "{text}: {error}");
    }
    for fine in [
        "request:\n- setHeaders: {x-other: free}\n  removeHeaders: [x-more]\n  labels: {other: own}\n",
        "response:\n- setHeaders: {x-tier: free, x-partner: b}\n",
        "variables: {a: 'true'}\nlists: {l: {kind: texts}}\nlog:\n- logFields: {where: team}\n",
    ] {
        folder.write("team.yaml", fine);
        Policy::load(&main).unwrap();
    }
}

#[test]
fn what_a_higher_level_reads_stays_as_it_is() {
    let folder = Folder::new("levels-reads");
    let main = |rest: &str| folder.write("policy.yaml", format!("levels: [team.yaml]\n{rest}"));
    for (higher, lower, why) in [
        (
            "response:\n- when: response.headers[?'x-class'].orValue('') == 'secret'\n  deny: 502\n",
            "response:\n- removeHeaders: [x-class]\n",
            "reads `x-class`",
        ),
        (
            "responseBody:\n- when: response.code == 500\n  deny: 502\n",
            "response:\n- setStatus: 200\n",
            "reads the status",
        ),
        (
            "responseBody:\n- when: size(response.body) > 9\n  deny: 502\n",
            "response:\n- setHeaders: {content-type: text/event-stream}\n",
            "reads `content-type`",
        ),
        (
            "requestBody:\n- when: labels[?'zone'].orValue('') == 'restricted'\n  deny: 403\n",
            "request:\n- labels: {zone: open}\n",
            "reads labels",
        ),
        (
            "request:\n- when: request.headers.exists(name, name.startsWith('x-bad'))\n  deny: 403\n",
            "request:\n- setHeaders: {x-any: '1'}\n",
            "reads headers whose names are computed",
        ),
        (
            "request:\n- limit: {name: logins, key: '${source.address}', rate: 1/m, countWhen: \"request.headers[?'x-login'].hasValue()\"}\n",
            "request:\n- removeHeaders: [x-login]\n",
            "rule `logins` of a higher level reads `x-login`",
        ),
    ] {
        let main = main(higher);
        folder.write("team.yaml", "request:\n- name: fine\n  count: fine\n");
        Policy::load(&main).unwrap();
        folder.write("team.yaml", lower);
        let error = Policy::load(&main).unwrap_err().to_string();
        assert!(error.contains(why), "{lower}: {error}");
    }
}

#[test]
fn a_file_belongs_to_one_level() {
    let folder = Folder::new("levels-twice");
    folder.write("common.yaml", "variables: {a: 'true'}\n");
    folder.write("team.yaml", "include: [common.yaml]\n");
    let main = folder.write("policy.yaml", "include: [common.yaml]\nlevels: [team.yaml]\n");
    let error = Policy::load(&main).unwrap_err().to_string();
    assert!(error.contains("`common.yaml` is in this policy already"), "{error}");
}

#[test]
fn a_limit_is_settled_in_its_own_level_or_above() {
    let folder = Folder::new("levels-limits");
    let limit = "request:\n- name: tokens\n  limit: {key: '${source.address}', rate: 10/s, cost: '5'}\n";
    let main = folder.write("policy.yaml", format!("levels: [team.yaml]\n{limit}"));
    folder.write("team.yaml", "response:\n- settle: {tokens: '0'}\n");
    let error = Policy::load(&main).unwrap_err().to_string();
    assert!(error.contains("rule `tokens` of a higher level sets the limit `tokens`"), "{error}");
}

/// The owner of a level must not be able to use up the memory of the host.
#[test]
fn the_files_of_a_level_are_bounded_together() {
    let folder = Folder::new("level-size");
    let rules = "request: [{deny: 403}]\n";
    let file = folder.write("policy.yaml", format!("levels: [team.yaml]\n{rules}"));
    folder.write("team.yaml", format!("include: [more.yaml]\n{rules}"));
    let filled = |bytes: usize| {
        folder.write("more.yaml", format!("{rules}{}", "#\n".repeat(bytes / 2)));
        Policy::load(&file).map(drop).map_err(|error| error.to_string())
    };
    filled((1 << 20) - 100).unwrap();
    let error = filled(1 << 20).unwrap_err();
    assert!(error.contains("team.yaml:1:11") && error.contains("at most 1 MiB together"), "{error}");
}

/// Many rules of levels are compared with each other: the time must not grow with the square of
/// their number, nor the errors with their pairs.
#[test]
fn many_rules_of_levels_cost_what_their_number_says() {
    let folder = Folder::new("level-rules");
    let rules = |count: usize, rule: &str| format!("request:\n{}", rule.repeat(count));
    let load = |own: &str, team: &str| {
        let file = folder.write("policy.yaml", format!("levels: [team.yaml]\n{own}"));
        folder.write("team.yaml", team);
        Policy::load(&file).map(drop).map_err(|error| error.to_string())
    };
    let own = "request: [{when: 'request.path == \"/\"', deny: 403}]\n";
    assert_linear("wrong rules", [10_000, 40_000], |count| {
        let team = rules(count, "- {a: 1}\n");
        cpu_time_of(|| assert!(load(own, &team).unwrap_err().contains("more errors")))
    });
    let loaded = load(&rules(200, "- {setHeaders: {x-a: '1'}}\n"), &rules(200, "- {setHeaders: {x-a: '1'}}\n"));
    assert!(loaded.unwrap_err().contains("more errors"));
}

/// Every action that two levels can want, in a higher and a lower level, with other names in each
/// rule.
#[test]
fn changes_of_levels_take_time_linear_in_their_number() {
    /// The section, and the actions of the rule of this number in a level.
    type Shape = (&'static str, &'static str, fn(&str, usize) -> String);
    let shapes: [Shape; 9] = [
        ("labels", "request", |level, n| format!("labels: {{{level}{n}: b}}")),
        ("log fields", "log", |level, n| format!("logFields: {{{level}{n}: b}}")),
        ("set headers", "request", |level, n| format!("setHeaders: {{x-{level}{n}: b}}")),
        ("added headers", "response", |level, n| format!("addHeaders: {{x-{level}{n}: b}}")),
        ("removed headers", "request", |level, n| format!("removeHeaders: [x-{level}{n}]")),
        ("prefixes", "request", |level, n| match level {
            "a" => format!("setHeaders: {{x-a{n}: b}}"),
            _ => format!("removePrefixes: [x-{level}{n}]"),
        }),
        ("prefixes above", "request", |level, n| match level {
            "a" => format!("removePrefixes: [x-a{n}-]"),
            _ => format!("setHeaders: {{x-b{n}: b}}"),
        }),
        ("descending names", "request", |level, n| format!("setHeaders: {{x-{level}{}: b}}", 1_000_000 - n)),
        ("header sets", "request", |level, n| match level {
            "a" => format!("setHeaders: {{x-a{n}: b}}"),
            _ => "removeHeaderSets: [all]".to_owned(),
        }),
    ];
    let folder = Folder::new("level-changes");
    let file = folder.path("policy.yaml");
    let time_of = |(_, section, actions): Shape, count: usize| {
        let rules = |level: &str| {
            (0..count).fold(format!("{section}:\n"), |mut text, n| {
                let _ = writeln!(text, "- {{{}}}", actions(level, n));
                text
            })
        };
        let names: Vec<String> = (0..count).map(|n| format!("x-c{n}")).collect();
        folder.write("team.yaml", format!("headerSets: {{all: {{names: [{}]}}}}\n{}", names.join(", "), rules("b")));
        // An error before anything is compiled to native code, which is not measured here.
        folder.write("policy.yaml", format!("levels: [team.yaml]\n{}- {{when: nme, count: e}}\n", rules("a")));
        cpu_time_of(|| {
            let error = Policy::load(&file).unwrap_err().to_string();
            assert_eq!(error.matches("error[").count(), 1, "{error}");
        })
    };
    for shape in shapes {
        assert_linear(shape.0, [500, 2_000], |count| time_of(shape, count));
    }
}

/// A set is removed once, however often a rule names it.
#[test]
fn a_set_that_is_named_twice_is_reported_once() {
    let folder = Folder::new("level-sets");
    folder.write("team.yaml", "headerSets: {all: {names: [x-a]}}\nrequest:\n- {removeHeaderSets: [all, all]}\n");
    folder.write("policy.yaml", "levels: [team.yaml]\nrequest:\n- {setHeaders: {x-a: b}}\n");
    let error = Policy::load(folder.path("policy.yaml")).unwrap_err().to_string();
    assert_eq!(error.matches("error[").count(), 1, "{error}");
}

/// Time is linear in the number of names of files, each of which is missing.
#[test]
fn files_of_levels_take_time_linear_in_their_number() {
    let folder = Folder::new("level-files");
    let file = folder.write("policy.yaml", "levels: [team.yaml]\nrequest: [{deny: 403}]\n");
    for (before, after) in [("include: [", "]\n"), ("lists: {l: {kind: texts, files: [", "]}}\n")] {
        assert_linear(before, [1_500, 6_000], |count| {
            let names: Vec<String> = (0..count).map(|n| format!("none{n}")).collect();
            folder.write("team.yaml", format!("{before}{}{after}request: [{{deny: 403}}]\n", names.join(", ")));
            cpu_time_of(|| assert!(Policy::load(&file).unwrap_err().to_string().contains("more errors")))
        });
    }
}
