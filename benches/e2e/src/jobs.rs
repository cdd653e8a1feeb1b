//! The jobs, the engines that do each, and what a request must meet before a figure counts.

use std::fmt::Write as _;

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    /// Its name in commands and records.
    pub(crate) name: &'static str,
    /// What it is, for people.
    pub(crate) title: &'static str,
    /// Who does it. The first does nothing, the second is handwritten and what the others are compared with.
    pub(crate) engines: &'static [&'static str],
    /// Whether the proxy answers by itself.
    pub(crate) answered: bool,
}

/// All jobs, in the order of the report.
pub(crate) const JOBS: &[Job] = &[
    Job {
        name: "twenty",
        title: "Twenty rules on each request, which then goes to the server",
        engines: &["none", "handwritten", "celero", "policy", "cel", "cel_default"],
        answered: false,
    },
    Job {
        name: "answered",
        title: "Twenty rules on each request, which the proxy answers itself",
        engines: &["none", "handwritten", "celero", "policy", "cel", "cel_default"],
        answered: true,
    },
    Job {
        name: "header",
        title: "A static header on the request to the server",
        engines: &["none", "handwritten", "policy", "rhai", "rhai_no_interning", "coprocessor"],
        answered: false,
    },
    Job {
        name: "guids",
        title: "Ten headers with GUIDs on the response",
        engines: &["none", "handwritten", "policy", "rhai", "rhai_no_interning", "coprocessor"],
        answered: false,
    },
    Job {
        name: "jwt",
        title: "Name and version of the client from the claims of a token (HS256), as headers to the server",
        engines: &["none", "handwritten", "policy", "rhai", "rhai_no_interning", "coprocessor"],
        answered: false,
    },
    Job {
        name: "strip",
        title: "A hundred and twenty internal headers removed, of which the request has six",
        engines: &["none", "handwritten", "policy"],
        answered: false,
    },
    Job {
        name: "many",
        title: "Ten thousand rules against twenty",
        engines: &["none", "policy_20", "policy_10000"],
        answered: false,
    },
];

impl Job {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        JOBS.iter().find(|job| job.name == name)
    }

    /// The headers of its requests.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let workload = celero_benches::Workload::new("W9").expect("a workload");
        let request = workload.input().request;
        let text = |value: &http::HeaderValue| value.to_str().expect("text").to_owned();
        let mut headers: Vec<(String, String)> =
            request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        match self.name {
            "jwt" => {
                for (_, value) in headers.iter_mut().filter(|(name, _)| name == "authorization") {
                    *value = format!("Bearer {}", crate::token::signed());
                }
            }
            "strip" => {
                headers.extend(internal().into_iter().step_by(20).map(|name| (name, "1".to_owned())));
            }
            "many" => {
                let own = crate::policies::headers_of_many();
                headers.retain(|(name, _)| !own.iter().any(|(known, _)| known == name));
                headers.extend(own);
            }
            _ => {}
        }
        headers
    }

    /// The target of its requests: one that twelve of the twenty rules are true for.
    pub(crate) const TARGET: &str = "/user/1234/view?tab=orders";

    /// What an answer must show: `answer` is the head that came back, and a body in which the server tells the head that it got.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn examine(&self, engine: &str, answer: &str) -> Result<(), String> {
        let (head, echo) = answer.split_once("\r\n\r\n").ok_or("no head")?;
        let fail = |what: &str| Err(format!("{} by {engine}: {what} in {answer}", self.name));
        if !head.starts_with("HTTP/1.1 200") {
            return fail("no 200");
        }
        if engine == "none" {
            return Ok(());
        }
        let ok = match self.name {
            "twenty" => echo.contains("x-matched: 12\n"),
            "answered" => head.contains("x-matched: 12"),
            "many" => {
                let right = crate::policies::matching().map_err(|error| format!("the rules alone: {error}"))?.len();
                (5..=10).contains(&right) && echo.contains(&format!("x-matched: {right}\n"))
            }
            "header" => echo.contains("x-gateway: celero\n"),
            "guids" => (0..10).all(|n| head.contains(&format!("x-guid-{n}: "))),
            "jwt" => echo.contains("x-client-name: checkout-web\n") && echo.contains("x-client-version: 4.2.1\n"),
            "strip" => {
                internal().iter().all(|name| !echo.contains(&format!("{name}: "))) && echo.contains("x-tenant: ")
            }
            _ => false,
        };
        if ok { Ok(()) } else { fail("the job is not done") }
    }
}

/// Names of headers that only proxies of the house may set.
pub(crate) fn internal() -> Vec<String> {
    let systems = ["auth", "cache", "edge", "bot", "waf", "geo", "trace", "lb", "origin", "tls", "quota", "ab"];
    let words = ["id", "score", "token", "region", "state", "version", "hash", "source", "flags", "time"];
    systems.iter().flat_map(|system| words.iter().map(move |word| format!("x-int-{system}-{word}"))).collect()
}

/// A script for `wrk`: the requests of a job, and a report of what it measured in one line.
pub(crate) fn wrk_script(job: &Job) -> String {
    let mut script = String::from("wrk.method = \"GET\"\n");
    for (name, value) in job.headers() {
        // `wrk` adds one of its own unless it knows this one by its own spelling.
        let name = if name == "host" { "Host" } else { &name };
        let _ = writeln!(script, "wrk.headers[{name:?}] = {value:?}");
    }
    script.push_str(
        "done = function(summary, latency, requests)\n\
         local e = summary.errors\n\
         io.write(string.format(\"RESULT %d %d %d %.1f %.1f %.1f\\n\", summary.requests, summary.duration,\n\
         e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(95), latency:percentile(99)))\n\
         end\n",
    );
    script
}
