//! `celero serve`: a local web page for rules, a policy or a rule set.

use crate::input::host::loader;
use crate::input::source::{Format, Source, SourceArgs};
use crate::output::Output;
use celero_serve::{Files, FirstRule, RuleFiles, Server};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The address without `--listen`. If its port is taken, a free one is used.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7340);

/// Show rules on a local web page: write a rule and a request, and see the verdict, the value of
/// each part, the machine code and the cost.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero serve
  celero serve -e 'request.path.startsWith(\"/api/\")'
  celero serve policy.yaml cases.yaml                     # a page about the policy and its cases
  celero serve site.rules                                 # a page about the rules: how the index finds each
  celero serve site.rules --requests traffic.jsonl        # the same, tried on recorded requests
  celero serve rules/*.cel                                # the same, a rule in each file

The server listens on 127.0.0.1, port 7340, or a free port if that is taken. Nothing is stored; files are read again for each
request. With --listen everybody who reaches the address can evaluate rules and see these files.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// The address and the port. Port 0 is a free one.
    #[arg(long, value_name = "IP:PORT", value_parser = listen)]
    listen: Option<SocketAddr>,
    /// Recorded requests, on which the policy or the rules are tried: HTTP/1.1 as text, several separated by lines that
    /// start with `###`; or JSON, one object per line
    #[arg(long, value_name = "FILE")]
    requests: Option<PathBuf>,
    /// A page that `celero lab report` wrote: charts of celero's own performance over versions
    #[arg(long, value_name = "FILE")]
    lab: Option<PathBuf>,
    /// What the host of the policy declares: functions, and variables for which cases give values.
    #[arg(long, value_name = "HOST.yaml")]
    env: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let files = files(args)?;
    if args.env.is_some() && files.policy.is_none() {
        return Err("--env is for a policy: celero serve --env HOST.yaml POLICY.yaml".to_owned());
    }
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

/// Reads the address to listen on.
///
/// # Errors
/// How to write it.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.trim_start_matches(':').parse().unwrap_or(ADDRESS.port());
    text.parse().map_err(|_| format!("expected an address and a port, as in `{}`", SocketAddr::new(ADDRESS.ip(), port)))
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
/// A file that can't be read or served, or a text beside files or other texts.
fn files(args: &Args) -> Result<Files, String> {
    let mut files = Files { lab: args.lab.clone(), requests: args.requests.clone(), ..Files::default() };
    if let Some(file) = &args.env {
        files.host = loader(file)?;
    }
    args.lab.iter().chain(&args.requests).try_for_each(|path| celero_serve::admit(path))?;
    let SourceArgs { files: paths, texts, format, language } = &args.source;
    if paths.is_empty() && texts.is_empty() {
        return Ok(files);
    }
    if texts.len() > 1 || !texts.is_empty() && !paths.is_empty() {
        return Err("`celero serve` takes one text, or files".to_owned());
    }
    if paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("`celero serve` reads its files again for each request: standard input can't be one".to_owned());
    }
    // What does not exist or is a folder gets a hint when it is read.
    paths.iter().filter(|path| path.exists() && !path.is_dir()).try_for_each(|path| celero_serve::admit(path))?;
    let sources = args.source.read("serve")?.into_iter();
    let (policies, rules): (Vec<Source>, Vec<Source>) = sources.partition(|source| source.format == Format::Policy);
    let mut policies = policies.into_iter().filter_map(|source| source.path);
    files.policy = policies.next();
    files.cases = policies.collect();
    if let [Source { name, text, format: Format::Cel, language, .. }] = &*rules {
        files.rule = Some(FirstRule { name: name.clone(), text: text.clone(), language: *language });
    } else if !rules.is_empty() {
        let paths = rules.into_iter().filter_map(|source| source.path).collect();
        let rules = RuleFiles { paths, format: *format, language: *language };
        rules.read()?;
        files.rules = Some(rules);
    }
    Ok(files)
}
