//! The limits within which patterns are compiled.

use super::analysis::program_states;
use super::byte_regex::ByteRegex;
use super::dialect::{Dialect, Pattern};
use super::folding::{MOST_STEPS, check_parsed_cases, folding_steps, may_ignore_case};
use super::groups::keep_groups;
use super::meter::Meter;
use super::metered_regex::MeteredRegex;
use super::re2;
use super::syntax_error::SyntaxError;
use crate::MemoryBudget;
use regex_automata::meta::{self, Regex};
use regex_syntax::ast;
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

/// Longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// Largest compiled program, in bytes.
pub const MAX_PROGRAM_BYTES: usize = 1 << 21;
/// Deepest nesting of a pattern.
pub const MAX_NESTING: u32 = 100;
/// Largest compiled program of a pattern on bytes, in bytes. Nothing else bounds its length.
pub const MAX_BYTE_PROGRAM_BYTES: usize = 10 << 20;
/// Deepest nesting of a pattern on bytes, that of the regex crate.
pub(super) const MAX_BYTE_NESTING: u32 = 250;

/// Largest cache of a lazily built automaton, in bytes, for each thread that searches. A search that needs more continues
/// more slowly.
const MAX_CACHE_BYTES: usize = 1 << 20;

/// Most states of a pattern in which literals are looked for where a match may begin. In `a?` a thousand times, that takes longer than
/// everything else.
const MOST_STATES_FOR_LITERALS: usize = 1 << 14;

/// Steps charged for compiling any pattern, for each byte of it, and bytes of the compiled program for each step. A step is some ten
/// nanoseconds, and at most a hundred.
const STEPS_PER_PATTERN: usize = 3_000;
const STEPS_PER_BYTE: usize = 32;
pub(crate) const PROGRAM_BYTES_PER_STEP: usize = 8;

/// Why a pattern can't be compiled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern is longer than [`MAX_PATTERN_BYTES`].
    TooLong {
        /// Length of the pattern.
        bytes: usize,
    },
    /// The pattern is not valid.
    Syntax(SyntaxError),
    /// The pattern ignores case in too many large classes: looking up their other letter cases takes up to milliseconds each.
    TooManyCases,
    /// The compiled program would exceed a limit.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { bytes } => write!(f, "pattern of {bytes} bytes is longer than {MAX_PATTERN_BYTES}"),
            Self::Syntax(error) => error.fmt(f),
            Self::TooManyCases => f.write_str(
                "the pattern ignores case in too many large classes; write `(?s:.)` for any character, and `(?-i:..)` around \
                 classes that have all cases",
            ),
            Self::TooLarge { limit } => write!(f, "the program of the pattern exceeds the size limit of {limit} bytes"),
        }
    }
}

impl std::error::Error for PatternError {}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) regex: Regex,
    /// Upper bound of the states of its program.
    pub(super) states: usize,
}

/// What a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Text: the syntax of the pattern's dialect, within the limits of this file.
    Text,
    /// Bytes: that of `regex::bytes::RegexBuilder` with `unicode(false)`.
    Bytes,
}

impl Syntax {
    /// Parses a pattern.
    pub(super) fn parse(self, pattern: Pattern<'_>) -> Result<Hir, PatternError> {
        if self == Self::Text && pattern.text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { bytes: pattern.text.len() });
        }
        self.parse_of_any_length(pattern)
    }

    fn parse_of_any_length(self, pattern: Pattern<'_>) -> Result<Hir, PatternError> {
        if self == Self::Text && pattern.dialect == Dialect::Re2 {
            let parsed = re2::parse(pattern.text, MAX_NESTING, MOST_STEPS).map_err(PatternError::Syntax)?;
            return parsed.ok_or(PatternError::TooManyCases);
        }
        let pattern = pattern.text;
        let (nesting, text) = match self {
            Self::Text => (MAX_NESTING, true),
            Self::Bytes => (MAX_BYTE_NESTING, false),
        };
        let syntax = |error: regex_syntax::Error| PatternError::Syntax(SyntaxError::of_regex(&error, pattern));
        let parsed = ast::parse::ParserBuilder::new().nest_limit(nesting).build().parse(pattern);
        let ast = parsed.map_err(|error| syntax(error.into()))?;
        if may_ignore_case(pattern) {
            check_parsed_cases(&ast, self)?;
        }
        let mut translator = TranslatorBuilder::new().unicode(text).utf8(text).build();
        translator.translate(pattern, &ast).map_err(|error| syntax(error.into()))
    }

    fn max_program_bytes(self) -> usize {
        match self {
            Self::Text => MAX_PROGRAM_BYTES,
            Self::Bytes => MAX_BYTE_PROGRAM_BYTES,
        }
    }
}

/// Compiles a pattern that may come from an untrusted author: its length, nesting and program are bounded.
///
/// # Errors
/// If the pattern is not valid or exceeds [`MAX_PATTERN_BYTES`], [`MAX_NESTING`] or [`MAX_PROGRAM_BYTES`].
pub fn compile<'p>(pattern: impl Into<Pattern<'p>>) -> Result<MeteredRegex, PatternError> {
    let pattern = pattern.into();
    let compiled = engine(pattern, Syntax::Text, MAX_PROGRAM_BYTES)?;
    Ok(MeteredRegex::new(pattern, compiled, &MemoryBudget::default()))
}

/// As [`compile`], and takes what compiling costs from `meter`: steps for the length of the pattern, for classes that ignore case,
/// and for the size of the program. `left` is how many steps the meter has left. Use it for a pattern that comes with the text.
///
/// # Errors
/// That of the meter, in the outer result, if compiling costs more than is left; those of [`compile`] in the inner one.
pub fn compile_metered<'p, M: Meter>(
    pattern: impl Into<Pattern<'p>>,
    left: usize,
    meter: &M,
) -> Result<Result<MeteredRegex, PatternError>, M::Error> {
    let pattern = pattern.into();
    if pattern.text.len() > MAX_PATTERN_BYTES {
        return Ok(Err(PatternError::TooLong { bytes: pattern.text.len() }));
    }
    let compiled = engine_metered(pattern, Syntax::Text, left, meter)?;
    Ok(compiled.map(|compiled| MeteredRegex::new(pattern, compiled, &MemoryBudget::default())))
}

/// [`compile_metered`] for a pattern on bytes.
///
/// # Errors
/// That of the meter, in the outer result, if compiling costs more than is left; those of [`ByteRegex::new`] in the inner one.
pub fn compile_bytes_metered<M: Meter>(
    pattern: &str,
    left: usize,
    meter: &M,
) -> Result<Result<ByteRegex, PatternError>, M::Error> {
    let compiled = engine_metered(pattern.into(), Syntax::Bytes, left, meter)?;
    Ok(compiled.map(|compiled| ByteRegex::from_compiled(pattern, compiled, &MemoryBudget::default())))
}

fn engine_metered<M: Meter>(
    pattern: Pattern<'_>,
    syntax: Syntax,
    left: usize,
    meter: &M,
) -> Result<Result<Compiled, PatternError>, M::Error> {
    let parsing = pattern.text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS_PER_PATTERN);
    meter.charge(parsing)?;
    let folding = folding_steps(pattern);
    meter.charge(folding)?;
    let left = left.saturating_sub(parsing).saturating_sub(folding);
    // A program that would cost more than what is left is not finished.
    let most = left.saturating_mul(PROGRAM_BYTES_PER_STEP);
    match engine(pattern, syntax, most.min(syntax.max_program_bytes())) {
        Ok(compiled) => {
            meter.charge(compiled.regex.memory_usage() / PROGRAM_BYTES_PER_STEP)?;
            Ok(Ok(compiled))
        }
        Err(PatternError::TooLarge { limit }) => {
            meter.charge(if limit < syntax.max_program_bytes() {
                left.saturating_add(1)
            } else {
                limit / PROGRAM_BYTES_PER_STEP
            })?;
            Ok(Err(PatternError::TooLarge { limit }))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Compiles a pattern to a program of at most `program_bytes`, one on bytes without its groups.
pub(super) fn engine(pattern: Pattern<'_>, syntax: Syntax, program_bytes: usize) -> Result<Compiled, PatternError> {
    let hir = syntax.parse(pattern)?;
    let hir = if syntax == Syntax::Bytes { keep_groups(hir, 0) } else { hir };
    engine_of(&hir, syntax, program_bytes)
}

/// [`engine`] of a pattern that was parsed.
pub(super) fn engine_of(hir: &Hir, syntax: Syntax, program_bytes: usize) -> Result<Compiled, PatternError> {
    let states = program_states(hir);
    let config = meta::Config::new()
        .utf8_empty(syntax == Syntax::Text)
        .nfa_size_limit(Some(program_bytes))
        .hybrid_cache_capacity(MAX_CACHE_BYTES)
        .auto_prefilter(states <= MOST_STATES_FOR_LITERALS);
    let regex = Regex::builder().configure(config).build_from_hir(hir);
    // A pattern that was parsed can only be too large.
    let regex = regex.map_err(|_| PatternError::TooLarge { limit: program_bytes })?;
    Ok(Compiled { regex, states })
}

/// Parses a pattern of any length. Returns `None` if it is not valid, or if it ignores case in too many classes.
pub(crate) fn parse<'p>(pattern: impl Into<Pattern<'p>>) -> Option<Hir> {
    Syntax::Text.parse_of_any_length(pattern.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold() {
        assert!(compile(&"a".repeat(MAX_PATTERN_BYTES)).is_ok());
        assert!(compile(&"a".repeat(MAX_PATTERN_BYTES + 1)).unwrap_err().to_string().contains("16384"));
        assert!(compile(&format!("{}a{}", "(".repeat(101), ")".repeat(101))).is_err());
        assert!(compile(r"\w{1000}").is_err());
        let folded = |count: usize| format!("(?i){}", r"[\s\S]".repeat(count));
        assert!(compile(&folded(9)).is_ok());
        for count in [10, 2_000] {
            assert_eq!(compile(&folded(count)).err(), Some(PatternError::TooManyCases));
            assert!(parse(&folded(count)).is_none());
        }
        assert!(compile(&format!("(?i){}x", "(?s:.)".repeat(100))).is_ok());
    }
}
