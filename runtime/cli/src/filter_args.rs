//! What the command line declares for rules in the filter language, besides variables.

use crate::filter_values::FilterLists;
use crate::source::read_bytes;
use celero::filter::FilterLanguage;
use std::path::PathBuf;

/// The arguments about the filter language.
#[derive(clap::Args)]
pub(crate) struct FilterArgs {
    /// Gives a field of the filter language a value, that of a CEL expression: `cf.threat_score = 0`. Where the expression fails, the
    /// field is missing. May be repeated.
    #[arg(long, value_name = "NAME = CEL", allow_hyphen_values = true, help_heading = HEADING)]
    pub(crate) field: Vec<String>,
    /// The lists of the filter language (`ip.src in $office`): a JSON object, `{"office": {"Ip": ["10.0.0.0/8"]}}`.
    #[arg(long, value_name = "FILE.json", help_heading = HEADING)]
    pub(crate) lists: Option<PathBuf>,
    /// In the filter language, `ne` is true for a missing value. Without it, all comparisons with one are false.
    #[arg(long, help_heading = HEADING)]
    pub(crate) nil_not_equal: bool,
}

const HEADING: &str = "Cloudflare's filter language";

/// What the filter language has besides the variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterDeclarations {
    /// Names and CEL expressions.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) lists: FilterLists,
    pub(crate) nil_not_equal: bool,
}

impl FilterArgs {
    /// Reads the declarations.
    ///
    /// # Errors
    /// The option that is not valid, or the file that can't be read.
    pub(crate) fn read(&self) -> Result<FilterDeclarations, String> {
        let field = |text: &String| {
            let parts = text.split_once('=').map(|(name, cel)| (name.trim().to_owned(), cel.trim().to_owned()));
            parts.ok_or_else(|| format!("--field: `{text}`: expected `NAME = CEL`"))
        };
        let mut lists = FilterLists::default();
        if let Some(path) = &self.lists {
            let shown = path.display();
            let json = serde_json::from_slice(&read_bytes(path)?).map_err(|error| format!("{shown}: {error}"))?;
            lists = FilterLists::read(&json).map_err(|why| format!("{shown}: {why}"))?;
        }
        let fields = self.field.iter().map(field).collect::<Result<_, _>>()?;
        Ok(FilterDeclarations { fields, lists, nil_not_equal: self.nil_not_equal })
    }
}

impl FilterDeclarations {
    /// Returns whether nothing is declared.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.lists.is_empty()
    }

    /// Adds the declarations to the language.
    pub(crate) fn declare(&self, language: FilterLanguage) -> FilterLanguage {
        let language = language.nil_not_equal(self.nil_not_equal);
        let language = self.fields.iter().fold(language, |language, (name, cel)| language.field(name, cel));
        self.lists.declare(language)
    }
}
