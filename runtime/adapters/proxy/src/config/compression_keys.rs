//! The keys of the section `compression`.

use celero_policy::schema::ValueSpec::{Integer, List, Size, Text, Word};
use celero_policy::schema::{KeySpec, MappingSpec};

/// The values of `codings`, in the order of the default.
pub(super) const CODINGS: &[&str] = &["br", "zstd", "gzip"];

pub(super) static COMPRESSION: MappingSpec = MappingSpec::new(
    "`compression`",
    &[
        KeySpec::optional(
            "types",
            List(&Text),
            "The content types: `text/html`; `text/*` and `application/*+json` stand for several. Default: texts, JSON, XML, scripts, WebAssembly and SVG.",
        ),
        KeySpec::optional(
            "codings",
            List(&Word(CODINGS)),
            "The codings. Of those that a client likes equally, the first is taken. Default: br, zstd, gzip.",
        ),
        KeySpec::optional("minSize", Size, "The smallest body that is compressed. Default: 1KiB."),
        KeySpec::optional(
            "level",
            Integer { least: 1, most: 9 },
            "From 1, the fastest, to 9, the smallest. Default: 5.",
        ),
        KeySpec::optional(
            "streams",
            Integer { least: 1, most: 100_000 },
            "How many responses are compressed at a time; further ones are sent as they are. Default: 256.",
        ),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;
    use celero_pingora::Coding;

    #[test]
    fn codings_are_those_that_there_are() {
        assert_eq!(CODINGS, Coding::ALL.map(Coding::name));
        let said = COMPRESSION.key("codings").unwrap().description;
        assert!(said.ends_with(&format!("Default: {}.", CODINGS.join(", "))), "{said}");
    }
}
