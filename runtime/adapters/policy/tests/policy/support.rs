//! What the tests of policies share.

use celero_policy::{Decision, Exchange, LogFields, Outcome, Policy, PolicyAnswer, RequestSummary};
use http::request::Parts;
use http::response;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A policy, which must be right.
pub(crate) fn policy(text: &str) -> Policy {
    Policy::parse("policy.yaml", text, Path::new(".")).unwrap()
}

/// What is wrong with a policy.
pub(crate) fn wrong(text: &str) -> String {
    match Policy::parse("policy.yaml", text, Path::new(".")) {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn exchange() -> Exchange {
    Exchange::new(Some("192.0.2.7:4711".parse().unwrap()), Some("10.0.0.1:443".parse().unwrap()))
}

/// A request's head: `GET /path`, then headers. Without `host` among them it is for `localhost`.
pub(crate) fn head(line: &str, headers: &[(&str, &str)]) -> Parts {
    let (method, uri) = line.split_once(' ').unwrap();
    let mut builder = http::Request::builder().method(method).uri(uri);
    if !headers.iter().any(|(name, _)| *name == "host") {
        builder = builder.header("host", "localhost");
    }
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(()).unwrap().into_parts().0
}

pub(crate) fn response(status: u16, headers: &[(&str, &str)]) -> response::Parts {
    let builder = http::Response::builder().status(status);
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(()).unwrap().into_parts().0
}

/// Runs the phase `request` on a copy of a head, without a delay.
pub(crate) fn ask(policy: &Policy, head: &Parts, exchange: &mut Exchange) -> Outcome {
    policy.request(&mut head.clone(), exchange).outcome
}

/// Runs the phase `response` on a copy of a head.
pub(crate) fn ask_response(
    policy: &Policy,
    head: &Parts,
    response: &response::Parts,
    exchange: &mut Exchange,
) -> Outcome {
    policy.response(head, &mut response.clone(), exchange)
}

pub(crate) fn answer(decision: impl Into<Decision>) -> PolicyAnswer {
    match decision.into().outcome {
        Outcome::Respond(answer) => *answer,
        Outcome::Continue => panic!("it goes on"),
    }
}

/// The status of an answer, 0 for a request that goes on.
pub(crate) fn status(decision: impl Into<Decision>) -> u16 {
    match decision.into().outcome {
        Outcome::Respond(answer) => answer.status.as_u16(),
        Outcome::Continue => 0,
    }
}

/// The edits as text.
pub(crate) fn edits(exchange: &Exchange) -> Vec<String> {
    use celero_policy::Edit::{Add, Remove, Set};
    let shown = exchange.edits().iter().map(|edit| match edit {
        Set { name, value } => format!("{name} = {}", value.to_str().unwrap()),
        Add { name, value } => format!("{name} + {}", value.to_str().unwrap()),
        Remove { name } => format!("- {name}"),
    });
    shown.collect()
}

pub(crate) fn log(
    policy: &Policy,
    head: &Parts,
    response: Option<&response::Parts>,
    exchange: &mut Exchange,
) -> LogFields {
    let end = RequestSummary {
        started: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        duration: Duration::from_millis(1500),
        bytes_sent: 42,
    };
    policy.log(head, response, &end, exchange)
}

/// A folder of a test's own, which is removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("celero-policy-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(file);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
