//! `celero lsp`: the language server, on standard input and output.

use crate::commands::policy;
use crate::evaluate::rule_sets::ErrorPolicyArg;
use crate::input::arguments::InputArgs;
use crate::input::contexts::{Command, Contexts};
use crate::output::Output;
use celero::ErrorPolicy;
use celero_lsp::Environment;
use celero_policy::Loader;
use std::io::BufReader;

/// Run the language server for editors, on standard input and output.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero lsp                                      # an editor runs it
  celero lsp --vars 'user.age: int, user.roles: list(string)'
  celero lsp --env host.yaml                      # policies may use what this file declares

It checks, explains, completes and formats `.cel`, `.filter` and `.rules` files and policies. What rules outside of policies may mention
is declared as for `celero check`: they read a request, unless --vars or --bindings declare variables. docs/editors.md says how editors
are set up.")]
pub(crate) struct Args {
    /// What a rule of a file with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Accepted because many editors give it. The server uses standard input and output without it too.
    #[arg(long, hide = true)]
    stdio: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let loader = policy::Host::read(args.given.env.as_deref())?.loader;
    args.given.read()?.run(Serve { on_error: args.on_error.0, loader }, output)
}

struct Serve {
    on_error: ErrorPolicy,
    loader: Loader,
}

impl Command for Serve {
    fn run(self, contexts: &impl Contexts, _: &mut Output) -> Result<u8, String> {
        let environment = Environment::new(contexts.envs().clone(), self.on_error).with_policies_of(self.loader);
        let input = BufReader::new(std::io::stdin());
        celero_lsp::run(&environment, input, std::io::stdout().lock()).map_err(|error| format!("the client: {error}"))
    }
}
