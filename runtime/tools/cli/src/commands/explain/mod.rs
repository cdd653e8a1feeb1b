//! `celero explain`: shows the stages of compilation of an expression, and its value.

mod rule_set;

use crate::REJECTED;
use crate::commands::explain::rule_set::ExplainSet;
use crate::commands::policy::{self, Host};
use crate::evaluate::rule_sets::ErrorPolicyArg;
use crate::evaluate::{Engines, Evaluated, TierChoice, answers};
use crate::input::arguments::InputArgs;
use crate::input::contexts::{Command, Contexts};
use crate::input::in_language::InLanguage;
use crate::input::source::{Format, Source, SourceArgs};
use crate::output::failure::Failure;
use crate::output::units::bytes;
use crate::output::{Output, Paint, hints, listing};
use crate::rules::file::RulesFile;
use celero::diagnostics::Span;
use celero::settings::Explanation;
use celero::{Engine, ErrorPolicy};
use celero_tooling::disassembly::{Disassembly, disassemble};
use serde_json::{Value as Json, json};

/// Show how rules are compiled. An expression: a summary, the optimised graph and the machine code
/// with its source; with --requests or --bindings it is also evaluated, in both tiers. A file of
/// rules or a policy: how each rule is found.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero explain -e 'size(\"abc\") > 2'
  celero explain rule.cel --all                           # every stage, from the tree to the machine code
  celero explain rule.cel --show clif --show code
  celero explain -e 'user.age >= 18' --vars 'user.age: int'
  celero explain -e 'request.path.startsWith(\"/api/\")' --request request.http
  celero explain --language filter -e 'http.host wildcard \"*.example.com\"'
  celero explain site.rules
  celero explain site.rules --rule admin --requests traffic.jsonl
  celero explain policy.yaml

The machine code is shown as it runs: offsets, bytes and instructions, under the part of the expression that each came from; calls and
constants have names. Below it, each part of the expression is shown with the ranges of its code.
For a file of rules it shows how each rule is found: the keys of the index, and the condition that remains to be evaluated; or why
the rule is not indexed. With --requests it shows what the set costs for these requests, most expensive rules first.
With --json: {\"summary\": {..}, \"sections\": [{\"title\": \"tree\", \"text\": ..}, ..], \"code\": [..], \"positions\": [..],
\"results\": [{\"value\": ..}]}; for rules {\"rules\": [{\"name\": .., \"ways\": [{\"keys\": [..], \"chance\": 0.1, \"rest\": [..],
\"shape\": 0}], ..}], .., \"diagnostics\": [..], \"cost\": {..}}.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Of a file of rules, show the rules of this name only. May be repeated.
    #[arg(long, value_name = "NAME")]
    rule: Vec<String>,
    /// Show all stages of an expression; of a file of rules all rules, not only those that are evaluated most often.
    #[arg(long)]
    all: bool,
    /// Of an expression, show this stage. May be repeated. Default: graph and code.
    #[arg(long, value_enum, value_name = "STAGE", conflicts_with = "all")]
    show: Vec<Stage>,
    /// What a rule of a file with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

/// A stage of the compilation of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Stage {
    /// The tree with the type of each node.
    Tree,
    /// The graph as it was lowered.
    Lowered,
    /// The graph after the passes.
    Graph,
    /// Cranelift's intermediate form.
    Clif,
    /// The machine code.
    Code,
}

impl Stage {
    /// Returns the title of the section, as [`Explanation::sections`] has it.
    fn title(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Lowered => "graph",
            Self::Graph => "optimized graph",
            Self::Clif => "cranelift ir",
            Self::Code => "machine code",
        }
    }
}

impl Args {
    /// Refuses options that have no effect on this format.
    ///
    /// # Errors
    /// The option, and what it is for.
    fn suit(&self, format: Format) -> Result<(), String> {
        let given = self.given.requests.is_some() || self.given.declares();
        for (option, is_set, formats, what) in [
            ("--rule", !self.rule.is_empty(), &[Format::Rules][..], "a file of rules"),
            ("--show", !self.show.is_empty(), &[Format::Cel], "an expression"),
            (
                "--requests, --bindings or --vars",
                given,
                &[Format::Cel, Format::Rules],
                "an expression or a file of rules",
            ),
        ] {
            if is_set && !formats.contains(&format) {
                return Err(format!("`celero explain` takes {option} with {what} only, and this is {}", format.name()));
            }
        }
        Ok(())
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let source = args.source.only("explain")?;
    args.suit(source.format)?;
    let input = args.given.read()?.for_rules(std::slice::from_ref(&source));
    match source.format {
        Format::Policy => Ok(policy::explain(&source, &Host::read(args.given.env.as_deref())?, args.json, output)),
        Format::Rules => {
            let file = RulesFile::parse(source.name, source.text, source.language)?;
            let (policy, json, all, names) = (args.on_error, args.json, args.all, &*args.rule);
            input.run(ExplainSet { file: &file, policy, json, all, names }, output)
        }
        Format::Cel => input.run(ExplainExpression { args, source: &source }, output),
    }
}

struct ExplainExpression<'a> {
    args: &'a Args,
    source: &'a Source,
}

impl Command for ExplainExpression<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { args, source } = self;
        let contexts = &InLanguage::new(contexts, source.language);
        let explanation = match Engine::new().explain(contexts.env(), &source.text) {
            Ok(explanation) => explanation,
            Err(error) => {
                let failure = Failure::from(&error);
                if args.json {
                    output.line(&failure.json().to_string());
                } else {
                    output.complain(&failure.render(&source.name, &source.text, output.color()));
                    let mut hints =
                        hints::about(source.argument(), args.given.declares(), "explain", &failure.diagnostics);
                    hints.extend(source.language_hint(|name| contexts.env().declarations().variable(name).is_some()));
                    output.hints(&hints);
                }
                return Ok(REJECTED);
            }
        };
        let results = match contexts.given() {
            true => answers(&Engines::new(TierChoice::Both), contexts, &source.text),
            false => Vec::new(),
        };
        let disassembly = explanation.machine_code().map(disassemble);
        if args.json {
            output.line(&as_json(&explanation, disassembly.as_ref(), &source.text, &results).to_string());
        } else {
            let paint = output.paint();
            output.print(&summary(&explanation, disassembly.as_ref(), &source.text, paint));
            let default = [Stage::Graph, Stage::Code];
            let stages = if args.show.is_empty() { &default[..] } else { &args.show };
            for (title, text) in explanation.sections() {
                let wanted = args.all || stages.iter().any(|stage| stage.title() == title);
                // The type is part of the summary, the positions stand below the machine code.
                if !wanted || matches!(title, "type" | "source positions") {
                    continue;
                }
                output.line(&format!("\n{}", paint.title(&format!("== {title}"))));
                match (&disassembly, explanation.machine_code()) {
                    (Some(disassembly), Some(code)) if title == "machine code" => {
                        output.print(&listing::from_code(disassembly, &source.text, paint));
                        output.line(&format!("\n{}", paint.title("== from the source to the code")));
                        output.print(&listing::from_source(code, &source.text, paint));
                    }
                    _ => output.print(text),
                }
            }
            for (number, result) in results.iter().enumerate() {
                let label = if results.len() > 1 { format!(" of {}", contexts.label(number)) } else { String::new() };
                output.line(&format!("\n{}", paint.title(&format!("== result{label}"))));
                show(result, source, output);
            }
        }
        Ok(results.iter().map(Evaluated::exit_code).max().unwrap_or(0))
    }
}

/// Returns what is known at a glance: type, size of the code, calls.
fn summary(explanation: &Explanation, disassembly: Option<&Disassembly>, source: &str, paint: Paint) -> String {
    let ty = section(explanation, "type").trim();
    let mut text = format!("{}  {ty}\n", paint.strong("type"));
    let cost = format!("{}  {}\n", paint.strong("cost"), section(explanation, "static cost").trim());
    let (Some(code), Some(disassembly)) = (explanation.machine_code(), disassembly) else {
        text.push_str(&format!("{}  interpreted: there is no native code for this expression\n", paint.strong("code")));
        text.push_str(&cost);
        return text;
    };
    let size = bytes(code.bytes().len());
    let count = if disassembly.decoded { format!(", {} instructions", disassembly.lines.len()) } else { String::new() };
    text.push_str(&format!("{}  native, {size}{count}, for {}\n", paint.strong("code"), bytes(source.len())));
    let callees = disassembly.callees();
    let calls = if callees.is_empty() { paint.good("nothing") } else { paint.name(&callees.join(", ")) };
    text.push_str(&format!("{} {calls}\n", paint.strong("calls")));
    text.push_str(&cost);
    text
}

fn section<'e>(explanation: &'e Explanation, title: &str) -> &'e str {
    explanation.sections().find(|(known, _)| *known == title).map_or("", |(_, text)| text)
}

fn as_json(explanation: &Explanation, disassembly: Option<&Disassembly>, source: &str, results: &[Evaluated]) -> Json {
    let sections = explanation.sections().map(|(title, text)| json!({ "title": title, "text": text }));
    let code = explanation.machine_code();
    let position = |(span, ranges): (Span, Vec<(usize, usize)>)| {
        let text = source.get(span.start as usize..span.end as usize);
        json!({ "span": [span.start, span.end], "text": text, "ranges": ranges })
    };
    json!({
        "summary": {
            "type": section(explanation, "type").trim(),
            "static_cost": section(explanation, "static cost").trim(),
            "native": code.is_some(),
            "code_bytes": code.map(|code| code.bytes().len()),
            "calls": disassembly.map(Disassembly::callees),
        },
        "sections": sections.collect::<Vec<_>>(),
        "code": disassembly.map(Disassembly::json),
        "positions": code.map(|code| listing::ranges(code).into_iter().map(position).collect::<Vec<_>>()),
        "results": results.iter().map(Evaluated::json).collect::<Vec<_>>(),
    })
}

fn show(result: &Evaluated, source: &Source, output: &mut Output) {
    match result.result() {
        Some(Ok(shown)) => output.line(&shown.text),
        Some(Err(failure)) => output.complain(&failure.render(&source.name, &source.text, output.color())),
        None => output.line(&result.json().to_string()),
    }
    result.note().into_iter().for_each(|note| output.complain(note));
}
