//! `celero eval`: evaluates an expression, or a file of rules.

pub(crate) mod filter_jsonl;
pub(crate) mod jsonl;

use crate::evaluate::rule_sets::{ErrorPolicyArg, builder, rejected};
use crate::evaluate::{Engines, TierChoice, answers, reasons};
use crate::input::arguments::InputArgs;
use crate::input::contexts::{Command, Contexts};
use crate::input::in_language::InLanguage;
use crate::input::source::{Format, Source, SourceArgs};
use crate::output::{Output, hints};
use crate::rules::file::RulesFile;
use celero::{Engine, ErrorPolicy, Scratch, Value};
use serde_json::{Value as Json, json};

/// Evaluate an expression, or a file of rules with requests.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero eval -e '[1, 2, 3].map(x, x * 2)'
  celero eval rule.cel --requests traffic.jsonl
  celero eval -e 'user.name == \"ada\"' --bindings bindings.json
  celero eval -e 'request.headers[\"x-team\"]' --request request.http --source 192.0.2.7:4711
  celero eval -e '9007199254740993 == 9007199254740992.0' --tier both
  celero eval -e 'twice(21)' --define 'twice(n: int) -> int = n * 2'
  celero eval --language filter -e 'http.request.uri.path contains \"/api\"' --request request.http
  celero eval site.rules --requests traffic.jsonl         # the rules that match each request
  celero eval rule.cel --request request.http --why       # the parts that decided, with what they read
  echo '1 + 1' | celero eval -

With several requests there is a line for each; with --json too.
For programs, --json prints {\"value\": ..} or {\"error\": {\"kind\": .., \"message\": .., \"span\": [from, to]}}.
--jsonl reads one JSON object per line and prints one result per line, in order:
  {\"expr\": \"x + 1\", \"vars\": {\"x\": \"int\"}, \"bindings\": {\"x\": 41}}
  optional members: \"vars\", \"bindings\", \"container\": NAME, \"check\": false,
    \"define\": [\"f(x: int) -> int = x + 1\"]
With --language filter, or with \"language\": \"filter\", a line is a condition in Cloudflare's filter language; the answers of both
tiers are compared:
  {\"expr\": \"http.host eq \\\"a\\\"\", \"vars\": {\"http.host\": \"Bytes\"}, \"bindings\": {\"http.host\": \"a\"}}
  optional members: \"lists\": {NAME: {TYPE: [..]}}, \"nilNotEqual\": true
Values carry their types: {\"int\": \"1\"} {\"uint\": \"1\"} {\"double\": 1.5} {\"string\": \"..\"} {\"bytes\": \"<base64>\"}
  {\"bool\": true} {\"null\": null} {\"list\": [..]} {\"map\": [[key, value], ..]} {\"timestamp\": \"2009-02-13T23:31:30Z\"}
  {\"duration\": \"1.5s\"} {\"type\": \"int\"} {\"optional\": value or null} {\"ip\": \"::1\"} {\"cidr\": \"10.0.0.0/8\"}
Input may also be plain JSON: whole numbers are int, other numbers double, objects maps.
--tier both evaluates in both tiers; if the results differ, it prints {\"disagree\": {\"native\": .., \"interpret\": ..}} and exits 3.
A rule that is too large for native code is only interpreted, and one that calls an impure function, such as uuid(), is evaluated
once; a note says so.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Read expressions from standard input, one JSON object per line, and print one result per line.
    #[arg(long, conflicts_with_all = ["files", "texts", "bindings", "vars", "requests", "container", "define", "why", "no_check", "field", "lists", "nil_not_equal"])]
    jsonl: bool,
    /// The tier that evaluates.
    #[arg(long, value_enum, default_value_t = TierChoice::Auto)]
    tier: TierChoice,
    /// What a rule of a file with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print why: each part of the rule that decided, with the values that it read. The rule is evaluated again.
    #[arg(long)]
    why: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let engines = Engines::new(args.tier);
    if args.jsonl {
        let (language, messages) = (args.source.language.unwrap_or_default(), args.given.messages.read()?);
        return jsonl::run(&engines, args.tier, language, messages, output);
    }
    let source = args.source.only("eval")?;
    let input = args.given.read()?.for_rules(std::slice::from_ref(&source));
    match source.format {
        Format::Cel => input.run(EvaluateExpression { args, engines: &engines, source: &source }, output),
        Format::Rules => {
            let file = RulesFile::parse(source.name, source.text, source.language)?;
            input.run(EvaluateRules { args, file: &file }, output)
        }
        Format::Policy => Err(format!(
            "`{}` is a policy: celero test {} CASES.yaml evaluates it with requests",
            source.name, source.name
        )),
    }
}

struct EvaluateExpression<'a> {
    args: &'a Args,
    engines: &'a Engines,
    source: &'a Source,
}

impl Command for EvaluateExpression<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { args, engines, source } = self;
        let contexts = &InLanguage::new(contexts, source.language);
        if !contexts.given() && !args.given.declares() {
            needs_no_request(contexts, source, args.given.env.is_some())?;
        }
        // The reasons are those of the answers, also if an entry of a list expires between them.
        let (answers, reasons) = contexts.env().pin_lists(|| {
            let answers = answers(engines, contexts, &source.text);
            let reasons = if args.why { reasons(engines.first(), contexts, &source.text) } else { Vec::new() };
            (answers, reasons)
        });
        let mut code = 0;
        let several = answers.len() > 1;
        for (number, answer) in answers.iter().enumerate() {
            code = code.max(answer.exit_code());
            // The message of an error says why.
            let why = reasons.get(number).filter(|_| matches!(answer.result(), Some(Ok(_))));
            let why = why.map_or("", String::as_str);
            if args.json || answer.result().is_none() {
                let mut json = answer.json();
                if let Some(members) = json.as_object_mut().filter(|_| !why.is_empty()) {
                    members.insert("why".to_owned(), why.lines().collect());
                }
                output.line(&json.to_string());
                continue;
            }
            let label =
                if several { format!("{}: ", output.paint().faint(&contexts.label(number))) } else { String::new() };
            match answer.result() {
                Some(Ok(shown)) => {
                    output.line(&format!("{label}{}", shown.text));
                    why.lines().for_each(|line| output.line(&format!("  {line}")));
                }
                Some(Err(failure)) => {
                    if several {
                        output.line(&format!("{label}{}", output.paint().bad(&format!("error: {}", failure.message))));
                    } else {
                        output.complain(&failure.render(&source.name, &source.text, output.color()));
                        let mut hints =
                            hints::about(source.argument(), args.given.declares(), "eval", &failure.diagnostics);
                        hints.extend(
                            source.language_hint(|name| contexts.env().declarations().variable(name).is_some()),
                        );
                        output.hints(&hints);
                    }
                }
                None => {}
            }
            answer.note().into_iter().for_each(|note| output.complain(note));
        }
        Ok(code)
    }
}

/// Refuses an expression that reads a request where none is given.
///
/// # Errors
/// The name that it reads.
fn needs_no_request(contexts: &impl Contexts, source: &Source, has_host: bool) -> Result<(), String> {
    let Ok(rule) = Engine::new().check(contexts.env(), &source.text) else { return Ok(()) };
    let read = rule.fields().names().next().map(ToOwned::to_owned);
    let Some(name) = read else { return Ok(()) };
    let values = if has_host { "; variables of --env have their values from --bindings FILE" } else { "" };
    Err(format!("the expression reads `{name}`: give a request with --request FILE{values}"))
}

struct EvaluateRules<'a> {
    args: &'a Args,
    file: &'a RulesFile,
}

impl Command for EvaluateRules<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        // The reasons are those of the matches, also if an entry of a list expires between them.
        contexts.env().pin_lists(|| self.evaluate(contexts, output))
    }
}

impl EvaluateRules<'_> {
    fn evaluate(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { args, file } = self;
        if !contexts.given() {
            return Err(
                "rules are evaluated with requests or values: give --requests FILE or --bindings FILE".to_owned()
            );
        }
        let builder = builder(&Engine::new(), contexts.envs(), file, args.on_error);
        let set = match builder.build() {
            Ok(set) => set,
            Err(error) => return Ok(rejected(file, &error, args.json, output)),
        };
        let paint = output.paint();
        contexts.with(|all| {
            let mut scratch = Scratch::new();
            for (number, context) in all.iter().enumerate() {
                let name = |rule: usize| set.get(rule).map_or("", |rule| rule.name);
                let result = set.indices(context, &mut scratch).map(<[_]>::to_vec);
                let stopped = result.is_err();
                let matches = result.unwrap_or_default();
                let matches: Vec<&str> = matches.into_iter().map(name).collect();
                let why = |error| set.describe(error, context).map(|report| report.message().to_owned());
                let failed = scratch.errors().iter();
                let errors: Vec<(&str, String)> =
                    failed.map(|error| (name(error.rule), why(error).unwrap_or_default())).collect();
                let mut reasons = Vec::new();
                for rule in (0..set.len()).filter(|_| args.why) {
                    let mut scratch = Scratch::new();
                    let Some(Ok(trace)) = set.trace(rule, context, &mut scratch) else { continue };
                    let verdict = match trace.result() {
                        Ok(Value::Bool(true)) => "match",
                        Ok(_) => "no match",
                        Err(_) => "fails",
                    };
                    reasons.push((name(rule), verdict, trace.render()));
                }
                if args.json {
                    let error = |(rule, message): &(&str, String)| json!({ "rule": rule, "message": message });
                    let errors: Vec<Json> = errors.iter().map(error).collect();
                    let mut answer = json!({ "matches": matches, "errors": errors, "stopped": stopped });
                    if let Some(members) = answer.as_object_mut().filter(|_| args.why) {
                        let reason = |(rule, _, why): &(&str, &str, String)| {
                            json!({ "rule": rule, "why": why.lines().collect::<Vec<_>>() })
                        };
                        members.insert("why".to_owned(), reasons.iter().map(reason).collect());
                    }
                    output.line(&answer.to_string());
                    continue;
                }
                let matched =
                    if matches.is_empty() { paint.faint("no match") } else { paint.good(&matches.join(", ")) };
                let failed = errors.iter().map(|(rule, why)| paint.bad(&format!("; {rule} failed: {why}")));
                output.line(&format!("{}: {matched}{}", contexts.label(number), failed.collect::<String>()));
                for (rule, verdict, why) in &reasons {
                    output.line(&format!("  {}: {verdict}", paint.name(rule)));
                    why.lines().for_each(|line| output.line(&format!("    {line}")));
                }
            }
        })?;
        Ok(0)
    }
}
