//! The filter language: what is accepted and what it means, every error, formatting, hostile texts, collected rules.

mod corpus;
mod errors;
mod grammar;
mod hostile;
mod schemes;

use celero_frontend::Diagnostic;
use celero_frontend::filter::{
    FilterOptions, FilterTree, FilterType, Scheme, check_filter, filter_json, unparse_filter,
};
use std::sync::Arc;

/// A small scheme with a field of every type.
fn scheme() -> Arc<Scheme> {
    let mut scheme = Scheme::new();
    let fields = [
        ("ssl", "Bool"),
        ("flags", "Array<Bool>"),
        ("port", "Int"),
        ("ports", "Array<Int>"),
        ("ip", "Ip"),
        ("ips", "Array<Ip>"),
        ("http.host", "Bytes"),
        ("path", "Bytes"),
        ("names", "Array<Bytes>"),
        ("values", "Array<Bytes>"),
        ("headers", "Map<Array<Bytes>>"),
        ("counts", "Map<Int>"),
        ("parts", "Array<Array<Bytes>>"),
        ("masks", "Array<Array<Bool>>"),
        ("notes", "Bytes"),
        ("anything", "Bool"),
        ("ab", "Bytes"),
    ];
    for (name, ty) in fields {
        scheme.add_field(name, ty.parse().unwrap()).unwrap();
    }
    scheme.add_list("bad", FilterType::Ip).unwrap();
    scheme.add_list("bad_hosts.eu", FilterType::Bytes).unwrap();
    scheme.add_constant("true", true).unwrap();
    Arc::new(scheme)
}

fn tree(source: &str) -> FilterTree {
    check(source, &FilterOptions::default()).unwrap_or_else(|errors| panic!("{source}: {errors:#?}")).0
}

fn check(source: &str, options: &FilterOptions) -> Result<(FilterTree, Vec<Diagnostic>), Vec<Diagnostic>> {
    check_filter(source, &scheme(), options)
}

fn canonical(source: &str) -> String {
    unparse_filter(&tree(source))
}

fn json(source: &str) -> String {
    let text = filter_json(&tree(source));
    // The text is JSON.
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    text
}
