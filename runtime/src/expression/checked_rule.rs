//! [`CheckedRule`]: an expression that was checked once, to be compiled in several ways without being parsed again.

use super::Expression;
use crate::env::Env;
use crate::error::CompileError;
use crate::fields::Fields;
use crate::function::Functions;
use crate::language::{PartCost, StaticCost};
use crate::lint::{self, Validator};
use celero_frontend::stdlib::Libraries;
use celero_frontend::{Definition, Diagnostic, Severity, Span, Stage, Type};
use celero_matching::pattern::Dialect;
use std::fmt;
use std::sync::Arc;

/// An expression that was parsed and checked for an environment. Cheap to clone, `Send` and `Sync`.
///
/// Made by [`Engine::check`](crate::Engine::check), for hosts that must know the type of an
/// expression, its warnings or what it reads before they decide how to compile it.
/// [`Engine::compile_checked`](crate::Engine::compile_checked) and
/// [`Rule::checked`](crate::Rule::checked) take it without parsing it again.
///
/// It belongs to the environment that it was checked for, to clones of it, and to environments that
/// declare the same variables, functions and libraries in the same order and read patterns alike,
/// whatever their languages: so a set has rules in several languages. Compiling it for another one
/// is a [`CompileError`].
///
/// ```
/// use celero::{Bindings, Engine, Env, Rule, Scratch, Type, Value};
///
/// let (engine, env) = (Engine::new(), Env::dynamic().variable("age", Type::Int));
/// let adult = engine.check(&env, "age >= 18")?;
/// assert_eq!(adult.result_type(), &Type::Bool);
/// assert!(adult.fields().names().eq(["age"]));
///
/// let program = engine.compile_checked(&env, &adult)?;
/// let rules = engine.rules(&env).with_rule(Rule::checked("adult", adult, "welcome")).build()?;
/// let mut call = Bindings::new(&env);
/// call.set("age", Value::Int(41))?;
/// assert!(program.test(&call)? && rules.any(&call, &mut Scratch::new())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CheckedRule {
    shared: Arc<Shared>,
}

struct Shared {
    expression: Arc<Expression>,
    fields: Fields,
    environment: Environment,
}

/// What tells environments apart, as far as trees depend on it.
struct Environment {
    /// Fingerprint of the names and types of the variables.
    variables: u64,
    functions: Functions,
    definitions: Arc<Vec<Arc<Definition>>>,
    libraries: Libraries,
    container: String,
    dialect: Dialect,
    validators: Vec<Validator>,
}

impl Environment {
    fn of<C>(env: &Env<C>) -> Self {
        let declarations = env.declarations();
        Self {
            variables: env.variables().fingerprint(),
            functions: env.functions().clone(),
            definitions: declarations.shared_definitions(),
            libraries: declarations.libraries(),
            container: declarations.container().to_owned(),
            dialect: env.dialect(),
            validators: env.validators().to_vec(),
        }
    }

    fn is<C>(&self, env: &Env<C>) -> bool {
        let Self { variables, functions, definitions, libraries, container, dialect, validators } = self;
        let declarations = env.declarations();
        let others = declarations.shared_definitions();
        let are_others = || {
            definitions.len() == others.len()
                && definitions.iter().zip(&*others).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        *variables == env.variables().fingerprint()
            && functions.are(env.functions())
            && (Arc::ptr_eq(definitions, &others) || are_others())
            && *libraries == declarations.libraries()
            && container == declarations.container()
            && *dialect == env.dialect()
            && *validators == env.validators()
    }
}

/// A part of a text: [`Engine::text`](crate::Engine::text).
#[derive(Clone, Copy, Debug)]
pub enum TextPiece<'r> {
    /// This text.
    Literal(&'r str),
    /// The result of this expression as text.
    Result(&'r CheckedRule),
}

impl CheckedRule {
    pub(crate) fn new<C>(expression: Expression, env: &Env<C>) -> Self {
        let fields = expression.fields(env.declarations().variables(), env.fields());
        let environment = Environment::of(env);
        Self { shared: Arc::new(Shared { expression: Arc::new(expression), fields, environment }) }
    }

    /// Returns the text of the expression.
    #[must_use]
    pub fn source(&self) -> &str {
        self.shared.expression.source()
    }

    /// Returns the static type of the result; [`Type::Dyn`] if it is known at evaluation only.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.shared.expression.result_type()
    }

    /// Returns the steps that its patterns take for letter cases: what
    /// [`Limits::case_steps`](crate::Limits::case_steps) bounds.
    #[must_use]
    pub fn case_steps(&self) -> usize {
        self.shared.expression.case_steps()
    }

    /// Returns an error if the rule takes more operations than this by its static cost, where every list and map has as
    /// many elements: what [`Limits::operations`](crate::Limits::operations) refuses. It is at the first part that
    /// exceeds the limit alone, the innermost one.
    #[must_use]
    pub fn too_costly(&self, operations: u64, elements: u64) -> Option<Diagnostic> {
        self.shared.expression.too_costly(operations, elements)
    }

    /// Returns the innermost part that takes more than half of the rule's operations by its static cost, where every
    /// list and map has as many elements: where a rule can be made cheaper. It is the whole rule if no part does;
    /// `None` of a literal.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new());
    /// let source = "request.path == '/a' || request.headers.exists(h, h == 'x')";
    /// let part = engine.check(&env, source)?.costliest_part(100).expect("the rule is no literal");
    /// assert_eq!(&source[part.span.start as usize..], "request.headers.exists(h, h == 'x')");
    /// assert_eq!(part.cost.most_for(100), 202);
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    #[must_use]
    pub fn costliest_part(&self, elements: u64) -> Option<PartCost> {
        self.shared.expression.costliest_part(elements)
    }

    /// Returns the number of its nodes with the bodies of definitions in the places of their calls: what
    /// [`Limits::inlined_nodes`](crate::Limits::inlined_nodes) bounds. 0 if it uses no definition.
    #[must_use]
    pub fn inlined_nodes(&self) -> usize {
        self.shared.expression.tree().inlined_nodes()
    }

    /// Returns the name of the type of the result in the language of the rule: `list(bytes)` in CEL
    /// is `Array<Bytes>` in the filter language.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.shared.expression.tree().type_name()
    }

    /// Returns the warnings, in the order of the source: what is valid, but probably not what the author means.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        self.shared.expression.warnings()
    }

    /// Returns the [`warnings`](Self::warnings) as text, with the source lines that they are about;
    /// an empty text if there are none. `origin` names the source, such as a file; `color` adds ANSI
    /// colours.
    #[must_use]
    pub fn render_warnings(&self, origin: &str, color: bool) -> String {
        self.shared.expression.render_warnings(origin, color)
    }

    /// Returns the warnings about this rule as a guard: a rule that keeps a request back where it
    /// is true. They tell how a client can pass it: by sending a header twice that the rule
    /// compares and, if it `fails_open`, by leaving out a header or a credential that the rule
    /// reads. A rule fails open if a failure does not match
    /// ([`ErrorPolicy::NoMatch`](crate::ErrorPolicy::NoMatch)); a comparison in the filter language
    /// is then false in any case. `env` is the environment that the rule was checked for. Takes
    /// time linear in the rule, for each of at most 16 things that may be absent.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new());
    /// let deny = engine.check(&env, r#"request.headers["x-team"] != "ops""#)?;
    /// let warnings = deny.guard_warnings(&env, true);
    /// assert_eq!(warnings[0].code, "guard-passed-by-absence");
    /// assert!(deny.guard_warnings(&env, false).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn guard_warnings<C>(&self, env: &Env<C>, fails_open: bool) -> Vec<Diagnostic> {
        let variables = env.declarations().variables();
        self.shared.expression.tree().guard_warnings(env.fields(), variables, fails_open)
    }

    /// Returns the most and the fewest operations of an evaluation, read off the rule without a request: what a host
    /// that takes rules of its tenants may bound. Takes time linear in [the rule's nodes](Self::inlined_nodes).
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env};
    ///
    /// let (engine, env) = (Engine::new(), Env::<RequestContext>::new());
    /// let rule = engine.check(&env, "request.path == '/a' || request.headers.exists(h, h == 'x')")?;
    /// let cost = rule.static_cost();
    /// assert_eq!(cost.to_string(), "3 to 5 + 2n operations (n: elements of the largest list or map)");
    /// assert_eq!(cost.most_for(100), 205);
    /// # Ok::<(), celero::CompileError>(())
    /// ```
    #[must_use]
    pub fn static_cost(&self) -> StaticCost {
        self.shared.expression.static_cost()
    }

    /// Returns the [static cost](Self::static_cost) of each part of the rule that is evaluated and is no literal, the
    /// whole rule last; nothing of a literal.
    #[must_use]
    pub fn part_costs(&self) -> Vec<PartCost> {
        self.shared.expression.tree().part_costs()
    }

    /// Returns what an evaluation can read of the context.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.shared.fields
    }

    /// Returns the name of the variable whose value the rule has, if it is nothing else: of
    /// `source.address`, or of a name that is defined as that.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        self.shared.fields.names().next().filter(|_| self.shared.expression.tree().is_variable())
    }

    /// Returns whether every evaluation with the same context gives the same result; see
    /// [`Program::is_pure`](crate::Program::is_pure). Walks the expression's tree.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.shared.expression.is_pure(&self.shared.environment.functions)
    }

    pub(crate) fn expression(&self) -> &Arc<Expression> {
        &self.shared.expression
    }

    /// The expression, if it was checked for this environment.
    ///
    /// # Errors
    /// It was checked for another one.
    pub(crate) fn expression_for<C>(&self, env: &Env<C>) -> Result<&Arc<Expression>, CompileError> {
        if self.shared.environment.is(env) {
            return Ok(&self.shared.expression);
        }
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            stage: Stage::Check,
            code: lint::ENVIRONMENT,
            message: "this rule was checked for another environment".to_owned(),
            span: Span::new(0, u32::try_from(self.source().len()).unwrap_or(u32::MAX)),
            labels: Vec::new(),
            help: vec!["check it with the environment that it is compiled for".to_owned()],
        };
        Err(CompileError::new(self.source(), vec![diagnostic]))
    }
}

impl fmt::Debug for CheckedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedRule")
            .field("source", &self.source())
            .field("result_type", self.result_type())
            .finish_non_exhaustive()
    }
}
