//! A rule without its condition, compiled: what it does when it matches.

pub(crate) mod action_failure;
pub(crate) mod actions;
pub(crate) mod body_change;
pub(crate) mod delay;
pub(crate) mod limit;
pub(crate) mod reads;
pub(crate) mod remote_limit;
pub(crate) mod requirement;
pub(crate) mod rule;
pub(crate) mod target;
pub(crate) mod times;
