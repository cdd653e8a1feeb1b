//! From source to checked expression: parsing, checking, lints, inlining. Every compilation begins here.

use super::Engine;
use crate::context::Context;
use crate::env::{Env, EnvError};
use crate::error::CompileError;
use crate::expression::{CheckedRule, Expression, TextPiece, Unknowns};
use crate::language::Piece;
use crate::limits::Limits;
use crate::lint;
use celero_frontend::{CHECKER_CODES, CodeInfo, Diagnostic, FORMAT_CODES, PARSER_CODES, Severity, Span, Stage};
use celero_matching::pattern::PatternCache;

impl Engine {
    /// Parses and checks an expression without compiling it.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn check<C: Context>(&self, env: &Env<C>, source: &str) -> Result<CheckedRule, CompileError> {
        self.expression(env, source, &self.pattern_cache(env)).map(|expression| CheckedRule::new(expression, env))
    }

    /// Returns the warnings about an expression, and the steps that its patterns take for letter
    /// cases: those of [`check`](Self::check), but the definitions that it uses stay where they
    /// are. For the bodies of definitions, which are put in the places of their calls where a rule
    /// needs them only.
    ///
    /// # Errors
    /// [`CompileError`] with every diagnostic.
    pub fn lint<C: Context>(&self, env: &Env<C>, source: &str) -> Result<(Vec<Diagnostic>, usize), CompileError> {
        declared(env, source)?;
        let failed = |diagnostics| CompileError::new(source, diagnostics);
        let (declarations, limits) = (env.declarations(), self.limits());
        let (tree, warnings) = env.rule_language().check_body(source, declarations, &limits.source).map_err(failed)?;
        let steps = tree.case_steps(limits.case_steps, env.dialect()).map_err(|error| failed(vec![error]))?;
        let refused = tree.validate(env.validators(), &self.pattern_cache(env), declarations, &limits.source);
        if !refused.is_empty() {
            return Err(failed(self.ordered(refused)));
        }
        let found = without_errors(env, tree.lint(env.fields(), &self.pattern_cache(env)));
        let found = found.map_err(|errors| failed(self.ordered(errors)))?;
        Ok((self.ordered([warnings, found].concat()), steps))
    }

    /// Returns an expression whose result is the text of these pieces, one after the other. In CEL
    /// it is a `string`: a result becomes text as by the function `string` (CEL language
    /// definition, "String Conversions"), and a `string` stays what it is. In the filter language
    /// it is `Bytes`: a result becomes text as by `to_string`, and missing ones are left out.
    ///
    /// For templates: the expressions in it are checked one by one, then put together without being parsed again.
    ///
    /// ```
    /// use celero::settings::TextPiece;
    /// use celero::{Bindings, Engine, Env, Scratch, Type, Value};
    ///
    /// let (engine, env) = (Engine::new(), Env::dynamic().variable("age", Type::Int));
    /// let next = engine.check(&env, "age + 1")?;
    /// let text = engine.text(&env, &[TextPiece::Literal("next year: "), TextPiece::Result(&next)])?;
    /// let program = engine.compile_checked(&env, &text)?;
    /// let mut call = Bindings::new(&env);
    /// call.set("age", Value::Int(41))?;
    /// assert!(matches!(program.eval(&call, &mut Scratch::new())?, Value::String("next year: 42")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CompileError`] if a result has no text (a list, a map, `null`), if an expression was
    /// checked for another environment, or if the whole exceeds the engine's
    /// [limits](crate::settings::SourceLimits).
    pub fn text<C: Context>(&self, env: &Env<C>, pieces: &[TextPiece<'_>]) -> Result<CheckedRule, CompileError> {
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(match piece {
                TextPiece::Literal(text) => Piece::Literal(text),
                TextPiece::Result(rule) => Piece::Result(rule.expression_for(env)?.tree()),
            });
        }
        let limits = self.limits();
        let text = Expression::text(&parts, env.rule_language(), env.declarations(), &limits.source);
        let mut expression = text.map_err(|(source, found)| CompileError::new(&source, found))?;
        if let Err(error) = expression.count_case_steps(limits.case_steps, env.dialect()) {
            return Err(CompileError::new(expression.source(), vec![error]));
        }
        self.affordable(&expression)?;
        Ok(CheckedRule::new(expression, env))
    }

    /// Returns a condition that reads none of the unknown variables, calls no impure function, and is
    /// false only where the rule is false whatever the unknown values are: of
    /// `request.path == "/" && request.body.contains("x")`, `request.path == "/"`. `None` if nothing
    /// that is known can make the rule false.
    ///
    /// Where it is true or fails, the rule may have any result. It is compiled as every rule is, so
    /// that native code and rule sets tell early which rules need what comes later;
    /// [`Program::decide`](crate::Program::decide) decides more, with the interpreter. The rule must be
    /// of CEL or the filter language. Of a rule that was checked for another environment, there is
    /// none.
    ///
    /// ```
    /// use celero::settings::Unknowns;
    /// use celero::{Engine, Env, Type};
    ///
    /// let env = Env::dynamic().variable("request.path", Type::String).variable("request.body", Type::String);
    /// let engine = Engine::new();
    /// let unknowns = Unknowns::new(&env, &["request.body"])?;
    /// let necessary = |source| {
    ///     let rule = engine.check(&env, source).expect("the rule is valid");
    ///     engine.necessary(&env, &rule, &unknowns).map(|condition| condition.source().to_owned())
    /// };
    /// let login = necessary("request.path == '/login' && request.body.contains('admin')");
    /// assert_eq!(login.as_deref(), Some("request.path == '/login'"));
    /// assert_eq!(necessary("request.path == '/login' || request.body.contains('admin')"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn necessary<C: Context>(&self, env: &Env<C>, rule: &CheckedRule, unknowns: &Unknowns) -> Option<CheckedRule> {
        let (expression, limits) = (rule.expression_for(env).ok()?, self.limits());
        let mut necessary = expression.necessary(unknowns.known_names(env)?, &limits.source)?;
        necessary.count_case_steps(limits.case_steps, env.dialect()).ok()?;
        self.affordable(&necessary).ok()?;
        let necessary = CheckedRule::new(necessary, env);
        unknowns.are_unread(necessary.fields(), env).then_some(necessary)
    }

    /// An empty cache for the patterns of a compilation.
    pub(crate) fn pattern_cache<C>(&self, env: &Env<C>) -> PatternCache {
        PatternCache::with_budget(self.limits().patterns).of_dialect(env.dialect())
    }

    /// Parses, checks and lints an expression, and puts the bodies of functions defined in CEL in
    /// the places of their calls.
    pub(crate) fn expression<C: Context>(
        &self,
        env: &Env<C>,
        source: &str,
        patterns: &PatternCache,
    ) -> Result<Expression, CompileError> {
        declared(env, source)?;
        let failed = |diagnostics| CompileError::new(source, diagnostics);
        let limits = &self.limits().source;
        let mut expression = Expression::of(source, env.rule_language(), env.declarations(), limits).map_err(failed)?;
        // Before anything parses the patterns.
        let most = self.limits().case_steps;
        expression.count_case_steps(most, env.dialect()).map_err(|error| failed(vec![error]))?;
        self.affordable(&expression)?;
        let refused = expression.tree().validate(env.validators(), patterns, env.declarations(), limits);
        if !refused.is_empty() {
            return Err(failed(self.ordered(refused)));
        }
        let mut warnings = expression.warnings().to_vec();
        let found = without_errors(env, expression.tree().lint(env.fields(), patterns));
        warnings.extend(found.map_err(|errors| failed(self.ordered(errors)))?);
        let warnings = self.ordered(warnings);
        Ok(expression.with_warnings(warnings))
    }

    /// Refuses an expression whose static cost is above the limit.
    fn affordable(&self, expression: &Expression) -> Result<(), CompileError> {
        let &Limits { operations: Some(limit), elements, .. } = self.limits() else { return Ok(()) };
        let error = expression.too_costly(limit, elements);
        error.map_or(Ok(()), |error| Err(CompileError::new(expression.source(), vec![error])))
    }

    /// Returns the first diagnostics, in the order of the source.
    fn ordered(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        found.sort_by_key(|diagnostic| diagnostic.span.start);
        found.truncate(self.limits().source.max_diagnostics as usize);
        found
    }
}

/// Returns every code that a [`Diagnostic`] can have, with its meaning. Codes do not change between versions.
pub fn diagnostic_codes() -> impl Iterator<Item = &'static CodeInfo> {
    [PARSER_CODES, CHECKER_CODES, lint::CODES, FORMAT_CODES].into_iter().flatten()
}

/// Returns what a lint found, which is warnings; or its errors, unless the environment has no static types.
fn without_errors<C: Context>(env: &Env<C>, mut found: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    if env.declarations().is_unchecked() {
        found.retain(|diagnostic| !is_error(diagnostic));
    }
    if found.iter().any(is_error) {
        found.retain(is_error);
        return Err(found);
    }
    Ok(found)
}

/// Refuses a source for an environment that could not make a declaration.
fn declared<C: Context>(env: &Env<C>, source: &str) -> Result<(), CompileError> {
    let problems: Vec<Diagnostic> = env.problems().iter().map(undeclarable).collect();
    if problems.is_empty() { Ok(()) } else { Err(CompileError::new(source, problems)) }
}

/// A declaration that the environment could not make.
fn undeclarable(problem: &EnvError) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        stage: Stage::Check,
        code: lint::ENVIRONMENT,
        message: problem.message().to_owned(),
        span: Span::new(0, 0),
        labels: Vec::new(),
        help: problem.diagnostics().first().map_or_else(Vec::new, |found| found.help.clone()),
    }
}
