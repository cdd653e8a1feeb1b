//! cel-go as a judge (`tests/cel-go/trees`): it loads celero's trees, which are the same as its own and evaluate alike;
//! its trees compile here and evaluate as the source does.

use super::go_values::{agrees, base64, bytes, shown};
use super::other_results::{OTHER_FROM_TREES, OTHER_RESULTS, OtherResult};
use super::{Dynamic, canonical};
use crate::go_program::GoProgram;
use celero::settings::Validator;
use celero::trees::{Tree, TreeKind};
use celero::values::Arena;
use celero::{Bindings, Engine, Program, Scratch, Type};
use celero_frontend::stdlib::TABLE;
use celero_frontend::{Limits, parse};
use celero_tests::differential::Ended;
use celero_tests::generate::messages::{MessageCases, environment};
use celero_tests::generate::{Generator, Owned, Rng};
use celero_tests::messages::own;
use celero_tests::shape::Shapes;
use celero_tests::shared::{find, say};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Sets of values of the variables of an expression.
const SETS: usize = 3;

/// An expression with values for its variables.
pub(super) struct Asked {
    pub(super) source: String,
    pub(super) env: Dynamic,
    pub(super) container: &'static str,
    pub(super) variables: Vec<(String, Type)>,
    pub(super) sets: Vec<Vec<(String, Owned)>>,
}

impl Asked {
    /// The question with celero's trees; `None` if the judge has no such values.
    pub(super) fn question(&self, engine: &Engine) -> Option<Json> {
        let rule = engine.check(&self.env, &self.source).ok()?;
        let parsed = engine.parsed_tree(&self.env, &rule).unwrap();
        let checked = engine.checked_tree(&self.env, &rule).unwrap();
        let set = |set: &Vec<(String, Owned)>| {
            let values = set.iter().map(|(name, value)| Some((name.clone(), shown(value)?)));
            values.collect::<Option<Map<_, _>>>().map(Json::Object)
        };
        let variables: Map<_, _> =
            self.variables.iter().map(|(name, ty)| (name.clone(), json!(ty.to_string()))).collect();
        Some(json!({
            "source": self.source,
            "container": self.container,
            "variables": variables,
            "bindings": self.sets.iter().map(set).collect::<Option<Vec<_>>>()?,
            "parsed": base64(&parsed.to_bytes()),
            "checked": base64(&checked.to_bytes()),
            "parsed_json": parsed.to_json(),
            "checked_json": checked.to_json(),
        }))
    }

    pub(super) fn results(&self, program: &Program<Bindings<'static>>) -> Vec<Ended> {
        let mut scratch = Scratch::new();
        let result = |set: &Vec<(String, Owned)>| {
            let (arena, shown) = (Arena::new(1 << 24), Arena::new(1 << 24));
            let mut bindings = Bindings::new(&self.env);
            for (name, value) in set {
                bindings.set(name, value.in_arena(&arena).unwrap()).unwrap();
            }
            match program.eval(&bindings, &mut scratch) {
                Ok(value) => Ended::Value(Owned::of(&value, &shown).unwrap()),
                Err(error) => Ended::failed(&error),
            }
        };
        self.sets.iter().map(result).collect()
    }
}

/// The names of the validators that refuse a source.
fn refusing(engine: &Engine, env: &Dynamic, source: &str) -> Vec<&'static str> {
    let validators = [
        Validator::Durations,
        Validator::Timestamps,
        Validator::HomogeneousLiterals,
        Validator::ComprehensionNesting(1),
        Validator::BindNesting(1),
    ];
    let refuses = |validator: &Validator| engine.check(&env.clone().validator(*validator), source).is_err();
    validators.into_iter().filter(refuses).map(Validator::name).collect()
}

fn is_same(one: &Ended, other: &Ended) -> bool {
    match (one, other) {
        (Ended::Value(one), Ended::Value(other)) => one.same(other),
        (one, other) => one.error().is_some() && one.error() == other.error(),
    }
}

/// Expressions that other people wrote, with their free names as `dyn`.
fn collected() -> Vec<Asked> {
    let Some(path) = find("corpora/cel_expressions.jsonl", "trees of collected expressions by cel-go") else {
        return Vec::new();
    };
    let mut asked = Vec::new();
    for (number, line) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
        let entry: Json = serde_json::from_str(line).unwrap();
        let source = entry["expr"].as_str().unwrap().to_owned();
        let Ok(ast) = parse(&source, &Limits::default()) else { continue };
        let shapes = Shapes::of(&ast);
        let is_type = |name: &str| {
            matches!(
                name,
                "int" | "uint" | "double" | "bool" | "string" | "bytes" | "list" | "map" | "type" | "null_type"
            )
        };
        let names: Vec<String> = shapes.names().filter(|name| !is_type(name)).map(str::to_owned).collect();
        let env = names.iter().fold(Dynamic::dynamic(), |env, name| env.variable(name, Type::Dyn));
        let mut rng = Rng::new(number as u64);
        let sets = (0..SETS)
            .map(|_| names.iter().filter_map(|name| Some((name.clone(), shapes.value(name, &mut rng)?))).collect());
        let sets = sets.collect();
        let variables = names.into_iter().map(|name| (name, Type::Dyn)).collect();
        asked.push(Asked { source, env, container: "", variables, sets });
    }
    asked
}

fn random(count: usize) -> Vec<Asked> {
    let mut generator = Generator::new(41);
    let mut asked = Vec::new();
    for _ in 0..count {
        let case = generator.case();
        // A variable that may be absent is more than cel-go has.
        if case.steps.is_some() || case.variables.iter().any(|variable| variable.optional) {
            continue;
        }
        let set = |set: &Vec<Option<Owned>>| {
            let values = case.variables.iter().zip(set);
            values.filter_map(|(variable, value)| Some((variable.name.clone(), value.clone()?))).collect()
        };
        asked.push(Asked {
            env: case.env(),
            container: "",
            variables: case.variables.iter().map(|variable| (variable.name.clone(), variable.ty.clone())).collect(),
            sets: case.bindings.iter().take(SETS).map(set).collect(),
            source: case.source,
        });
    }
    asked
}

/// Expressions about messages.
fn of_messages(count: usize) -> Vec<Asked> {
    let mut cases = MessageCases::new(43);
    let names = ["m", "n"].map(str::to_owned);
    let cases = (0..count).filter_map(|_| cases.case());
    cases
        .map(|case| Asked {
            env: environment(&case.ty),
            container: "test.three",
            variables: names.clone().map(|name| (name, case.ty.clone())).to_vec(),
            sets: case.sets.into_iter().map(|set| names.clone().into_iter().zip(set).collect()).collect(),
            source: case.source,
        })
        .collect()
}

/// Whether two of the judge's lists of results are the same, but for the texts of errors: it goes through maps in a
/// random order.
fn is_same_of_judge(one: &Json, other: &Json) -> bool {
    let results = |json: &Json| json.as_array().cloned().unwrap_or_default();
    let (one, other) = (results(one), results(other));
    let same = |(one, other): (&Json, &Json)| one == other || one["kind"] == "error" && other["kind"] == "error";
    one.len() == other.len() && one.iter().zip(&other).all(same)
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// What the judge said of expressions.
#[derive(Default)]
struct Judged {
    questions: usize,
    taken: usize,
    results: usize,
    evaluated: usize,
    other_types: usize,
    /// Those that a validator refuses.
    refused: usize,
    /// By kind, what is not as it has to be.
    wrong: BTreeMap<String, Vec<String>>,
    /// The rows of `OTHER_RESULTS` that were met.
    reasons: BTreeSet<usize>,
}

/// How many questions are asked at once.
const AT_ONCE: usize = 4_000;

impl Judged {
    /// Asks for so many expressions; the judge reads the descriptors first.
    fn ask(&mut self, judge: &GoProgram, engine: &Engine, descriptors: &Json, asked: Vec<Asked>) {
        let mut asked = asked.into_iter().filter_map(|asked| asked.question(engine).map(|question| (asked, question)));
        loop {
            let (asked, mut questions): (Vec<Asked>, Vec<Json>) = asked.by_ref().take(AT_ONCE).unzip();
            if asked.is_empty() {
                return;
            }
            questions.insert(0, descriptors.clone());
            let answers = judge.ask(&questions);
            for (asked, answer) in asked.iter().zip(&answers[1..]) {
                self.questions += 1;
                self.compare(engine, asked, answer);
            }
        }
    }

    fn compare(&mut self, engine: &Engine, asked: &Asked, answer: &Json) {
        if !answer["refused"].as_str().unwrap().is_empty() {
            return;
        }
        self.taken += 1;
        self.other_types += usize::from(answer["other_types"].as_bool().unwrap());
        let source = &asked.source;
        let wrong = &mut self.wrong;
        let mut note = |kind: &str, what: String| {
            wrong.entry(kind.to_owned()).or_default().push(format!("{source}\n  {what}"));
        };
        for difference in texts(&answer["differences"]) {
            let kind = difference.split(':').next().unwrap_or_default().to_owned();
            note(&kind, difference);
        }
        let (own, other) = (refusing(engine, &asked.env, source), texts(&answer["refusing"]));
        self.refused += usize::from(!own.is_empty());
        // What elements are of other types is no question of validators.
        if own != other && answer["refusing"].is_array() && !answer["other_types"].as_bool().unwrap() {
            note("validators", format!("{own:?}, cel-go: {other:?}"));
        }
        let expected = &answer["results"];
        for from in ["from_parsed", "from_checked"] {
            if !is_same_of_judge(&answer[from], expected)
                && !OTHER_FROM_TREES.iter().any(|(words, _)| source.contains(words))
            {
                note(from, format!("{}, cel-go: {expected}", answer[from]));
            }
        }
        // cel-go's trees here.
        let limits = engine.limits().source;
        let trees = [
            Tree::from_bytes(TreeKind::Parsed, &bytes(&answer["parsed"]), &limits),
            Tree::from_bytes(TreeKind::Checked, &bytes(&answer["checked"]), &limits),
            Tree::from_json(TreeKind::Checked, answer["checked_json"].as_str().unwrap(), &limits),
        ];
        let own = engine.compile(&asked.env, source).unwrap();
        let own_results = asked.results(&own);
        for (one, other) in own_results.iter().zip(expected.as_array().unwrap()) {
            self.results += 1;
            if !agrees(one, other) && own.is_pure() {
                let kind = one.error().map_or_else(|| "a value".to_owned(), |kind| kind.to_string());
                let of_judge = other["kind"].as_str().unwrap();
                let is_meant = |row: &OtherResult| {
                    row.own == kind
                        && (row.kinds.is_empty() || row.kinds.contains(&of_judge))
                        && row.words.iter().any(|word| source.contains(word))
                };
                match OTHER_RESULTS.iter().position(is_meant) {
                    Some(reason) => _ = self.reasons.insert(reason),
                    None => note(&format!("value, {kind} and {}", other["kind"]), format!("{one}, cel-go: {other}")),
                }
            }
        }
        for tree in trees {
            let program = match tree.and_then(|tree| engine.compile_tree(&asked.env, &tree)) {
                Ok(program) => program,
                Err(error) => {
                    note("import", error.to_string());
                    continue;
                }
            };
            // In a container, names of trees begin with a dot.
            if asked.container.is_empty() && canonical(&asked.env, source) != program.source() {
                note("text", program.source().to_owned());
            }
            for (one, other) in own_results.iter().zip(asked.results(&program)) {
                self.evaluated += 1;
                if !is_same(one, &other) && own.is_pure() {
                    note("result", format!("{other}, of the source: {one}"));
                }
            }
        }
    }

    /// Nothing is wrong, and enough was judged.
    fn end(&self, what: &str) {
        let Self { questions, taken, results, evaluated, other_types, wrong, .. } = self;
        let reasons = OTHER_RESULTS.iter().enumerate().filter(|(at, _)| self.reasons.contains(at));
        let reasons: BTreeSet<&str> = reasons.map(|(_, row)| row.reason).collect();
        say(&format!(
            "{taken} of {questions} trees of {what} are judged by cel-go, {other_types} with parts of other types; {results} results, others for {} reasons; {evaluated} evaluations of its trees",
            reasons.len()
        ));
        let shown: Vec<String> = wrong
            .iter()
            .map(|(kind, cases)| {
                format!("{} {kind}:\n{}", cases.len(), cases.iter().take(12).cloned().collect::<Vec<_>>().join("\n"))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", shown.join("\n\n"));
        assert!(*taken > 1_000, "{taken} trees are judged");
        // Elements of empty literals, and of literals with fields that may be null, have types that differ from checker
        // to checker.
        assert!(other_types * 4 < *taken, "{other_types} of {taken} have other types");
    }
}

/// How many random expressions are judged: `CELERO_CEL_GO_CASES`, or as many as a test has time for.
fn count(short: usize) -> usize {
    std::env::var("CELERO_CEL_GO_CASES").map_or(short, |cases| cases.parse().unwrap())
}

#[test]
fn trees_are_those_of_cel_go() {
    let Some(judge) = GoProgram::build_module("trees", "trees are not judged by cel-go") else { return };
    let engine = Engine::new();
    let mut judged = Judged::default();
    let none = json!({ "functions": true });
    judged.ask(&judge, &engine, &none, collected());
    judged.ask(&judge, &engine, &none, random(count(8_000)));
    judged.end("expressions");
    assert!(judged.refused > 100, "validators refuse {} expressions", judged.refused);
}

#[test]
fn trees_about_messages_are_those_of_cel_go() {
    let Some(judge) = GoProgram::build_module("trees", "messages are not judged by cel-go") else { return };
    let mut judged = Judged::default();
    let descriptors = json!({ "descriptors": base64(&own().bytes) });
    judged.ask(&judge, &Engine::new(), &descriptors, of_messages(count(6_000)));
    judged.end("expressions about messages");
}

/// Overloads of cel-go that are no functions of the library here, with the reason.
pub(super) const OTHER_OVERLOADS: [(&str, &str); 9] = [
    ("@mapInsert_map_key_value", OF_A_MACRO),
    ("@mapInsert_map_map", OF_A_MACRO),
    ("cel_block_list", OF_A_MACRO),
    ("__not_strictly_false__", OF_A_MACRO),
    ("not_strictly_false", OF_A_MACRO),
    ("conditional", AN_OPERATOR),
    ("logical_and", AN_OPERATOR),
    ("logical_or", AN_OPERATOR),
    ("duration_to_int64", "the language definition has no such conversion"),
];

pub(super) const OF_A_MACRO: &str = "a part of what a macro is expanded to";
const AN_OPERATOR: &str = "an operator of its own in the syntax tree";

#[test]
fn every_function_of_cel_go_is_there() {
    let Some(judge) = GoProgram::build_module("trees", "functions are not compared with cel-go's") else { return };
    let own: HashSet<&str> =
        TABLE.rows().iter().flat_map(|row| [false, true].map(|receiver| row.builtin.overload_id(receiver))).collect();
    let answers = judge.ask(&[json!({ "functions": true })]);
    let overloads = answers[0]["overloads"].as_object().unwrap();
    assert!(overloads.len() > 300, "{}", overloads.len());
    let other: BTreeMap<&str, &str> = OTHER_OVERLOADS.into_iter().collect();
    let missing: Vec<String> = overloads
        .iter()
        .filter(|(id, _)| !own.contains(id.as_str()) && !other.contains_key(id.as_str()))
        .map(|(id, name)| format!("{id} of {name}"))
        .collect();
    assert!(missing.is_empty(), "{}:\n{}", missing.len(), missing.join("\n"));
    let unused: Vec<_> = other.keys().filter(|id| own.contains(*id) || !overloads.contains_key(**id)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
