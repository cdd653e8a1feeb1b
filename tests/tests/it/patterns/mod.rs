//! Patterns: what they mean, and that both tiers agree on it.

mod go_judge;
mod judge;
#[path = "../../../../runtime/matching/src/pattern/random_patterns.rs"]
mod random_patterns;
mod random_re2;
mod re2;
mod real;
mod rewrites;
