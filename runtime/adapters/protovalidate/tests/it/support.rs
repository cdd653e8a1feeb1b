//! Sets of files, messages from text, and violations as text.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero_protovalidate::{PathElement, Subscript, Validator, Violation};
use protox::prost_reflect::prost::Message as _;
use protox::prost_reflect::{DescriptorPool, DynamicMessage};
use std::path::PathBuf;

/// A compiled set of files.
pub(crate) struct Set {
    /// With the options, which other forms of the set lose.
    pub(crate) bytes: Vec<u8>,
    pub(crate) pool: DescriptorPool,
}

impl Set {
    /// Compiles files, by their paths in a folder of this name. The last one may import the others.
    pub(crate) fn of(folder: &str, files: &[(&str, &str)]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut compiler = protox::Compiler::new([folder]).unwrap();
        compiler.include_imports(true);
        let opened = compiler.open_file(files.last().unwrap().0).map(|_| ());
        opened.unwrap_or_else(|error| panic!("{error:?}"));
        Self { bytes: compiler.encode_file_descriptor_set(), pool: compiler.descriptor_pool() }
    }

    /// A message of a type in the wire format, from the text format.
    pub(crate) fn message(&self, name: &str, text: &str) -> Vec<u8> {
        let ty = self.pool.get_message_by_name(name).unwrap_or_else(|| panic!("no message {name}"));
        let message = DynamicMessage::parse_text_format(ty, text);
        message.unwrap_or_else(|error| panic!("{name} {text}: {error}")).encode_to_vec()
    }
}

/// What a validator finds, as text; or the error.
pub(crate) fn found(validator: &Validator, message: &[u8]) -> Vec<String> {
    match validator.validate(message) {
        Ok(found) => found.iter().map(violation).collect(),
        Err(error) => vec![format!("error: {error}")],
    }
}

fn shown(path: &[PathElement]) -> String {
    let element = |element: &PathElement| {
        let subscript = match &element.subscript {
            None => String::new(),
            Some(Subscript::Index(index)) => format!("[{index}]"),
            Some(Subscript::Bool(key)) => format!("[{key}]"),
            Some(Subscript::Int(key)) => format!("[{key}]"),
            Some(Subscript::Uint(key)) => format!("[{key}]"),
            Some(Subscript::Text(key)) => format!("[{key:?}]"),
        };
        format!("{}{subscript}", element.name)
    };
    path.iter().map(element).collect::<Vec<_>>().join(".")
}

pub(crate) fn violation(found: &Violation) -> String {
    let (field, rule) = (shown(&found.field), shown(&found.rule));
    format!("{} field={field} rule={rule} key={}", found.rule_id, found.for_key)
}
