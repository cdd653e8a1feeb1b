//! Upstreams: their servers, which one a request gets, and what bounds the work that they get.

pub(crate) mod admission;
pub(crate) mod connections;
pub(crate) mod retry_budget;
pub(crate) mod routing;
pub(crate) mod servers;
pub(crate) mod upstream;
