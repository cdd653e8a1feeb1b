//! Real proxies on loopback: Pingora with the same job done by handwritten code, by celero, by the `cel` crate, by Rhai and by
//! a coprocessor. `e2e run` starts the processes, loads them in turns with `wrk`, and reports the processor time of a request.
#![expect(clippy::expect_used, reason = "a benchmark whose preparation fails has nothing to measure")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

mod builtin;
mod chart;
mod coprocessor;
mod jobs;
mod load;
mod policies;
mod process;
mod proxy;
mod report;
mod run;
mod script;
mod token;
mod upstream;

use clap::{Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Whatever went wrong.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
#[command(about = "Measures what rules cost real proxies on this machine")]
struct Arguments {
    #[command(subcommand)]
    role: Role,
}

#[derive(Subcommand)]
enum Role {
    /// Start everything, measure, report.
    Run(run::Options),
    /// Write tables and charts of a record.
    Show {
        /// The record.
        record: PathBuf,
        /// Where to write the charts.
        #[arg(long)]
        charts: Option<PathBuf>,
    },
    /// A proxy that does a job by an engine.
    Proxy {
        /// The job.
        job: String,
        /// The engine.
        engine: String,
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
        /// The server behind.
        #[arg(long)]
        upstream: SocketAddr,
        /// The coprocessor.
        #[arg(long)]
        coprocessor: SocketAddr,
        /// Threads.
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
    /// A server that answers `ok`, and what it received to those who ask.
    Upstream {
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
    },
    /// A server that does the jobs for proxies that ask it.
    Coprocessor {
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
    },
}

fn main() -> Result<(), Failure> {
    match Arguments::parse().role {
        Role::Run(options) => run::run(&options),
        Role::Show { record, charts } => report::show(&record, charts.as_deref()),
        Role::Proxy { job, engine, listen, upstream, coprocessor, threads } => {
            proxy::serve(&job, &engine, &proxy::Places { listen, upstream, coprocessor, threads })
        }
        Role::Upstream { listen } => upstream::serve(listen),
        Role::Coprocessor { listen } => coprocessor::serve(listen),
    }
}
