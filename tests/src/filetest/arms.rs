//! The ways to run a rule, which must agree: interpreter, native code, native code without passes.

use super::format::{Settings, definition};
use super::{data, request, show};
use celero::http::RequestContext;
use celero::messages::Descriptors;
use celero::settings::Library;
use celero::{Bindings, Context, Engine, Env, Program, Scratch, Tier, Type};
use celero_frontend::Style;
use http::Request;

/// What a text holds that tells of tiers that disagree.
pub(crate) const DISAGREE: &str = "<disagree>";

/// One engine for each way.
#[derive(Debug)]
pub struct Arms {
    engines: [(&'static str, Engine); 3],
}

impl Arms {
    /// All ways.
    #[must_use]
    pub fn new() -> Self {
        let build = |tier, optimize| Engine::builder().tier(tier).optimize(optimize).build();
        let engines = [
            ("interpreter", build(Tier::Interpret, true)),
            ("native", build(Tier::Native, true)),
            ("native without passes", build(Tier::Native, false)),
        ];
        Self { engines }
    }

    fn native(&self) -> &Engine {
        let [_, (_, native), _] = &self.engines;
        native
    }

    /// The outcome of a rule, or which outcomes it has where there are several.
    fn eval<S, C>(&self, env: &Env<S>, source: &str, context: &C) -> String
    where
        S: Context<Static = S> + 'static,
        C: Context<Static = S>,
    {
        let outcomes: Vec<_> = self.engines.iter().map(|(name, e)| (*name, once(e, env, source, context))).collect();
        match outcomes.as_slice() {
            [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => first.clone(),
            _ => {
                let lines = outcomes.iter().map(|(name, outcome)| format!("{DISAGREE} {name}: {outcome}"));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn stage<C: Context>(&self, env: &Env<C>, source: &str, stage: &str) -> Result<String, String> {
        let engine = self.native();
        if stage == "diagnostics" {
            return Ok(match engine.check(env, source) {
                Ok(checked) => celero_frontend::render(source, "rule", checked.warnings(), Style::Plain),
                Err(errors) => errors.render("rule", false),
            }
            .trim_end()
            .to_owned());
        }
        let explanation = engine.explain(env, source).map_err(|e| e.render("rule", false))?;
        let title = match stage {
            "optimized" => "optimized graph",
            "clif" => "cranelift ir",
            other => other,
        };
        let sections = explanation.sections().filter(|(name, _)| *name == title);
        let texts: Vec<&str> = sections.map(|(_, text)| text.trim_end()).collect();
        Ok(texts.join("\n\n"))
    }
}

impl Default for Arms {
    fn default() -> Self {
        Self::new()
    }
}

fn once<S, C>(engine: &Engine, env: &Env<S>, source: &str, context: &C) -> String
where
    S: Context<Static = S> + 'static,
    C: Context<Static = S>,
{
    let program: Program<S> = match engine.compile(env, source) {
        Ok(program) => program,
        Err(error) => {
            let codes: Vec<&str> = error.diagnostics().iter().map(|d| d.code).collect();
            return format!("rejected: {}", codes.join(", "));
        }
    };
    let mut scratch = Scratch::new();
    let outcome = program.eval(context, &mut scratch);
    let text = show::outcome(source, &outcome);
    let want = match &outcome {
        Ok(celero::Value::Bool(v)) => Ok(*v),
        Ok(_) => Err("no_such_overload"),
        Err(error) => Err(error.kind.name()),
    };
    let tested = program.test(context).map_err(|e| e.kind.name());
    if tested == want { text } else { format!("{DISAGREE} eval: {text}; test: {tested:?}") }
}

/// The environment of a file and the data given last.
#[derive(Debug)]
pub(super) enum Host {
    /// Variables that the file declares.
    Declared { env: Env<Bindings<'static>>, types: Vec<(String, Type)>, bindings: Bindings<'static> },
    /// A request.
    Http {
        env: Env<RequestContext<'static>>,
        request: Box<Request<()>>,
        body: Option<Vec<u8>>,
        source: Option<std::net::SocketAddr>,
    },
}

/// An environment with what the file asks for.
fn set<C>(env: Env<C>, settings: &Settings) -> Result<Env<C>, String> {
    let env = env.container(&settings.container).unchecked(settings.unchecked);
    settings.without.iter().try_fold(env, |env, name| {
        let library = Library::ALL.into_iter().find(|l| l.name() == name);
        Ok(env.library(library.ok_or_else(|| format!("there is no library `{name}`"))?, false))
    })
}

/// An environment without problems, with the functions that the file defines.
fn defined<C>(env: Env<C>, settings: &Settings) -> Result<Env<C>, String> {
    let env = settings.definitions.iter().fold(env, |env, (declaration, body)| env.define(declaration, body));
    match env.problems().first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(env),
    }
}

/// What is wrong with a definition, or `ok`.
fn problem<C>(env: &Env<C>, text: &str) -> Result<String, String> {
    let (declaration, body) = definition(text)?;
    let env = env.clone().define(&declaration, &body);
    Ok(env.problems().first().map_or_else(|| "ok".to_owned(), ToString::to_string))
}

impl Host {
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        if settings.http {
            let env = defined(set(Env::new(), settings)?, settings)?;
            return Ok(Self::Http { env, request: Box::default(), body: None, source: settings.source });
        }
        let mut env = set(Env::dynamic().messages(&Descriptors::well_known()), settings)?;
        let mut named = Vec::new();
        for (name, text) in &settings.variables {
            let ty: Type = text.parse().map_err(|error| format!("type of `{name}`: {error}"))?;
            env = env.variable(name, ty.clone());
            named.push((name.clone(), ty));
        }
        let env = defined(env, settings)?;
        Ok(Self::Declared { bindings: Bindings::new(&env), env, types: named })
    }

    /// Sets the data of the evaluations that follow.
    pub(super) fn give(&mut self, text: &str) -> Result<(), String> {
        match self {
            Self::Declared { env, types, bindings } => *bindings = bind(env, types, text)?,
            Self::Http { request, body, .. } => (**request, *body) = request::parse(text)?,
        }
        Ok(())
    }

    /// The outcome of a rule for the data given, or, if there is any, the data of its own.
    pub(super) fn eval(&self, arms: &Arms, source: &str, own: &str) -> Result<String, String> {
        match self {
            Self::Declared { env, bindings, .. } if own.is_empty() => Ok(arms.eval(env, source, bindings)),
            Self::Declared { env, types, .. } => Ok(arms.eval(env, source, &bind(env, types, own)?)),
            Self::Http { .. } if !own.is_empty() => Err("a request is given in a section of its own".into()),
            Self::Http { env, request, body, source: peer } => {
                let mut context = RequestContext::new(request);
                if let Some(body) = body {
                    context = context.with_body(body);
                }
                if let Some(peer) = peer {
                    context = context.with_source(*peer);
                }
                Ok(arms.eval(env, source, &context))
            }
        }
    }

    pub(super) fn define(&self, text: &str) -> Result<String, String> {
        match self {
            Self::Declared { env, .. } => problem(env, text),
            Self::Http { env, .. } => problem(env, text),
        }
    }

    pub(super) fn stage(&self, arms: &Arms, source: &str, stage: &str) -> Result<String, String> {
        match self {
            Self::Declared { env, .. } => arms.stage(env, source, stage),
            Self::Http { env, .. } => arms.stage(env, source, stage),
        }
    }
}

fn bind(env: &Env<Bindings<'static>>, types: &[(String, Type)], text: &str) -> Result<Bindings<'static>, String> {
    let json: serde_json::Value = serde_json::from_str(text).map_err(|e| format!("`{text}`: {e}"))?;
    let members = json.as_object().ok_or_else(|| format!("`{text}` is no object"))?;
    let mut bindings = Bindings::new(env);
    for (name, json) in members {
        let ty = types.iter().find(|(n, _)| n == name).map_or(&Type::Dyn, |(_, ty)| ty);
        bindings.set(name, data::value(json, ty)?).map_err(|e| e.to_string())?;
    }
    Ok(bindings)
}
