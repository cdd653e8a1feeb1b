//! The requests of each job: target, headers, and a script for `wrk` that sends them.

use crate::jobs::{Job, MANY, internal_names};
use crate::token;
use std::fmt::Write as _;

/// The target of all requests. Twelve of the twenty rules are true for it.
pub(crate) const TARGET: &str = "/user/1234/view?tab=orders";

/// The headers of a job's requests.
pub(crate) fn headers(job: &Job) -> Vec<(String, String)> {
    let workload = celero_benches::Workload::new("W9").expect("a workload");
    let request = workload.input().request;
    let text = |value: &http::HeaderValue| value.to_str().expect("text").to_owned();
    let mut headers: Vec<(String, String)> =
        request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    match job.name {
        "jwt" => {
            for (_, value) in headers.iter_mut().filter(|(name, _)| name == "authorization") {
                *value = format!("Bearer {}", token::signed());
            }
        }
        "strip" => {
            headers.extend(internal_names().into_iter().step_by(20).map(|name| (name, "1".to_owned())));
        }
        "many" => {
            let own = celero_benches::rulesets::headers_for(MANY);
            headers.retain(|(name, _)| !own.iter().any(|(known, _)| known == name));
            headers.extend(own);
        }
        _ => {}
    }
    headers
}

/// A Lua script for `wrk` that sends a job's requests and prints what it measured as one line, `RESULT ..`.
pub(crate) fn wrk_script(job: &Job) -> String {
    let mut script = String::from("wrk.method = \"GET\"\n");
    for (name, value) in headers(job) {
        // `wrk` adds a second `Host` unless the name is spelled like this.
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
