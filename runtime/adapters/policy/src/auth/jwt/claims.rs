//! Which claims a token must have (RFC 7519, section 4.1).

use serde_json::{Map as JsonMap, Value as Json};
use std::time::{SystemTime, UNIX_EPOCH};

/// What the claims of an accepted token say.
#[derive(Debug)]
pub(super) struct ClaimRules {
    /// The accepted issuers. Empty: any.
    pub(super) issuers: Vec<String>,
    /// The accepted audiences. Empty: only tokens for no audience are accepted.
    pub(super) audiences: Vec<String>,
    /// The accepted difference between clocks, in seconds.
    pub(super) leeway: u64,
}

impl ClaimRules {
    /// Returns the second after which the token is not accepted any more. `None`: it is not accepted now.
    pub(super) fn accepted_until(&self, claims: &JsonMap<String, Json>, now: u64) -> Option<u64> {
        let until = seconds(claims.get("exp")?)?.saturating_add(self.leeway);
        if until < now {
            return None;
        }
        if let Some(start) = claims.get("nbf")
            && seconds(start)? > now.saturating_add(self.leeway)
        {
            return None;
        }
        let is_one_of = |accepted: &[String], text: &Json| {
            text.as_str().is_some_and(|text| accepted.iter().any(|accepted| accepted == text))
        };
        if !self.issuers.is_empty() && !is_one_of(&self.issuers, claims.get("iss")?) {
            return None;
        }
        let is_for_us = match claims.get("aud") {
            None => self.audiences.is_empty(),
            Some(Json::Array(audiences)) => audiences.iter().any(|audience| is_one_of(&self.audiences, audience)),
            Some(audience) => is_one_of(&self.audiences, audience),
        };
        is_for_us.then_some(until)
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Reads a `NumericDate`: seconds since 1970, whole or not.
fn seconds(json: &Json) -> Option<u64> {
    // The cast saturates: later than any time is as good as never, and before 1970 is as good as then.
    json.as_u64().or_else(|| Some(json.as_f64()?.round() as u64))
}
