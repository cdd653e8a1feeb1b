//! A host with values as data.

use celero::filter::{FilterHost, FilterValue, IpItem, Scheme, SetItems, list_entries};
use celero::lists::{Limits, Lists};
use std::fmt;
use std::sync::Arc;

/// The values of the fields, the contents of the lists, and functions.
#[derive(Clone)]
pub struct Values {
    scheme: Arc<Scheme>,
    fields: Vec<Option<FilterValue>>,
    lists: Arc<[(String, SetItems)]>,
    function: HostFunction,
}

/// The result of a function of the host, by its name.
pub type HostFunction = fn(&str, &[Option<&FilterValue>]) -> Option<FilterValue>;

impl Values {
    /// A host of a scheme in which all fields are missing and functions have no result.
    #[must_use]
    pub fn new(scheme: &Arc<Scheme>) -> Self {
        Self {
            scheme: Arc::clone(scheme),
            fields: vec![None; scheme.fields().len()],
            lists: Arc::new([]),
            function: |_, _| None,
        }
    }

    /// The same host with lists.
    #[must_use]
    pub fn with_lists(self, lists: Arc<[(String, SetItems)]>) -> Self {
        Self { lists, ..self }
    }

    /// The lists as named lists of an environment; `None` if one can't be one.
    pub(super) fn named_lists(&self) -> Option<Lists> {
        let lists = Lists::new(Limits::default());
        for (name, items) in self.lists.iter() {
            let entries = list_entries(items)?;
            lists.declare(name, entries.kind()).ok()?;
            lists.change().replace(name, entries).commit().ok()?;
        }
        Some(lists)
    }

    /// The same host with functions.
    #[must_use]
    pub fn with_functions(self, function: HostFunction) -> Self {
        Self { function, ..self }
    }

    /// The scheme of the fields and functions.
    #[must_use]
    pub fn scheme(&self) -> &Arc<Scheme> {
        &self.scheme
    }

    /// Gives a field a value, or none.
    pub fn set(&mut self, index: usize, value: Option<FilterValue>) {
        if let Some(field) = self.fields.get_mut(index) {
            *field = value;
        }
    }

    /// The values, by the index of their field.
    #[must_use]
    pub fn fields(&self) -> &[Option<FilterValue>] {
        &self.fields
    }
}

/// Gives a host the values of a JSON object, by the names of the fields. Fields that it does not name are missing.
///
/// # Errors
/// The text is not such an object.
pub fn bindings(host: &Values, scheme: &celero::filter::Scheme, text: &str) -> Result<Values, String> {
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| format!("`{text}`: {error}"))?;
    let members = json.as_object().ok_or_else(|| format!("`{text}` is no object"))?;
    let mut host = host.clone();
    for (index, field) in scheme.fields().iter().enumerate() {
        let json = members.get(&*field.name).filter(|json| !json.is_null());
        host.set(index, json.map(|json| super::value(json, &field.ty)).transpose()?);
    }
    match members.keys().find(|name| scheme.fields().iter().all(|field| *field.name != **name)) {
        Some(name) => Err(format!("`{name}` is no field")),
        None => Ok(host),
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (field, value) in self.scheme.fields().iter().zip(&self.fields) {
            writeln!(f, "    {} = {}", field.name, super::show(value.as_ref()))?;
        }
        Ok(())
    }
}

impl FilterHost for Values {
    fn field(&self, index: u32) -> Option<&FilterValue> {
        self.fields.get(index as usize)?.as_ref()
    }

    fn list_contains(&self, name: &str, value: &FilterValue) -> bool {
        self.lists.iter().filter(|(list, _)| list == name).any(|(_, items)| contains(items, value))
    }

    fn call(&self, function: u32, args: &[Option<&FilterValue>]) -> Option<FilterValue> {
        (self.function)(&self.scheme.functions().get(function as usize)?.name, args)
    }
}

fn contains(items: &SetItems, value: &FilterValue) -> bool {
    match (items, value) {
        (SetItems::Ints(items), FilterValue::Int(value)) => items.iter().any(|(a, b)| a <= value && value <= b),
        (SetItems::Bytes(items), FilterValue::Bytes(value)) => items.iter().any(|item| *item.value == **value),
        // As in named lists, an IPv4-mapped address is the IPv4 address.
        (SetItems::Ips(items), FilterValue::Ip(value)) => items.iter().map(IpItem::bounds).any(|(first, last)| {
            let value = value.to_canonical();
            first.is_ipv4() == value.is_ipv4() && first <= value && value <= last
        }),
        _ => false,
    }
}
