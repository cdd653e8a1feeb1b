//! The real proxy, in this process, over sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

mod answering;
mod backend;
mod bodies;
mod canonical;
mod certificates;
mod client;
mod clients;
mod config;
mod connections;
mod credentials;
mod docs;
mod example;
mod failover;
mod h2;
mod h2_abuse;
mod hand_over;
mod heads;
mod http1;
mod lifecycle;
mod limits;
mod list_kills;
mod lists;
mod load;
mod metrics;
mod operators;
mod overload;
mod phases;
mod process;
mod rate_limit_server;
mod raw_h2;
mod recorder;
mod reload;
mod remote_limits;
mod response_bodies;
mod route_actions;
mod running;
mod scripted;
mod slow_bodies;
mod smuggling;
mod spans;
mod spellings;
mod tls;
mod tls_for_rules;
mod upstreams;
