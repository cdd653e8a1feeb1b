//! Rules that other people wrote are accepted, have a canonical text and layouts that mean the
//! same, and evaluate over real requests without errors, to the same in all tiers and in the
//! published Wirefilter, where it reads them.

use super::published::{context, published_scheme};
use celero::filter::{Filter, FilterOptions, FilterType, FilterValue, Scheme, http_scheme};
use celero_tests::filter::{Outcome, Values, evaluate_other_tier, interpret, round_trip};
use celero_tests::shared::{find, say};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// One request in so many is taken.
const EVERY: usize = 6;

/// A request as values of the fields that a proxy knows. With `full` the other fields of simple types have a value too.
fn host(scheme: &Arc<Scheme>, request: &Json, number: usize, full: bool) -> Values {
    let text = |name: &str| request.get(name).and_then(Json::as_str).unwrap_or_default();
    let uri = text("uri");
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let mut headers: BTreeMap<Vec<u8>, Vec<FilterValue>> = BTreeMap::new();
    for (name, value) in request.get("headers").and_then(Json::as_object).into_iter().flatten() {
        let values = headers.entry(name.to_ascii_lowercase().into_bytes()).or_default();
        values.push(value.as_str().unwrap_or_default().into());
    }
    let header = |name: &str| headers.get(name.as_bytes()).and_then(|values| values.first()).cloned();
    let mut args: BTreeMap<Vec<u8>, Vec<FilterValue>> = BTreeMap::new();
    for argument in query.split('&').filter(|argument| !argument.is_empty()) {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        args.entry(name.into()).or_default().push(value.into());
    }
    let map = |entries: &BTreeMap<Vec<u8>, Vec<FilterValue>>| {
        let arrays = entries.iter().map(|(key, values)| (key.clone(), FilterValue::Array(values.clone())));
        Some(FilterValue::Map(arrays.collect()))
    };
    let address = Ipv4Addr::from_bits(u32::try_from(number * 7919).unwrap().wrapping_mul(65_537));
    let mut host = Values::new(scheme);
    for (index, field) in scheme.fields().iter().enumerate() {
        let value = match &*field.name {
            "http.host" => header("host"),
            "http.user_agent" => header("user-agent"),
            "http.referer" => header("referer"),
            "http.cookie" => header("cookie"),
            "http.x_forwarded_for" => header("x-forwarded-for"),
            "http.request.method" => Some(text("method").into()),
            "http.request.version" => Some(text("version").into()),
            "http.request.uri" | "raw.http.request.uri" => Some(uri.into()),
            "http.request.full_uri" => Some(format!("https://localhost{uri}").as_str().into()),
            "http.request.uri.path" | "raw.http.request.uri.path" => Some(path.into()),
            "http.request.uri.query" | "raw.http.request.uri.query" => Some(query.into()),
            "http.request.uri.args" => map(&args),
            "http.request.headers" => map(&headers),
            "http.request.body.raw" => Some(text("body").into()),
            "http.request.body.size" => Some(i64::try_from(text("body").len()).unwrap().into()),
            "http.request.timestamp.sec" => Some(1_484_063_800.into()),
            "ip.src" => Some(FilterValue::Ip(address.into())),
            "ssl" => Some(number.is_multiple_of(2).into()),
            "cf.bot_management.score" => Some(i64::try_from(number % 100).unwrap().into()),
            "ip.src.country" | "ip.geoip.country" => {
                Some(["GB", "FR", "T1", "US"].iter().cycle().nth(number).copied().unwrap().into())
            }
            _ => None,
        };
        let default = || match field.ty {
            FilterType::Bool => Some(false.into()),
            FilterType::Int => Some(0.into()),
            FilterType::Ip => Some(FilterValue::Ip(Ipv4Addr::UNSPECIFIED.into())),
            FilterType::Bytes => Some("".into()),
            FilterType::Array(_) | FilterType::Map(_) => None,
        };
        let given = field.constant.is_none();
        host.set(index, value.or_else(|| if full { default() } else { None }).filter(|_| given));
    }
    host
}

fn lines(relative: &str) -> Option<Vec<Json>> {
    let text = std::fs::read_to_string(find(relative, "collected filter rules over real requests")?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn collected_rules_evaluate_over_real_requests() {
    let Some(rules) = lines("corpora/filter_expressions.jsonl") else { return };
    let Some(requests) = lines("corpora/http_requests.jsonl") else { return };
    let mut scheme = http_scheme();
    scheme.accept_all_lists();
    let scheme = Arc::new(scheme);
    let published = published_scheme(&scheme);
    let numbered = || requests.iter().step_by(EVERY).enumerate();
    let hosts: Vec<Values> = numbered().map(|(number, request)| host(&scheme, request, number, false)).collect();
    let full: Vec<Values> = numbered().map(|(number, request)| host(&scheme, request, number, true)).collect();
    let (mut yes, mut matching, mut judged) = (0u64, 0u64, 0u64);
    for rule in &rules {
        let source = rule["expr"].as_str().unwrap();
        let filter = Filter::compile(source, &scheme, &FilterOptions::default());
        let filter = filter.unwrap_or_else(|error| panic!("{source}\n{error}"));
        round_trip(filter.tree(), false).unwrap_or_else(|why| panic!("{source}\n{why}"));
        let results = interpret(&filter, &hosts);
        if let Ok(other) = evaluate_other_tier(&filter, &hosts) {
            assert!(results == other, "{source}");
        }
        let is_true = |result: &Outcome| *result == Ok(Some(FilterValue::Bool(true)));
        assert!(results.iter().all(|result| matches!(result, Ok(Some(FilterValue::Bool(_))))), "{source}");
        let count = results.iter().filter(|result| is_true(result)).count() as u64;
        yes += count;
        matching += u64::from(count > 0);
        let Ok(ast) = published.parse(source) else { continue };
        let compiled = ast.compile();
        for (host, result) in full.iter().zip(interpret(&filter, &full)) {
            let expected = compiled.execute(&context(&published, &scheme, host)).unwrap();
            assert_eq!(result, Ok(Some(expected.into())), "{source}\n{:?}", host);
        }
        judged += 1;
    }
    say(&format!(
        "{} collected filter rules over {} requests: {yes} times true, {matching} rules match; the published Wirefilter judged {judged}",
        rules.len(),
        hosts.len()
    ));
    assert!(judged > 20 && matching > 20, "{judged} {matching}");
}
