//! What the host of policies declares (`--env`): for policies, and for other rules beside the fields of requests.

use crate::input::source::read_text;
use crate::output::hints;
use celero::diagnostics::similar;
use celero::host::{Extension, ExtensionFields};
use celero::http::RequestContext;
use celero::lists::Lists;
use celero::values::{Arena, EvalResult};
use celero::{Bindings, Context, Env, OwnedValue, Type, Value};
use celero_policy::Loader;
use serde_json::{Map, Value as Json};
use std::path::Path;
use std::sync::Arc;

/// The memory limit of input values, in bytes.
pub(crate) const INPUT_MEMORY: usize = 256 << 20;

/// A request with the values of the host's variables.
#[derive(Context)]
pub(crate) struct HostRequest<'a> {
    #[context(flatten)]
    pub(crate) request: RequestContext<'a>,
    #[context(flatten)]
    pub(crate) variables: Extension,
}

/// What a host declares, and values for its variables.
#[derive(Clone, Debug)]
pub(crate) struct HostInput {
    pub(crate) functions: Env<Bindings<'static>>,
    pub(crate) variables: Option<ExtensionFields>,
    pub(crate) lists: Option<Lists>,
    /// Without values all variables are absent.
    pub(crate) values: Option<Extension>,
}

/// Values by the index of their variable.
struct Values(Vec<Option<OwnedValue>>);

impl celero::host::Host for Values {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.0.get(index as usize).and_then(Option::as_ref).map(OwnedValue::as_value))
    }
}

impl HostInput {
    /// Reads the file of `--env`. `values` are those of `--bindings`.
    ///
    /// # Errors
    /// The file that can't be read, its errors as text, or a value that is not of the type of its variable.
    pub(crate) fn read(file: &Path, values: Option<&Map<String, Json>>) -> Result<Self, String> {
        let loader = loader(file)?;
        let (functions, variables) = (loader.host_functions().clone(), loader.host_variables().cloned());
        let values = values.map(|values| given(variables.as_ref(), values, file)).transpose()?;
        Ok(Self { functions, variables, lists: loader.host_lists().cloned(), values })
    }
}

/// Reads the file of `--env`.
///
/// # Errors
/// The file that can't be read, or its errors as text.
pub(crate) fn loader(file: &Path) -> Result<Loader, String> {
    let text = if file.exists() { read_text(file) } else { Err(hints::missing_file(file)) }?;
    Loader::of_declarations(&file.display().to_string(), &text).map_err(|error| format!("--env: {error}"))
}

/// Returns the values for variables.
fn given(variables: Option<&ExtensionFields>, json: &Map<String, Json>, file: &Path) -> Result<Extension, String> {
    let declared: Vec<(&str, &Type)> = match variables {
        Some(variables) => variables.variables().map(|(name, ty, _)| (name, ty)).collect(),
        None => Vec::new(),
    };
    let mut env = Env::dynamic();
    for (name, ty) in &declared {
        env = env.variable(name, (*ty).clone());
    }
    let mut values: Vec<Option<OwnedValue>> = declared.iter().map(|_| None).collect();
    for (name, json) in json {
        let Some(index) = declared.iter().position(|(known, _)| known == name) else {
            let meant = similar(name, declared.iter().map(|(name, _)| *name));
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            return Err(format!("--bindings: {} declares no variable `{name}`{meant}", file.display()));
        };
        let ty = declared.get(index).map_or(&Type::Dyn, |(_, ty)| ty);
        let arena = Arena::new(INPUT_MEMORY);
        let wrong = |why: String| format!("variable `{name}`: {why}");
        let value = celero_tooling::values::json::to_value(json, ty, &arena).map_err(wrong)?;
        Bindings::new(&env).set(name, value).map_err(|why| why.to_string())?;
        let owned = value.to_owned().map_err(|why| wrong(why.to_string()))?;
        if let Some(slot) = values.get_mut(index) {
            *slot = Some(owned);
        }
    }
    Ok(variables
        .map_or_else(Extension::default, |variables| Extension::of_declared(variables, Arc::new(Values(values)))))
}
