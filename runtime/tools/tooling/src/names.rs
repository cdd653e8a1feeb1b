//! Functions and macros for people: their signatures and documentation.

use celero::filter::{FilterFunction, StandardFunction};
use celero::language::{Declarations, MacroForm, Overload, Signature, TABLE, macro_forms};

/// A function that an expression may call.
#[derive(Clone, Debug)]
pub struct Callable<'d> {
    /// Its name.
    pub name: &'d str,
    /// Its types, of which the receiver's is the first.
    pub signature: &'d Signature,
    /// The names of the parameters, if they have names; the receiver's first.
    parameters: Vec<&'d str>,
    /// One line, or nothing.
    pub doc: &'static str,
}

impl Callable<'_> {
    /// Returns the parameters as text, without the receiver.
    #[must_use]
    pub fn parameters(&self) -> Vec<String> {
        let named = |(index, ty): (usize, &celero::Type)| match self.parameters.get(index) {
            Some(name) => format!("{name}: {ty}"),
            None => ty.to_string(),
        };
        let all = self.signature.params.iter().enumerate().map(named);
        all.skip(usize::from(self.signature.receiver)).collect()
    }

    /// Returns the signature: `string.startsWith(string) -> bool`.
    #[must_use]
    pub fn text(&self) -> String {
        let Signature { receiver, params, result, .. } = self.signature;
        let on = params.first().filter(|_| *receiver).map_or_else(String::new, |ty| format!("{ty}."));
        format!("{on}{}({}) -> {result}", self.name, self.parameters().join(", "))
    }
}

/// Returns every function that an expression may call, with an item for each signature; no operators.
pub fn callables(declarations: &Declarations) -> impl Iterator<Item = Callable<'_>> {
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic());
    let libraries = declarations.libraries();
    let mut names: Vec<&str> = TABLE.names(libraries).filter(is_name).collect();
    names.sort_unstable();
    let standard = names.into_iter().flat_map(move |name| {
        TABLE.signatures(name, libraries).map(move |signature| Callable {
            name,
            signature,
            parameters: Vec::new(),
            doc: doc(signature),
        })
    });
    let host = declarations.functions().iter().map(|function| Callable {
        name: &function.name,
        signature: &function.signature,
        parameters: Vec::new(),
        doc: "",
    });
    let is_call = |name: &str| !declarations.aliases().any(|alias| alias == name);
    let defined = declarations.definitions().iter().filter(move |definition| is_call(definition.name()));
    let defined = defined.map(|definition| Callable {
        name: definition.name(),
        signature: definition.signature(),
        parameters: definition.parameters().iter().map(|name| &**name).collect(),
        doc: "",
    });
    standard.chain(host).chain(defined)
}

/// Returns the documentation of a function of the standard library.
fn doc(signature: &Signature) -> &'static str {
    match signature.overload {
        Overload::Builtin(builtin) => TABLE.row(builtin).map_or("", |row| row.doc),
        Overload::Host(_) | Overload::Defined(_) => "",
    }
}

/// Returns the signature and the documentation of what a call may run.
#[must_use]
pub fn overload_text(
    overload: &Overload,
    receiver: bool,
    declarations: &Declarations,
) -> Option<(String, &'static str)> {
    if let Overload::Builtin(builtin) = overload {
        let row = TABLE.row(*builtin)?;
        let signature =
            Signature { overload: *overload, receiver, params: row.params.clone(), result: row.result.clone() };
        let name = row.name;
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Some((operator_text(name, &signature), row.doc));
        }
        let callable = Callable { name, signature: &signature, parameters: Vec::new(), doc: row.doc };
        return Some((callable.text(), row.doc));
    }
    let callable = callables(declarations).find(|callable| callable.signature.overload == *overload)?;
    Some((callable.text(), ""))
}

/// Returns the signature of an operator, whose name has `_` for each operand: `string + string -> string`.
fn operator_text(name: &str, signature: &Signature) -> String {
    let result = &signature.result;
    let params: Vec<String> = signature.params.iter().map(ToString::to_string).collect();
    match (name, &*params) {
        ("@in", [element, of]) => format!("{element} in {of} -> {result}"),
        (name, [left, right]) if name.starts_with('_') && name.ends_with('_') => {
            format!("{left} {} {right} -> {result}", name.trim_matches('_'))
        }
        (name, [operand]) => format!("{}{operand} -> {result}", name.trim_end_matches('_')),
        (_, params) => format!("{} -> {result}", params.join(", ")),
    }
}

/// Returns the forms of the macros that are on.
pub fn macros(declarations: &Declarations) -> impl Iterator<Item = MacroForm> {
    let libraries = declarations.libraries();
    macro_forms().filter(move |form| form.library.is_none_or(|library| libraries.contains(library)))
}

/// Returns what a documented function of the filter language does.
#[must_use]
pub fn filter_doc(function: &FilterFunction) -> &'static str {
    use StandardFunction as F;
    let Some(standard) = function.standard else { return "A function of the host." };
    match standard {
        F::BitSlice => "Bits of a packet. Only a host can compute it.",
        F::Cidr => {
            "The first address of the network that the address is in; the numbers are prefix lengths for IPv4 and IPv6."
        }
        F::Cidr6 => "The first address of the network that an IPv6 address is in; an IPv4 address stays.",
        F::Coalesce => "The first value that is not missing.",
        F::Concat => "The values one after the other. Missing ones are left out.",
        F::DecodeBase64 => "What a Base64 text stands for; missing if it is not Base64.",
        F::EncodeBase64 => "The value as Base64.",
        F::EndsWith => "Whether the value ends with the second one.",
        F::HasKey => "Whether a map has a key. Names of headers are in lower case.",
        F::HasValue => "Whether a value is an element of an array or a value of a map.",
        F::IsJwtPresent => "Whether a request has a token. Only a host can compute it.",
        F::IsJwtValid => "Whether a token is valid. Only a host can compute it.",
        F::IsTimedHmacValidV0 => "Whether a message has a valid authentication code that is not too old.",
        F::Join => "The elements with a separator between them.",
        F::Len => "The number of bytes, or of elements.",
        F::LookupJsonInteger => {
            "The whole number at a path of names and indexes in a JSON text; missing if there is none."
        }
        F::LookupJsonString => "The string at a path of names and indexes in a JSON text; missing if there is none.",
        F::Lower => "The value with small ASCII letters.",
        F::RegexReplace => "The value with the first match of a pattern replaced.",
        F::RemoveBytes => "The value without some bytes.",
        F::RemoveQueryArgs => "A query without the parameters of these names.",
        F::Sha256 => "The SHA-256 digest.",
        F::Split => "The parts between separators, at most as many as the number says; the last has the rest.",
        F::StartsWith => "Whether the value starts with the second one.",
        F::Substring => "The bytes from one offset up to another; negative offsets count from the end.",
        F::ToString => "A number, an address or a truth value as text.",
        F::Upper => "The value with capital ASCII letters.",
        F::UrlDecode => "The value with `%XX` and `+` decoded.",
        F::Uuidv4 => "A UUID of version 4 made from the first 16 bytes.",
        F::WildcardReplace => {
            "The whole value replaced, if the pattern matches it; `${1}` is what the first star stands for."
        }
    }
}

/// Returns the names of CEL's macros as they are written, each once: `all`, `cel.bind`.
pub fn macro_names() -> Vec<&'static str> {
    let written = macro_forms().map(|form| match form.usage.split_once('(') {
        Some((name, _)) if name.starts_with("cel.") => name,
        _ => form.name,
    });
    let mut names: Vec<_> = written.collect();
    names.dedup();
    names
}
