//! What is measured: an expression, a set of rules or a policy, in one tier, with the requests that
//! it is measured with.

use crate::input::contexts::Contexts;
use crate::requests::recorded::RecordedRequest;
use celero::host::Extension;
use celero::{Context, Program, RuleSet, Scratch};
use celero_policy::{Exchange, Outcome, Policy};
use std::hint::black_box;
use std::net::SocketAddr;
use std::ops::Range;

/// Evaluates for one thread.
pub(crate) trait Runner {
    /// Returns the number of requests.
    fn len(&self) -> usize;

    /// Evaluates some of the requests, one after the other, all of them so many times.
    fn pass(&mut self, requests: Range<usize>, times: usize);

    /// Returns the answer to a request as text.
    fn answer(&mut self, request: usize) -> String;
}

/// Makes a runner and passes it on.
type Prepare<'a> = Box<dyn Fn(&mut dyn FnMut(&mut dyn Runner)) -> Result<(), String> + Sync + 'a>;

/// Something to measure.
pub(crate) struct Subject<'a> {
    /// Which of the files or texts it is from, counted from 0.
    pub(crate) source: usize,
    /// What it is called beside the others: `all matches`, `interpreted`.
    pub(crate) name: String,
    /// Whether its answers must be those of the first subject of its source.
    pub(crate) is_same: bool,
    prepare: Prepare<'a>,
}

impl<'a> Subject<'a> {
    /// Runs with a new runner. Each thread needs its own.
    ///
    /// # Errors
    /// Values that are not of the type of their variable.
    pub(crate) fn with(&self, run: &mut dyn FnMut(&mut dyn Runner)) -> Result<(), String> {
        (self.prepare)(run)
    }

    /// An expression.
    pub(crate) fn expression<K: Contexts>(name: &str, program: Program<K::Static>, contexts: &'a K) -> Self {
        let prepare: Prepare<'a> = Box::new(move |run| {
            contexts.with(|contexts| run(&mut ProgramRunner { program: &program, contexts, scratch: Scratch::new() }))
        });
        Self { source: 0, name: name.to_owned(), is_same: true, prepare }
    }

    /// A set of rules: all matches, or the first one.
    pub(crate) fn set<K: Contexts>(name: &str, set: &'a RuleSet<K::Static, ()>, contexts: &'a K, first: bool) -> Self {
        let prepare: Prepare<'a> = Box::new(move |run| {
            contexts.with(|contexts| run(&mut SetRunner { set, contexts, scratch: Scratch::new(), first }))
        });
        Self { source: 0, name: name.to_owned(), is_same: !first, prepare }
    }

    /// A policy, in its phase `request`.
    pub(crate) fn policy(
        policy: Policy,
        requests: &'a [RecordedRequest],
        source: SocketAddr,
        variables: Extension,
    ) -> Self {
        let prepare: Prepare<'a> = Box::new(move |run| {
            let heads = requests.iter().map(|request| {
                let (head, _) = request.message.clone().into_parts();
                (head, request.source.unwrap_or(source))
            });
            let (heads, exchange, variables) = (heads.collect(), Exchange::new(None, None), variables.clone());
            run(&mut PolicyRunner { policy: &policy, heads, exchange, variables });
            Ok(())
        });
        Self { source: 0, name: "phase request".to_owned(), is_same: true, prepare }
    }

    /// Returns the subject as one of another source.
    pub(crate) fn of_source(self, source: usize) -> Self {
        Self { source, ..self }
    }
}

struct ProgramRunner<'r, S, C> {
    program: &'r Program<S>,
    contexts: &'r [C],
    scratch: Scratch,
}

impl<S: Context<Static = S> + 'static, C: Context<Static = S>> Runner for ProgramRunner<'_, S, C> {
    fn len(&self) -> usize {
        self.contexts.len()
    }

    fn pass(&mut self, requests: Range<usize>, times: usize) {
        let contexts = self.contexts.get(requests).unwrap_or_default();
        for _ in 0..times {
            for context in contexts {
                let _ = black_box(self.program.eval(black_box(context), &mut self.scratch));
            }
        }
    }

    fn answer(&mut self, request: usize) -> String {
        let Some(context) = self.contexts.get(request) else { return String::new() };
        match self.program.eval(context, &mut self.scratch) {
            Ok(value) => value.source_text(usize::MAX).unwrap_or_else(|kind| format!("error: {kind}")),
            Err(error) => format!("error: {}", error.kind),
        }
    }
}

struct SetRunner<'r, S, C> {
    set: &'r RuleSet<S, ()>,
    contexts: &'r [C],
    scratch: Scratch,
    first: bool,
}

impl<S: Context<Static = S> + 'static, C: Context<Static = S>> Runner for SetRunner<'_, S, C> {
    fn len(&self) -> usize {
        self.contexts.len()
    }

    fn pass(&mut self, requests: Range<usize>, times: usize) {
        let contexts = self.contexts.get(requests).unwrap_or_default();
        for _ in 0..times {
            for context in contexts {
                if self.first {
                    let _ = black_box(self.set.first(black_box(context), &mut self.scratch));
                } else {
                    let _ = black_box(self.set.indices(black_box(context), &mut self.scratch));
                }
            }
        }
    }

    fn answer(&mut self, request: usize) -> String {
        let Some(context) = self.contexts.get(request) else { return String::new() };
        let name = |rule: usize| self.set.get(rule).map_or("", |rule| rule.name);
        let result = self.set.indices(context, &mut self.scratch).map(<[_]>::to_vec);
        let matches: Vec<&str> = result.iter().flatten().copied().map(name).collect();
        match (&result, &matches[..]) {
            (Err(error), _) => format!("stopped by {}", name(error.rule)),
            (Ok(_), []) => "no match".to_owned(),
            (Ok(_), names) => names.join(", "),
        }
    }
}

struct PolicyRunner<'r> {
    policy: &'r Policy,
    heads: Vec<(http::request::Parts, SocketAddr)>,
    exchange: Exchange,
    variables: Extension,
}

impl Runner for PolicyRunner<'_> {
    fn len(&self) -> usize {
        self.heads.len()
    }

    fn pass(&mut self, requests: Range<usize>, times: usize) {
        let Some(heads) = self.heads.get_mut(requests) else { return };
        for _ in 0..times {
            for (head, source) in &mut *heads {
                self.exchange.reset(Some(*source), None);
                self.exchange.set_declared_variables(&self.variables);
                let _ = black_box(self.policy.request(black_box(head), &mut self.exchange));
            }
        }
    }

    fn answer(&mut self, request: usize) -> String {
        let Some((head, source)) = self.heads.get_mut(request) else { return String::new() };
        self.exchange.reset(Some(*source), None);
        self.exchange.set_declared_variables(&self.variables);
        match self.policy.request(head, &mut self.exchange).outcome {
            Outcome::Continue => "continue".to_owned(),
            Outcome::Respond(answer) => format!("{} by {}", answer.status.as_u16(), answer.rule),
        }
    }
}
