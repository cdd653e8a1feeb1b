//! Rule languages behind one trait: CEL, and a second one that knows the public interface only.

use crate::plain::Plain;
use celero_frontend::{Cel, Declarations, Language, Limits, Style, Type, Variable, dump_checked, render};

fn declared() -> Declarations {
    let mut declarations = Declarations::new();
    for (name, ty) in [("path", Type::String), ("agent", Type::String), ("port", Type::Int)] {
        declarations.add_variable(Variable::new(name, ty));
    }
    declarations
}

#[test]
fn a_second_language_gives_the_tree_of_the_first() {
    let (declarations, limits) = (declared(), Limits::default());
    let pairs: [(&dyn Language, &str); 2] = [
        (&Plain, "path is \"/admin\" and agent has \"curl\""),
        (&Cel, "path == \"/admin\" && agent.contains(\"curl\")"),
    ];
    let trees = pairs.map(|(language, source)| {
        let (checked, warnings) = language.check(source, &declarations, &limits).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(language.unparse(&checked), source, "{}", language.name());
        let without_places =
            |line: &str| line.split(' ').filter(|word| !word.contains("..")).collect::<Vec<_>>().join(" ");
        dump_checked(&checked).lines().map(without_places).collect::<Vec<_>>()
    });
    assert_eq!(trees[0], trees[1]);
}

#[test]
fn a_diagnostic_points_at_the_source_of_any_language() {
    let source = "agent has \"curl\"\n  and pth is \"/admin\"";
    let errors = Plain.check(source, &declared(), &Limits::default()).unwrap_err();
    assert_eq!(
        render(source, "rule", &errors, Style::Plain),
        "error[plain-undeclared]: there is no text `pth`\n --> rule:2:7\n  |\n2 |   and pth is \"/admin\"\n  |       ^^^\n  \
         = help: did you mean `path`?\n"
    );
    for (source, code) in
        [("path is", "plain-syntax"), ("path = \"a\"", "plain-syntax"), ("port is \"1\"", "plain-undeclared")]
    {
        let errors = Plain.check(source, &declared(), &Limits::default()).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [code], "{source}");
    }
}

#[test]
fn formatting_is_the_language_s_own() {
    let limits = Limits::default();
    let text = Plain.format("path   is \"/a  b\"   and agent has\t\"c\"", &limits, 80).unwrap();
    assert_eq!(text, "path is \"/a  b\"\n  and agent has \"c\"\n");
    assert_eq!(Plain.format(&text, &limits, 80).unwrap(), text);
    assert_eq!(Cel.format("path=='a'", &limits, 80).unwrap(), "path == \"a\"\n");
}

#[test]
fn codes_are_distinct_within_a_language() {
    for language in [&Cel as &dyn Language, &Plain] {
        let mut codes: Vec<&str> = language.codes().iter().map(|info| info.code).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count, "{}", language.name());
    }
}
