//! Variables and functions of a policy: in any order, each checked once for each phase, shared by what uses them.

use crate::support::{Folder, ask, exchange, head, status, wrong};
use celero_policy::Policy;
use celero_timing::{assert_linear, cpu_time_of};
use std::fmt::Write;
use std::path::Path;

/// A name, and a document of a size.
type Shape = (&'static str, fn(usize) -> String);

fn parse(text: &str) -> Result<Policy, String> {
    Policy::parse("policy.yaml", text, Path::new("/nowhere")).map_err(|error| error.to_string())
}

/// Returns a document with these variables. Each body is quoted.
fn variables(bodies: impl IntoIterator<Item = String>) -> String {
    let mut text = String::from("variables:\n");
    for (number, body) in bodies.into_iter().enumerate() {
        let _ = writeln!(text, "  v{number}: \"{body}\"");
    }
    text
}

/// Returns chains of 50 variables, each of which uses the one after it.
fn reversed(count: usize) -> String {
    variables((0..count).map(|n| match (n + 1) % 50 {
        0 => "request.path == '/a'".to_owned(),
        _ => format!("!variables.v{}", n + 1),
    }))
}

/// Returns a chain of variables, each of which uses the one before. The first is wrong.
fn wrong_chain(count: usize) -> String {
    let next = (1..count).map(|n| format!("variables.v{} + 1", n - 1));
    variables(std::iter::once("nme".to_owned()).chain(next))
}

/// Returns variables of which half exist in the phases of responses only.
fn of_two_phases(count: usize) -> String {
    variables((0..count).map(|n| if n % 2 == 0 { "response.code == 200" } else { "request.path == ''" }.to_owned()))
}

/// Returns variables that use themselves in a circle.
fn circle(count: usize) -> String {
    variables((0..count).map(|n| format!("variables.v{} + 1", (n + 1) % count)))
}

/// Returns functions and methods of one last name, each of which calls the next.
fn namesakes(count: usize) -> String {
    let mut text = String::from("functions:\n");
    for n in 0..count {
        let body = if (n + 1) % 50 == 0 { "x".to_owned() } else { format!("a{}.f(x)", n + 1) };
        let _ = writeln!(text, "  'a{n}.f(x: int)': {body}");
    }
    text
}

/// Returns wrong functions that call one name, then the functions of that name: each could be what the wrong ones lack.
fn overloads(count: usize) -> String {
    let mut text = String::from("functions:\n");
    for n in 0..count {
        let _ = writeln!(text, "  u{n}(): f(1) + z");
    }
    let types = ["bool", "bytes", "double", "int", "string", "timestamp", "uint"];
    let nth = |n: usize| types.get(n % types.len()).unwrap();
    for n in 0..count / 12 {
        let _ = writeln!(text, "  'f(a: {}, b: {}, c: {})': a", nth(n), nth(n / 7), nth(n / 49));
    }
    text
}

/// Returns functions of one name, each of which calls the one after it.
fn reversed_overloads(count: usize) -> String {
    let mut text = String::from("functions:\n");
    for n in 0..count {
        let parameters = |n: usize| (0..=n % 8).map(|number| format!("p{number}: int")).collect::<Vec<_>>().join(", ");
        let body = match (n + 1) % 8 {
            0 => "1".to_owned(),
            _ => format!("f{}(1{})", n / 8, ", 1".repeat((n + 1) % 8)),
        };
        let _ = writeln!(text, "  'f{}({})': '{body}'", n / 8, parameters(n));
    }
    text
}

/// Returns a variable whose name has many parts, and others whose bodies mention as many.
fn long_paths(count: usize) -> String {
    let path = ".a".repeat(count * 4);
    let mut text = format!("variables:\n  ? a{path}\n  : 'true'\n");
    for n in 0..4 {
        let _ = writeln!(text, "  v{n}: variables.a{path}.b{n}");
    }
    text
}

#[test]
fn definitions_may_stand_in_any_order() {
    let policy = parse(&(reversed(200) + "request:\n- when: variables.v0\n  deny: true\n")).unwrap();
    // The last of 50 is the path, negated 49 times.
    assert_eq!(status(ask(&policy, &head("GET /a", &[]), &mut exchange())), 0);
    assert_eq!(status(ask(&policy, &head("GET /b", &[]), &mut exchange())), 403);
    let text = "functions:\n  'twice(n: int)': n.plus(n) + first()\n  'int.plus(n: int)': this + n\n  first(): size(variables.path)\nvariables:\n  path: request.path\nrequest:\n- when: twice(2) == 6\n  deny: true\n";
    assert_eq!(status(ask(&parse(text).unwrap(), &head("GET /a", &[]), &mut exchange())), 403);
    assert_eq!(status(ask(&parse(text).unwrap(), &head("GET /", &[]), &mut exchange())), 0);
}

/// What looks like a variable of the policy, but is none.
#[test]
fn other_things_of_the_name_are_no_variables() {
    for body in [
        "[{'b': 'x'}].map(variables, variables.b)[0]",
        "json('{\\\"variables\\\": {\\\"b\\\": \\\"x\\\"}}').variables.b",
        "'variables.b'",
    ] {
        let text = format!(
            "variables:\n  a: \"{body}\"\n  b: variables.a == 'x'\nrequest:\n- when: variables.b\n  deny: true\n"
        );
        parse(&text).unwrap_or_else(|error| panic!("{body}: {error}"));
    }
}

#[test]
fn a_circle_is_reported_once_with_its_names() {
    let error = wrong(
        "variables:\n  a: variables.b\n  b: variables.c + variables.c\n  c: f()\n  d: variables.a\nfunctions:\n  f(): variables.a\n",
    );
    assert_eq!(error.matches("error[").count(), 1, "{error}");
    let through = "`f` uses itself, through `variables.a`, through `variables.b`, through `variables.c`";
    assert!(error.contains(through), "{error}");
    let error = wrong("variables:\n  a: variables.a\n");
    assert!(
        error.contains("2:6") && error.contains("`variables.a` uses itself") && !error.contains("through"),
        "{error}"
    );
}

/// Whatever is wrong is an error, also where each definition seems to be wrong for the sake of another one.
#[test]
fn functions_of_one_name_in_a_circle_are_refused() {
    let error = wrong("functions:\n  'f(a)': g(a)\n  'f(a, b)': g(a, b)\n  'g(a)': f(a, a)\n  'g(a, b)': f(a)\n");
    assert_eq!(error.matches("error[policy-definition]").count(), 4, "{error}");
    // Each is found, whatever stands before it.
    parse(&reversed_overloads(16)).unwrap();
    // Each is right without the others.
    parse("functions:\n  'f(a)': g(a)\n  'f(a, b)': f(a)\n  'g(a)': a\n  'g(a, b)': f(a, b)\n").unwrap();
}

#[test]
fn a_wrong_definition_is_reported_with_its_whole_name() {
    let error = wrong(&wrong_chain(500));
    assert_eq!(error.matches("error[").count(), 1, "{error}");
    assert!(error.contains("`nme`"), "{error}");
    // What uses a wrong one may have errors of its own.
    let error = wrong("variables:\n  a: variables.b + nme2\n  b: nme1\n");
    assert!(error.contains("`nme1`") && error.contains("`nme2`") && error.matches("error[").count() == 2, "{error}");
    for text in ["variables:\n  a: variables.bb + 1\n", "request:\n- when: variables.bb == 1\n  deny: true\n"] {
        let error = wrong(text);
        assert!(error.contains("undeclared reference to `variables.bb`") && error.contains("variables.bb"), "{error}");
        assert!(error.contains("^^^^^^^^^^^^"), "the whole name is marked: {error}");
    }
}

/// Time is linear whatever the order of the definitions, and whatever is wrong with them.
#[test]
fn definitions_take_time_linear_in_their_number() {
    let shapes: [Shape; 8] = [
        ("reversed", reversed),
        ("a wrong chain", wrong_chain),
        ("of two phases", of_two_phases),
        ("a circle", circle),
        ("namesakes", namesakes),
        ("overloads", overloads),
        ("reversed overloads", reversed_overloads),
        ("long paths", long_paths),
    ];
    for (name, shape) in shapes {
        assert_linear(name, [500, 2_000], |count| {
            let text = shape(count);
            cpu_time_of(|| parse(&text))
        });
    }
}

/// Variables each of which has twice the nodes of the one before, and rules that use one of 49,151 nodes.
fn doubling(rules: usize) -> String {
    let doubled = (1..14).map(|n| format!("variables.v{0} + variables.v{0}", n - 1));
    let mut text = variables(std::iter::once("size(request.path) + 1".to_owned()).chain(doubled));
    text.push_str("request:\n");
    for n in 0..rules {
        let _ = writeln!(text, "- {{when: variables.v13 == {n}, labels: {{l{n}: a}}}}");
    }
    text
}

/// A tenant gets no more than the share of a level, and nobody's share depends on what others take.
#[test]
fn each_level_has_a_share_of_its_own() {
    let folder = Folder::new("definitions-share");
    let main = folder.write("policy.yaml", "levels: [one.yaml, two.yaml]\nrequest:\n- allow: true\n");
    let small = "variables: {mine: 'true'}\nrequest:\n- when: variables.mine\n  labels: {o: a}\n  allow: true\n";
    folder.write("one.yaml", small);
    folder.write("two.yaml", doubling(2));
    Policy::load(&main).unwrap();
    folder.write("two.yaml", doubling(12));
    let error = Policy::load(&main).unwrap_err().to_string();
    assert!(error.contains("two.yaml:") && error.contains("[policy-definitions]"), "{error}");
    assert!(error.contains("the expressions of level 3") && error.contains("500000 nodes"), "{error}");
    assert!(!error.contains("one.yaml"), "{error}");
    assert_eq!(error.matches("error[").count(), 1, "{error}");
    // As much is no problem in the first level.
    parse(&doubling(12)).unwrap();
}

/// Words that are no mentions do not keep definitions from being found.
#[test]
fn definitions_that_seem_to_mention_each_other_are_found() {
    parse(
        "variables:\n  a: request.path + \"variables.b\"\n  b: variables.a + 'c('\n  d: c()\n\
         functions:\n  c() -> string: variables.b\n  \"size(text: string, most: int) -> bool\": size(text) < most\n\
         request:\n- when: size(variables.d, 3)\n  deny: 403\n",
    )
    .unwrap();
}
