//! The workloads F1 to F8 in Cloudflare's filter language: celero, handwritten Rust, and
//! Wirefilter's published engine with the filling of its context.

use crate::filter_by_hand::Twenty;
use celero::filter::FilterLanguage;
use celero::http::Request;
use celero::sets::Indexing;
use celero::{Context, Engine, Env, Program, RuleSet, Scratch};
use ipnet::IpNet;
use memchr::memmem::Finder;
use std::collections::HashSet;
use std::net::IpAddr;

/// The workloads' names, in order.
pub const FILTER_NAMES: &[&str] = &["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8"];

/// What a proxy has in hand.
pub struct FilterInput {
    /// The request.
    pub request: http::Request<()>,
    /// The client.
    pub peer: IpAddr,
    /// Its country.
    pub country: String,
    /// Sixteen labels; the last begins with `adm`.
    pub tags: Vec<String>,
}

/// The data of rules, borrowed from the input.
#[derive(Context)]
struct Facts<'a> {
    #[context(nested)]
    request: Request<'a>,
    #[context(name = "source.address")]
    peer: IpAddr,
    #[context(name = "ip.src.country")]
    country: &'a str,
    tags: &'a [String],
}

impl<'a> Facts<'a> {
    #[inline]
    fn new(input: &'a FilterInput) -> Self {
        Self { request: Request::new(&input.request), peer: input.peer, country: &input.country, tags: &input.tags }
    }
}

/// A part of a rule, as an expert prepares it.
enum Atom {
    Host(&'static str),
    HostSuffix(&'static str),
    Agent(Box<Finder<'static>>),
    PathIs(&'static str),
    PathIsFolded(&'static str),
    PathStarts(&'static str),
    PathContains(Box<Finder<'static>>),
    Networks(Vec<IpNet>),
    Country(HashSet<&'static [u8], foldhash::fast::FixedState>),
    Tag(Box<Finder<'static>>),
}

impl Atom {
    #[inline]
    fn holds(&self, input: &FilterInput) -> bool {
        let header =
            |name: &http::HeaderName| input.request.headers().get(name).map_or(&b""[..], |value| value.as_bytes());
        let path = input.request.uri().path();
        match self {
            Self::Host(host) => input.request.uri().host() == Some(host),
            Self::HostSuffix(suffix) => input.request.uri().host().is_some_and(|host| {
                let at = host.len().wrapping_sub(suffix.len());
                host.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
            }),
            Self::Agent(finder) => finder.find(header(&http::header::USER_AGENT)).is_some(),
            Self::PathIs(text) => path == *text,
            Self::PathIsFolded(text) => path.eq_ignore_ascii_case(text),
            Self::PathStarts(text) => path.starts_with(text),
            Self::PathContains(finder) => finder.find(path.as_bytes()).is_some(),
            Self::Networks(networks) => networks.iter().any(|network| network.contains(&input.peer)),
            Self::Country(countries) => countries.contains(input.country.as_bytes()),
            Self::Tag(finder) => input.tags.iter().any(|tag| finder.find(tag.as_bytes()).is_some()),
        }
    }
}

/// A rule in the languages of the engines.
struct FilterRule {
    celero: String,
    /// Wirefilter 0.6 has no wildcards, functions and arrays: a regular expression, or nothing.
    wirefilter: Option<String>,
    /// Parts that must all hold.
    handwritten: Vec<Atom>,
}

fn finder(text: &'static str) -> Box<Finder<'static>> {
    Box::new(Finder::new(text))
}

fn same(text: &str, handwritten: Vec<Atom>) -> FilterRule {
    FilterRule { celero: text.to_owned(), wirefilter: Some(text.to_owned()), handwritten }
}

const NETWORKS: &str = "10.0.0.0/8 172.16.0.0/12 100.64.0.0/10 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 198.18.0.0/15 \
    233.252.0.0/24 5.188.0.0/16 45.9.20.0/24 80.82.77.0/24 89.248.160.0/20 141.98.10.0/24 185.220.100.0/22 193.32.162.0/24 \
    2001:db8::/32 2a06:98c0::/29 2a0e:b107::/32 fc00::/7 192.168.0.0/16";

const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AR AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BR BS BT BW BY BZ CA CD CF CG \
    CH CI CL CM CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FM FR GA GB GD GE GH GM GN GQ GR GT GW GY HK HN HR HT HU ID";

fn networks() -> FilterRule {
    let list = NETWORKS.split_whitespace().map(|network| network.parse().expect("a network")).collect();
    same(&format!("ip.src in {{{NETWORKS}}}"), vec![Atom::Networks(list)])
}

fn countries() -> FilterRule {
    let quoted: Vec<String> = COUNTRIES.split_whitespace().map(|code| format!("{code:?}")).collect();
    let set = COUNTRIES.split_whitespace().map(str::as_bytes).collect();
    same(&format!("ip.src.country in {{{}}}", quoted.join(" ")), vec![Atom::Country(set)])
}

fn rules(name: &str) -> Vec<FilterRule> {
    let other = |text: &str, regex: Option<&str>, handwritten| FilterRule {
        celero: text.to_owned(),
        wirefilter: regex.map(str::to_owned),
        handwritten,
    };
    let agent =
        |text: &'static str| same(&format!("http.user_agent contains {text:?}"), vec![Atom::Agent(finder(text))]);
    let path = |text: &'static str| {
        same(&format!("http.request.uri.path contains {text:?}"), vec![Atom::PathContains(finder(text))])
    };
    match name {
        "F1" => vec![same(r#"http.host eq "shop.example.com""#, vec![Atom::Host("shop.example.com")])],
        "F2" => vec![agent("Googlebot")],
        "F3" => vec![other(
            r#"http.host wildcard "*.example.com""#,
            Some(r#"http.host matches "(?i)^.*\.example\.com$""#),
            vec![Atom::HostSuffix(".example.com")],
        )],
        "F4" => vec![networks()],
        "F5" => vec![countries()],
        "F6" => vec![other(
            r#"lower(http.request.uri.path) eq "/user/1234/view""#,
            Some(r#"http.request.uri.path matches "(?i)^/user/1234/view$""#),
            vec![Atom::PathIsFolded("/user/1234/view")],
        )],
        "F7" => vec![other(r#"any(tags[*] contains "adm")"#, None, vec![Atom::Tag(finder("adm"))])],
        _ => {
            let mut rules: Vec<FilterRule> =
                ["nikto", "sqlmap", "masscan", "zgrab", "AhrefsBot", "SemrushBot", "python-requests", "MJ12bot"]
                    .map(agent)
                    .into();
            rules.extend(["/wp-login.php", "/xmlrpc.php", "/.git/", "/phpmyadmin", "../", "/vendor/phpunit"].map(path));
            rules.push(networks());
            rules.push(countries());
            rules.push(same(r#"http.request.uri.path eq "/admin""#, vec![Atom::PathIs("/admin")]));
            rules.push(same(
                r#"http.host eq "shop.example.com" and http.request.uri.path contains "/checkout""#,
                vec![Atom::Host("shop.example.com"), Atom::PathContains(finder("/checkout"))],
            ));
            rules.push(same(
                r#"http.request.uri.path contains "/view" and http.user_agent contains "Chrome""#,
                vec![Atom::PathContains(finder("/view")), Atom::Agent(finder("Chrome"))],
            ));
            rules.push(other(
                r#"starts_with(http.request.uri.path, "/user/")"#,
                Some(r#"http.request.uri.path matches "^/user/""#),
                vec![Atom::PathStarts("/user/")],
            ));
            rules
        }
    }
}

/// A prepared engine: returns how many rules hold.
pub type FilterRunner = Box<dyn Fn(&FilterInput) -> u64>;

/// The names of the engines that [`filter_runners`] returns.
pub const FILTER_ENGINES: &[&str] =
    &["celero", "handwritten", "wirefilter-engine 0.6.1", "handwritten, one pass", "celero, all indexed"];

/// The input of all workloads.
#[must_use]
pub fn filter_input() -> FilterInput {
    let mut tags: Vec<String> = (0..15).map(|i| format!("team-{i:02}-readers")).collect();
    tags.push("admins".into());
    let input = crate::Workload::new("W1").expect("a workload").input();
    FilterInput { request: input.request, peer: IpAddr::from([192, 168, 1, 77]), country: "HU".into(), tags }
}

/// Prepares each engine for a workload; `None` where an engine cannot say it.
///
/// # Errors
/// A rule does not compile.
pub fn filter_runners(name: &str) -> Result<Vec<Option<FilterRunner>>, String> {
    let all = rules(name);
    let indexed = || celero(&all, Indexing::Always);
    Ok(vec![
        Some(celero(&all, Indexing::Auto)?),
        Some(handwritten(rules(name))),
        wirefilter(&all)?,
        (name == "F8").then(one_pass).flatten(),
        (all.len() > 1).then(indexed).transpose()?,
    ])
}

fn celero(rules: &[FilterRule], indexing: Indexing) -> Result<FilterRunner, String> {
    let env = Env::<Facts<'_>>::new().filter_language(FilterLanguage::http());
    let engine = Engine::new();
    if let [rule] = rules {
        let program: Program<Facts<'static>> = engine.compile(&env, &rule.celero).map_err(|error| error.to_string())?;
        return Ok(Box::new(move |input| u64::from(program.test(&Facts::new(input)).unwrap_or(false))));
    }
    let builder =
        rules.iter().fold(engine.rules(&env).index(indexing), |builder, rule| builder.rule("", &rule.celero, ()));
    let set: RuleSet<Facts<'static>, ()> = builder.build().map_err(|error| error.to_string())?;
    Ok(Box::new(move |input| {
        thread_local! {
            static SCRATCH: std::cell::RefCell<Scratch> = std::cell::RefCell::new(Scratch::new());
        }
        SCRATCH.with_borrow_mut(|scratch| set.count(&Facts::new(input), scratch).unwrap_or(0) as u64)
    }))
}

fn handwritten(rules: Vec<FilterRule>) -> FilterRunner {
    let rules: Vec<Vec<Atom>> = rules.into_iter().map(|rule| rule.handwritten).collect();
    Box::new(move |input| {
        let holds = |atoms: &&Vec<Atom>| atoms.iter().all(|atom| atom.holds(input));
        rules.iter().filter(holds).count() as u64
    })
}

/// The rules of F8 as one function, as an expert writes it who has the time.
fn one_pass() -> Option<FilterRunner> {
    let rules = Twenty::new(NETWORKS, COUNTRIES)?;
    Some(Box::new(move |input| rules.count(&input.request, input.peer, &input.country)))
}

fn wirefilter(rules: &[FilterRule]) -> Result<Option<FilterRunner>, String> {
    use wirefilter::{ExecutionContext, Filter, Scheme, Type};
    const FIELDS: [(&str, Type); 5] = [
        ("http.host", Type::Bytes),
        ("http.user_agent", Type::Bytes),
        ("http.request.uri.path", Type::Bytes),
        ("ip.src", Type::Ip),
        ("ip.src.country", Type::Bytes),
    ];
    let fields = FIELDS.map(|(name, ty)| (name.to_owned(), ty));
    let scheme = Scheme::try_from_iter(fields).map_err(|error| error.to_string())?;
    // The engine's filters evaluate only data that lives as long as the scheme: both live until the program ends.
    let input: &'static FilterInput = Box::leak(Box::new(filter_input()));
    let scheme: &'static Scheme = Box::leak(Box::new(scheme));
    let mut filters: Vec<Filter<'static>> = Vec::new();
    let mut used = [false; FIELDS.len()];
    for rule in rules {
        let Some(text) = &rule.wirefilter else { return Ok(None) };
        let tree = scheme.parse(text).map_err(|error| format!("{text}: {error}"))?;
        for (used, (name, _)) in used.iter_mut().zip(FIELDS) {
            *used |= tree.uses(name).unwrap_or(false);
        }
        filters.push(tree.compile());
    }
    let [host, agent, path, src, country] = used;
    Ok(Some(Box::new(move |_| {
        let mut context = ExecutionContext::new(scheme);
        if host {
            let value = input.request.uri().host().unwrap_or("");
            let _ = context.set_field_value("http.host", value);
        }
        if agent {
            let value =
                input.request.headers().get(http::header::USER_AGENT).map_or(&b""[..], |value| value.as_bytes());
            let _ = context.set_field_value("http.user_agent", value);
        }
        if path {
            let _ = context.set_field_value("http.request.uri.path", input.request.uri().path());
        }
        if src {
            let _ = context.set_field_value("ip.src", input.peer);
        }
        if country {
            let _ = context.set_field_value("ip.src.country", input.country.as_bytes());
        }
        filters.iter().filter(|filter| filter.execute(&context).unwrap_or(false)).count() as u64
    })))
}
