//! A compiled policy.

use crate::error::PolicyError;
use crate::exchange::Exchange;
use crate::outcome::{Ended, LogFields, Outcome, RuleInfo};
use http::{request, response};
use std::path::{Path, PathBuf};

/// One generation of a policy: immutable, to be shared between threads.
#[derive(Debug)]
pub struct Policy {
    files: Vec<PathBuf>,
}

impl Policy {
    /// Reads a policy, with the files that it includes and those of its keys.
    ///
    /// # Errors
    /// [`PolicyError`] with everything that is wrong.
    pub fn load(file: &Path) -> Result<Self, PolicyError> {
        let text = std::fs::read_to_string(file).map_err(|error| PolicyError::unreadable(file, &error))?;
        let base = file.parent().unwrap_or(Path::new("."));
        let mut policy = Self::parse(&file.display().to_string(), &text, base)?;
        policy.files.insert(0, file.to_owned());
        Ok(policy)
    }

    /// A policy from its text: `name` stands in messages, files that it mentions are looked for from `base`.
    ///
    /// # Errors
    /// [`PolicyError`] with everything that is wrong.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, PolicyError> {
        let _ = (name, text, base);
        Ok(Self { files: Vec::new() })
    }

    /// The request phase: the head of a request has come.
    pub fn request(&self, head: &request::Parts, exchange: &mut Exchange) -> Outcome {
        let _ = head;
        exchange.start();
        Outcome::Continue
    }

    /// The requestBody phase: a body has come, of at most [`body_limit`](Self::body_limit) bytes.
    pub fn request_body(&self, head: &request::Parts, body: &[u8], exchange: &mut Exchange) -> Outcome {
        let _ = (head, body);
        exchange.start();
        Outcome::Continue
    }

    /// In place of [`request_body`](Self::request_body): a body is larger than [`body_limit`](Self::body_limit). `Continue` means
    /// that it goes on without having been looked at.
    pub fn request_body_too_large(&self, exchange: &mut Exchange) -> Outcome {
        exchange.start();
        Outcome::Continue
    }

    /// The response phase: the head of a server's response has come. Answers of the policy itself do not come by here.
    pub fn response(&self, head: &request::Parts, response: &response::Parts, exchange: &mut Exchange) -> Outcome {
        let _ = (head, response);
        exchange.start();
        Outcome::Continue
    }

    /// The log phase: the request is over. `response` is what was sent, the policy's own answers included.
    pub fn log(
        &self,
        head: &request::Parts,
        response: Option<&response::Parts>,
        end: &Ended,
        exchange: &mut Exchange,
    ) -> LogFields {
        let _ = (head, response, end);
        exchange.start();
        LogFields::default()
    }

    /// How many bytes of a body are to be gathered for the requestBody phase; `None` if it has nothing to do.
    #[must_use]
    pub fn body_limit(&self) -> Option<usize> {
        None
    }

    /// Whether the response phase has anything to do.
    #[must_use]
    pub fn has_response_rules(&self) -> bool {
        false
    }

    /// Whether the log phase has anything to do.
    #[must_use]
    pub fn has_log_fields(&self) -> bool {
        false
    }

    /// Its rules, phase by phase, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = RuleInfo> {
        std::iter::empty()
    }

    /// Its counters, by name, with their values.
    pub fn counters(&self) -> impl Iterator<Item = (&str, u64)> {
        std::iter::empty()
    }

    /// Every file that was read, to be watched for changes.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}
