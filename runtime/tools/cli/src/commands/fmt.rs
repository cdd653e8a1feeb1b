//! `celero fmt`: formats expressions, files of rules and the expressions of policies.

use crate::REJECTED;
use crate::input::arguments::{Input, NamedInput, RequestInput};
use crate::input::contexts::{Command, Contexts};
use crate::input::source::{Format, Source, SourceArgs};
use crate::language::Language;
use crate::output::Output;
use crate::output::failure::{Failure, style};
use crate::rules::file::RulesFile;
use crate::rules::layout::{self, Layout};
use celero::{Engine, Tier};
use celero_policy::Policy;
use celero_tooling::values;

/// Format rules: spaces, parentheses, quotes, line breaks.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero fmt rule.cel site.rules policy.yaml  # rewrites the files
  celero fmt --check rules/*.cel              # writes nothing; exit code 1 if anything would change
  celero fmt - < rule.cel                     # to standard output
  celero fmt -e 'a&&(b)'
  celero fmt --language filter -e '(ssl)&&http.host==\"a\"'

The meaning of a rule never changes. Comments before an expression are kept. A comment inside or after an expression would be
lost, so such a rule is not changed, and the exit code is 1. A rule in Cloudflare's filter language is formatted if it is valid. Of a policy only the expressions change, not the YAML around them.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Write nothing; print the names of unformatted files and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Types of the fields of rules in Cloudflare's filter language, if they are not those of
    /// requests: `tags: list(string)`. May be repeated. The types decide how literals are read.
    #[arg(long, value_name = "NAME: TYPE, ..")]
    vars: Vec<String>,
}

/// A formatted text, and why parts of it could not be formatted.
struct Formatted {
    text: Option<String>,
    complaint: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let sources = args.source.read("fmt")?;
    let mut types = Vec::new();
    for text in &args.vars {
        types.extend(values::notation::declarations(text, None).map_err(|why| format!("--vars: {why}"))?);
    }
    let input = match types.is_empty() {
        true => Input::Requests(RequestInput::none()),
        false => Input::Named(NamedInput { types, ..NamedInput::default() }),
    };
    input.run(FormatAll { args, sources }, output)
}

struct FormatAll<'a> {
    args: &'a Args,
    sources: Vec<Source>,
}

impl Command for FormatAll<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let format = |language: Language, text: &str| contexts.envs().format(&engine, language, text);
        format_all(self.args, self.sources, &format, output)
    }
}

fn format_all(args: &Args, sources: Vec<Source>, layout: &Layout<'_>, output: &mut Output) -> Result<u8, String> {
    let mut fine = true;
    for source in sources {
        let original = match &source.path {
            // What was read has lost a byte order mark and, for expressions, its last line ends.
            Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", source.name))?,
            None => source.text.clone(),
        };
        let Formatted { text, complaint } = format(layout, &source, output.color())?;
        if !complaint.is_empty() {
            output.complain(&complaint);
            fine = false;
        }
        let Some(text) = text else { continue };
        let same = if source.path.is_some() { text == original } else { text.trim_end() == original.trim_end() };
        match &source.path {
            _ if args.check => {
                fine &= same;
                if !same {
                    let paint = output.paint();
                    output.line(&format!("{}: {}", paint.name(&source.name), paint.bad("not formatted")));
                }
            }
            Some(path) if !same => std::fs::write(path, text).map_err(|error| format!("{}: {error}", source.name))?,
            Some(_) => {}
            None => output.print(&text),
        }
    }
    Ok(if fine { 0 } else { REJECTED })
}

fn format(layout: &Layout<'_>, source: &Source, color: bool) -> Result<Formatted, String> {
    let done = |text| Formatted { text: Some(text), complaint: String::new() };
    Ok(match source.format {
        Format::Cel => match layout(source.language, &source.text) {
            Ok(text) => done(source.comments.clone() + &text),
            Err(error) => {
                let complaint = Failure::from(&error).render(&source.name, &source.text, color);
                Formatted { text: None, complaint }
            }
        },
        Format::Rules => {
            let file = RulesFile::parse(source.name.clone(), source.text.clone(), source.language)?;
            let (text, problems) = layout::format(layout, &file);
            Formatted { text: Some(text), complaint: file.render(&problems, style(color)) }
        }
        Format::Policy => match Policy::format(&source.name, &source.text) {
            Ok(text) => done(text),
            Err(error) => Formatted { text: None, complaint: error.render(color) },
        },
    })
}
