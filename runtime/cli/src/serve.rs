//! `celero serve`: a local web page for rules, a policy or a rule set.

use crate::language::Language;
use crate::output::Output;
use crate::rules_file::RulesFile;
use crate::source::{Format, Source, SourceArgs};
use celero_serve::{Files, RuleText, Server};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The address without `--listen`. If its port is taken, a free one is used.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7340);

/// Show rules on a local web page: write a rule and a request, and see the verdict, the value of each part, the machine code and the cost.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero serve
  celero serve -e 'request.path.startsWith(\"/api/\")'
  celero serve policy.yaml cases.yaml                     # a page about the policy and its cases
  celero serve site.rules                                 # a page about the rules: how the index finds each
  celero serve rules/*.cel                                # the same, a rule in each file

The page is for this computer: the address is 127.0.0.1 and the port 7340, or a free one if that is taken. Nothing is stored; files are
read again for each request. With --listen everybody who reaches the address can evaluate rules and see these files.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The address and the port. Port 0 is a free one.
    #[arg(long, value_name = "IP:PORT")]
    listen: Option<SocketAddr>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let files = files(args)?;
    let server = match args.listen {
        Some(address) => Server::bind(address).map_err(|error| format!("{address}: {error}"))?,
        None => usual()?,
    };
    let address = server.address().map_err(|error| format!("the address is not known: {error}"))?;
    output.line(&format!("celero: http://{address}/ (ctrl-c ends it)"));
    if !address.ip().is_loopback() {
        output.complain("warning: everybody who reaches this address can evaluate rules and see the files");
    }
    output.flush();
    server.run(files).map_err(|error| format!("the server ended: {error}"))?;
    Ok(0)
}

/// Opens the usual port, or a free one.
///
/// # Errors
/// There is none.
fn usual() -> Result<Server, String> {
    let bound = match Server::bind(ADDRESS) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => Server::bind(SocketAddr::new(ADDRESS.ip(), 0)),
        bound => bound,
    };
    bound.map_err(|error| format!("{ADDRESS}: {error}"))
}

/// Sorts the arguments by what they are.
///
/// # Errors
/// A file that can't be read, or two policies.
fn files(args: &Args) -> Result<Files, String> {
    let mut files = Files::default();
    if args.source.files.is_empty() && args.source.texts.is_empty() {
        return Ok(files);
    }
    if args.source.files.iter().any(|path| path.as_os_str() == "-") {
        return Err("`celero serve` reads its files again for each request: standard input can't be one".to_owned());
    }
    let (mut rules, mut expressions): (Vec<PathBuf>, Vec<Source>) = (Vec::new(), Vec::new());
    for source in args.source.read("serve")? {
        match (source.format, source.path.clone()) {
            (Format::Policy, Some(path)) if files.policy.is_none() => files.policy = Some(path),
            (Format::Policy, Some(path)) => files.cases.push(path),
            (Format::Rules, Some(path)) => rules.push(path),
            _ => expressions.push(source),
        }
    }
    if let ([only], true) = (&expressions[..], rules.is_empty()) {
        files.rule = Some(expression(only));
    } else {
        rules.extend(expressions.into_iter().filter_map(|source| source.path));
    }
    if !rules.is_empty() {
        read_rules(&rules)?;
        files.rules = Some((rules, read_rules));
    }
    Ok(files)
}

/// Reads the rules of files, in their order.
///
/// # Errors
/// A file that can't be read, or is not a file of rules.
fn read_rules(paths: &[PathBuf]) -> Result<Vec<RuleText>, String> {
    let args = SourceArgs { files: paths.to_vec(), texts: Vec::new(), format: None, language: None };
    let mut rules = Vec::new();
    for source in args.read("serve")? {
        if source.format == Format::Rules {
            let file = RulesFile::parse(source.name, source.text, source.language)?;
            rules.extend(file.rules.into_iter().map(|rule| RuleText {
                name: rule.name,
                source: rule.source,
                is_filter: rule.language == Language::Filter,
                priority: rule.priority,
                tags: rule.tags,
            }));
        } else {
            rules.push(expression(&source));
        }
    }
    Ok(rules)
}

/// Returns the rule of a file with one expression.
fn expression(source: &Source) -> RuleText {
    let stem = source.path.as_deref().and_then(|path| path.file_stem());
    RuleText {
        name: stem.map_or_else(|| source.name.clone(), |stem| stem.to_string_lossy().into_owned()),
        source: source.text.clone(),
        is_filter: source.language == Language::Filter,
        priority: 0,
        tags: Vec::new(),
    }
}
