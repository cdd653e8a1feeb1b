//! Calls of gRPC whose messages rules read: their methods, their heads, and the frames of their bodies.

pub(crate) mod call;
pub(crate) mod frames;
pub(crate) mod held;
pub(crate) mod methods;
