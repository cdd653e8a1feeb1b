//! What rules read: the environments of requests and of made-up values, and the engines that all rules share.

use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Bindings, Engine, Env, Tier, Type};
use celero_frontend::filter::{Scheme, http_scheme};
use celero_frontend::{Limits, parse};
use celero_tests::shape::Shapes;
use celero_tooling::language::Language;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

/// What a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// Requests: the fields of `RequestContext`.
    Request,
    /// Variables of unknown types with made-up values that have the shapes that the rule expects.
    Bindings,
}

pub(crate) type OfRequests = RequestContext<'static>;
pub(crate) type OfValues = Bindings<'static>;

/// What all rules share.
pub(crate) struct Shared {
    pub(crate) native: Engine,
    pub(crate) interpreter: Engine,
    pub(crate) cel: Env<OfRequests>,
    pub(crate) filter: Env<OfRequests>,
    pub(crate) scheme: Arc<Scheme>,
}

pub(crate) static SHARED: LazyLock<Shared> = LazyLock::new(|| Shared {
    // Each rule is compiled several times, each time by the code generator.
    native: Engine::builder().tier(Tier::Native).copy_code(false).build(),
    interpreter: Engine::builder().tier(Tier::Interpret).build(),
    cel: Env::new(),
    filter: Env::new().filter_language(FilterLanguage::http().any_list(true)),
    scheme: {
        let mut scheme = http_scheme();
        scheme.accept_all_lists();
        Arc::new(scheme)
    },
});

pub(crate) fn request_env(language: Language) -> &'static Env<OfRequests> {
    if language == Language::filter() { &SHARED.filter } else { &SHARED.cel }
}

/// An environment with the variables of these CEL expressions, of unknown types.
pub(crate) fn values_env(sources: &[&str]) -> (Env<OfValues>, Vec<Shapes>) {
    const TYPES: &[&str] = &["int", "uint", "double", "bool", "string", "bytes", "list", "map", "type", "null_type"];
    let trees = sources.iter().filter_map(|source| parse(source, &Limits::default()).ok());
    let shapes: Vec<Shapes> = trees.map(|tree| Shapes::of(&tree)).collect();
    let mut names: Vec<&str> = shapes.iter().flat_map(Shapes::names).filter(|name| !TYPES.contains(name)).collect();
    names.sort_unstable();
    names.dedup();
    let env = names.into_iter().fold(Env::dynamic(), |env, name| env.variable(name, Type::Dyn));
    (env, shapes)
}

/// Returns what a rule reads.
///
/// # Errors
/// The first error: it does not compile for requests, nor with variables of unknown types.
pub(crate) fn host_of(source: &str, language: Language) -> Result<Host, String> {
    let first =
        |error: celero::CompileError| error.diagnostics().first().map_or_else(String::new, |d| d.message.clone());
    match SHARED.native.check(request_env(language), source) {
        Ok(_) => Ok(Host::Request),
        Err(error) if language == Language::filter() => Err(first(error)),
        Err(_) => SHARED.native.check(&values_env(&[source]).0, source).map(|_| Host::Bindings).map_err(first),
    }
}

/// Whether a rule has native code.
///
/// # Errors
/// Why it has none.
pub(crate) fn compiles(source: &str, language: Language, host: Host) -> Result<(), String> {
    let compiled = match host {
        Host::Request => SHARED.native.compile(request_env(language), source).map(|_| ()),
        Host::Bindings => SHARED.native.compile(&values_env(&[source]).0, source).map(|_| ()),
    };
    compiled.map_err(|_| "no native code".to_owned())
}
