//! Requests as people write them: HTTP/1.1, lines of `curl`, files of recorded requests.

pub mod address;
pub mod curl;
pub mod message;
pub mod recorded;
