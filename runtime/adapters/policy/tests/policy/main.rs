//! Policies as hosts and authors see them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, clippy::string_slice, reason = "tests")]

mod actions;
mod auth;
mod bodies;
mod body_changes;
mod connections;
mod definitions;
mod delays;
mod emptiness;
mod errors;
mod examples;
mod failures;
mod filter_fields;
mod grpc;
mod host_data;
mod host_declarations;
mod hostile;
mod imitations;
mod key_sources;
mod languages;
mod layout;
mod levels;
mod limits;
mod list_sources;
mod lists;
mod passwords;
mod reference;
mod remote_limits;
mod requirements;
mod rewrites;
mod sent_values;
mod support;
mod tls;
mod token_attacks;
mod translation;
