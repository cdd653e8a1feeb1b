//! The jobs as Rhai scripts, compiled once. A script reads and changes the headers of a message, as in Apollo Router.

use crate::token::Verifier;
use http::{HeaderMap, HeaderName, HeaderValue};
use rhai::{AST, Dynamic, Engine, EvalAltResult, ImmutableString, Map, Scope};
use std::sync::{Arc, Mutex, PoisonError};

/// A message that a script reads and changes.
#[derive(Clone)]
struct Message(Arc<Mutex<HeaderMap>>);

fn get(headers: &mut Message, name: &str) -> Dynamic {
    let headers = headers.0.lock().unwrap_or_else(PoisonError::into_inner);
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.map_or(Dynamic::UNIT, |value| value.to_owned().into())
}

fn set(headers: &mut Message, name: &str, value: ImmutableString) -> Result<(), Box<EvalAltResult>> {
    let name: HeaderName = name.parse().map_err(|_| "not a header name")?;
    let value = HeaderValue::from_str(&value).map_err(|_| "not a header value")?;
    headers.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, value);
    Ok(())
}

/// A script, ready to run.
pub(crate) struct Script {
    engine: Engine,
    ast: AST,
}

fn source(job: &str) -> &'static str {
    match job {
        "header" => r#"fn process(headers) { headers["x-gateway"] = "celero"; }"#,
        "guids" => r#"fn process(headers) { for n in 0..10 { headers[`x-guid-${n}`] = uuid(); } }"#,
        _ => {
            r#"fn process(headers) {
                let claims = verify(headers["authorization"]);
                headers["x-client-name"] = claims.client_name;
                headers["x-client-version"] = claims.client_version;
            }"#
        }
    }
}

impl Script {
    /// Compiles the script of a job. Without interning, strings are not looked up in a table that all threads share.
    pub(crate) fn new(job: &str, interning: bool) -> Self {
        let mut engine = Engine::new();
        if !interning {
            engine.set_max_strings_interned(0);
        }
        let verifier = Verifier::new();
        engine.register_type_with_name::<Message>("Headers");
        engine.register_indexer_get(get).register_indexer_set(set);
        engine.register_fn("uuid", || uuid::Uuid::new_v4().to_string());
        engine.register_fn("verify", move |authorization: ImmutableString| -> Result<Map, Box<EvalAltResult>> {
            let claims = verifier.claims(authorization.as_bytes()).ok_or("a bad token")?;
            Ok(Map::from([
                ("client_name".into(), claims.client_name.into()),
                ("client_version".into(), claims.client_version.into()),
            ]))
        });
        let ast = engine.compile(source(job)).expect("a script");
        Self { engine, ast }
    }

    /// Runs the script and returns the headers as it leaves them.
    pub(crate) fn run(&self, headers: HeaderMap) -> Result<HeaderMap, Box<EvalAltResult>> {
        let message = Message(Arc::new(Mutex::new(headers)));
        self.engine.call_fn::<()>(&mut Scope::new(), &self.ast, "process", (message.clone(),))?;
        Ok(std::mem::take(&mut *message.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
