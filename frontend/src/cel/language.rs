//! CEL as a [`Language`].

use super::lexicon::LEXICON;
use super::{CHECKER_CODES, FORMAT_CODES, PARSER_CODES, check, format, parse_with, unparse};
use super::{foreign_names, named_lists};
use crate::checked::Checked;
use crate::declarations::Declarations;
use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::language::Language;
use crate::lexicon::Lexicon;
use crate::limits::Limits;

/// The Common Expression Language, with the extensions of the [libraries](crate::stdlib::Library)
/// that the declarations turn on.
///
/// ```
/// use celero_frontend::{Declarations, Language, Limits, Type, cel::Cel};
///
/// let (checked, warnings) = Cel.check("1 + 2 == 3", &Declarations::new(), &Limits::default()).unwrap();
/// assert_eq!(checked.result_type(), &Type::Bool);
/// assert!(warnings.is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Cel;

impl Language for Cel {
    fn name(&self) -> &str {
        "cel"
    }

    fn check(
        &self,
        source: &str,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
        let parsed = parse_with(source, limits, declarations.libraries());
        let ast = parsed.map_err(|mut found| {
            named_lists::explain(source, &mut found, declarations);
            foreign_names::explain(source, &mut found, declarations);
            found
        })?;
        check(ast, declarations, limits)
    }

    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>> {
        format(source, limits, width)
    }

    fn unparse(&self, checked: &Checked) -> String {
        unparse(checked.ast())
    }

    fn codes(&self) -> Vec<CodeInfo> {
        [PARSER_CODES, CHECKER_CODES, FORMAT_CODES].concat()
    }

    fn has_parts_in_source(&self) -> bool {
        true
    }

    fn title(&self) -> &str {
        "CEL"
    }

    fn lexicon(&self) -> Lexicon {
        LEXICON
    }
}
