//! File tests of the filter language.
//!
//! A file `tests/filetests/**/*.filter` opens with settings, then has sections, each opened by a
//! line `--- `, as the file tests of CEL ([`crate::filetest`]):
//!
//! ```text
//! # Comments, before the first section and in tables.
//! scheme: http              the documented fields of HTTP besides the declared ones
//! strict: true              the options, as in `FilterOptions`
//! bound-calls: true
//! max-nesting: 3
//! max-nodes: 100
//! max-source-bytes: 100
//! max-stars: 2
//! fields:
//!   tags: Array<Bytes>
//! constants:
//!   true: true
//! lists:                    type and items
//!   bad: Ip 10.0.0.0/8 192.0.2.1..192.0.2.9
//!
//! --- given                 the values of the evaluations that follow; fields that are not there are missing
//! {"tags": ["a"]}
//!
//! --- rule                  a condition; the sections that follow are about it
//! any(tags[*] eq "a")
//! --- value                 the same for an expression that is a value
//! --- canonical             its canonical text
//! --- layout 40             its canonical layout, in lines of at most 40 bytes
//! --- json                  its tree
//! --- type                  its type
//! --- diagnostics           errors or warnings, as people see them
//! --- wirefilter            the first error, as Wirefilter writes it
//! --- eval                  its value; `--- eval {"tags": []}` has values of its own
//!
//! --- table                 conditions, each with its value or `rejected: CODES`; `--- table {..}` has values of its own
//! any(tags[*] eq "b") => false
//! --- values                expressions that are values
//! tags[1] => nil
//! --- texts                 conditions, each with its canonical text
//! any(tags[*]=="a") => any(tags[*] eq "a")
//! ```
//!
//! Byte strings that are not UTF-8 are written `{"bytes": "a\\xff"}` in values. Each evaluation is
//! made with both settings of [`Scheme::set_nil_not_equal`]; where they differ, both values are
//! shown: `false, and true if nil is not equal`. Of each rule that is accepted, [`round_trip`] must
//! hold, and every tier must give the value.

use super::{Outcome, Values, bindings, evaluate_other_tier, interpret, round_trip, show};
use crate::filetest::{DISAGREE, File, Section, run_sections, table};
use celero::CompileError;
use celero::filter::{
    Comparison, Filter, FilterExpr, FilterOptions, FilterType, Scheme, SetItems, check_filter, check_value,
    filter_json, format_filter, http_scheme, unparse_filter, wirefilter_error,
};
use celero_frontend::{Style, render};
use std::path::Path;
use std::sync::Arc;

/// Runs a file, and with `bless` writes its expectations anew.
///
/// # Errors
/// All that is not as expected, as text.
pub fn run(path: &Path, bless: bool) -> Result<(), String> {
    run_sections(path, bless, |file| {
        let mut test = Test::of(file)?;
        Ok(move |section: &Section| test.expected(section).map_err(|why| format!("line {}: {why}", section.line)))
    })
}

/// A file's scheme with either meaning of `!=` for what is missing, the values given last, and the expression.
struct Test {
    schemes: [Arc<Scheme>; 2],
    options: FilterOptions,
    hosts: [Values; 2],
    source: String,
    is_value: bool,
}

impl Test {
    fn of(file: &File) -> Result<Self, String> {
        let (mut scheme, mut options, mut lists) = (Scheme::new(), FilterOptions::default(), Vec::new());
        let mut group = "";
        for (name, value) in file.settings()? {
            let number = || value.parse::<u32>().map_err(|error| format!("{name}: {error}"));
            match name {
                "scheme" if value == "http" => {
                    scheme = http_scheme();
                    scheme.accept_all_lists();
                }
                "strict" => options.strict = value == "true",
                "bound-calls" => options.bound_calls = value == "true",
                "max-nesting" => options.max_nesting = number()?,
                "max-nodes" => options.limits.max_nodes = number()?,
                "max-source-bytes" => options.limits.max_source_bytes = number()?,
                "max-stars" => options.max_wildcard_stars = Some(number()?),
                "fields" | "constants" | "lists" if value.is_empty() => group = name,
                _ if name.starts_with("  ") => {
                    declare(&mut scheme, &mut lists, group, name.trim(), value)?;
                }
                _ => return Err(format!("there is no setting `{name}: {value}`")),
            }
        }
        let schemes = [false, true].map(|nil_not_equal| {
            let mut scheme = scheme.clone();
            scheme.set_nil_not_equal(nil_not_equal);
            Arc::new(scheme)
        });
        let lists: Arc<[(String, SetItems)]> = lists.into();
        let hosts = schemes.each_ref().map(|scheme| Values::new(scheme).with_lists(Arc::clone(&lists)));
        Ok(Self { schemes, options, hosts, source: String::new(), is_value: false })
    }

    /// The body that a section should have; `None` if it is input.
    fn expected(&mut self, section: &Section) -> Result<Option<String>, String> {
        let outcome = |is_value| {
            let hosts = self.hosts_with(&section.argument)?;
            table(&section.body, |source| self.evaluate(source, is_value, &hosts))
        };
        Ok(Some(match section.kind.as_str() {
            "given" => {
                self.hosts = self.hosts_with(&section.body)?;
                return Ok(None);
            }
            "rule" | "value" => {
                self.source.clone_from(&section.body);
                self.is_value = section.kind == "value";
                return Ok(None);
            }
            "table" => outcome(false)?,
            "values" => outcome(true)?,
            "texts" => table(&section.body, |source| {
                let (filter, _) = match self.compile(source, false) {
                    Ok(filter) => filter,
                    Err(error) => return Ok(rejected(&error)),
                };
                round_trip(filter.tree(), false)?;
                Ok(unparse_filter(filter.tree()))
            })?,
            "eval" => self.evaluate(&self.source, self.is_value, &self.hosts_with(&section.argument)?)?,
            stage => self.stage(stage, &section.argument)?,
        }))
    }

    fn hosts_with(&self, text: &str) -> Result<[Values; 2], String> {
        if text.is_empty() {
            return Ok(self.hosts.clone());
        }
        let [first, second] = &self.hosts;
        let [scheme, _] = &self.schemes;
        Ok([bindings(first, scheme, text)?, bindings(second, scheme, text)?])
    }

    /// Compiles for both schemes.
    fn compile(&self, source: &str, is_value: bool) -> Result<(Filter, Filter), CompileError> {
        let compile = if is_value { Filter::compile_value } else { Filter::compile };
        let [first, second] = &self.schemes;
        Ok((compile(source, first, &self.options)?, compile(source, second, &self.options)?))
    }

    fn evaluate(&self, source: &str, is_value: bool, hosts: &[Values; 2]) -> Result<String, String> {
        let (first, second) = match self.compile(source, is_value) {
            Ok(filters) => filters,
            Err(error) => return Ok(rejected(&error)),
        };
        round_trip(first.tree(), is_value)?;
        let [host, other_host] = hosts;
        let (value, other) = (outcome(&first, host), outcome(&second, other_host));
        Ok(if value == other { value } else { format!("{value}, and {other} if nil is not equal") })
    }

    fn stage(&self, stage: &str, argument: &str) -> Result<String, String> {
        let [scheme, _] = &self.schemes;
        let check = if self.is_value { check_value } else { check_filter };
        let checked = check(&self.source, scheme, &self.options);
        let text = match (stage, checked) {
            ("diagnostics", Ok((_, warnings))) => render(&self.source, "rule", &warnings, Style::Plain),
            ("diagnostics", Err(errors)) => render(&self.source, "rule", &errors, Style::Plain),
            ("wirefilter", Err(errors)) => {
                errors.first().map_or_else(String::new, |e| wirefilter_error(&self.source, e))
            }
            (_, Err(errors)) => return Err(render(&self.source, "rule", &errors, Style::Plain)),
            ("canonical", Ok((tree, _))) => unparse_filter(&tree),
            ("json", Ok((tree, _))) => filter_json(&tree),
            ("type", Ok((tree, _))) => tree.result_type().to_string(),
            ("layout", Ok(_)) => {
                let width = argument.parse().map_err(|error| format!("`{argument}`: {error}"))?;
                format_filter(&self.source, scheme, &self.options, width).map_err(|errors| format!("{errors:?}"))?
            }
            _ => return Err(format!("there is no section `{stage}` for this")),
        };
        Ok(text.trim_end().to_owned())
    }
}

fn declare(
    scheme: &mut Scheme,
    lists: &mut Vec<(String, SetItems)>,
    group: &str,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let ty = |text: &str| text.parse::<FilterType>().map_err(|error| format!("`{name}`: {error}"));
    let added = match group {
        "fields" => scheme.add_field(name, ty(value)?).map(drop),
        "constants" => scheme.add_constant(name, value == "true").map(drop),
        _ => {
            let (of, items) = value.split_once(' ').unwrap_or((value, ""));
            lists.push((name.to_owned(), set_items(&ty(of)?, items)?));
            // The scheme of HTTP accepts every name.
            if scheme.has_list(name, &ty(of)?) { Ok(()) } else { scheme.add_list(name, ty(of)?) }
        }
    };
    added.map_err(|error| error.to_string())
}

/// The items of a list, as a rule writes those of a set.
fn set_items(ty: &FilterType, text: &str) -> Result<SetItems, String> {
    let mut scheme = Scheme::new();
    scheme.add_field("item", ty.clone()).map_err(|error| error.to_string())?;
    let source = format!("item in {{{text}}}");
    let (tree, _) =
        check_filter(&source, &Arc::new(scheme), &FilterOptions::default()).map_err(|errors| format!("{errors:?}"))?;
    match tree.expr(tree.root()) {
        FilterExpr::Compare { comparison: Comparison::OneOf(items), .. } => Ok(items.clone()),
        _ => Err(format!("`{text}` is no set")),
    }
}

fn rejected(error: &CompileError) -> String {
    let codes: Vec<&str> = error.diagnostics().iter().map(|diagnostic| diagnostic.code).collect();
    format!("rejected: {}", codes.join(", "))
}

/// The value of a rule in all tiers, as text.
fn outcome(filter: &Filter, host: &Values) -> String {
    let text = |outcome: &Outcome| match outcome {
        Ok(value) => show(value.as_ref()),
        Err(kind) => format!("error: {}", kind.name()),
    };
    let hosts = std::slice::from_ref(host);
    let interpreted: Vec<String> = interpret(filter, hosts).iter().map(text).collect();
    let interpreted = interpreted.concat();
    match evaluate_other_tier(filter, hosts) {
        Ok(other) if other.iter().map(text).collect::<Vec<_>>().concat() != interpreted => {
            format!("{DISAGREE} interpreter: {interpreted}\n{DISAGREE} other tier: {other:?}")
        }
        _ => interpreted,
    }
}
