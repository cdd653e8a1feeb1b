//! Sets of many generated rules: instructions and time of an evaluation over the number of rules.

use super::hosts::{OfRequests, SHARED};
use crate::counters::Probe;
use celero::http::RequestContext;
use celero::{Env, ErrorPolicy, Program, Rule, RuleSet, Scratch};
use celero_benches::rulesets::reproducible;
use std::hint::black_box;
use std::net::SocketAddr;

/// The largest number of rules that are also evaluated one by one.
const ONE_BY_ONE: usize = 10_000;

/// The partition of sets of this size.
pub(crate) fn partition(rules: usize) -> String {
    format!("rules/{rules}")
}

/// The number of rules of a partition; `None` if it is another one.
pub(crate) fn size(partition: &str) -> Option<usize> {
    partition.strip_prefix("rules/")?.parse().ok()
}

/// A set made ready to be measured.
pub(crate) struct SizeUnit {
    set: RuleSet<OfRequests, ()>,
    /// The same rules as programs; none for large sets.
    programs: Vec<Program<OfRequests>>,
    contexts: Vec<OfRequests>,
}

impl SizeUnit {
    /// `None` if a rule does not compile.
    pub(crate) fn new(rules: usize, requests: usize) -> Option<Self> {
        let (sources, requests) = reproducible(rules, requests);
        // They live as long as the process, as all contexts here.
        let requests: &'static [(http::Request<()>, SocketAddr)] = requests.leak();
        let contexts = requests.iter().map(|(request, peer)| RequestContext::new(request).with_source(*peer)).collect();
        let env = Env::<OfRequests>::new();
        let of_set = sources.iter().map(|source| Rule::new("rule", source, ()));
        let set = SHARED.native.rules(&env).with_rules(of_set).on_error(ErrorPolicy::NoMatch).build().ok()?;
        let alone = if rules <= ONE_BY_ONE { &*sources } else { &[] };
        let programs = alone.iter().map(|source| SHARED.native.compile(&env, source).ok()).collect::<Option<_>>()?;
        Some(Self { set, programs, contexts })
    }

    /// Runs all stages once.
    pub(crate) fn record(&self, probe: &mut Probe) {
        let mut scratch = Scratch::new();
        for probe in [&mut Probe::new(Vec::new()), probe] {
            let requests = self.contexts.len();
            probe.averaged("eval-set", requests, || {
                for context in &self.contexts {
                    let _ = black_box(self.set.count(context, &mut scratch));
                }
            });
            probe.averaged("eval-first", requests, || {
                for context in &self.contexts {
                    let _ = black_box(self.set.first(context, &mut scratch).is_ok());
                }
            });
            if !self.programs.is_empty() {
                probe.averaged("eval-one-by-one", requests, || {
                    for context in &self.contexts {
                        for program in &self.programs {
                            let _ = black_box(program.test(context));
                        }
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Time;

    #[test]
    fn partitions_tell_their_size() {
        assert_eq!((size(&partition(1000)), size("cel/set"), size("rules/x")), (Some(1000), None, None));
    }

    #[test]
    fn a_set_has_three_stages() {
        let mut probe = Probe::new(vec![Box::new(Time::default())]);
        SizeUnit::new(10, 2).unwrap().record(&mut probe);
        let stages: Vec<&str> = probe.take().into_iter().map(|(stage, _)| stage).collect();
        assert_eq!(stages, ["eval-set", "eval-first", "eval-one-by-one"]);
    }
}
