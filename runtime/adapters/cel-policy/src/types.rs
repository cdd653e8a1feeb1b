//! Types as environment files write them.

use crate::keys::Reader;
use celero::Type;
use celero::language::Declarations;
use celero::messages::type_of_message;
use celero_policy::problems::FileSpan;
use celero_policy::yaml::Node;
use std::sync::Arc;

/// Deepest nesting of a type.
const MAX_DEPTH: usize = 16;

/// A type as written: a name with parameters.
#[derive(Clone, Debug)]
pub(crate) struct WrittenType {
    place: FileSpan,
    name: String,
    params: Vec<WrittenType>,
}

/// Reads the type of a node that has `type_name` and `params` among its keys, or `type`.
pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, what: &str) -> Option<WrittenType> {
    if node.get("type_name").is_some() {
        return described(reader, node, 0);
    }
    match node.get("type") {
        Some(ty) if ty.scalar().is_some() => specified(reader, ty),
        Some(ty) => reader.mapping(ty, "a type", &["type_name", "params"]).then(|| described(reader, ty, 0))?,
        None => {
            reader.error(node.place, format!("{what} has no `type_name`"));
            None
        }
    }
}

/// Reads a node that is a type.
pub(crate) fn read_plain(reader: &mut Reader<'_>, node: &Node) -> Option<WrittenType> {
    if node.scalar().is_some() {
        return specified(reader, node);
    }
    reader.mapping(node, "a type", &["type_name", "params", "is_type_param"]).then(|| described(reader, node, 0))?
}

fn described(reader: &mut Reader<'_>, node: &Node, depth: usize) -> Option<WrittenType> {
    if depth > MAX_DEPTH {
        reader.error(node.place, format!("this type is nested deeper than {MAX_DEPTH} levels"));
        return None;
    }
    if let Some(param) = node.get("is_type_param").filter(|param| param.scalar() != Some("false")) {
        reader.error_with(param.place, "type parameters are not supported", "write `dyn`");
        return None;
    }
    let name = reader.required(node, "type_name", "a type")?;
    let params = match node.get("params") {
        Some(params) => reader.list(params, "`params`"),
        None => &[],
    };
    let below = depth.saturating_add(1);
    let params: Option<Vec<WrittenType>> = params
        .iter()
        .map(|param| {
            if param.scalar().is_some() {
                return specified(reader, param);
            }
            reader.mapping(param, "a type", &["type_name", "params"]).then(|| described(reader, param, below))?
        })
        .collect();
    Some(WrittenType { place: name.place, name: name.text, params: params? })
}

/// Reads the short form: `map<string, list<int>>`.
fn specified(reader: &mut Reader<'_>, node: &Node) -> Option<WrittenType> {
    let text = reader.text(node, "a type")?;
    let mut rest = text.text.as_str();
    let read = part(&mut rest, text.place, 0).filter(|_| rest.trim().is_empty());
    if read.is_none() {
        reader.error(text.place, format!("`{}` is no type: write `NAME` or `NAME<TYPE, TYPE>`", text.text));
    }
    read
}

fn part(rest: &mut &str, place: FileSpan, depth: usize) -> Option<WrittenType> {
    let trimmed = rest.trim_start();
    let end = trimmed.find(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c))).unwrap_or(trimmed.len());
    let name = trimmed.get(..end).filter(|name| !name.is_empty() && depth <= MAX_DEPTH)?.to_owned();
    *rest = trimmed.get(end..)?.trim_start();
    let mut params = Vec::new();
    if let Some(inner) = rest.strip_prefix('<') {
        *rest = inner;
        loop {
            params.push(part(rest, place, depth.saturating_add(1))?);
            *rest = rest.trim_start();
            match rest.strip_prefix(',') {
                Some(next) => *rest = next,
                None => break,
            }
        }
        *rest = rest.strip_prefix('>')?;
    }
    Some(WrittenType { place, name, params })
}

impl WrittenType {
    /// Returns the type; messages are those of the declarations.
    ///
    /// # Errors
    /// Where the file names no type, and why.
    pub(crate) fn resolve(&self, declarations: &Declarations) -> Result<Type, (FileSpan, String)> {
        let wrong = |message: String| Err((self.place, message));
        let counted = |count: usize| {
            let given = self.params.len();
            let plural = if count == 1 { "" } else { "s" };
            if given == count {
                return Ok(());
            }
            Err((self.place, format!("`{}` takes {count} parameter{plural}, and has {given}", self.name)))
        };
        let param = |index: usize| match self.params.get(index) {
            Some(param) => param.resolve(declarations),
            None => Ok(Type::Dyn),
        };
        let wrapper = |inner| Type::Wrapper(Arc::new(inner));
        match &*self.name {
            "list" => counted(1).and_then(|()| Ok(Type::list(param(0)?))),
            "map" => counted(2).and_then(|()| Ok(Type::map(param(0)?, param(1)?))),
            "optional_type" => counted(1).and_then(|()| Ok(Type::optional(param(0)?))),
            "type" => Ok(Type::Type(Arc::new(param(0)?))),
            _ => {
                counted(0)?;
                Ok(match &*self.name {
                    "dyn" | "any" => Type::Dyn,
                    "null" | "null_type" => Type::Null,
                    "bool" => Type::Bool,
                    "int" => Type::Int,
                    "uint" => Type::Uint,
                    "double" => Type::Double,
                    "string" => Type::String,
                    "bytes" => Type::Bytes,
                    "duration" => Type::Duration,
                    "timestamp" => Type::Timestamp,
                    "bool_wrapper" => wrapper(Type::Bool),
                    "int_wrapper" => wrapper(Type::Int),
                    "uint_wrapper" => wrapper(Type::Uint),
                    "double_wrapper" => wrapper(Type::Double),
                    "string_wrapper" => wrapper(Type::String),
                    "bytes_wrapper" => wrapper(Type::Bytes),
                    name @ ("net.IP" | "net.CIDR" | "jwt.Token") => Type::Opaque(name.into(), Arc::new([])),
                    name => match (type_of_message(name), declarations.messages().message(name)) {
                        (_, Some(message)) => message.clone(),
                        (Type::Opaque(..), None) => {
                            return wrong(format!("undefined type name: `{name}` is no type, and no declared message"));
                        }
                        (known, None) => known,
                    },
                })
            }
        }
    }
}
