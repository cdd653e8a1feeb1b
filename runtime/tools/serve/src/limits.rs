//! Every bound of the server, with its reason.

use std::time::Duration;

/// Most connections at once. Further ones are closed when they are accepted. A browser opens six.
pub const CONNECTIONS: usize = 128;

/// The time for the head of a request, and for an idle connection.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// The time for the body of a request.
pub const BODY_TIME: Duration = Duration::from_secs(10);

/// The time of a connection, whatever it does. It bounds how long a client can take to read an answer.
pub const CONNECTION_TIME: Duration = Duration::from_secs(120);

/// Most bytes of the head of a request.
pub const HEAD_BYTES: usize = 16 << 10;

/// Most header lines of a request.
pub const HEADERS: usize = 64;

/// Most bytes of the body of a request: a rule, and a request with a body; or a changed text, and recorded requests.
pub const BODY_BYTES: usize = 512 << 10;

/// Most evaluations and compilations at once. The others wait.
pub const EVALUATIONS: usize = 2;

/// Most requests that wait for an evaluation. Further ones are answered with 503.
pub const WAITING: usize = 32;

/// The time that a request waits for its evaluation and for the result. After it, the answer is 503.
/// The limits below bound the evaluation itself.
pub const EVALUATION_TIME: Duration = Duration::from_secs(20);

/// Bytes of stack of a thread that evaluates.
pub const STACK: usize = 8 << 20;

/// Most bytes of a rule. Compiling takes time about linear in its length.
pub const RULE_BYTES: u32 = 8 << 10;

/// Most nodes of the tree of a rule.
pub const RULE_NODES: u32 = 4 << 10;

/// Most steps of an evaluation: about ten milliseconds.
pub const STEPS: u32 = 1_000_000;

/// Most bytes that an evaluation may allocate.
pub const MEMORY: usize = 16 << 20;

/// Most bytes of the compiled patterns of a rule.
pub const PATTERNS: usize = 32 << 20;

/// Most steps for letter cases of the patterns of a rule: about a tenth of a second, each time they are parsed.
pub const CASE_STEPS: usize = 1_000_000;

/// Most bytes of the values of an input of variables.
pub const INPUT_MEMORY: usize = 16 << 20;

/// Most bytes of the text of a value in an answer. The rest is cut.
pub const VALUE_TEXT: usize = 2 << 10;

/// Most bytes of the texts of all values of the parts of a rule in an answer.
pub const PART_TEXTS: usize = 256 << 10;

/// Most bytes of the text of a stage in an answer. The rest is cut.
pub const STAGE_TEXT: usize = 1 << 20;

/// The time for measuring an evaluation in one tier.
pub const MEASURING: Duration = Duration::from_millis(25);

/// The time for measuring a rule of a set.
pub const RULE_MEASURING: Duration = Duration::from_millis(1);

/// Most rules of a set that are measured for a request.
pub const TIMED_RULES: usize = 50;

/// Most bytes of a file of rules, a policy or a file of cases.
pub const FILE_BYTES: u64 = 4 << 20;

/// Most rules of a set that are shown.
pub const RULES: usize = 2_000;

/// Most bytes of a changed text: of a policy, or of all files of a rule set.
pub const TEXT_BYTES: usize = 256 << 10;

/// Most steps of an evaluation of a whole set: about half a second. Each rule has its share, at least
/// [`LEAST_STEPS`] and at most [`STEPS`].
pub const SET_STEPS: u32 = 50_000_000;

/// The steps that each rule of a set has in any case.
pub const LEAST_STEPS: u32 = 10_000;

/// Most recorded requests that are tried. Of the others there is the number.
pub const RECORDED: usize = 200;

/// The time for trying recorded requests. Of those that are left there is the number.
pub const RECORDED_TIME: Duration = Duration::from_secs(5);

/// Most bytes of the text of a recorded request in an answer. Longer ones are not shown.
pub const RECORDED_TEXT: usize = 4 << 10;

/// Most bytes of the texts of all recorded requests in an answer.
pub const RECORDED_TEXTS: usize = 256 << 10;

/// The time for the cases of a policy.
pub const CASES_TIME: Duration = Duration::from_secs(10);

/// Most errors and warnings in an answer. Of the others there is the number.
pub const DIAGNOSTICS: usize = 200;

/// Most rules that are named for a recorded request.
pub const NAMED_RULES: usize = 20;

/// Most sizes of a set for which its time is measured.
pub const CURVE_POINTS: usize = 6;
