//! Tests of celero's public interface, by example.

mod bindings;
mod checked;
mod compile_fail;
mod configuration;
mod definitions;
mod derive;
mod explain_rules;
mod features;
mod field_functions;
mod field_types;
mod fields;
mod filter;
mod filter_tiers;
mod functions;
mod hostile_hosts;
mod http;
mod index;
mod language;
mod layout;
mod lint;
mod live;
mod nested;
mod reports;
mod rules;
mod support;
mod tiers;
