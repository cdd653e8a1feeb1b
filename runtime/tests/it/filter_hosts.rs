//! The filter language as hosts use it: warnings, sets of rules in several languages, formatting.

use celero::diagnostics::Severity;
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, Rule};

fn env(language: FilterLanguage) -> Env<RequestContext<'static>> {
    Env::new().filter_language(language)
}

#[test]
fn a_field_without_a_value_is_warned_of_once() {
    let engine = Engine::new();
    let rule = "not (cf.threat_score ge 1 or cf.threat_score lt 1) and ssl and http.host eq \"a\" and http.response.code eq 200";
    let program = engine.compile(&env(FilterLanguage::http()), rule).unwrap();
    let found: Vec<(&str, &str)> = program
        .warnings()
        .iter()
        .map(|warning| (warning.code, rule.get(warning.span.start as usize..warning.span.end as usize).unwrap()))
        .collect();
    let code = "filter-field-missing";
    assert_eq!(found, [(code, "cf.threat_score"), (code, "http.response.code")]);
    assert!(program.warnings().iter().all(|warning| warning.severity == Severity::Warning));
    let message = &program.warnings().first().unwrap().message;
    assert_eq!(message, "`cf.threat_score` has no value here, so no comparison with it is true");

    // What a documented field follows from has a name.
    let time = engine.check(&env(FilterLanguage::http()), "http.request.timestamp.sec gt 0").unwrap();
    let help = &time.warnings().first().unwrap().help;
    assert_eq!(help.first().unwrap(), "it is `int(request.startTime)`, which the host does not have");
    assert!(help.last().unwrap().contains("`--field 'http.request.timestamp.sec = ..'`"), "{help:?}");

    let unequal = engine.check(&env(FilterLanguage::http().nil_not_equal(true)), rule).unwrap();
    assert!(unequal.warnings().first().unwrap().message.ends_with("so no comparison with it but `ne` is true"));
    let given = env(FilterLanguage::http().field("cf.threat_score", "7").field("http.response.code", "200"));
    assert!(engine.check(&given, rule).unwrap().warnings().is_empty());
}

#[test]
fn errors_of_all_languages_of_a_set_are_reported_together() {
    let cel = Env::<RequestContext<'_>>::new();
    let filter = cel.clone().filter_language(FilterLanguage::http());
    let error = Engine::new()
        .rules(&cel)
        .rule("a", "request.pth == '/'", ())
        .with_rule_in(&filter, Rule::new("b", "http.hst eq \"a\"", ()).priority(-1))
        .with_rule_in(&filter, Rule::new("c", "ssl", ()))
        .build()
        .unwrap_err();
    let found: Vec<(usize, &str)> = error.diagnostics().map(|(rule, found)| (rule, found.code)).collect();
    assert_eq!(found, [(0, "filter-unknown-identifier"), (1, "undeclared-name")]);
    assert!(error.to_string().contains("did you mean `http.host`?"));
}

#[test]
fn rules_are_formatted_in_their_language() {
    let engine = Engine::new();
    let env = env(FilterLanguage::http());
    for (source, text) in [
        (" ssl&&http.host==\"a\"", "ssl and http.host eq \"a\"\n"),
        ("ip.src in $office", "ip.src in $office\n"),
        ("concat( http.host,\"/\" )", "concat(http.host, \"/\")\n"),
    ] {
        assert_eq!(engine.format_in(&env, source).unwrap(), text);
        assert_eq!(engine.format_in(&env, text).unwrap(), text);
    }
    assert!(engine.format_in(&env, "http.hst eq \"a\"").is_err());
    assert_eq!(engine.format_in(&Env::<RequestContext<'_>>::new(), "(a)").unwrap(), "a\n");
}
