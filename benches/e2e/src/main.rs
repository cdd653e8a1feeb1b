//! Measures what rules cost in a real proxy: Pingora on loopback, with the same job done by
//! handwritten code, by celero, by the `cel` crate, by Rhai and by a coprocessor.
//!
//! `e2e run` starts the processes, loads them one after the other with `wrk`, and reports the CPU time of a request.
//! `jobs.rs` is the table of jobs and says how to add one.
#![expect(clippy::expect_used, reason = "a benchmark whose preparation fails has nothing to measure")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

mod builtin;
mod chart;
mod check;
mod coprocessor;
mod jobs;
mod load;
mod policies;
mod process;
mod proxy;
mod record;
mod report;
mod requests;
mod run;
mod script;
mod token;
mod upstream;

use clap::{Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Any error that ends the command.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
#[command(about = "Measures what rules cost real proxies on this machine")]
struct Arguments {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Start all processes, measure, and print tables.
    Run(run::Options),
    /// Print the tables of a record, and draw its charts.
    Show {
        /// The record.
        record: PathBuf,
        /// Where to write the charts.
        #[arg(long)]
        charts: Option<PathBuf>,
    },
    /// Run a proxy in which one engine does one job (`run` starts it).
    Proxy {
        /// The job.
        job: String,
        /// The engine.
        engine: String,
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
        /// Address of the server behind the proxy.
        #[arg(long)]
        upstream: SocketAddr,
        /// Address of the coprocessor.
        #[arg(long)]
        coprocessor: SocketAddr,
        /// Worker threads.
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
    /// Run the server behind the proxies. It answers `ok`, or, to requests with `x-echo`, their own head.
    Upstream {
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Run the coprocessor: an HTTP server that does the jobs for proxies.
    Coprocessor {
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
    },
}

fn main() -> Result<(), Failure> {
    match Arguments::parse().role {
        Role::Run(options) => run::run(&options),
        Role::Show { record, charts } => report::show(&record, charts.as_deref()),
        Role::Proxy { job, engine, listen, upstream, coprocessor, threads } => {
            proxy::serve(&job, &engine, &proxy::Addresses { listen, upstream, coprocessor, threads })
        }
        Role::Upstream { listen } => upstream::serve(listen),
        Role::Coprocessor { listen } => coprocessor::serve(listen),
    }
}
