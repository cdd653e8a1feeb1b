//! The failure of an expression in an action: what failed, and its words for the log of a host.

use crate::bodies::unchangeable::Unchangeable;
use celero::{Context, ErrorKind, EvalError, Program, Scratch, Value};
use http::HeaderName;
use http::header::HOST;
use std::fmt;

/// The longest expression that a line shows, in bytes. Of a longer one the line has the place.
const LONGEST_SHOWN: usize = 80;

/// An expression of an action failed, or its value is not valid where it is used.
#[derive(Debug)]
pub(crate) struct ActionFailure<'r, S> {
    pub(crate) part: ActionPart<'r>,
    /// The expression that failed, if it was one.
    pub(crate) program: Option<&'r Program<S>>,
    pub(crate) why: WhyFailed,
}

/// The part of an action that an expression computes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ActionPart<'r> {
    SetHeader(&'r HeaderName),
    AddHeader(&'r HeaderName),
    Label(&'r str),
    LogField(&'r str),
    AnswerHeader(&'r HeaderName),
    AnswerBody,
    LimitKey,
    LimitCost,
    Descriptor(&'r str),
    LimitHits,
    Settle(&'r str),
    Delay,
    SetPath,
    SetQuery(&'r str),
    Require,
    SetBody,
    PatchBody,
    /// An operation of a JSON Patch, counted from 1.
    PatchOperation(usize),
}

/// Why a part of an action has no value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WhyFailed {
    /// The evaluation failed.
    Error(EvalError),
    /// The value is not valid where it is used: a header value with a line break or a space at an
    /// end, a log field that JSON cannot represent.
    Invalid,
    /// The body can't be changed.
    Body(Unchangeable),
}

impl WhyFailed {
    /// Returns whether what the expression reads is missing.
    pub(crate) fn is_missing(self) -> bool {
        matches!(self, Self::Error(error) if error.kind == ErrorKind::NoSuchKey)
    }
}

impl<'r, S> ActionFailure<'r, S> {
    /// A value that is not valid for this part.
    pub(crate) fn invalid(part: ActionPart<'r>) -> Self {
        Self { part, program: None, why: WhyFailed::Invalid }
    }
}

impl<S: Context + 'static> ActionFailure<'_, S> {
    /// Returns whether the rule counts as failed: a log field without a value is only left out.
    pub(crate) fn is_counted(&self) -> bool {
        !matches!(self.part, ActionPart::LogField(_))
    }

    /// Returns the words for a log: what failed, why, and the expression. They hold no text of the
    /// message that the rules read.
    pub(crate) fn log_words<C: Context<Static = S>>(&self, context: &C) -> String {
        let Self { part, program, why } = self;
        match (why, program) {
            (WhyFailed::Body(why), _) => format!("{part}: {}", why.describe()),
            (WhyFailed::Invalid, _) | (WhyFailed::Error(_), None) => format!("{part}: {}", part.invalid()),
            (WhyFailed::Error(error), Some(program)) => {
                let report = program.describe(error, context);
                let help = report.help().map_or_else(String::new, |help| format!("; {help}"));
                format!("{part}: {}{}{help}", report.redacted(), place(error, program.source()))
            }
        }
    }
}

/// Returns the expression that failed. Offsets would be offsets in the text that a template is
/// compiled to, which nobody sees.
fn place(error: &EvalError, source: &str) -> String {
    let expression = source.get(error.start as usize..error.end as usize).unwrap_or("").trim();
    if expression.is_empty() || expression.len() > LONGEST_SHOWN || expression.len() == source.trim().len() {
        return String::new();
    }
    format!(" (in `{}`)", expression.replace(char::is_control, " "))
}

impl<'r> ActionPart<'r> {
    /// Evaluates the expression of this part. `make` returns `None` for a value that is not valid here.
    pub(crate) fn evaluate<S: Context + 'static, C: Context<Static = S>, T>(
        self,
        program: &'r Program<S>,
        context: &C,
        scratch: &mut Scratch,
        make: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Result<T, ActionFailure<'r, S>> {
        let why = match program.eval(context, scratch).map(make) {
            Ok(Some(made)) => return Ok(made),
            Ok(None) => WhyFailed::Invalid,
            Err(error) => WhyFailed::Error(error),
        };
        Err(ActionFailure { part: self, program: Some(program), why })
    }

    fn invalid(self) -> &'static str {
        match self {
            Self::SetHeader(name) if *name == HOST => "the value is no host",
            Self::SetHeader(_) | Self::AddHeader(_) | Self::AnswerHeader(_) => {
                "the value has a line break or a control character, or begins or ends with a space"
            }
            Self::Label(_) | Self::AnswerBody | Self::LimitKey | Self::SetQuery(_) => "the value is not text",
            Self::SetPath => "the value is no path, or one without a canonical form",
            Self::Require => "the value is not a boolean",
            Self::Descriptor(_) => "the value is not text of at most 1024 bytes in UTF-8",
            Self::LimitCost | Self::LimitHits | Self::Settle(_) => "the value is not a number from 0",
            Self::Delay => "the value is not a duration",
            Self::LogField(_) | Self::SetBody | Self::PatchBody | Self::PatchOperation(_) => {
                "the value is absent, or JSON can't represent it"
            }
        }
    }
}

impl fmt::Display for ActionPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetHeader(name) => write!(f, "setHeaders {name}"),
            Self::AddHeader(name) => write!(f, "addHeaders {name}"),
            Self::Label(name) => write!(f, "labels {}", name.escape_debug()),
            Self::LogField(name) => write!(f, "logFields {}", name.escape_debug()),
            Self::AnswerHeader(name) => write!(f, "header {name} of the answer"),
            Self::LimitKey => f.write_str("key of the limit"),
            Self::LimitCost => f.write_str("cost of the limit"),
            Self::Descriptor(key) => write!(f, "descriptor {} of the limit", key.escape_debug()),
            Self::LimitHits => f.write_str("hits of the limit"),
            Self::Settle(name) => write!(f, "settle {}", name.escape_debug()),
            Self::Delay => f.write_str("delay"),
            Self::AnswerBody => f.write_str("body of the answer"),
            Self::SetPath => f.write_str("setPath"),
            Self::SetQuery(name) => write!(f, "setQuery {}", name.escape_debug()),
            Self::Require => f.write_str("require"),
            Self::SetBody => f.write_str("setBody"),
            Self::PatchBody => f.write_str("patchBody"),
            Self::PatchOperation(number) => write!(f, "patchBody, operation {number}"),
        }
    }
}
