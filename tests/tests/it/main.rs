//! Properties of the whole product: agreement of the tiers, conformance, hostile input, and the
//! rules of this repository.

mod cel_policy;
mod conformance;
mod corpus;
mod counters;
mod diagnostics;
mod differential;
mod docs;
mod filter;
mod fuzz;
mod go_program;
mod hostile_expressions;
mod hostile_sets;
mod json;
mod judges;
mod lint_corpus;
mod necessary;
mod partial;
mod patterns;
mod random_budgets;
mod random_costs;
mod random_indexed_sets;
mod random_sets;
mod requests;
mod second_parser;
mod threads;
mod tidy;
mod trees;
mod unparse;
