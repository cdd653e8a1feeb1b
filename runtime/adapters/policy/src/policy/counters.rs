//! What is known of the rules of a policy: their counters, and the costs of their expressions.

use crate::expressions::costs::ExpressionCost;
use crate::host::outcome::{PhaseInfo, RuleInfo, VerificationInfo};
use crate::policy::Policy;
use celero_canonical::Refusal;

impl Policy {
    /// Returns how many requests were refused because they have no canonical form, for each reason,
    /// since the policy was loaded.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> {
        self.normalization.refusals()
    }

    /// Returns the rules with their counters: phase by phase, in the order in which they act.
    pub fn rules(&self) -> impl Iterator<Item = RuleInfo> {
        let Self { connection, request, body, response, response_body, log, .. } = self;
        let later = response.infos().chain(response_body.infos()).chain(log.infos());
        connection.infos().chain(request.infos()).chain(body.infos()).chain(later)
    }

    /// Returns the counters of the phases that have rules.
    pub fn phases(&self) -> impl Iterator<Item = PhaseInfo> {
        let Self { connection, request, body, response, response_body, log, .. } = self;
        [connection.info(), request.info(), body.info(), response.info(), response_body.info(), log.info()]
            .into_iter()
            .flatten()
    }

    /// Returns the static cost of each expression, phase by phase in the order of the files, with the name and the
    /// text of its file. Nothing but for a policy that [`check`](Self::check) made.
    pub fn expression_costs(&self) -> impl Iterator<Item = (&str, &str, &ExpressionCost)> {
        let problems = &self.problems;
        self.expression_costs.iter().map(|cost| (problems.name(cost.file), problems.text(cost.file), cost))
    }

    /// Returns the policy's own counters (`count`) with their values.
    pub fn counters(&self) -> impl Iterator<Item = (&str, u64)> {
        let Self { connection, request, body, response, response_body, log, counter_names, .. } = self;
        let mut values = vec![0; counter_names.len()];
        connection.add_named(&mut values);
        request.add_named(&mut values);
        body.add_named(&mut values);
        response.add_named(&mut values);
        response_body.add_named(&mut values);
        log.add_named(&mut values);
        counter_names.iter().map(String::as_str).zip(values)
    }

    /// Returns the counters of the verifications that take long.
    #[must_use]
    pub fn verifications(&self) -> VerificationInfo {
        let (done, refused, waiting) = self.auth.counts();
        VerificationInfo { done, refused, waiting }
    }
}
