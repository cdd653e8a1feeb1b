//! Judges of what the interpreter and native code share, where comparing the two finds nothing:
//! they compute the same results in other ways, by the standard library, by other crates, or from
//! the documents that define them. None of them calls the code that it judges.
//!
//! `CELERO_JUDGED_CASES` sets how many random arguments each overload is tried with, `CELERO_SEED` the seed.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::panic,
    reason = "tests"
)]

mod arguments;
mod bodies;
mod containers;
mod encoders;
mod filter_functions;
mod filter_judge;
mod filter_rules;
mod grammar;
mod http;
mod http_fields;
mod library;
mod message_json;
mod messages;
mod network;
mod numbers;
mod text;
mod time;
mod tokens;
mod values;

use celero_tests::generate::Owned;

/// Why a judge gives no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum No {
    /// The call must fail.
    Fails,
    /// The judge does not know these arguments.
    Unjudged,
}

/// What a call must give.
type Judged = Result<Owned, No>;

fn value(value: Owned) -> Judged {
    Ok(value)
}

/// The number that a variable of the environment sets.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
