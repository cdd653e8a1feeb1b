//! The `cel` crate: programs compiled once, one shared environment, a context for each evaluation.

use crate::{Input, Runner, Workload};
use cel::common::traits::Indexer;
use cel::common::types::{BYTES_TYPE, CelBool, CelBytes, CelString, MAP_TYPE, STRING_TYPE, Type};
use cel::common::value::{CowVal, Val};
use cel::{Context, Env, ExecutionError, Program, Value};
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

fn text<'v>(args: &'v [CowVal<'_, '_>], i: usize) -> Result<&'v str, ExecutionError> {
    args.get(i)
        .and_then(|v| v.downcast_ref::<CelString<'_>>())
        .map(|s| s.inner())
        .ok_or_else(|| ExecutionError::function_error("cidrContains", "not a string"))
}

fn cidr_contains<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let invalid = |e: ipnet::AddrParseError| ExecutionError::function_error("cidrContains", e);
    let network: ipnet::IpNet = text(&args, 0)?.parse().map_err(invalid)?;
    let address: IpAddr = text(&args, 1)?
        .parse()
        .map_err(|e: std::net::AddrParseError| ExecutionError::function_error("cidrContains", e))?;
    Ok(CowVal::owned(CelBool::from(network.contains(&address))))
}

fn plain(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(0.0)), Value::Int),
        serde_json::Value::String(text) => Value::String(Arc::new(text)),
        serde_json::Value::Array(items) => Value::List(Arc::new(items.into_iter().map(plain).collect())),
        serde_json::Value::Object(members) => {
            members.into_iter().map(|(key, value)| (key, plain(value))).collect::<HashMap<String, Value>>().into()
        }
    }
}

fn json<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let invalid = |e: serde_json::Error| ExecutionError::function_error("json", e);
    let body = args.first().and_then(|v| v.downcast_ref::<CelBytes<'_>>());
    let body = body.ok_or_else(|| ExecutionError::function_error("json", "not bytes"))?;
    let value = plain(serde_json::from_slice(body.inner()).map_err(invalid)?);
    let value: Box<dyn Val> = value.try_into().map_err(|_| ExecutionError::function_error("json", "not a value"))?;
    Ok(CowVal::Owned(value))
}

#[derive(Clone, Copy, Debug)]
struct Request<'r> {
    method: &'r Method,
    uri: &'r Uri,
    headers: &'r HeaderMap,
    body: &'r [u8],
}

impl<'r> Request<'r> {
    fn of(head: &'r http::Request<()>, body: &'r [u8]) -> Self {
        Self { method: head.method(), uri: head.uri(), headers: head.headers(), body }
    }
}

#[derive(Clone, Copy, Debug)]
struct Headers<'r>(&'r HeaderMap);
#[derive(Clone, Copy, Debug)]
struct Source(IpAddr);

fn key(key: &dyn Val) -> &str {
    key.downcast_ref::<CelString<'_>>().map_or("", |k| k.inner())
}

fn string<'b, 'v>(text: &'v str) -> CowVal<'b, 'v> {
    CowVal::owned(CelString::from(text))
}

macro_rules! resolved {
    ($type:ident $(<$lifetime:lifetime>)?, $self:ident, $key:ident, $get:expr) => {
        impl$(<$lifetime>)? Val for $type$(<$lifetime>)? {
            fn get_type(&self) -> &Type {
                &MAP_TYPE
            }
            fn cel_type() -> &'static Type {
                &MAP_TYPE
            }
            fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
            where
                Self: 'v,
            {
                Some(self)
            }
            fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
            where
                Self: 'v,
            {
                Box::new(*self)
            }
        }
        impl$(<$lifetime>)? Indexer for $type$(<$lifetime>)? {
            fn get<'b, 'v>(&'b self, key_value: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
            where
                Self: 'v,
            {
                let $self = self;
                let $key = key(key_value);
                $get
            }
            fn steal<'v>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
            where
                Self: 'v,
            {
                self.get(key).map(CowVal::into_owned)
            }
        }
    };
}

resolved!(Request<'r>, this, key, {
    match key {
        "method" => {
            let method: &'r Method = this.method;
            Ok(string(method.as_str()))
        }
        "path" => {
            let uri: &'r Uri = this.uri;
            Ok(string(uri.path()))
        }
        "host" => {
            let headers: &'r HeaderMap = this.headers;
            Ok(string(headers.get("host").and_then(|v| v.to_str().ok()).unwrap_or_default()))
        }
        "headers" => Ok(CowVal::owned(Headers(this.headers))),
        "body" => {
            let body: &'r [u8] = this.body;
            Ok(CowVal::owned(CelBytes::from(body)))
        }
        _ => Err(ExecutionError::no_such_key(key)),
    }
});
resolved!(Headers<'r>, this, key, {
    let map: &'r HeaderMap = this.0;
    let value = map.get(key).and_then(|v| v.to_str().ok());
    value.map(string).ok_or_else(|| ExecutionError::no_such_key(key))
});
resolved!(Source, this, _key, Ok(CowVal::owned(CelString::from(this.0.to_string()))));

fn answer(program: &Program, context: &Context<'_, '_>) -> u64 {
    let Ok(value) = Value::resolve_val(program.expression(), context) else { return u64::MAX };
    let value: &dyn Val = value.as_ref();
    match (value.downcast_ref::<CelBool>(), value.downcast_ref::<CelString<'_>>()) {
        (Some(b), _) => u64::from(*b.inner()),
        (_, Some(s)) => s.inner().len() as u64,
        _ => u64::MAX,
    }
}

/// How the request gets into the context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As values, added one by one: what the crate's documentation shows.
    Added,
    /// As values of our own that are resolved when they are read.
    Lazy,
}

/// The request as values.
fn added(input: &Input, name: &str) -> Value {
    let text = |t: &str| Value::String(Arc::new(t.to_owned()));
    let headers: HashMap<String, Value> = input
        .request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), text(value.to_str().unwrap_or_default())))
        .collect();
    let mut request: HashMap<String, Value> = HashMap::from([
        ("method".to_owned(), text(input.request.method().as_str())),
        ("path".to_owned(), text(input.request.uri().path())),
        ("headers".to_owned(), headers.into()),
    ]);
    if name == "W12" {
        request.insert("body".to_owned(), Value::Bytes(Arc::new(input.body.clone())));
    }
    request.into()
}

/// The crate's functions and two of our own.
fn env() -> Arc<Env> {
    let mut env = Env::stdlib();
    env.add_overload("cidrContains", "cidr_contains", vec![STRING_TYPE, STRING_TYPE], cidr_contains)
        .expect("a new function");
    env.add_overload("json", "json_bytes", vec![BYTES_TYPE], json).expect("a new function");
    Arc::new(env)
}

/// The rules of a workload, compiled by the crate, for the heads of requests that a proxy has.
pub struct HeadRules {
    programs: Vec<Program>,
    env: Arc<Env>,
    shares_env: bool,
}

impl std::fmt::Debug for HeadRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeadRules").field("rules", &self.programs.len()).finish_non_exhaustive()
    }
}

impl HeadRules {
    /// Compiles them. With `shares_env`, all evaluations have one environment, which its users have
    /// to know of; otherwise each request has a default context, as the crate's documentation
    /// shows.
    #[must_use]
    pub fn new(workload: &Workload, shares_env: bool) -> Self {
        let env = env();
        Self { programs: programs(&env, workload), env, shares_env }
    }

    /// How many of them are true; values are resolved when they are read.
    #[must_use]
    pub fn count(&self, head: &Parts, address: IpAddr) -> u64 {
        let mut context = Context::with_env(if self.shares_env { self.env.clone() } else { env() });
        let request = Request { method: &head.method, uri: &head.uri, headers: &head.headers, body: &[] };
        context.add_variable_as_val("request", Box::new(request));
        context.add_variable_as_val("source", Box::new(Source(address)));
        self.programs.iter().filter(|program| answer(program, &context) == 1).count() as u64
    }
}

fn programs(env: &Env, workload: &Workload) -> Vec<Program> {
    let source = |rule: &crate::rules::WorkloadRule| rule.cel(|net| format!("cidrContains({net:?}, source.address)"));
    workload.rules.iter().map(|rule| env.compile(&source(rule)).expect("a rule that compiles")).collect()
}

/// Rules compiled by the crate: finds those that are true of a request from an address, one after the other with one
/// context, whose values are resolved when they are read.
pub(crate) fn all(sources: &[String]) -> impl Fn(&http::Request<()>, IpAddr, &mut Vec<usize>) + use<> {
    let env = env();
    let programs: Vec<Program> = sources.iter().map(|s| env.compile(s).expect("a rule that compiles")).collect();
    move |request, address, matched| {
        let mut context = Context::with_env(env.clone());
        context.add_variable_as_val("request", Box::new(Request::of(request, &[])));
        context.add_variable_as_val("source", Box::new(Source(address)));
        let numbered = programs.iter().enumerate();
        matched.extend(numbered.filter(|(_, program)| answer(program, &context) == 1).map(|(number, _)| number));
    }
}

/// The workload's rules compiled by the crate.
pub(crate) fn runner(workload: &Workload, mode: Mode) -> Runner {
    let env = env();
    let programs = programs(&env, workload);
    let name = workload.name;
    Box::new(move |input: &Input| {
        let mut context = Context::with_env(env.clone());
        match mode {
            Mode::Added => {
                let address = Value::String(Arc::new(input.peer.ip().to_string()));
                context.add_variable_from_value("request", added(input, name));
                context.add_variable_from_value("source", HashMap::from([("address".to_owned(), address)]));
            }
            Mode::Lazy => {
                context.add_variable_as_val("request", Box::new(Request::of(&input.request, &input.body)));
                context.add_variable_as_val("source", Box::new(Source(input.peer.ip())));
            }
        }
        match name {
            "W10" => {
                context.add_variable_from_value("a", input.a);
                context.add_variable_from_value("b", input.b);
            }
            "W11" => context.add_variable_from_value("groups", input.groups.clone()),
            _ => {}
        }
        programs.iter().map(|program| answer(program, &context)).sum()
    })
}
