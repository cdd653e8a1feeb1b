//! Diagnostics as text: on one line, and with the source.

use celero::diagnostics::{Label, Span, Stage, Style, render};
use celero::{Bindings, Diagnostic, Engine, Env, Type};

#[test]
fn a_diagnostic_is_one_line() {
    let env = Env::dynamic().variable("request.path", Type::String);
    let error = Engine::new().compile(&env, "1 == 1 &&\nrequest.pth == 'a'").unwrap_err();
    let shown: Vec<String> = error.diagnostics().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "error[undeclared-name]: undeclared reference to `request.pth` (at 18..21); help: did you mean `request.path`?"
        ]
    );
}

#[test]
fn text_of_a_rule_cannot_change_the_terminal() {
    let mut found = Diagnostic::error(Stage::Check, "code", Span::new(3, 9), "a\n\u{1b}[31m\u{202e}b");
    found.labels.push(Label { span: Span::new(0, 1), text: "this".to_owned() });
    found.help = vec!["first\n".to_owned(), "second".to_owned()];
    assert_eq!(
        found.to_string(),
        "error[code]: a\u{fffd}\u{fffd}[31m\u{fffd}b (at 3..9); help: first\u{fffd}; help: second"
    );
    let warning = Diagnostic::warning("code", Span::new(0, 2), "text");
    assert_eq!(warning.to_string(), "warning[code]: text (at 0..2)");
}

#[test]
fn warnings_are_shown_with_their_source() {
    let env = Env::dynamic().variable("path", Type::String);
    let source = "path == 'a' && path.matches('a(b')";
    let engine = Engine::new();
    let program = engine.compile(&env, source).unwrap();
    assert!(!program.warnings().is_empty());
    let plain = render(source, "rules.cel", program.warnings(), Style::Plain);
    assert_eq!(program.render_warnings("rules.cel", false), plain);
    assert!(plain.contains(source) && plain.contains(" --> rules.cel:1:"), "{plain}");
    let colours = program.render_warnings("rules.cel", true);
    assert_eq!(colours, render(source, "rules.cel", program.warnings(), Style::Ansi));
    let checked = engine.check(&env, source).unwrap();
    assert_eq!(checked.render_warnings("rules.cel", false), plain);
    let quiet = engine.compile(&env, "path == 'a'").unwrap();
    assert_eq!(quiet.render_warnings("rules.cel", true), "");
    assert!(quiet.test(&Bindings::new(&env)).is_err());
}
