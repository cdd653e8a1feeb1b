//! `celero bench`: measures expressions, sets of rules and policies with requests, beside each other.

mod chart;
mod measure;
mod report;
mod subject;

use crate::commands::policy::Host;
use crate::evaluate::cost::Cost;
use crate::evaluate::rule_sets::{ErrorPolicyArg, builder, compiling, complain, rejected};
use crate::input::arguments::{Input, InputArgs};
use crate::input::contexts::{Command, Contexts};
use crate::input::source::{Format, Source, SourceArgs};
use crate::output::failure::Failure;
use crate::output::units::grouped;
use crate::output::{Output, hints};
use crate::requests::recorded::RecordedRequest;
use crate::rules::file::RulesFile;
use crate::{DISAGREE, REJECTED};
use celero::host::Extension;
use celero::{Engine, ErrorPolicy, RuleSet, Tier};
use report::{About, Report};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use subject::Subject;

/// Measure rules with requests: time, allocations, throughput.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero bench site.rules --requests traffic.jsonl
  celero bench -e 'request.path.startsWith(\"/api/\")' --request request.http
  celero bench policy.yaml --requests traffic.jsonl
  celero bench --compare old.rules new.rules --requests traffic.jsonl
  celero bench -e '\"abc\".matches(\"b+\")' -e '\"abc\".contains(\"b\")'
  celero bench site.rules --requests traffic.jsonl --svg bench.svg

The first number is the median time of a request over many rounds, on one thread; the range beside it holds nine of ten rounds. All that
is measured takes turns in each round. Expressions and files of rules are measured as native code and interpreted, and the answers are
compared. Requests are also measured one by one, at most 100 of them.
Exit code 3 if the tiers give different answers, and with --compare 1 if the two give different answers.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,
    /// Compare two files or texts: exit with 1 if they give different answers to a request.
    #[arg(long)]
    compare: bool,
    /// The time of each measurement, in milliseconds. Less is less exact.
    #[arg(long, value_name = "MS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    time: u64,
    /// Also show which rules of a file cost most, each measured standalone.
    #[arg(long)]
    by_rule: bool,
    /// Write a chart to this file.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// What a rule with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let sources = args.source.read("bench")?;
    if args.compare && sources.len() != 2 {
        return Err(format!("--compare takes two files or texts, not {}", sources.len()));
    }
    let input = args.given.read()?.for_rules(&sources);
    // Policies read the requests themselves.
    let (requests, client, variables) = match &input {
        Input::Requests(input) => {
            let values = input.declarations.host.as_ref().and_then(|host| host.values.clone());
            (input.requests.clone(), input.source, values)
        }
        Input::Named(_) => (Vec::new(), args.given.source, None),
    };
    let host = Host::read(args.given.env.as_deref())?;
    let variables = variables.unwrap_or_default();
    input.run(Bench { args, sources: &sources, requests, client, variables, host }, output)
}

struct Bench<'a> {
    args: &'a Args,
    sources: &'a [Source],
    requests: Vec<RecordedRequest>,
    client: std::net::SocketAddr,
    /// The values of the host's variables.
    variables: Extension,
    host: Host,
}

/// A file of rules that is compiled.
struct CompiledRules<S> {
    native: RuleSet<S, ()>,
    interpreted: RuleSet<S, ()>,
    file: RulesFile,
}

impl Command for Bench<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { args, sources, requests, client, variables, host } = self;
        let envs = contexts.envs();
        let [native, interpret] = [Tier::Auto, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build());
        let mut about = Vec::new();
        let mut compiled = Vec::new();
        let mut others: Vec<Vec<Subject<'_>>> = Vec::new();
        for source in sources {
            let began = Instant::now();
            let mut subjects = Vec::new();
            let (mut of_source, mut rules) = (About::new(source), None);
            match source.format {
                Format::Cel => {
                    let env = envs.of(source.language);
                    let program = match native.compile(env, &source.text) {
                        Ok(program) => program,
                        Err(error) => {
                            let failure = Failure::from(&error);
                            if args.json {
                                output.line(&failure.json().to_string());
                            } else {
                                output.complain(&failure.render(&source.name, &source.text, output.color()));
                                let declared = args.given.declares();
                                output.hints(&hints::about(source.argument(), declared, "bench", &failure.diagnostics));
                            }
                            return Ok(REJECTED);
                        }
                    };
                    let read = program.fields().names().next();
                    needs_requests(contexts, read.map(|name| format!("`{name}`")))?;
                    of_source.build = began.elapsed();
                    of_source.code = Some(program.code_size());
                    let second = interpret.compile(env, &source.text).map_err(|error| error.to_string())?;
                    let name = if program.is_native() { "native" } else { "interpreted (no native code)" };
                    subjects.push(Subject::expression(name, program, contexts));
                    subjects.push(Subject::expression("interpreted", second, contexts));
                }
                Format::Rules => {
                    needs_requests(contexts, Some("requests or values".to_owned()))?;
                    let file = RulesFile::parse(source.name.clone(), source.text.clone(), source.language)?;
                    let progress = compiling(&native, envs, &file, args.on_error);
                    let began = Instant::now();
                    let set = builder(&native, envs, &file, args.on_error).build();
                    of_source.build = began.elapsed();
                    let set = match set {
                        Ok(set) => set,
                        Err(error) => {
                            drop(progress);
                            return Ok(rejected(&file, &error, args.json, output));
                        }
                    };
                    let second = builder(&interpret, envs, &file, args.on_error).build();
                    drop(progress);
                    let second = second.map_err(|error| error.to_string())?;
                    of_source.rules = Some((set.len(), set.indexed_rules(), set.native_rules()));
                    of_source.code = Some(set.code_size());
                    of_source.index = Some(set.index_size());
                    rules = Some(CompiledRules { native: set, interpreted: second, file });
                }
                Format::Policy => {
                    if requests.is_empty() {
                        return Err("a policy is measured with requests: give --requests FILE".to_owned());
                    }
                    let policy = match host.loader.parse(&source.name, &source.text, source.base()) {
                        Ok(policy) => policy,
                        Err(error) => {
                            output.complain(&error.render(output.color()));
                            output.hints(&host.hints(&error));
                            return Ok(REJECTED);
                        }
                    };
                    of_source.build = began.elapsed();
                    let count = policy.rules().count();
                    of_source.policy_rules = Some(count);
                    subjects.push(Subject::policy(policy, &requests, client, variables.clone()));
                }
            }
            about.push(of_source);
            compiled.push(rules);
            others.push(subjects);
        }
        let mut subjects = Vec::new();
        for (number, (compiled, other)) in compiled.iter().zip(others).enumerate() {
            if let Some(CompiledRules { native, interpreted, .. }) = compiled {
                subjects.push(Subject::set("all matches", native, contexts, false).of_source(number));
                subjects.push(Subject::set("first match", native, contexts, true).of_source(number));
                subjects.push(Subject::set("all, interpreted", interpreted, contexts, false).of_source(number));
            }
            subjects.extend(other.into_iter().map(|subject| subject.of_source(number)));
        }
        let mut costs = Vec::new();
        for compiled in &compiled {
            costs.push(match compiled {
                Some(CompiledRules { native: set, file, .. }) if args.by_rule => {
                    Some(contexts.with(|contexts| Cost::measure(&native, envs, (file, set), contexts))??)
                }
                _ => None,
            });
        }
        let measured = measure::measure(&subjects, Duration::from_millis(args.time))?;
        let requests = args.given.requests.as_ref().map(|path| path.display().to_string());
        if cfg!(debug_assertions) {
            output.complain(UNOPTIMIZED);
        }
        let labels = (0..measured.first().map_or(0, |first| first.answers.len())).map(|number| contexts.label(number));
        let report =
            Report { about, subjects, measured, requests, labels: labels.collect(), costs, compare: args.compare };
        if let Some(path) = &args.svg {
            std::fs::write(path, chart::svg(&report)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if args.json {
            output.line(&report.json().to_string());
        } else {
            let paint = output.paint();
            output.print(&format!("{}\n{}", report.text(paint), chart::bars(&report, paint)));
        }
        for compiled in &compiled {
            if let Some(CompiledRules { native, file, .. }) = compiled
                && !args.json
                && args.by_rule
            {
                complain(file, native.warnings(), output);
            }
        }
        Ok(match (report.tiers_differ(), report.sources_differ()) {
            (true, _) => DISAGREE,
            (false, true) if args.compare => REJECTED,
            _ => 0,
        })
    }
}

/// The warning about numbers of a debug build.
const UNOPTIMIZED: &str = "warning: this is a debug build of celero: machine code of rules has its usual speed, all else is slower; \
    a release build (cargo build --release) gives the numbers that count";

/// The time of each measurement of [`one_line`].
const ONE_LINE: Duration = Duration::from_millis(100);

/// Measures an expression in both tiers, and returns the result as a line.
///
/// # Errors
/// An expression that can't be compiled.
pub(crate) fn one_line(contexts: &impl Contexts, text: &str) -> Result<String, String> {
    let mut subjects = Vec::new();
    for (name, tier) in [("native", Tier::Auto), ("interpreted", Tier::Interpret)] {
        let program = Engine::builder().tier(tier).build().compile(contexts.env(), text);
        subjects.push(Subject::expression(name, program.map_err(|error| error.to_string())?, contexts));
    }
    let measured = measure::measure(&subjects, ONE_LINE)?;
    let times = subjects.iter().zip(&measured).map(|(subject, measured)| {
        let [median, low, high] = [0.5, 0.05, 0.95].map(|share| grouped(measured.quantile(share)));
        format!("{} {median} ns ({low} to {high}), {:.2} allocations", subject.name, measured.allocations)
    });
    Ok(times.collect::<Vec<_>>().join("; "))
}

/// Refuses rules that read requests or values where none are given.
fn needs_requests(contexts: &impl Contexts, read: Option<String>) -> Result<(), String> {
    match read {
        Some(what) if !contexts.given() => {
            Err(format!("the rules read {what}: give --requests FILE or --bindings FILE.json"))
        }
        _ => Ok(()),
    }
}
