//! Random rules in the filter language: text in every spelling, and hosts with values that the
//! literals of the text often meet.
//!
//! All rules are over one [`scheme`], which has fields of every type. A rule is accepted by construction.

mod expression;
pub mod http;
mod literal;
mod minimise;
mod values;

pub use minimise::minimise;

use super::Rng;
use crate::filter::Values;
use celero::CompileError;
use celero::filter::{ArgumentKind, Filter, FilterFunction, FilterOptions, FilterParameter, FilterType, Scheme};
use expression::Writer;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// How many hosts a case has.
const HOSTS: usize = 20;

/// The fields that rules are about. `ab` could be the beginning of bytes, `anything` and `allowed`
/// that of a quantifier.
const FIELDS: &[(&str, &str)] = &[
    ("ssl", "Bool"),
    ("anything", "Bool"),
    ("port", "Int"),
    ("score", "Int"),
    ("ip.src", "Ip"),
    ("ip.dst", "Ip"),
    ("http.host", "Bytes"),
    ("http.request.uri.path", "Bytes"),
    ("ab", "Bytes"),
    ("allowed", "Array<Bool>"),
    ("flags", "Array<Bool>"),
    ("ports", "Array<Int>"),
    ("hops", "Array<Ip>"),
    ("names", "Array<Bytes>"),
    ("values", "Array<Bytes>"),
    ("marks", "Map<Bool>"),
    ("counts", "Map<Int>"),
    ("seen", "Map<Ip>"),
    ("args", "Map<Bytes>"),
    ("headers", "Map<Array<Bytes>>"),
    ("parts", "Array<Array<Bytes>>"),
    ("masks", "Array<Array<Bool>>"),
    ("rows", "Array<Map<Int>>"),
    ("deep", "Map<Map<Array<Ip>>>"),
];

/// Fields whose types the published Wirefilter has.
const SIMPLE_FIELDS: usize = 9;

/// The scheme of all random rules, with either meaning of `!=` for what is missing.
#[must_use]
pub fn scheme(nil_not_equal: bool) -> Arc<Scheme> {
    static SCHEMES: LazyLock<[Arc<Scheme>; 2]> = LazyLock::new(|| [false, true].map(|nil| Arc::new(build(nil))));
    let [unequal, equal] = &*SCHEMES;
    Arc::clone(if nil_not_equal { equal } else { unequal })
}

fn build(nil_not_equal: bool) -> Scheme {
    let mut scheme = Scheme::new();
    for (name, ty) in FIELDS {
        let added = ty.parse().map(|ty| scheme.add_field(name, ty));
        debug_assert!(matches!(added, Ok(Ok(_))), "{name}");
    }
    let any = |ty| FilterParameter::new(ArgumentKind::Any, ty);
    let texts = FilterType::array(FilterType::Bytes);
    let mut results = vec![scheme.add_constant("true", true).map(drop), scheme.add_constant("false", false).map(drop)];
    for function in [
        FilterFunction::new("host.echo", [any(FilterType::Bytes)], FilterType::Bytes),
        FilterFunction::new("host.odd", [any(FilterType::Int)], FilterType::Int),
        FilterFunction::new("host.known", [any(FilterType::Ip), any(FilterType::Bool)], FilterType::Bool),
        FilterFunction::new("host.twice", [any(FilterType::Bytes)], texts),
    ] {
        results.push(scheme.add_function(function).map(drop));
    }
    for (name, ty) in [("numbers", FilterType::Int), ("bad", FilterType::Ip), ("words", FilterType::Bytes)] {
        results.push(scheme.add_list(name, ty.clone()));
        results.push(scheme.add_list("not_there", ty));
    }
    debug_assert!(results.iter().all(Result::is_ok), "{results:?}");
    scheme.set_nil_not_equal(nil_not_equal);
    scheme
}

/// A rule and hosts for it.
#[derive(Clone)]
pub struct Case {
    /// What its random choices came from.
    pub seed: u64,
    /// The rule.
    pub source: String,
    /// Whether it is a value instead of a condition.
    pub is_value: bool,
    /// Whether `!=` is true for what is missing.
    pub nil_not_equal: bool,
    /// The hosts.
    pub hosts: Vec<Values>,
}

impl Case {
    /// Compiles the rule.
    ///
    /// # Errors
    /// The rule is not accepted.
    pub fn compile(&self) -> Result<Filter, CompileError> {
        let compile = if self.is_value { Filter::compile_value } else { Filter::compile };
        compile(&self.source, &scheme(self.nil_not_equal), &FilterOptions::default())
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nil = if self.nil_not_equal { " (nil is not equal)" } else { "" };
        write!(f, "case {:#x}{nil}: {}", self.seed, self.source)
    }
}

/// Makes cases.
#[derive(Clone, Debug)]
pub struct Generator {
    seeds: Rng,
    published: bool,
}

impl Generator {
    /// The cases of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seeds: Rng::new(seed), published: false }
    }

    /// Conditions in the part of the language that Wirefilter has had since its published version
    /// 0.6.1, on hosts that lack nothing: simple fields, orderings, `&`, `contains`, `matches`,
    /// sets, and connectives.
    #[must_use]
    pub fn published(seed: u64) -> Self {
        Self { seeds: Rng::new(seed), published: true }
    }
}

impl Iterator for Generator {
    type Item = Case;

    /// The next case; there is always one.
    fn next(&mut self) -> Option<Case> {
        let seed = self.seeds.bits();
        let mut rng = Rng::new(seed);
        let nil_not_equal = rng.chance(50);
        let is_value = !self.published && rng.chance(15);
        let scheme = scheme(nil_not_equal);
        let mut writer = Writer::new(&mut rng, &scheme, self.published);
        let source = if is_value { writer.whole_value() } else { writer.whole_condition() };
        let hosts = (0..HOSTS).map(|_| values::host(&mut rng, &scheme, self.published)).collect();
        Some(Case { seed, source, is_value, nil_not_equal, hosts })
    }
}
