//! Reads policies: from YAML to rules. Expressions are not parsed here.

use crate::codes;
use crate::expression::Expression;
use crate::keys::{Reader, is_qualified};
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::yaml::{self, Node, SourceText};

/// Deepest nesting of a file. A nested rule is three levels.
const MAX_LEVELS: usize = 128;

/// The output of a Kubernetes validation without a `messageExpression`.
const NO_MESSAGE: &str = "invalid admission request";

/// A policy as written.
#[derive(Debug)]
pub(crate) struct Policy {
    /// Qualified names.
    pub(crate) imports: Vec<SourceText>,
    pub(crate) rule: Rule,
}

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Where its first key is written.
    pub(crate) place: FileSpan,
    pub(crate) variables: Vec<Variable>,
    pub(crate) semantic: Semantic,
    pub(crate) matches: Vec<Match>,
}

/// Which matches of a rule count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Semantic {
    /// `match`: the first whose condition holds.
    First,
    /// `aggregate`: all, as a list.
    All,
}

/// A variable of a rule.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: SourceText,
    pub(crate) expression: Expression,
}

/// A match.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) place: FileSpan,
    /// `None`: it holds always.
    pub(crate) condition: Option<Expression>,
    /// The match counts where the condition does not hold: a validation of Kubernetes.
    pub(crate) negated: bool,
    pub(crate) outcome: Outcome,
    pub(crate) explanation: Option<Expression>,
}

/// What a match gives.
#[derive(Debug)]
pub(crate) enum Outcome {
    Output(Expression),
    Text(&'static str),
    Rule(Rule),
}

/// Reads the policy of a file. `None` if it can't be read as one; problems may be reported either way.
pub(crate) fn read(file: usize, problems: &mut Problems) -> Option<Policy> {
    let Some(root) = yaml::read_nested(file, MAX_LEVELS, problems) else {
        if problems.count() == 0 {
            problems.add(codes::FORM, FileSpan::new(file, 0, 0), "the file is empty".to_owned());
        }
        return None;
    };
    let text = problems.text(file).to_owned();
    let mut reader = PolicyReader { reader: Reader { problems }, text: &text };
    if root.get("spec").is_some() && root.get("rule").is_none() {
        reader.admission(&root)
    } else {
        reader.policy(&root)
    }
}

struct PolicyReader<'p> {
    reader: Reader<'p>,
    /// The text of the file.
    text: &'p str,
}

impl PolicyReader<'_> {
    fn policy(&mut self, root: &Node) -> Option<Policy> {
        if let Some(entry) = root.entries().iter().find(|entry| entry.key.text == "verification") {
            let message = "`verification` is not supported: celero does not prove properties of policies";
            self.reader.error(entry.key.place, message);
        }
        let known = ["name", "description", "imports", "rule", "verification"];
        if !self.reader.mapping(root, "a policy", &known) {
            return None;
        }
        self.reader.text_of(root, "name");
        self.reader.text_of(root, "description");
        let imports = root.get("imports").map_or_else(Vec::new, |node| self.imports(node));
        let Some(rule) = root.get("rule") else {
            self.reader.error(root.place, "a policy has no `rule`");
            return None;
        };
        let rule = self.rule(rule)?;
        Some(Policy { imports, rule })
    }

    fn imports(&mut self, node: &Node) -> Vec<SourceText> {
        let mut names = Vec::new();
        for import in self.reader.list(node, "`imports`") {
            if !self.reader.mapping(import, "an import", &["name"]) {
                continue;
            }
            let Some(name) = self.reader.required(import, "name", "an import") else { continue };
            let trimmed = name.text.trim();
            if !is_qualified(trimmed) {
                let message = format!("invalid qualified name: {trimmed}, wanted name of the form 'qualified.name'");
                self.reader.problems.add(codes::IMPORT, name.place, message);
                continue;
            }
            names.push(name);
        }
        names
    }

    fn rule(&mut self, node: &Node) -> Option<Rule> {
        if !self.reader.mapping(node, "a rule", &["id", "description", "variables", "match", "aggregate"]) {
            return None;
        }
        self.reader.text_of(node, "id");
        self.reader.text_of(node, "description");
        let variables = node.get("variables").map_or_else(Vec::new, |node| self.variables(node));
        let mut semantics = node.entries().iter().filter(|entry| matches!(&*entry.key.text, "match" | "aggregate"));
        let Some(matches) = semantics.next() else {
            self.reader.error(node.place, "a rule has neither `match` nor `aggregate`");
            return None;
        };
        if let Some(second) = semantics.next() {
            self.reader.error(second.key.place, "only one of `match` and `aggregate` may be set in a rule");
        }
        let name = &*matches.key.text;
        let semantic = if name == "match" { Semantic::First } else { Semantic::All };
        let elements = self.reader.list(&matches.value, &format!("`{name}`"));
        if elements.is_empty() && matches.value.is_list() {
            self.reader.error(matches.value.place, format!("`{name}` is empty: the rule has no output"));
        }
        let matches: Vec<Match> = elements.iter().filter_map(|node| self.one_match(node)).collect();
        let place = node.entries().first().map_or(node.place, |entry| entry.key.place);
        (!matches.is_empty()).then_some(Rule { place, variables, semantic, matches })
    }

    fn variables(&mut self, node: &Node) -> Vec<Variable> {
        self.reader.list(node, "`variables`").iter().filter_map(|node| self.variable(node)).collect()
    }

    fn variable(&mut self, node: &Node) -> Option<Variable> {
        // The short form: `- NAME: EXPRESSION`.
        if let [entry] = node.entries()
            && !matches!(&*entry.key.text, "name" | "expression")
        {
            let expression = self.reader.text(&entry.value, "an expression")?;
            return Some(Variable { name: entry.key.clone(), expression: Expression::new(expression, self.text) });
        }
        if !self.reader.mapping(node, "a variable", &["name", "expression"]) {
            return None;
        }
        let name = self.reader.required(node, "name", "a variable");
        let expression = self.reader.required(node, "expression", "a variable");
        Some(Variable { name: name?, expression: Expression::new(expression?, self.text) })
    }

    fn expression_of(&mut self, node: &Node, key: &str) -> Option<Expression> {
        let text = self.reader.text_of(node, key)?;
        Some(Expression::new(text, self.text))
    }

    fn one_match(&mut self, node: &Node) -> Option<Match> {
        if !self.reader.mapping(node, "a match", &["condition", "output", "rule", "explanation"]) {
            return None;
        }
        let condition = self.expression_of(node, "condition");
        let explanation = self.expression_of(node, "explanation");
        let place = node.entries().first().map_or(node.place, |entry| entry.key.place);
        let key = |name: &str| node.entries().iter().find(|entry| entry.key.text == name);
        if let (Some(rule), Some(explanation)) = (key("rule"), key("explanation")) {
            let later = if rule.key.place.start > explanation.key.place.start { rule } else { explanation };
            let message = "explanation can only be set on output match cases, not nested rules";
            self.reader.error(later.key.place, message);
        }
        let outcome = match (key("output"), key("rule")) {
            (Some(output), Some(rule)) => {
                let later = if rule.key.place.start > output.key.place.start { rule } else { output };
                self.reader.error(later.key.place, "only the rule or the output may be set");
                return None;
            }
            (None, None) => {
                self.reader.error(place, "match does not specify a rule or output");
                return None;
            }
            (Some(_), None) => Outcome::Output(self.expression_of(node, "output")?),
            (None, Some(rule)) => Outcome::Rule(self.rule(&rule.value)?),
        };
        Some(Match { place, condition, negated: false, outcome, explanation })
    }

    /// A validating admission policy of Kubernetes: the first validation that fails gives its message.
    fn admission(&mut self, root: &Node) -> Option<Policy> {
        self.reader.mapping(root, "an admission policy", &["name", "apiVersion", "kind", "metadata", "spec"]);
        let kind = self.reader.required(root, "kind", "an admission policy")?;
        if kind.text != "ValidatingAdmissionPolicy" {
            self.reader.error(kind.place, format!("the kind `{}` is not `ValidatingAdmissionPolicy`", kind.text));
        }
        self.reader.text_of(root, "name");
        let spec = root.get("spec")?;
        let known = ["failurePolicy", "matchConstraints", "variables", "validations"];
        if !self.reader.mapping(spec, "a `spec`", &known) {
            return None;
        }
        let variables = spec.get("variables").map_or_else(Vec::new, |node| self.variables(node));
        let Some(validations) = spec.get("validations") else {
            self.reader.error(spec.place, "a `spec` has no `validations`");
            return None;
        };
        let elements = self.reader.list(validations, "`validations`");
        let matches: Vec<Match> = elements.iter().filter_map(|node| self.validation(node)).collect();
        let rule = Rule { place: spec.place, variables, semantic: Semantic::First, matches };
        (!rule.matches.is_empty()).then_some(Policy { imports: Vec::new(), rule })
    }

    fn validation(&mut self, node: &Node) -> Option<Match> {
        if !self.reader.mapping(node, "a validation", &["expression", "messageExpression"]) {
            return None;
        }
        let condition = self.reader.required(node, "expression", "a validation")?;
        let condition = Expression::new(condition, self.text);
        let message = self.expression_of(node, "messageExpression");
        let outcome = message.map_or(Outcome::Text(NO_MESSAGE), Outcome::Output);
        Some(Match { place: node.place, condition: Some(condition), negated: true, outcome, explanation: None })
    }
}
