//! The metrics of lists.

use crate::lists::control::{ListControl, ListState};
use crate::metrics::sink::{MetricValue, MetricWriter};
use celero_policy::Policy;

/// Adds the metrics of the lists of a policy.
pub(crate) fn write(page: &mut MetricWriter<'_>, control: &ListControl, policy: &Policy) {
    let (generation, lists) = control.states(policy);
    page.single_gauge(
        "celero_list_generation",
        "Generation of the lists: rises with every change and merge, starts again when the policy is loaded.",
        generation,
    );
    let mut of_each = |name: &str, help: &str, value: fn(&ListState) -> Option<MetricValue<'static>>| {
        page.gauge(name, help);
        for list in &lists {
            if let Some(value) = value(list) {
                page.sample(&[("list", &*list.name)], value);
            }
        }
    };
    of_each("celero_list_entries", "Entries of a list.", |list| Some(list.entries.into()));
    of_each("celero_list_bytes", "Bytes of a list in memory.", |list| Some(list.bytes.into()));
    of_each("celero_list_changes", "Entries that were inserted or removed at run time.", |list| {
        Some(list.changes.into())
    });
    of_each("celero_list_source_age_seconds", "Time since the oldest file of a list was modified.", |list| {
        list.age.map(|age| age.as_secs().into())
    });
    page.counter("celero_list_lookups_total", "Searches of a list for a value, whatever they found.");
    for list in &lists {
        page.sample(&[("list", &*list.name)], list.lookups);
    }
    page.counter("celero_list_fetches_total", "Fetches of what a list has at a URL.");
    for source in policy.list_sources() {
        let (info, number) = (source.info(), source.number().to_string());
        for (result, count) in [("new", info.accepted), ("unchanged", info.unchanged), ("failed", info.failed)] {
            let of = [("list", source.list()), ("url", source.shown_url()), ("number", &*number), ("result", result)];
            page.sample(&of, count);
        }
    }
    page.gauge(
        "celero_list_document_age_seconds",
        "Time since a server last said that what a list has at a URL is the current version.",
    );
    for source in policy.list_sources() {
        if let Some(age) = source.age() {
            let number = source.number().to_string();
            let of = [("list", source.list()), ("url", source.shown_url()), ("number", &*number)];
            page.sample(&of, age.as_secs());
        }
    }
    let counts = control.counts();
    page.counter(
        "celero_list_changed_entries_total",
        "Entries that operators inserted, removed, and gave other values.",
    );
    for (action, count) in [("inserted", counts.inserted), ("removed", counts.removed), ("updated", counts.updated)] {
        page.sample(&[("action", action)], count);
    }
    page.single_counter(
        "celero_list_reads_total",
        "How often files of lists were read again without the policy.",
        counts.reads,
    );
    page.single_counter(
        "celero_list_read_failures_total",
        "How often that was refused because of errors in them.",
        counts.read_failures,
    );
    page.single_counter("celero_admin_refused_total", "Requests to /lists without the token.", counts.refused);
}
