//! `celero translate`: writes rules in another language. Lines of JSON are in `lines.rs`, trees of CEL in `tree.rs`.

mod lines;
mod translation;
mod tree;

use crate::REJECTED;
use crate::commands::policy::Host;
use crate::commands::translate::lines::TranslateLines;
use crate::commands::translate::translation::{Goal, compared, written};
use crate::commands::translate::tree::AsTree;
use crate::evaluate::rule_sets::complain;
use crate::input::arguments::InputArgs;
use crate::input::contexts::{Command, Contexts};
use crate::input::source::{Format, Source, SourceArgs};
use crate::language::{Language, counterpart, has_comments_before};
use crate::output::Output;
use crate::output::failure::Failure;
use crate::output::units::counted;
use crate::rules::file::{Rule, RulesFile};
use crate::rules::layout::{kept, laid_out, rewritten, untrimmed};
use celero::trees::TreeKind;
use celero::{Diagnostic, Engine};
use std::path::PathBuf;

/// Translate rules between CEL and Cloudflare's filter language.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero translate --to cel rule.filter
  celero translate --to filter site.rules > site-filter.rules
  celero translate --to cel --near -e 'http.request.uri.path matches \"^/.{3}$\"'
  celero translate --to cel -e 'http.host contains \"a\" and ip.src in {10.0.0.0/8}'
  celero translate --to cel rule.filter --requests traffic.jsonl   # also compares the answers
  celero translate --to json -e 'http.host eq \"a\"'
  celero translate --to filter --tree tree.json
  celero translate --to policy site.rules > policy.yaml            # each rule denies
  celero translate --to filter policy.yaml > translated.yaml       # the conditions of a policy
  celero translate --to cel --jsonl rules.jsonl                    # lines of JSON: {\"expr\": ..}
  celero translate --to checked-expr --binary rule.binpb rule.cel  # cel.expr.CheckedExpr, for other implementations of CEL

What has no equal is marked, all of it at once, and the exit code is 1. A rule of a file for which there is no translation stays in its
language, and its attributes say so (`[language cel]`), so that the file written has the same rules. Names, attributes and comments stay.
With --near the nearest form in CEL stands for what has one, and a warning says for which values it differs.
The same holds of the lines of --jsonl and of the rules of a policy, which stay also if they have expressions in `${..}`.

The filter language has no errors: where a rule in CEL would fail, its translation is false, and a warning says so. With --requests or
--bindings both rules are evaluated, and the exit code is 3 if they give different answers.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// What to translate to.
    #[arg(long, value_enum)]
    to: Target,
    /// To CEL, write the nearest form of what has an equal except for few values, with a warning that says which.
    #[arg(long)]
    near: bool,
    /// The file holds one rule in Cloudflare's filter language as JSON: its tree, in the shape that Wirefilter writes.
    #[arg(long)]
    tree: bool,
    /// The file holds lines of JSON, as `celero eval --jsonl` reads them. Lines without `vars` are
    /// about requests, or what --vars declares.
    #[arg(long, conflicts_with = "tree")]
    jsonl: bool,
    /// With --to parsed-expr and --to checked-expr, write the binary form to this file in place of JSON.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    #[command(flatten)]
    given: InputArgs,
}

/// What rules are translated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// CEL.
    Cel,
    /// Cloudflare's filter language.
    Filter,
    /// A policy with the rules of a file, each of which denies what it matches. The rules stay in their language.
    Policy,
    /// The tree of a rule in Cloudflare's filter language, as JSON in the shape that Wirefilter writes.
    Json,
    /// The tree of a rule in CEL that implementations of CEL exchange, `cel.expr.ParsedExpr`: as JSON.
    ParsedExpr,
    /// The same with types and references, `cel.expr.CheckedExpr`: as JSON.
    CheckedExpr,
}

impl Target {
    /// The tree of CEL that it is, if it is one.
    fn tree(self) -> Option<TreeKind> {
        match self {
            Self::ParsedExpr => Some(TreeKind::Parsed),
            Self::CheckedExpr => Some(TreeKind::Checked),
            Self::Cel | Self::Filter | Self::Policy | Self::Json => None,
        }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    if args.near && args.to != Target::Cel {
        return Err(
            "--near is for --to cel: what the filter language has no equal of has no near form in it either".to_owned()
        );
    }
    let mut source = match args.tree || args.jsonl {
        true => args.source.only_as("translate", Some(Format::Cel))?,
        false => args.source.only("translate")?,
    };
    if let Some(kind) = args.to.tree() {
        if args.tree || args.jsonl || source.format != Format::Cel {
            return Err(format!("a tree is that of one rule in CEL, and {} is none", source.name));
        }
        let binary = args.binary.clone();
        return args.given.read()?.for_both_languages().run(AsTree { source, kind, binary }, output);
    }
    if args.binary.is_some() {
        return Err("--binary is for --to parsed-expr and --to checked-expr".to_owned());
    }
    let to = match args.to {
        Target::Cel | Target::ParsedExpr | Target::CheckedExpr => Language::cel(),
        Target::Filter | Target::Json | Target::Policy => Language::filter(),
    };
    let goal = Goal { language: to, near: args.near };
    if args.jsonl || source.format == Format::Policy {
        let what = if args.jsonl { "lines of JSON" } else { "a policy" };
        if matches!(args.to, Target::Policy | Target::Json) {
            return Err(format!("{} is {what}, which is translated to `cel` or `filter`", source.name));
        }
        if args.jsonl {
            let from = args.source.language.unwrap_or(counterpart(to));
            let input = args.given.read()?.for_both_languages();
            return input.run(TranslateLines { source: &source, from, to: goal }, output);
        }
        if args.given.requests.is_some() || args.given.declares() {
            return Err(format!("{} is a policy: try the translation with `celero test`", source.name));
        }
        return policy(&source, &Host::read(args.given.env.as_deref())?, goal, output);
    }
    if args.to == Target::Policy {
        return as_policy(&source, output);
    }
    let input = args.given.read()?.for_both_languages();
    if let (true, Format::Rules) = (args.tree || args.to == Target::Json, source.format) {
        return Err(format!("a tree is that of one rule, and {} holds several", source.name));
    }
    if source.format == Format::Cel {
        let default = if args.tree || args.to == Target::Json { Language::filter() } else { counterpart(to) };
        source.language = args.source.language.unwrap_or(default);
    }
    if args.tree || args.to == Target::Json {
        return input.run(WithTree { source, is_tree: args.tree, to: args.to, goal }, output);
    }
    input.run(Translate { source: &source, to: goal }, output)
}

/// Writes the conditions of a policy in another language.
fn policy(source: &Source, host: &Host, to: Goal, output: &mut Output) -> Result<u8, String> {
    let translated = host.loader.translate(&source.name, &source.text, source.base(), to.language, to.near);
    let translated = match translated {
        Ok(translated) => translated,
        Err(error) => {
            output.complain(&error.render(output.color()));
            output.hints(&host.hints(&error));
            return Ok(REJECTED);
        }
    };
    if translated.translated() == 0 && translated.kept().is_empty() {
        return Err(format!(
            "no rule of {} has a condition in another language than `{}`",
            source.name,
            to.language.name()
        ));
    }
    output.print(translated.text());
    let found = translated.render(output.color());
    if !found.is_empty() {
        output.complain(&found);
    }
    let (done, kept) = (translated.translated(), translated.kept());
    let many = counted(done.saturating_add(kept.len()), "rule");
    if kept.is_empty() {
        output.complain(&format!("{done} of {many} translated"));
        return Ok(0);
    }
    output.complain(&format!("{done} of {many} translated; these stay in their language: {}", kept.join(", ")));
    Ok(REJECTED)
}

/// Writes the rules of a file as a policy.
fn as_policy(source: &Source, output: &mut Output) -> Result<u8, String> {
    if source.format != Format::Rules {
        return Err(format!("a policy is made of a file of rules, and {} is one expression", source.name));
    }
    let file = RulesFile::parse(source.name.clone(), source.text.clone(), source.language)?;
    output.print(&crate::evaluate::as_policy::policy(&file));
    Ok(0)
}

/// A rule that is given as a tree, or is written as one.
struct WithTree {
    source: Source,
    is_tree: bool,
    to: Target,
    goal: Goal,
}

impl Command for WithTree {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { mut source, is_tree, to, goal } = self;
        let (engine, env) = (Engine::new(), contexts.envs().of(Language::filter()));
        if is_tree {
            let json = serde_json::from_str(&source.text).map_err(|error| format!("{}: {error}", source.name))?;
            source.text = match engine.filter_from_json(env, &json) {
                Ok(text) => text,
                Err(errors) => {
                    for error in errors {
                        output.complain(&format!("error: {}: {error}", source.name));
                    }
                    return Ok(REJECTED);
                }
            };
        }
        match to {
            Target::Filter | Target::Policy | Target::ParsedExpr | Target::CheckedExpr => output.print(&source.text),
            Target::Cel => return Translate { source: &source, to: goal }.one(contexts, output),
            Target::Json => match engine.explain(env, &source.text) {
                Ok(explanation) => {
                    let tree = explanation.sections().find(|(title, _)| *title == "tree");
                    output.print(tree.map_or("", |(_, tree)| tree));
                }
                Err(error) => {
                    output.complain(&Failure::from(&error).render(&source.name, &source.text, output.color()));
                    return Ok(REJECTED);
                }
            },
        }
        Ok(0)
    }
}

struct Translate<'a> {
    source: &'a Source,
    to: Goal,
}

impl Command for Translate<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        match self.source.format {
            Format::Rules => self.file(contexts, output),
            Format::Cel | Format::Policy => self.one(contexts, output),
        }
    }
}

impl Translate<'_> {
    fn one(&self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let source = self.source;
        if source.language == self.to.language {
            return Err(format!("{} is in the language `{}` already", source.name, self.to.language.name()));
        }
        let (text, warnings) = match written(contexts.envs(), self.to, &source.text) {
            Ok(written) => written,
            Err(error) => {
                output.complain(&Failure::from(&error).render(&source.name, &source.text, output.color()));
                let nearest = Goal { near: true, ..self.to };
                if !self.to.near && written(contexts.envs(), nearest, &source.text).is_ok() {
                    output.hints(&["--near writes the nearest form, and says where it differs".to_owned()]);
                }
                return Ok(REJECTED);
            }
        };
        if !warnings.is_empty() {
            let style = crate::output::failure::style(output.color());
            output.complain(&celero::diagnostics::render(&source.text, &source.name, &warnings, style));
        }
        // `#` begins a comment before a rule whose language has none, and nothing in CEL.
        let comments = if has_comments_before(self.to.language) { &*source.comments } else { "" };
        output.print(&format!("{comments}{text}"));
        Ok(compared(contexts, self.to.language, "", &source.text, &text, output))
    }

    fn file(&self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let source = self.source;
        let (text, language) = (source.text.clone(), source.language);
        let file = RulesFile::parse(source.name.clone(), text, language)?;
        if file.rules.iter().all(|rule| rule.language == self.to.language) {
            let hint = format!("--language {} says otherwise", counterpart(self.to.language).name());
            return Err(format!(
                "all rules of {} are in the language `{}` already; {hint}",
                source.name,
                self.to.language.name()
            ));
        }
        let (mut found, mut kept, mut code) = (Vec::new(), Vec::new(), 0);
        let lines = |number: usize, rule: &Rule| -> String {
            let as_it_is =
                |rule: &Rule| format!("{}:{}\n", RulesFile::head(rule, self.to.language), rule.source.trim_end());
            let comments = comments_of(&file.text, rule);
            if rule.language == self.to.language {
                return comments + &as_it_is(rule);
            }
            match self.rule(contexts, rule) {
                Ok((lines, text, warnings)) => {
                    found.extend(warnings.into_iter().map(|warning| (number, warning)));
                    code =
                        code.max(compared(contexts, self.to.language, &rule.name, rule.source.trim(), &text, output));
                    comments + &lines
                }
                Err(notes) => {
                    found.extend(notes.into_iter().map(|note| (number, note)));
                    kept.push(rule.name.clone());
                    comments + &as_it_is(rule)
                }
            }
        };
        let text = rewritten(&file, lines);
        output.print(&self.named(&text));
        complain(&file, &found, output);
        let many = file.rules.iter().filter(|rule| rule.language != self.to.language).count();
        let done = format!("{} of {} translated", many.saturating_sub(kept.len()), counted(many, "rule"));
        if kept.is_empty() {
            output.complain(&done);
            return Ok(code);
        }
        output.complain(&format!("{done}; these stay in their language: {}", kept.join(", ")));
        Ok(REJECTED)
    }

    /// Returns the lines of a translated rule, its text and the warnings about it.
    fn rule(
        &self,
        contexts: &impl Contexts,
        rule: &Rule,
    ) -> Result<(String, String, Vec<Diagnostic>), Vec<Diagnostic>> {
        let source = rule.source.trim();
        let placed = |found: &[Diagnostic]| untrimmed(&rule.source, found);
        let (text, warnings) =
            written(contexts.envs(), self.to, source).map_err(|error| placed(error.diagnostics()))?;
        let head = RulesFile::head(&Rule { language: self.to.language, ..rule.clone() }, self.to.language);
        let engine = Engine::new();
        let layout = |language: Language, text: &str| contexts.envs().format(&engine, language, text);
        match laid_out(&layout, self.to.language, &head, &text) {
            Some(lines) => Ok((lines, text, placed(&warnings))),
            None => Err(vec![kept(&rule.source, "its translation has lines that would change in a file of rules")]),
        }
    }

    /// Returns the text of a file with the first line that names its language.
    fn named(&self, text: &str) -> String {
        let named = matches!(crate::language::of_first_line(text), Ok(Some(_)));
        let rest = if named { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text };
        if self.to.language.is_default() {
            rest.to_owned()
        } else {
            format!("# language: {}\n{rest}", self.to.language.name())
        }
    }
}

/// Returns the comments between the lines of a rule, for the place before it.
fn comments_of(text: &str, rule: &Rule) -> String {
    let lines = text.get(rule.start..rule.end).unwrap_or_default().lines().skip(1);
    let comments = lines.map(str::trim).filter(|line| line.starts_with('#'));
    comments.map(|comment| format!("{comment}\n")).collect()
}
