//! `celero serve`: a local web page on which people write a rule and a request, and see the
//! verdict, the value of each part of the rule, its machine code and its cost. It also shows a
//! policy or a set of rules, read from the files that the command was given, and tries changed texts
//! of them on requests without writing a file.
//!
//! [`Server::bind`] opens the socket, [`Server::run`] serves until the process ends. The server
//! keeps no state: each answer follows from the request and the files alone. The state of the page
//! is in the fragment of its address, which browsers do not send.
//!
//! # The API
//!
//! The page is static (`/`, its scripts, style and icon); `/lab` is the report of the lab that the
//! command was given, in an origin of its own and without scripts; everything else is JSON. Spans
//! are `[start, end]` in bytes of the text they are about.
//!
//! Each request of the API needs the header `x-celero`, with any value.
//!
//! | request | body | answer |
//! |---|---|---|
//! | `POST /api/rule` | `{"rule": "..", "language": "cel", "input": "..", "source": "192.0.2.7:4711", "measure": false}` | `diagnostics`, `type`, `input`, `result`, `parts`, `stages`, `code`, `ranges`, `cost`, `measured` |
//! | `POST /api/names` | the same, without `rule` | `variables`, `functions`, `words`: what may be completed, with types and documentation |
//! | `GET /api/start` | | what the command was given: `rule` as `{"name", "text", "language"}`, the names `policy`, `rules`, `requests` and `lab`, each null if not given; `version`, `architecture`, `optimized`, `body_bytes` |
//! | `GET /api/policy` | | `name`, `text`, `ok`, `diagnostics`, the `rules` with their places; if it is valid the results of its `cases`, the rules that no case matches as `unmatched`, and `explanation` |
//! | `POST /api/policy/check` | `{"text": "..", "cases": [{"name", "text"}]}` | the same about this text, without `explanation`; `cases` may be left out |
//! | `POST /api/policy` | `{"text": "..", "input": "..", "source": "..", "rule": ".."}` | what the policy does with the request: `phases`, `matched`, `answer`, `refusal`, `request`, `response`, `labels`, `log`; if the connection is closed `closed_by`; `reasons`: why each rule that decided, and `rule`, matches or not |
//! | `POST /api/policy/requests` | `{"text": "..", "requests": "..", "source": "..", "time": 0}` | `decisions`: of each recorded request `request`, `text`, `source` and what the policy does as `decision`; how many are `left`; what was `left_out` |
//! | `GET /api/rules` | | `files` with their texts, `ok`, the rules as `texts` with their places, `diagnostics`; if all rules are valid `rules`, how each is found, `summary`, `expected`, `index_bytes`, `code_bytes` |
//! | `POST /api/rules/check` | `{"files": [{"name", "text", "language", "expression"}]}` | the same about these texts |
//! | `POST /api/rules` | `{"files": [..], "input": "..", "source": "..", "rule": 0}` | which rules are `evaluated` for the request, which `matched` or `failed`, and which is `first`; `reasons` of that and of `rule`; `ns` of the whole set; `timed`: `ns` of each of the first 50 evaluated rules |
//! | `POST /api/rules/requests` | `{"files": [..], "requests": "..", "source": ".."}` | as for a policy; a `decision` has `first`, `matched`, `count`, `failed` |
//!
//! Without `text`, `files` or `requests` those of the command are meant. A changed text uses only the
//! files and environment variables that the policy of the command uses, each for the same purpose.
//!
//! `language` is `cel` or `filter`. `input` is an HTTP/1.1 request as text, a line of `curl`, a
//! JSON object of variables and their values, or empty; the answer's `input` says as which it was
//! read. `result` is `{"value": {"text"}}`, `{"error": {"kind", "message", "span", "help"}}` or, if
//! the tiers differ, `{"disagree": {"native", "interpreter"}}` with a result of each. `parts` has
//! each part of the rule with its `depth`, number of `evaluations` and first `results`. `code` has
//! the instructions, `ranges` the node of the graph and the span of the rule that each range of
//! bytes came from. `measured` is there if it was asked for: nanoseconds of an evaluation in each
//! tier, and of checking and compiling.
//!
//! An error of the API is `{"error": ".."}` with a status of 400 and above.
//!
//! # What hostile clients can't do
//!
//! [`limits`] has every bound: connections, time and bytes of heads, bodies and connections,
//! evaluations at once, lengths of rules, steps and memory of evaluations, lengths of values in
//! answers. A request must name the server by an IP address or as `localhost`, so that a page of
//! another origin can't reach it through a name that changes its address (DNS rebinding). What
//! evaluates takes JSON only. Every request of the API needs a header of its own, which a page of
//! another origin can't set without being asked for permission, so not even an image of such a page
//! starts work. Requests with a foreign `Origin` or `Sec-Fetch-Site` are refused, and the server
//! sends no CORS headers. Every answer has a `content-security-policy`.

mod api;
mod assets;
mod connections;
mod files;
mod guard;
pub mod limits;
mod reply;
mod routes;
mod work;

pub use files::{Files, FirstRule, RuleFiles, admit};

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// A server whose socket is open.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
}

impl Server {
    /// Opens the socket. Port 0 chooses a free one.
    ///
    /// # Errors
    /// The address can't be used.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener })
    }

    /// Returns the address of the socket.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves the page and what it shows of the files until the process ends, on this thread and on
    /// at most [`limits::EVALUATIONS`] others.
    ///
    /// # Errors
    /// The threads or the queue of events can't be made.
    pub fn run(self, files: Files) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(limits::EVALUATIONS)
            .thread_stack_size(limits::STACK)
            .build()?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            connections::serve(listener, Arc::new(files)).await;
            Ok(())
        })
    }
}
