//! The table of jobs: what a proxy has to do to a message, and which engines do it.
//!
//! To add a job, add its row here, its requests in `requests.rs`, the check of its result in
//! `check.rs`, and what each of its engines does in `proxy.rs`, `policies.rs` (celero), `script.rs`
//! (Rhai) and `coprocessor.rs`.

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    /// Its name in commands and records.
    pub(crate) name: &'static str,
    /// Title in reports.
    pub(crate) title: &'static str,
    /// The engines that do it. The first does nothing; the second is handwritten Rust, with which
    /// the others are compared.
    pub(crate) engines: &'static [&'static str],
    /// Whether the proxy answers the request instead of sending it to the server.
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
    /// The job of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        JOBS.iter().find(|job| job.name == name)
    }
}

/// How many rules the large set of the job "many" has.
pub(crate) const MANY: usize = 10_000;

/// The names of the job "strip": 120 headers that only internal proxies may set.
pub(crate) fn internal_names() -> Vec<String> {
    let systems = ["auth", "cache", "edge", "bot", "waf", "geo", "trace", "lb", "origin", "tls", "quota", "ab"];
    let words = ["id", "score", "token", "region", "state", "version", "hash", "source", "flags", "time"];
    systems.iter().flat_map(|system| words.iter().map(move |word| format!("x-int-{system}-{word}"))).collect()
}
