//! Patterns: what they mean, and that both tiers agree on it.

mod judge;
#[path = "../../../../runtime/matching/src/pattern/random_patterns.rs"]
mod random_patterns;
mod real;
mod rewrites;
