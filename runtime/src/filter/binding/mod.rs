//! Cloudflare's filter language for an environment: which fields rules may read, and where their values come from.

mod http;
mod source;
mod spelling;
mod types;

pub(crate) use http::expression_of;
pub(crate) use source::{Derivation, PartValue, Source};
pub(crate) use spelling::Spelling;

use crate::language::Declared;
use celero_frontend::filter::{
    ArgumentKind, FilterExpr, FilterFunction, FilterOptions, FilterParameter, FilterTree, FilterType, Named,
    ResultType, Scheme, StandardFunction, check_filter, check_value, format_filter, http_scheme, unparse_filter,
};
use celero_frontend::{Cel, Declarations, Diagnostic, Language as _, Limits, Stage, TOO_MANY_NODES, Type};
use celero_lists::Kind;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use types::filter_type;

/// Cloudflare's filter language, for [`Env::filter_language`](crate::Env::filter_language).
///
/// The fields that rules may name are the variables and aliases of the environment, under their
/// names, and those added with [`field`](Self::field); the lists are those of the environment.
/// [`http`](Self::http) adds the fields that Cloudflare documents for requests and responses.
///
/// ```
/// use celero::filter::FilterLanguage;
/// use celero::http::RequestContext;
/// use celero::{Engine, Env};
///
/// let env = Env::<RequestContext>::new().filter_language(FilterLanguage::http());
/// let rule = r#"http.host wildcard "*.example.com" and not ip.src in {192.0.2.0/24}"#;
/// let program = Engine::new().compile(&env, rule)?;
/// let request = http::Request::get("/").header("host", "www.example.com").body(()).unwrap();
/// assert!(program.test(&RequestContext::new(&request))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct FilterLanguage {
    options: FilterOptions,
    http: bool,
    nil_not_equal: bool,
    fields: Vec<(Box<str>, Box<str>)>,
    any_list: bool,
}

impl FilterLanguage {
    /// The language with the variables and aliases of the environment as its fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The language with the fields that Cloudflare documents as well: those that follow from the variables of
    /// [`RequestContext`](crate::http::RequestContext) and of policies have values, and all others are missing.
    pub fn http() -> Self {
        Self { http: true, ..Self::default() }
    }

    /// Sets how rules are checked, such as the strict mode. The bounds on sources are those of the engine.
    pub fn options(mut self, options: FilterOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets whether `!=` is true for a missing value. By default it is false, as Cloudflare documents.
    pub fn nil_not_equal(mut self, value: bool) -> Self {
        self.nil_not_equal = value;
        self
    }

    /// Adds a field whose value is that of a CEL expression over the variables of the environment,
    /// or takes the place of a documented one. Where the expression fails, the field is missing.
    ///
    /// ```
    /// use celero::filter::FilterLanguage;
    /// use celero::{Bindings, Engine, Env, Type};
    ///
    /// let language = FilterLanguage::new().field("cf.threat_score", "int(score * 100.0)");
    /// let env = Env::dynamic().variable("score", Type::Double).filter_language(language);
    /// let mut call = Bindings::new(&env);
    /// call.set("score", 0.7)?;
    /// assert!(Engine::new().compile(&env, "cf.threat_score gt 50")?.test(&call)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn field(mut self, name: &str, cel: &str) -> Self {
        self.fields.push((name.into(), cel.into()));
        self
    }

    /// Sets whether rules may name lists that are not [declared](crate::Env::lists): such a list
    /// contains nothing. Default: they may not. For tools that read rules of a host whose lists
    /// they don't know.
    pub fn any_list(mut self, value: bool) -> Self {
        self.any_list = value;
        self
    }
}

impl fmt::Debug for FilterLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterLanguage")
            .field("options", &self.options)
            .field("http", &self.http)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// The filter language of one environment.
pub(crate) struct FilterBinding {
    options: FilterOptions,
    scheme: Arc<Scheme>,
    /// Indexed by field.
    sources: Vec<Source>,
    /// The fields that have the values of a variable in other words.
    spellings: Vec<Spelling>,
    /// The numbers of the lists, by the names and the types of their values.
    lists: HashMap<(Arc<str>, FilterType), u32>,
    /// Whether a field asks lists.
    asks_lists: bool,
    /// By the index of a function of the scheme: that of the host's function, and the type of its results.
    functions: HashMap<u32, (u32, FilterType)>,
}

impl FilterBinding {
    /// The language with what an environment declares. What is wrong with the fields that were
    /// added to it is added to `problems`.
    pub(crate) fn new(language: &FilterLanguage, declared: &Declared<'_>, problems: &mut Vec<String>) -> Self {
        declared.filter_language(language, problems)
    }

    /// The type of the language that values of a type have.
    pub(crate) fn type_of(ty: &Type) -> Option<FilterType> {
        filter_type(ty, None)
    }

    /// The fields, functions and lists that rules may name.
    pub(crate) fn scheme(&self) -> &Arc<Scheme> {
        &self.scheme
    }

    /// Where the value of a field comes from.
    pub(crate) fn source(&self, field: u32) -> &Source {
        self.sources.get(field as usize).unwrap_or(&Source::Missing)
    }

    /// How a field spells the values of a variable.
    pub(crate) fn spelling_of_field(&self, field: u32) -> Option<&Spelling> {
        self.spellings.iter().find(|spelling| spelling.field == field)
    }

    /// How a field spells the values of this variable.
    pub(crate) fn spelling_of_variable(&self, variable: u32) -> Option<&Spelling> {
        self.spellings.iter().find(|spelling| spelling.variable == variable)
    }

    /// The host's function behind a function of the scheme, and the type of its results.
    pub(crate) fn host_function(&self, function: u32) -> Option<(u32, &FilterType)> {
        self.functions.get(&function).map(|(index, result)| (*index, result))
    }

    /// The number of a list; `None` if it is not declared.
    pub(crate) fn list(&self, name: &str, ty: &FilterType) -> Option<u32> {
        self.lists.get(&(name.into(), ty.clone())).copied()
    }

    /// The name of a list that can be asked for values of a type, by its number.
    pub(crate) fn list_name(&self, list: u32, ty: &FilterType) -> Option<&str> {
        let mut names = self.lists.iter().filter(|((_, of), number)| **number == list && of == ty);
        names.next().map(|((name, _), _)| &**name)
    }

    /// Whether rules can name a list, given by its number.
    pub(crate) fn knows_list(&self, list: u32) -> bool {
        self.lists.values().any(|number| *number == list)
    }

    /// Whether the value of a field depends on lists.
    pub(crate) fn asks_lists(&self) -> bool {
        self.asks_lists
    }

    /// Checks a rule: a condition, or if it is none, a value such as `concat("/x", http.request.uri.path)`.
    ///
    /// # Errors
    /// Every diagnostic.
    pub(crate) fn check(
        &self,
        source: &str,
        limits: &Limits,
    ) -> Result<(FilterTree, Vec<Diagnostic>), Vec<Diagnostic>> {
        let options = FilterOptions { limits: *limits, ..self.options };
        check_filter(source, &self.scheme, &options)
            .or_else(|diagnostics| check_value(source, &self.scheme, &options).map_err(|_| diagnostics))
    }

    /// Returns the nodes of the large expressions whose values the fields of a rule have, at each use.
    ///
    /// # Errors
    /// With these the rule has more than `max_nodes`; at the field that exceeds it.
    pub(crate) fn inlined_nodes(&self, tree: &FilterTree, limits: &Limits) -> Result<usize, Diagnostic> {
        let mut inlined = 0_usize;
        for node in tree.nodes() {
            let FilterExpr::Field(field) = node.expr else { continue };
            inlined = inlined.saturating_add(self.source(field).counted_nodes());
            if inlined > limits.max_nodes as usize {
                let message = format!(
                    "with the definitions that it uses in their places the expression has more than {} nodes (`max_nodes`)",
                    limits.max_nodes
                );
                return Err(Diagnostic::error(Stage::Limit, TOO_MANY_NODES, node.span, message));
            }
        }
        Ok(inlined)
    }

    /// The canonical layout of a rule, with a line end. A value is on one line. Lists need not be declared.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>> {
        let options = FilterOptions { limits: *limits, ..self.options };
        let mut scheme = Scheme::clone(&self.scheme);
        scheme.accept_all_lists();
        let scheme = Arc::new(scheme);
        format_filter(source, &scheme, &options, width).or_else(|diagnostics| {
            let (tree, _) = check_value(source, &scheme, &options).map_err(|_| diagnostics)?;
            Ok(unparse_filter(&tree) + "\n")
        })
    }
}

impl fmt::Debug for FilterBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBinding").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl Declared<'_> {
    fn filter_language(&self, language: &FilterLanguage, problems: &mut Vec<String>) -> FilterBinding {
        let FilterLanguage { options, http, nil_not_equal, fields, any_list } = language;
        let (options, http, nil_not_equal, any_list) = (*options, *http, *nil_not_equal, *any_list);
        let declarations = &Arc::new(self.declarations.clone());
        let mut scheme = if http { http_scheme() } else { Scheme::new() };
        scheme.set_nil_not_equal(nil_not_equal);
        let mut sources: Vec<Source> = scheme.fields().iter().map(|_| Source::Missing).collect();
        let mut set = |scheme: &mut Scheme, name: &str, ty: FilterType, source: Source| -> Result<(), String> {
            let index = match scheme.named(name) {
                Some(Named::Field(index))
                    if scheme.fields().get(index as usize).is_some_and(|field| field.ty == ty) =>
                {
                    index
                }
                _ => scheme.add_field(name, ty).map_err(|error| error.to_string())?,
            };
            let index = index as usize;
            if sources.len() <= index {
                sources.resize_with(index.saturating_add(1), || Source::Missing);
            }
            if let Some(place) = sources.get_mut(index) {
                *place = source;
            }
            Ok(())
        };
        for (index, variable) in (0u32..).zip(declarations.variables()) {
            let layout = self.layouts.get(index as usize);
            let Some(ty) = filter_type(&variable.ty, layout) else { continue };
            // A variable whose name this language cannot write is no field of it.
            let _ = set(&mut scheme, &variable.name, ty, Source::Variable(index, variable.ty.clone()));
        }
        let mut aliases: Vec<&str> = declarations.aliases().collect();
        aliases.sort_unstable();
        for alias in aliases {
            let Ok((ty, source)) = self.expression_source(alias, declarations, false) else { continue };
            let _ = set(&mut scheme, alias, ty, source);
        }
        if http {
            for (name, source) in http::sources(|cel| self.expression_source(cel, declarations, true).ok()) {
                let ty = match scheme.named(name) {
                    Some(Named::Field(index)) => scheme.fields().get(index as usize).map(|field| field.ty.clone()),
                    _ => None,
                };
                if let Some(ty) = ty {
                    let _ = set(&mut scheme, name, ty, source);
                }
            }
        }
        let mut spellings = if http { self.spellings(&scheme) } else { Vec::new() };
        for (name, cel) in fields {
            let source = self.expression_source(cel, declarations, false);
            if let Err(reason) = source.and_then(|(ty, source)| set(&mut scheme, name, ty, source)) {
                problems.push(format!("field `{name}`: {reason}"));
            }
        }
        // A host can give these fields other values.
        spellings.retain(|spelling| {
            let name = scheme.fields().get(spelling.field as usize).map(|field| &field.name);
            name.is_some_and(|name| fields.iter().all(|(given, _)| **given != **name))
        });
        if any_list {
            scheme.accept_all_lists();
        }
        let mut lists = HashMap::new();
        for (number, (name, list)) in (0..).zip(self.functions.lists().iter().flat_map(|lists| lists.types.iter())) {
            let ty = match list.kind() {
                Kind::Addresses => FilterType::Ip,
                Kind::Integers => FilterType::Int,
                // Further kinds are kinds of texts.
                _ => FilterType::Bytes,
            };
            // A list whose name this language cannot write is no list of it.
            if scheme.add_list(name, ty.clone()).is_ok() {
                lists.insert((Arc::clone(name), ty), number);
            }
        }
        let functions = self.host_functions(&mut scheme);
        let asks_lists = sources.iter().any(Source::asks_lists);
        FilterBinding { options, scheme: Arc::new(scheme), sources, spellings, lists, asks_lists, functions }
    }

    /// The documented fields that have the values of a variable in other words.
    fn spellings(&self, scheme: &Scheme) -> Vec<Spelling> {
        let found = http::spelled().filter_map(|(field, variable, words)| {
            let Some(Named::Field(field)) = scheme.named(field) else { return None };
            let (variable, _) = self.declarations.variable(variable)?;
            Some(Spelling { field, variable, words })
        });
        found.collect()
    }

    /// Declares the host's functions whose parameters and results are of types of the filter language.
    fn host_functions(&self, scheme: &mut Scheme) -> HashMap<u32, (u32, FilterType)> {
        let mut declared = HashMap::new();
        for (index, function) in (0u32..).zip(self.declarations.functions()) {
            let signature = &function.signature;
            if signature.receiver {
                continue;
            }
            let parameters: Option<Vec<FilterParameter>> = signature
                .params
                .iter()
                .map(|ty| filter_type(ty, None).map(|ty| FilterParameter::new(ArgumentKind::Any, ty)))
                .collect();
            let (Some(parameters), Some(result)) = (parameters, filter_type(&signature.result, None)) else { continue };
            let number = documented_of_host(scheme, &function.name, &parameters, &result)
                .or_else(|| scheme.add_function(FilterFunction::new(&function.name, parameters, result.clone())).ok());
            if let Some(number) = number {
                declared.insert(number, (index, result));
            }
        }
        declared
    }

    /// The value of a CEL expression as a source, and its type.
    ///
    /// # Errors
    /// Why there is none.
    fn expression_source(
        &self,
        cel: &str,
        declarations: &Arc<Declarations>,
        is_documented: bool,
    ) -> Result<(FilterType, Source), String> {
        let limits = Limits::default();
        let first =
            |diagnostics: Vec<Diagnostic>| diagnostics.into_iter().next().map_or_else(String::new, |one| one.message);
        let (written, _) = Cel.check(cel, declarations, &limits).map_err(first)?;
        source::of_expression(written, declarations, &limits, self.layouts, is_documented)
    }
}

/// The documented function that only a host can compute, of this name and with these parameters and result.
fn documented_of_host(scheme: &Scheme, name: &str, parameters: &[FilterParameter], result: &FilterType) -> Option<u32> {
    let Some(Named::Function(number)) = scheme.named(name) else { return None };
    let function = scheme.functions().get(number as usize)?;
    let takes = |(parameter, given): (&FilterParameter, &FilterParameter)| parameter.accepts == given.accepts;
    let fits = function.standard.is_some_and(StandardFunction::is_of_host)
        && function.result == ResultType::Type(result.clone())
        && function.required.len() == parameters.len()
        && function.required.iter().zip(parameters).all(takes);
    fits.then_some(number)
}
