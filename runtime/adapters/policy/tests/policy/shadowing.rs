//! Warnings about rules that can never act.

use crate::support::Folder;
use celero_policy::Policy;
use std::path::Path;

/// The warnings, each as `line code message`.
fn warnings(text: &str) -> Vec<String> {
    let policy = Policy::check("policy.yaml", text, Path::new(".")).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let line = |at: u32| text.get(..at as usize).unwrap_or_default().matches('\n').count() + 1;
    let warnings = policy.warnings();
    warnings.map(|(_, found)| format!("{} {} {}", line(found.span.start), found.code, found.message)).collect()
}

/// The codes of the warnings, each with its line.
fn codes(text: &str) -> Vec<String> {
    warnings(text).iter().map(|found| found.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn rules_that_never_act_are_reported() {
    let text = "request:
- {name: api, when: 'request.path.startsWith(\"/api\")', deny: true}
- {name: users, when: 'request.path.startsWith(\"/api/users\")', deny: 404}
- {name: again, when: 'request.path.startsWith(\"/api\")', labels: {a: b}}
- {name: both, when: 'request.method == \"GET\" && request.method == \"PUT\"', labels: {a: b}}
- {name: denied, when: 'request.method == \"GET\" && request.method == \"PUT\"', deny: true}
";
    assert_eq!(
        warnings(text),
        [
            "3 shadowed-rule this rule is never reached: `api` before it ends the phase wherever this one matches",
            "4 duplicate-rule this rule is never reached: `api` before it has the same condition and ends the phase",
            "5 never-matches this rule never matches: two of its conditions exclude each other",
            "6 never-matches this rule never matches: two of its conditions exclude each other",
        ]
    );
    let rendered = Policy::check("policy.yaml", text, Path::new(".")).unwrap().render_warnings(false);
    assert!(rendered.contains("the other rule") && rendered.contains("policy.yaml:3:23"), "{rendered}");
}

/// Whether the second rule is reported, if the first one has this action.
fn is_shadowed(action: &str, phase: &str) -> bool {
    let text = format!(
        "{phase}:\n- {{name: first, when: 'request.path == \"/a\"', {action}}}\n- {{name: second, when: 'request.path == \"/a\" && request.method == \"GET\"', {}}}\n",
        if phase == "log" { "logFields: {z: z}" } else { "labels: {z: z}" }
    );
    match &*codes(&text) {
        [] => false,
        [one] if one == "3 shadowed-rule" => true,
        // A guard that acts on a share of the requests.
        [one] if one == "2 policy-sampled-guard" => false,
        found => panic!("{text}{found:?}"),
    }
}

#[test]
fn only_rules_that_end_the_phase_shadow_others() {
    for (action, ends) in [
        ("deny: true", true),
        ("allow: true", true),
        ("respond: {body: a}", true),
        ("redirect: /b", true),
        ("deny: true, sample: 1", true),
        ("labels: {a: b}, deny: true", true),
        ("limit: {rate: 1/s}, allow: true", true),
        ("deny: 503, sample: 0.5", false),
        ("deny: true, require: 'request.method == \"PUT\"'", false),
        ("labels: {a: b}", false),
        ("logFields: {a: b}", false),
        ("setHeaders: {x-a: b}", false),
        ("addHeaders: {x-a: b}", false),
        ("removeHeaders: [x-a]", false),
        ("count: seen", false),
        ("limit: {rate: 1/s}", false),
        ("limit: {rate: 1/s, dryRun: true}", false),
        ("delay: 10ms", false),
        ("setPath: /b", false),
    ] {
        assert_eq!(is_shadowed(action, "request"), ends, "{action}");
    }
    assert!(!is_shadowed("logFields: {a: b}", "log"));
    for phase in ["requestBody", "response", "responseBody"] {
        assert!(is_shadowed("deny: true", phase), "{phase}");
        assert!(!is_shadowed("labels: {a: b}", phase), "{phase}");
    }
}

#[test]
fn the_order_is_that_of_priorities_and_phases_are_apart() {
    let text = "request:
- {name: late, when: 'request.path == \"/a\"', deny: true}
- {name: early, priority: 1, when: 'request.path == \"/a\" && request.method == \"GET\"', deny: 404}
response:
- {name: other, when: 'request.path == \"/a\" && request.method == \"GET\"', deny: 404}
";
    assert_eq!(codes(text), [""; 0]);
    let text = text.replace("priority: 1", "priority: 2000");
    assert_eq!(codes(&text), ["3 shadowed-rule"]);
}

#[test]
fn a_rule_without_a_condition_is_reported_once() {
    let text = "request:
- {name: all, deny: true}
- {name: next, when: 'request.path == \"/a\"', deny: 404}
- {name: last, deny: 404}
";
    assert_eq!(codes(text), ["3 policy-unreachable", "4 duplicate-rule"]);
}

#[test]
fn conditions_of_both_languages_are_compared() {
    let text = "request:
- {name: api, when: 'request.method == \"GET\"', deny: true}
- {name: filter, language: filter, when: 'http.host eq \"a\"', deny: true}
- {name: filter2, language: filter, when: 'http.host eq \"a\" and ssl', deny: true}
";
    assert_eq!(codes(text), ["4 shadowed-rule"]);
}

#[test]
fn a_denial_behind_an_exception_is_reported_unless_it_may_fail() {
    let text = "request:
- {name: api, when: 'request.path.startsWith(\"/api\")', allow: true}
- {name: admin, when: 'request.path.startsWith(\"/api/admin\")', deny: true}
";
    assert_eq!(codes(text), ["3 shadowed-rule"]);
    // Under `onError: closed`, a guard that fails counts as a match, so it is reached where the first rule fails.
    let text = "request:
- {name: allow, when: 'request.headers[\"x\"] == \"a\"', allow: true}
- {name: deny, when: 'request.headers[\"x\"] == \"a\"', deny: true}
";
    assert!(!codes(text).contains(&"3 duplicate-rule".to_owned()), "{:?}", codes(text));
}

#[test]
fn allow_ends_its_level_only() {
    let folder = Folder::new("shadowing-levels");
    let codes = |main: &str| {
        folder.write(
            "team.yaml",
            "request:\n- {name: team, when: 'request.path == \"/a\" && source.port > 1', deny: 401}\n",
        );
        let policy =
            Policy::load(folder.write("policy.yaml", format!("levels: [team.yaml]\nrequest:\n{main}"))).unwrap();
        policy.warnings().map(|(_, found)| found.code).collect::<Vec<_>>()
    };
    let [deny, allow] =
        ["deny", "allow"].map(|end| format!("- {{name: {end}, when: 'request.path == \"/a\"', {end}: true}}\n"));
    let help = |main: &str| {
        let policy = Policy::load(folder.write("policy.yaml", format!("levels: [team.yaml]\nrequest:\n{main}")));
        policy.unwrap().warnings().map(|(_, found)| found.help.join("\n")).collect::<Vec<_>>()
    };
    codes(&deny);
    assert_eq!(help(&deny), ["the higher level already decides this: remove the rule"]);
    assert!(help(&format!("{allow}{deny}"))[0].starts_with("put this rule before the other one"));
    let some = "- {name: some, when: 'source.port > 2', allow: true}\n";
    assert_eq!(codes(&deny), ["shadowed-rule"]);
    assert_eq!(codes(&allow), [""; 0]);
    // What was allowed passes the denial of the first level.
    assert_eq!(codes(&format!("{some}{deny}")), [""; 0]);
    assert_eq!(codes(&format!("{deny}{some}")), ["shadowed-rule"]);
    assert_eq!(codes(&format!("{allow}{deny}")), ["duplicate-rule"]);
    let label = "- {name: label, when: 'request.path == \"/a\"', labels: {a: b}}\n";
    assert_eq!(codes(&format!("{allow}{label}")), ["duplicate-rule"]);
    assert_eq!(codes(&format!("{label}{allow}")), [""; 0]);
}
