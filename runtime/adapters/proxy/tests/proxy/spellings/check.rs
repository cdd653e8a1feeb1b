//! The check of spellings: what is wrong with an answer, and with what reached the server.

use crate::client::{Client, Echo};
use crate::recorder::Recorder;

/// Returns what differs between what the server got and what the rules told it that they saw.
fn difference(echo: &Echo) -> Option<String> {
    let one = |name: &str| match echo.header(name)[..] {
        [value] => Some(value),
        _ => None,
    };
    // A server of HTTP/2 has scheme and host in the target.
    let target = echo.0["target"].as_str().unwrap_or_default().parse::<http::Uri>().unwrap_or_default();
    let path = target.path_and_query().map(http::uri::PathAndQuery::as_str);
    let host = one("host").or(target.authority().map(http::uri::Authority::as_str));
    let none = |name: &str| echo.header(name).is_empty();
    let checks = [
        ("path", path.is_some() && path == one("x-path")),
        ("host", host.is_some() && host.and_then(|host| host.split(':').next()) == one("x-host")),
        ("a field that the policy sets", one("x-user") == Some("policy")),
        ("a field that the policy removes", none("x-restricted")),
        ("a field that imitates one", none("x_user") && none("x.restricted")),
        ("cookies", echo.header("cookie").len() <= 1),
    ];
    let (wrong, _) = checks.into_iter().find(|(_, right)| !right)?;
    Some(format!("{wrong}: {:?}", echo.0))
}

/// What became of the spellings of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Requests that the server answered.
    pub(super) served: usize,
    /// Requests without an answer.
    pub(super) lost: usize,
    pub(super) violations: Vec<String>,
}

impl Tally {
    /// Judges an answer.
    pub(super) fn take(&mut self, status: u16, body: &[u8], forbidden: bool, spelling: impl Fn() -> String) {
        let violation = match status {
            200 if forbidden => Some("a forbidden request reached the server".to_owned()),
            200 => match serde_json::from_slice::<serde_json::Value>(body) {
                Ok(echo) if echo["headers"].is_array() => difference(&Echo(echo)),
                _ => Some("an answer that is no echo".to_owned()),
            },
            400 | 403 => None,
            other => Some(format!("status {other}")),
        };
        self.served += usize::from(status == 200);
        self.violations.extend(violation.map(|violation| format!("{violation}\n{}", spelling())));
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.served += other.served;
        self.lost += other.lost;
        self.violations.extend(other.violations);
        self
    }
}

/// Adds what was wrong for the server: nothing may reach it but the requests that it answered.
pub(super) fn with_server(tallies: [Tally; 4], server: &Recorder) -> Tally {
    let mut tally = tallies.into_iter().fold(Tally::default(), Tally::and);
    let seen = server.seen();
    tally.violations.extend(seen.faults);
    if seen.requests != tally.served {
        tally.violations.push(format!("{} requests reached the server, {} were answered", seen.requests, tally.served));
    }
    tally
}

/// What no policy can do wrong: the check must find it too.
#[test]
fn forged_answers_are_found() {
    let echo = || {
        let headers = [("host", "a.example:80"), ("x-path", "/a?b"), ("x-host", "a.example"), ("x-user", "policy")];
        serde_json::json!({ "target": "/a?b", "headers": headers })
    };
    let judged = |status, echo: &serde_json::Value, forbidden| {
        let mut tally = Tally::default();
        tally.take(status, echo.to_string().as_bytes(), forbidden, String::new);
        (tally.served, tally.violations.concat())
    };
    assert_eq!(judged(200, &echo(), false), (1, String::new()));
    assert_eq!(judged(403, &echo(), true), (0, String::new()));
    assert!(judged(200, &echo(), true).1.starts_with("a forbidden request"));
    assert!(judged(500, &echo(), false).1.starts_with("status 500"));
    assert!(judged(200, &"Hello".into(), false).1.starts_with("an answer that is no echo"));
    let forged = |change: fn(&mut serde_json::Value)| {
        let mut echo = echo();
        change(&mut echo);
        judged(200, &echo, false).1
    };
    assert!(forged(|echo| echo["target"] = "/b?b".into()).starts_with("path"));
    assert!(forged(|echo| echo["headers"][0][1] = "b.example".into()).starts_with("host"));
    assert!(forged(|echo| echo["headers"][3][1] = "client".into()).starts_with("a field that the policy sets"));
    for (name, finding) in [
        ("x-user", "a field that the policy sets"),
        ("x-path", "path"),
        ("x-restricted", "a field that the policy removes"),
        ("x.restricted", "a field that imitates one"),
    ] {
        let mut echo = echo();
        echo["headers"].as_array_mut().unwrap().push([name, "policy"].into());
        assert!(judged(200, &echo, false).1.starts_with(finding), "{name}");
    }
    // A request that reaches the server though the client got no answer of it.
    let server = Recorder::keeping();
    Client::connect(server.address).request("GET /a", &[], b"").reply();
    let tally = with_server(Default::default(), &server);
    assert_eq!(tally.violations, ["1 requests reached the server, 0 were answered"]);
}
