//! Tests of policies: files of inputs and expected outputs.

use crate::codes;
use crate::expression::Expression;
use crate::keys::Reader;
use crate::{Environment, keys::listed};
use celero::diagnostics::Severity;
use celero::settings::Tier;
use celero::{Bindings, Diagnostic, Engine, Env, OwnedValue, Program, Scratch};
use celero_policy::PolicyError;
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::yaml::{self, Node, NodeValue};
use serde_json::Value as Json;

/// A file of tests: `tests.yaml`.
///
/// A file has sections, and a section tests. A test gives variables values, `value` in YAML or
/// `expr` in CEL, or with `context_expr` the message whose fields are variables. Its `output` is a
/// `value`, an `expr`, or `error_set`: the evaluation fails. What implementations say of an error
/// differs, so the texts of an `error_set` are not compared. An output that is no optional is also
/// compared with what is in an optional.
///
/// ```
/// use celero::{Engine, Env};
/// use celero_cel_policy::{CelPolicy, Environment, Tests};
///
/// let env = Environment::parse("env.yaml", "variables:\n- {name: n, type_name: int}\n")?.bindings(Env::dynamic())?;
/// let policy = CelPolicy::compile(&Engine::new(), &env, "rule:\n  match:\n  - {condition: n > 9, output: \"'many'\"}\n")?;
/// let tests = "section:\n- name: numbers\n  tests:\n  - {name: ten, input: {n: {value: 10}}, output: {value: many}}\n";
/// assert!(Tests::parse("tests.yaml", tests)?.run(&env, &policy).passed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tests {
    problems: Problems,
    cases: Vec<Case>,
}

#[derive(Clone, Debug)]
struct Case {
    /// Section and name.
    name: String,
    place: FileSpan,
    inputs: Vec<(String, FileSpan, Given)>,
    context: Option<Given>,
    output: Output,
}

/// A value in a file.
#[derive(Clone, Debug)]
enum Given {
    Value(Json),
    Expression(Expression, FileSpan),
}

#[derive(Clone, Debug)]
enum Output {
    Given(Given, FileSpan),
    Error(FileSpan),
}

/// The results of [tests](Tests).
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    cases: Vec<(String, bool)>,
    problems: Problems,
}

impl TestReport {
    /// Returns whether there is no failure.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.cases.iter().all(|(_, passed)| *passed)
    }

    /// Returns the tests, `section/name`, and whether each passed.
    pub fn cases(&self) -> impl Iterator<Item = (&str, bool)> {
        self.cases.iter().map(|(name, passed)| (name.as_str(), *passed))
    }

    /// Returns the failures, each at the expectation that does not hold.
    #[must_use]
    pub fn failures(&self) -> PolicyError {
        PolicyError::new(self.problems.clone())
    }
}

impl Tests {
    /// Reads a file. `name` is for messages.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        // Without a byte order mark.
        let text = problems.text(file).to_owned();
        let mut cases = Vec::new();
        match yaml::read(file, &mut problems) {
            Some(root) => read(&root, &text, &mut Reader { problems: &mut problems }, &mut cases),
            None if problems.count() == 0 => {
                problems.add(codes::FORM, FileSpan::new(file, 0, 0), "the file is empty".to_owned());
            }
            None => {}
        }
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(Self { problems, cases }) }
    }

    /// Returns the number of tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Returns whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Returns whether all tests expect an error: the policy itself may be wrong.
    #[must_use]
    pub fn expect_errors(&self) -> bool {
        !self.is_empty() && self.cases.iter().all(|case| matches!(case.output, Output::Error(_)))
    }

    /// Runs all tests with a policy that was compiled for this environment, which is in CEL.
    #[must_use]
    pub fn run(&self, env: &Env<Bindings<'static>>, policy: &Program<Bindings<'static>>) -> TestReport {
        let mut report = TestReport { cases: Vec::new(), problems: self.problems.clone() };
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let run = Run { env, policy, engine: &engine };
        for case in &self.cases {
            let before = report.problems.count();
            run.case(case, &mut report.problems);
            report.cases.push((case.name.clone(), report.problems.count() == before));
        }
        report
    }
}

/// What tests run with.
struct Run<'r> {
    env: &'r Env<Bindings<'static>>,
    policy: &'r Program<Bindings<'static>>,
    engine: &'r Engine,
}

impl Run<'_> {
    fn case(&self, case: &Case, problems: &mut Problems) {
        // All that bindings borrow is made first.
        let mut document = serde_json::Map::new();
        let mut computed = Vec::new();
        for (name, place, given) in &case.inputs {
            match given {
                Given::Value(json) => {
                    document.insert(name.clone(), json.clone());
                }
                Given::Expression(expression, at) => match self.value(expression, *at, problems) {
                    Some(value) => computed.push((name.as_str(), *place, value)),
                    None => return,
                },
            }
        }
        if let Some(Given::Expression(expression, at)) = &case.context {
            match self.value(expression, *at, problems) {
                Some(value) => computed.push((Environment::CONTEXT, *at, value)),
                None => return,
            }
        }
        let document = Json::Object(document);
        let mut bindings = match Bindings::from_json(self.env, &document) {
            Ok(bindings) => bindings,
            Err(error) => {
                problems.add(codes::TEST, case.place, error.to_string());
                return;
            }
        };
        for (name, place, value) in &computed {
            if let Err(error) = bindings.set(name, value) {
                problems.add(codes::TEST, *place, error.to_string());
                return;
            }
        }
        let mut scratch = Scratch::new();
        let result = self.policy.eval(&bindings, &mut scratch);
        let result = match result {
            Ok(value) => value.to_owned().map_err(|kind| kind.to_string()),
            Err(error) => Err(self.policy.describe(&error, &bindings).message().to_owned()),
        };
        self.compare(&case.output, result, problems);
    }

    fn compare(&self, output: &Output, result: Result<OwnedValue, String>, problems: &mut Problems) {
        let (given, place) = match (output, &result) {
            (Output::Error(_), Err(_)) => return,
            (Output::Error(place), Ok(value)) => {
                problems.add(codes::TEST, *place, format!("the result is {value}, not an error"));
                return;
            }
            (Output::Given(given, place), _) => (given, *place),
        };
        let expected = match given {
            Given::Value(json) => celero::Value::from(json).to_owned().ok(),
            Given::Expression(expression, at) => self.value(expression, *at, problems),
        };
        let Some(expected) = expected else { return };
        match result {
            Err(message) => {
                problems.add(codes::TEST, place, format!("the evaluation fails: {message}"));
            }
            Ok(value) if value == expected => {}
            Ok(value) if !is_optional(&expected) && unwrapped(&value).is_some_and(|inner| inner == expected) => {}
            Ok(value) => {
                problems.add(codes::TEST, place, format!("the result is {value}, not {expected}"));
            }
        }
    }

    /// Evaluates an expression of the file.
    fn value(&self, expression: &Expression, at: FileSpan, problems: &mut Problems) -> Option<OwnedValue> {
        let program = match self.engine.compile(self.env, &expression.text) {
            Ok(program) => program,
            Err(error) => {
                let errors = error.diagnostics().iter().filter(|found| found.severity == Severity::Error);
                let file = problems.text(at.file);
                let placed: Vec<_> = errors.map(|found| (found, expression.span(file, found.span))).collect();
                for (Diagnostic { code, message, help, .. }, span) in placed {
                    let problem = problems.add(code, FileSpan::new(at.file, span.start, span.end), message.clone());
                    for help in help {
                        problem.help(help.clone());
                    }
                }
                return None;
            }
        };
        let (bindings, mut scratch) = (Bindings::new(self.env), Scratch::new());
        let value = program.eval(&bindings, &mut scratch);
        let message = match value {
            Ok(value) => match value.to_owned() {
                Ok(value) => return Some(value),
                Err(kind) => kind.to_string(),
            },
            Err(error) => program.describe(&error, &bindings).message().to_owned(),
        };
        problems.add(codes::TEST, at, format!("this has no value: {message}"));
        None
    }
}

fn is_optional(value: &OwnedValue) -> bool {
    matches!(value.as_value(), celero::Value::Optional(_))
}

/// What is in an optional.
fn unwrapped(value: &OwnedValue) -> Option<OwnedValue> {
    match value.as_value() {
        celero::Value::Optional(Some(inner)) => inner.to_owned().ok(),
        _ => None,
    }
}

fn read(root: &Node, text: &str, reader: &mut Reader<'_>, cases: &mut Vec<Case>) {
    if !reader.mapping(root, "a file of tests", &["name", "description", "section", "sections"]) {
        return;
    }
    let Some(sections) = root.get("section").or_else(|| root.get("sections")) else {
        return reader.error(root.place, "a file of tests has no `section`");
    };
    for section in reader.list(sections, "`section`") {
        if !reader.mapping(section, "a section", &["name", "description", "tests"]) {
            continue;
        }
        let name = reader.required(section, "name", "a section").map_or_else(String::new, |name| name.text);
        let tests = section.get("tests").map_or(&[][..], |node| reader.list(node, "`tests`"));
        cases.extend(tests.iter().filter_map(|test| case(&name, test, text, reader)));
    }
}

fn case(section: &str, node: &Node, text: &str, reader: &mut Reader<'_>) -> Option<Case> {
    let known = ["name", "description", "input", "context_expr", "output"];
    if !reader.mapping(node, "a test", &known) {
        return None;
    }
    let name = reader.required(node, "name", "a test")?;
    let mut inputs = Vec::new();
    if let Some(input) = node.get("input") {
        if !matches!(input.value, NodeValue::Map(_)) && !input.is_nothing() {
            reader.error(input.place, format!("`input` must be a mapping, this is {}", input.kind()));
        }
        for entry in input.entries() {
            let given = given(&entry.value, "an input", text, reader);
            inputs.extend(given.map(|given| (entry.key.text.clone(), entry.key.place, given)));
        }
    }
    let context = reader.text_of(node, "context_expr").map(|expression| {
        let place = expression.place;
        Given::Expression(Expression::new(expression, text), place)
    });
    let Some(output) = node.get("output") else {
        reader.error(node.place, "a test has no `output`");
        return None;
    };
    let output = match output.entries().iter().find(|entry| matches!(&*entry.key.text, "error" | "error_set")) {
        Some(entry) => {
            reader.mapping(output, "an output", &["error", "error_set"]);
            Output::Error(entry.key.place)
        }
        None => {
            let value = given(output, "an output", text, reader)?;
            Output::Given(value, output.entries().first().map_or(output.place, |entry| entry.value.place))
        }
    };
    let name_place = name.place;
    Some(Case { name: format!("{section}/{}", name.text), place: name_place, inputs, context, output })
}

fn given(node: &Node, what: &str, text: &str, reader: &mut Reader<'_>) -> Option<Given> {
    let known = ["value", "expr"];
    if !reader.mapping(node, what, &known) {
        return None;
    }
    match (node.get("value"), node.get("expr")) {
        (Some(value), None) => Some(Given::Value(value.json())),
        (None, Some(_)) => {
            let expression = reader.text_of(node, "expr")?;
            let place = expression.place;
            Some(Given::Expression(Expression::new(expression, text), place))
        }
        _ => {
            reader.error(node.place, format!("{what} has one of {}", listed(&known)));
            None
        }
    }
}
