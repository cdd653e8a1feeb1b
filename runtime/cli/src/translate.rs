//! `celero translate`: writes rules in another language.

use crate::contexts::{Command, Contexts};
use crate::evaluate::{Engines, TierChoice, agree_on_value, answers};
use crate::failure::Failure;
use crate::in_language::InLanguage;
use crate::input::InputArgs;
use crate::language::Language;
use crate::output::Output;
use crate::source::{Format, Source, SourceArgs};
use crate::{DISAGREE, REJECTED};
use celero::Engine;

/// Translate a rule from Cloudflare's filter language to CEL.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero translate --to cel rule.filter
  celero translate --to cel -e 'http.host contains \"a\" and ip.src in {10.0.0.0/8}'
  celero translate --to cel rule.filter --requests traffic.jsonl   # also compares the answers

What has no equal is marked, and the exit code is 1. With --requests or --bindings both rules are evaluated, and the exit code is 3 if
they give different answers.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The language to translate to.
    #[arg(long, value_enum)]
    to: Target,
    #[command(flatten)]
    given: InputArgs,
}

/// A language that rules are translated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// CEL.
    Cel,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Target::Cel = args.to;
    let mut source = args.source.only("translate")?;
    source.language = Language::Filter;
    if source.format != Format::Cel {
        return Err(format!("`celero translate` takes one rule, and {} holds several", source.name));
    }
    args.given.read()?.for_rules(std::slice::from_ref(&source)).run(Translate { source: &source }, output)
}

struct Translate<'a> {
    source: &'a Source,
}

impl Command for Translate<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let source = self.source;
        let text = match Engine::new().to_cel(contexts.envs().of(Language::Filter), &source.text) {
            Ok(text) => text,
            Err(error) => {
                output.complain(&Failure::from(&error).render(&source.name, &source.text, output.color()));
                return Ok(REJECTED);
            }
        };
        output.print(&text);
        if !contexts.given() {
            return Ok(0);
        }
        let engines = Engines::new(TierChoice::Auto);
        let before = answers(&engines, &InLanguage::new(contexts, Language::Filter), &source.text);
        let after = answers(&engines, contexts, &text);
        let mut code = 0;
        for (number, (before, after)) in before.iter().zip(&after).enumerate() {
            if !agree_on_value(before, after) {
                code = DISAGREE;
                let (label, before, after) = (contexts.label(number), before.json(), after.json());
                output.complain(&format!("{label}: different answers: {before} before, {after} after"));
            }
        }
        Ok(code)
    }
}
