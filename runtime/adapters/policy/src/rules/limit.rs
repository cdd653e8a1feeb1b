//! The action `limit` of a rule: which key a request has, what it costs, and what follows if that is too much.
//!
//! Invariant: a request whose key fails passes only if the file says so. Test:
//! `runtime/adapters/policy/tests/policy/limits.rs::a_key_that_fails_passes_only_if_the_file_says_so`.
//!
//! Invariant: a key made of the client's address without evaluating an expression is the key that its text would be.
//! Test: `runtime/adapters/policy/tests/policy/limits.rs::spellings_of_an_address_are_one_key`.

use crate::limits::request::{AskedLimit, RequestLimits};
use crate::limits::settings::{LimitErrorPolicy, TellsClient};
use crate::limits::state::{Hold, LimitState};
use crate::rules::action_failure::{ActionFailure, ActionPart};
use crate::rules::actions::{PhaseEnd, TextTemplate};
use crate::rules::delay::RuleDelay;
use celero::{Context, Program, Scratch, Value};
use smallvec::SmallVec;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A key: each part with its kind and its length, so that no two lists of parts are one key.
type KeyBytes = SmallVec<[u8; 64]>;

const KIND_TEXT: u8 = 0;
const KIND_V4: u8 = 4;
const KIND_V6: u8 = 6;
const KIND_FAILED: u8 = 255;

/// The action `limit` of a rule.
#[derive(Debug)]
pub(crate) struct RuleLimit<S> {
    pub(crate) state: Arc<LimitState>,
    pub(crate) key: Box<[KeyPart<S>]>,
    pub(crate) cost: Number<S>,
    /// A rule `settle` may replace the cost.
    pub(crate) settled_by_rule: bool,
    /// `countWhen` decides whether the cost counts.
    pub(crate) counts_later: bool,
    pub(crate) on_limit: OnLimit<S>,
    pub(crate) on_error: LimitErrorPolicy,
    pub(crate) tells: TellsClient,
    pub(crate) dry_run: bool,
}

/// A part of a key.
#[derive(Debug)]
pub(crate) struct KeyPart<S> {
    pub(crate) text: TextTemplate<S>,
    /// It is the text of the client's address, and nothing else: then it is not made where the address is known.
    pub(crate) is_client: bool,
}

/// What becomes of a request above a limit: the key `onLimit`.
#[derive(Debug)]
pub(crate) struct OnLimit<S> {
    /// How long it waits.
    pub(crate) delay: Option<RuleDelay<S>>,
    /// The answer. `None`: it goes on after the delay.
    pub(crate) end: Option<PhaseEnd<S>>,
}

/// The program of `countWhen`.
#[derive(Debug)]
pub(crate) struct CountWhen<S> {
    pub(crate) limit: Arc<str>,
    pub(crate) program: Program<S>,
    pub(crate) on_error: LimitErrorPolicy,
}

/// A number that is constant or computed by an expression.
#[derive(Debug)]
pub(crate) enum Number<S> {
    Fixed(u64),
    Computed(Program<S>),
}

impl<S: Context + 'static> Number<S> {
    /// Returns the number for this part of an action, rounded up. A negative number is none.
    pub(crate) fn value<'r, C: Context<Static = S>>(
        &'r self,
        part: ActionPart<'r>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<u64, ActionFailure<'r, S>> {
        match self {
            Self::Fixed(number) => Ok(*number),
            Self::Computed(program) => part.evaluate(program, context, scratch, |value| match value {
                Value::Int(number) => u64::try_from(number).ok(),
                Value::Uint(number) => Some(number),
                // A float above `u64::MAX` becomes `u64::MAX`, which no limit admits.
                Value::Double(number) if number >= 0.0 => Some(number.ceil() as u64),
                _ => None,
            }),
        }
    }
}

impl<S> RuleLimit<S> {
    /// Returns whether the cost may still change after the limit has admitted a request.
    pub(crate) fn reserves(&self) -> bool {
        self.settled_by_rule || self.counts_later
    }

    /// Returns whether the client's address is the whole key.
    pub(crate) fn is_by_client(&self) -> bool {
        matches!(*self.key, [KeyPart { is_client: true, .. }])
    }

    /// Asks the processor to load what the limit has counted for a client, if the address is the whole key.
    pub(crate) fn prefetch(&self, client: IpAddr) {
        let mut key = KeyBytes::new();
        add_network(&mut key, network_of(client, self.state.definition.groups));
        self.state.prefetch(&key);
    }
}

/// The key and the cost of a request.
pub(crate) struct Charge {
    key: KeyBytes,
    cost: u64,
}

impl<S: Context + 'static> RuleLimit<S> {
    /// Returns the key and the cost of a request of this client, if it is known; `None` for a
    /// request whose key or cost has failed, which is added to `failures`. Counts nothing.
    pub(crate) fn charge<'r, C: Context<Static = S>>(
        &'r self,
        client: Option<IpAddr>,
        context: &C,
        scratch: &mut Scratch,
        failures: &mut Vec<ActionFailure<'r, S>>,
    ) -> Option<Charge> {
        match self
            .key(client, context, scratch)
            .and_then(|key| Ok(Charge { key, cost: self.cost.value(ActionPart::LimitCost, context, scratch)? }))
        {
            Ok(charge) => Some(charge),
            Err(failure) => {
                failures.push(failure);
                None
            }
        }
    }

    fn key<'r, C: Context<Static = S>>(
        &'r self,
        client: Option<IpAddr>,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<KeyBytes, ActionFailure<'r, S>> {
        let mut key = KeyBytes::new();
        let (part, groups) = (ActionPart::LimitKey, self.state.definition.groups);
        for piece in &self.key {
            match client.filter(|_| piece.is_client) {
                Some(client) => add_network(&mut key, network_of(client, groups)),
                None => piece.text.with_text(part, context, scratch, |text| {
                    add_part(&mut key, text, groups);
                    Some(())
                })?,
            }
        }
        Ok(key)
    }

    /// Counts a request. `None`: its key or cost has failed. Returns whether it is within the
    /// limit, or passes for another reason, and remembers the decision for the rest of the request.
    pub(crate) fn count(&self, charge: Option<Charge>, limits: &mut RequestLimits) -> bool {
        if let Some(known) = limits.decided(&self.state) {
            return known.within;
        }
        let reserve = self.reserves();
        let was_asked = charge.is_some() || self.on_error == LimitErrorPolicy::Shared;
        let (within, decision, hold) = match charge {
            Some(Charge { key, cost }) => self.state.ask(&key, cost, reserve, limits.now()),
            None => {
                self.state.count_failed();
                match self.on_error {
                    LimitErrorPolicy::Closed => (false, None, Hold::Nothing),
                    LimitErrorPolicy::Shared => self.state.ask(&[KIND_FAILED], 1, reserve, limits.now()),
                    LimitErrorPolicy::Pass => (true, None, Hold::Nothing),
                }
            }
        };
        // A request whose key or cost failed was not counted as refused by the limit.
        if !within && self.dry_run && was_asked {
            self.state.count_tolerated();
        }
        let (state, tells_always) = (Arc::clone(&self.state), self.tells == TellsClient::Always);
        let (counts_later, settled_by_rule) = (self.counts_later, self.settled_by_rule);
        let verdict = None;
        limits.push(AskedLimit {
            state,
            within,
            failed: !was_asked,
            decision,
            hold,
            counts_later,
            verdict,
            settled_by_rule,
            tells_always,
        });
        within
    }
}

/// Returns the first address of the network that an address stands for, whatever its spelling: the
/// network with the first prefix length for IPv4, with the second for IPv6. An IPv4 address in IPv6
/// notation is the IPv4 address. `None`: the text is no address.
pub(crate) fn network(text: &[u8], groups: (u8, u8)) -> Option<IpAddr> {
    Some(network_of(std::str::from_utf8(text).ok()?.parse().ok()?, groups))
}

/// As [`network`], of an address that is no text.
fn network_of(address: IpAddr, (v4, v6): (u8, u8)) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(v4.into())).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(v6.into())).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

/// Adds a part to a key. An address stands for its network.
fn add_part(key: &mut KeyBytes, text: &[u8], groups: (u8, u8)) {
    match network(text, groups) {
        Some(network) => add_network(key, network),
        None => {
            key.push(KIND_TEXT);
            key.extend_from_slice(&text.len().to_be_bytes());
            key.extend_from_slice(text);
        }
    }
}

/// Adds a network to a key.
fn add_network(key: &mut KeyBytes, network: IpAddr) {
    match network {
        IpAddr::V4(address) => {
            key.push(KIND_V4);
            key.extend_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            key.push(KIND_V6);
            key.extend_from_slice(&address.octets());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str]) -> Vec<u8> {
        let mut key = KeyBytes::new();
        parts.iter().for_each(|part| add_part(&mut key, part.as_bytes(), (24, 64)));
        key.to_vec()
    }

    #[test]
    fn addresses_stand_for_their_networks() {
        assert_eq!(key(&["2001:db8::1"]), key(&["2001:DB8:0:0:ffff:ffff:ffff:ffff"]));
        assert_ne!(key(&["2001:db8::1"]), key(&["2001:db8:0:1::1"]));
        assert_eq!(key(&["192.0.2.1"]), key(&["::ffff:192.0.2.9"]));
        assert_ne!(key(&["192.0.2.1"]), key(&["192.0.3.1"]));
        assert_ne!(key(&["::c000:201"]), key(&["192.0.2.1"]));
    }

    #[test]
    fn lists_of_parts_are_one_key_only_if_they_are_the_same() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["a", ""]), key(&["a"]));
        assert_ne!(key(&["abc"]), key(&["ABC"]));
        assert_ne!(key(&[""]), vec![KIND_FAILED]);
    }
}
