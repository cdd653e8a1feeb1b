//! The static costs of rules, for people and as JSON.

use celero::diagnostics::Span;
use celero::settings::{CheckedRule, Limits, StaticCost};
use celero_policy::ExpressionCost;
use celero_tooling::rules::file::RulesFile;
use serde_json::{Value as Json, json};

/// The costs of the expressions of a file.
#[derive(Default)]
pub(crate) struct Costs {
    /// A line for each expression.
    pub(crate) lines: Vec<String>,
    /// An object for each.
    pub(crate) json: Vec<Json>,
}

/// The static cost of an expression.
struct Cost {
    /// Where the whole expression is in its file, in bytes.
    span: Span,
    /// The same of the part that takes most operations.
    part: Span,
    cost: StaticCost,
    /// The elements that lists and maps are taken to have.
    elements: u64,
}

impl Cost {
    /// The cost of an expression that begins at byte `start` of its file.
    fn of(rule: &CheckedRule, start: usize) -> Self {
        let elements = Limits::default().elements;
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let moved = |span: Span| Span::new(span.start.saturating_add(start), span.end.saturating_add(start));
        let whole = Span::new(0, u32::try_from(rule.source().len()).unwrap_or(u32::MAX));
        let parts = rule.part_costs();
        let span = parts.last().map_or(whole, |whole| whole.span);
        let part = rule.costliest_part(elements).map_or(span, |part| part.span);
        Self { span: moved(span), part: moved(part), cost: rule.static_cost(), elements }
    }

    fn line(&self, lines: &Lines<'_>) -> String {
        let Self { span, part, cost, elements } = self;
        let mut text = cost.to_string();
        if cost.most_for(0) != cost.most_for(*elements) && !cost.deeper {
            text.push_str(&format!("; up to {} if n is {elements}", cost.most_for(*elements)));
        }
        if part != span {
            text.push_str(&format!("; most of them at {}", lines.position(part.start)));
        }
        text
    }

    fn json(&self) -> Json {
        let Self { span, part, cost, elements } = self;
        json!({
            "span": [span.start, span.end],
            "part": [part.start, part.end],
            "least": cost.least,
            "most": cost.most,
            "elements": elements,
            "operations": cost.most_for(*elements),
            "text": cost.to_string(),
        })
    }
}

impl Costs {
    fn add(&mut self, label: &str, members: &[(&str, &str)], cost: &Cost, lines: &Lines<'_>) {
        self.lines.push(format!("{label}: {}", cost.line(lines)));
        let mut json = cost.json();
        if let Some(object) = json.as_object_mut() {
            object.extend(members.iter().map(|(name, text)| ((*name).to_owned(), json!(text))));
        }
        self.json.push(json);
    }

    /// The cost of a single expression.
    pub(crate) fn of_expression(rule: &CheckedRule) -> Self {
        let mut costs = Self::default();
        costs.add("cost", &[], &Cost::of(rule, 0), &Lines::new(rule.source()));
        costs
    }

    /// The costs of the rules of a file: those that `check` accepts.
    pub(crate) fn of_rules(
        file: &RulesFile,
        check: impl Fn(&celero_tooling::rules::file::Rule) -> Option<CheckedRule>,
    ) -> Self {
        let (mut costs, lines) = (Self::default(), Lines::new(&file.text));
        for rule in &file.rules {
            if let Some(checked) = check(rule) {
                costs.add(&rule.name, &[("name", &rule.name)], &Cost::of(&checked, rule.start), &lines);
            }
        }
        costs
    }

    /// The costs of the expressions of a policy, each with the name and the text of its file.
    pub(crate) fn of_policy<'p>(found: impl Iterator<Item = (&'p str, &'p str, &'p ExpressionCost)>) -> Self {
        let mut costs = Self::default();
        let mut last: Option<(&str, Lines<'_>)> = None;
        for (name, text, found) in found {
            let lines = match last.take() {
                Some((file, lines)) if file == name => lines,
                _ => Lines::new(text),
            };
            let &ExpressionCost { phase, ref rule, span, part, cost, elements, .. } = found;
            let cost = Cost { span, part, cost, elements };
            let label = format!("{name}:{}: {} `{rule}`", lines.position(span.start), phase.name());
            costs.add(&label, &[("file", name), ("phase", phase.name()), ("rule", rule)], &cost, &lines);
            last = Some((name, lines));
        }
        costs
    }
}

/// The lines of a text.
struct Lines<'t> {
    text: &'t str,
    /// Where they begin, in bytes.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at.saturating_add(1));
        Self { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// Returns `line:column` of a byte, both counted from 1.
    fn position(&self, at: u32) -> String {
        let at = at as usize;
        let line = self.starts.partition_point(|start| *start <= at);
        let start = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count());
        format!("{line}:{}", column.saturating_add(1))
    }
}
