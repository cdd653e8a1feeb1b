//! Compiles patterns for searches whose steps are counted, and counts those of the compilation.

use crate::MemoryBudget;
use crate::pattern::search::byte_regex::ByteRegex;
use crate::pattern::search::engine::{Compiled, engine};
use crate::pattern::search::meter::Meter;
use crate::pattern::search::metered_regex::MeteredRegex;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::folding::folding_steps;
use crate::pattern::syntax::limits::{
    MAX_PATTERN_BYTES, MAX_PROGRAM_BYTES, PROGRAM_BYTES_PER_STEP, PatternError, Syntax,
};

/// Steps charged for compiling any pattern, for each byte of it. A step is some ten
/// nanoseconds, and at most a hundred.
const STEPS_PER_PATTERN: usize = 3_000;
const STEPS_PER_BYTE: usize = 32;

/// Compiles a pattern that may come from an untrusted author: its length, nesting and program are bounded.
///
/// # Errors
/// If the pattern is not valid or exceeds [`MAX_PATTERN_BYTES`],
/// [`MAX_NESTING`](crate::pattern::MAX_NESTING) or [`MAX_PROGRAM_BYTES`].
pub fn compile<'p>(pattern: impl Into<Pattern<'p>>) -> Result<MeteredRegex, PatternError> {
    let pattern = pattern.into();
    let compiled = engine(pattern, Syntax::Text, MAX_PROGRAM_BYTES)?;
    Ok(MeteredRegex::new(pattern, compiled, &MemoryBudget::default()))
}

/// As [`compile`], and takes what compiling costs from `meter`: steps for the length of the
/// pattern, for classes that ignore case, and for the size of the program. `left` is how many steps
/// the meter has left. Use it for a pattern that comes with the text.
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
/// That of the meter, in the outer result, if compiling costs more than is left; those of
/// [`ByteRegex::new`] in the inner one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::syntax::parse::parse;

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
