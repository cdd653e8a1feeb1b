//! What rules outside of policies may mention, and how they are checked: an environment for each
//! language, behind a trait without the type of its context.

use celero::filter::Scheme;
use celero::language::Declarations;
use celero::{CompileError, Context, Diagnostic, Engine, ErrorPolicy, Tier};
use celero_policy::Loader;
use celero_tooling::envs::Envs;
use celero_tooling::language::Language;
use celero_tooling::policy_names::explain;
use celero_tooling::rules;
use celero_tooling::rules::check::check_rules;
use celero_tooling::rules::file::RulesFile;
use std::fmt;
use std::sync::Arc;

/// The environments of rules, and their check.
pub struct Environment {
    checks: Box<dyn Checks>,
    /// What policies may use of their host.
    policies: Loader,
}

impl Environment {
    /// Uses these environments; a rule of a file whose evaluation fails counts as `on_error` says.
    #[must_use]
    pub fn new<C: Context + 'static>(envs: Envs<C>, on_error: ErrorPolicy) -> Self {
        let engine = Engine::builder().tier(Tier::Interpret).build();
        Self { checks: Box::new(Checked { envs, on_error, engine }), policies: Loader::default() }
    }

    /// Checks policies that may use functions and variables of their host.
    #[must_use]
    pub fn with_policies_of(self, loader: Loader) -> Self {
        Self { policies: loader, ..self }
    }

    /// What policies may use of their host.
    pub(crate) fn policies(&self) -> &Loader {
        &self.policies
    }

    pub(crate) fn checks(&self) -> &dyn Checks {
        &*self.checks
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// The operations on environments, independent of the type of the context.
pub(crate) trait Checks {
    /// Returns the errors, or the warnings if there is no error.
    fn expression(&self, language: Language, text: &str) -> Vec<Diagnostic>;

    /// Returns the errors and warnings about rules, with spans in the file.
    fn rules(&self, file: &RulesFile) -> Vec<Diagnostic>;

    /// Returns an expression in its layout.
    ///
    /// # Errors
    /// Those of the syntax.
    fn layout(&self, language: Language, text: &str) -> Result<String, CompileError>;

    /// Returns the text of a file of rules with each rule in its layout, and how many rules stay as they are.
    fn rules_layout(&self, file: &RulesFile) -> (String, usize);

    /// Returns what rules in CEL may mention.
    fn declarations(&self) -> &Declarations;

    /// Returns the fields and functions that rules may name, if the language has a scheme of these.
    fn scheme(&self, language: Language) -> Option<&Arc<Scheme>>;
}

struct Checked<C> {
    envs: Envs<C>,
    on_error: ErrorPolicy,
    engine: Engine,
}

impl<C: Context> Checks for Checked<C> {
    fn expression(&self, language: Language, text: &str) -> Vec<Diagnostic> {
        match self.engine.compile(self.envs.of(language), text) {
            Ok(program) => program.warnings().to_vec(),
            Err(error) => {
                let mut found = error.diagnostics().to_vec();
                found.iter_mut().for_each(explain);
                found
            }
        }
    }

    fn rules(&self, file: &RulesFile) -> Vec<Diagnostic> {
        let found = check_rules(&self.engine, &self.envs, file, self.on_error).found;
        file.placed(&found).into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }

    fn layout(&self, language: Language, text: &str) -> Result<String, CompileError> {
        self.envs.format(&self.engine, language, text)
    }

    fn rules_layout(&self, file: &RulesFile) -> (String, usize) {
        let layout = |language: Language, text: &str| self.layout(language, text);
        let (text, problems) = rules::layout::format(&layout, file);
        (text, problems.len())
    }

    fn declarations(&self) -> &Declarations {
        self.envs.of(Language::default()).declarations()
    }

    fn scheme(&self, language: Language) -> Option<&Arc<Scheme>> {
        self.envs.of(language).filter_scheme()
    }
}
