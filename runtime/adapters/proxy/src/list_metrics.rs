//! The metrics of lists. Lookups are not counted: a counter on their path would cost more than they do.

use crate::list_control::{ListControl, ListState};
use crate::prometheus_text::PrometheusText;
use celero_policy::Policy;

/// Adds the metrics of the lists of a policy.
pub(crate) fn render(page: &mut PrometheusText, control: &ListControl, policy: &Policy) {
    let (generation, lists) = control.states(policy);
    page.single(
        "celero_list_generation",
        "gauge",
        "Generation of the lists: rises with every change and merge, starts again when the policy is loaded.",
        generation,
    );
    let mut of_each = |name: &str, help: &str, value: fn(&ListState) -> Option<String>| {
        page.head(name, "gauge", help);
        for list in &lists {
            if let Some(value) = value(list) {
                page.sample(name, &[("list", &list.name)], value);
            }
        }
    };
    of_each("celero_list_entries", "Entries of a list.", |list| Some(list.entries.to_string()));
    of_each("celero_list_bytes", "Bytes of a list in memory.", |list| Some(list.bytes.to_string()));
    of_each("celero_list_changes", "Entries that were inserted or removed at run time.", |list| {
        Some(list.changes.to_string())
    });
    of_each("celero_list_source_age_seconds", "Time since the oldest file of a list was modified.", |list| {
        list.age.map(|age| age.as_secs().to_string())
    });
    let counts = control.counts();
    page.head("celero_list_changed_entries_total", "counter", "Entries that operators inserted and removed.");
    page.sample("celero_list_changed_entries_total", &[("action", "inserted")], counts.inserted);
    page.sample("celero_list_changed_entries_total", &[("action", "removed")], counts.removed);
    page.single(
        "celero_list_reads",
        "counter",
        "How often files of lists were read again without the policy.",
        counts.reads,
    );
    page.single(
        "celero_list_read_failures",
        "counter",
        "How often that was refused because of errors in them.",
        counts.read_failures,
    );
    page.single("celero_admin_refused_total", "counter", "Requests to /lists without the token.", counts.refused);
}
