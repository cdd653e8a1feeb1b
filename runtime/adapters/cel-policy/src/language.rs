//! The format as a language of rules: its sources are policies.

use crate::codes;
use crate::compose::{Composer, Composition};
use crate::policy;
use celero::diagnostics::{Severity, Span, Stage};
use celero::language::{
    Cel, Checked, CodeInfo, Declarations, Diagnostic, ExpressionVisitor, Language, Lexicon, Limits, inline,
};
use celero::{CompileError, Context, Engine, Env, Program};
use celero_policy::PolicyError;
use celero_policy::problems::Problems;

/// How many times as large as an expression a policy may be.
const EXPRESSIONS: u32 = 16;

/// Policies in the CEL Policy format, as a [language](celero::language) of rules: a rule is a
/// policy, the text of its file.
///
/// [`compile`](Self::compile) is the usual way in. With `Env::language` policies are rules wherever
/// celero takes rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct CelPolicy;

impl CelPolicy {
    /// Compiles a policy: the text of its YAML file. The result of the program is the output of the
    /// policy; `optional_type` of it if the matches of the policy may all fail; a list if the policy
    /// is an `aggregate`.
    ///
    /// Each expression is within the engine's limits on sources, and the whole policy within 16
    /// times these.
    ///
    /// # Errors
    /// What is wrong with the file or its expressions; [`CompileError::render`] takes the file's
    /// name.
    pub fn compile<C: Context>(
        engine: &Engine,
        env: &Env<C>,
        text: &str,
    ) -> Result<Program<C::Static>, Box<CompileError>> {
        engine.compile(&env.clone().language(Self), text).map_err(Box::new)
    }

    /// The limits of a whole policy.
    fn whole(limits: &Limits) -> Limits {
        Limits {
            max_source_bytes: limits.max_source_bytes.saturating_mul(EXPRESSIONS),
            max_depth: limits.max_depth.saturating_mul(EXPRESSIONS),
            max_nodes: limits.max_nodes.saturating_mul(EXPRESSIONS),
            ..*limits
        }
    }
}

/// Returns whether a text is a policy in the CEL Policy format, by its keys: a file that has both
/// this format and celero's own policies can tell them apart.
#[must_use]
pub fn is_policy(text: &str) -> bool {
    let kind = "ValidatingAdmissionPolicy";
    let is_kind = |rest: &str| rest.trim().trim_matches(['"', '\'']) == kind;
    text.lines().any(|line| line.starts_with("rule:") || line.strip_prefix("kind:").is_some_and(is_kind))
}

impl Language for CelPolicy {
    fn name(&self) -> &str {
        "cel-policy"
    }

    fn title(&self) -> &str {
        "CEL Policy"
    }

    fn check(
        &self,
        source: &str,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
        let whole = Self::whole(limits);
        let result = checked(source, declarations, limits, &whole);
        let ordered = |mut found: Vec<Diagnostic>| {
            found.sort_by_key(|found| (found.severity == Severity::Warning, found.span.start));
            found.truncate(limits.max_diagnostics.max(1) as usize);
            found.sort_by_key(|found| found.span.start);
            found
        };
        result.map(|(checked, warnings)| (checked, ordered(warnings))).map_err(ordered)
    }

    /// Checks the policy again.
    fn each_expression(
        &self,
        rule: &Checked,
        declarations: &Declarations,
        limits: &Limits,
        visit: &mut ExpressionVisitor<'_>,
    ) {
        let source = rule.ast().source();
        if let Ok(policy) = read(source, &Self::whole(limits)) {
            let mut visit = |expression: &Checked, place: &dyn Fn(Span) -> Span| visit(expression, place);
            // It was composed before.
            let _ = Composer::new(source, declarations, limits, &mut visit).policy(&policy);
        }
    }

    fn format(&self, source: &str, limits: &Limits, _: usize) -> Result<String, Vec<Diagnostic>> {
        read(source, &Self::whole(limits))?;
        let end = if source.ends_with('\n') { "" } else { "\n" };
        Ok(format!("{source}{end}"))
    }

    /// The expression that the policy is.
    fn unparse(&self, checked: &Checked) -> String {
        Cel.unparse(checked)
    }

    fn codes(&self) -> Vec<CodeInfo> {
        [Cel.codes(), codes::CODES.to_vec()].concat()
    }

    fn lexicon(&self) -> Lexicon {
        Cel.lexicon()
    }
}

fn checked(
    source: &str,
    declarations: &Declarations,
    limits: &Limits,
    whole: &Limits,
) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
    let policy = read(source, whole)?;
    let Composition { tree, root, warnings } =
        Composer::new(source, declarations, limits, &mut |_, _| ()).policy(&policy)?;
    let too_large = |message: String| vec![Diagnostic::error(Stage::Limit, codes::SIZE, Span::new(0, 0), message)];
    let checked = tree.finish(root, declarations, whole).map_err(|invalid| too_large(invalid.to_string()))?;
    // Here, and not in the stage after this one, because that has the limits of one expression.
    let inlined = inline(&checked, declarations, whole)?;
    Ok((inlined.unwrap_or(checked), warnings))
}

/// Reads a policy.
///
/// # Errors
/// What is wrong with the file.
fn read(source: &str, limits: &Limits) -> Result<policy::Policy, Vec<Diagnostic>> {
    let error = |code, message: String| vec![Diagnostic::error(Stage::Limit, code, Span::new(0, 0), message)];
    if source.len() > limits.max_source_bytes as usize {
        let most = limits.max_source_bytes;
        return Err(error(codes::SIZE, format!("the policy is {} bytes long, the limit is {most}", source.len())));
    }
    if source.starts_with('\u{feff}') {
        return Err(error(codes::FORM, "the file begins with a byte order mark: save it without".to_owned()));
    }
    let mut problems = Problems::default();
    let file = problems.file(String::new(), source);
    let policy = policy::read(file, &mut problems);
    match policy {
        Some(policy) if !problems.has_errors() => Ok(policy),
        _ => Err(PolicyError::new(problems).diagnostics().map(|(_, found)| found).collect()),
    }
}
