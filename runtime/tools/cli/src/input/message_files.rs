//! Messages of protocol buffers as input: descriptors, and files in the wire format (`--descriptors`, `--message`).

use crate::input::source::read_bytes;
use celero::Type;
use celero::messages::{Descriptors, type_of_message};
use std::path::{Path, PathBuf};

/// The arguments for messages.
#[derive(clap::Args)]
pub(crate) struct MessageArgs {
    /// The types of messages that rules may name: a `FileDescriptorSet`, as
    /// `protoc --include_imports --descriptor_set_out=FILE` writes it. With `--requests` rules about requests may name
    /// them, with `--jsonl` the expressions and the types in `vars`.
    #[arg(long, value_name = "FILE")]
    pub(crate) descriptors: Option<PathBuf>,
    /// A variable that is a message of this type, in the wire format. May be repeated.
    #[arg(long, value_name = "NAME:TYPE=FILE", requires = "descriptors", conflicts_with = "requests")]
    message: Vec<String>,
}

/// The types of messages, and messages by the names of their variables.
#[derive(Clone, Debug)]
pub(crate) struct MessageInput {
    pub(crate) types: Descriptors,
    pub(crate) messages: Vec<MessageFile>,
}

/// A message in a file.
#[derive(Clone, Debug)]
pub(crate) struct MessageFile {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) bytes: Vec<u8>,
}

impl MessageFile {
    /// The type of the variable.
    pub(crate) fn ty(&self) -> Type {
        type_of_message(&self.type_name)
    }
}

impl MessageArgs {
    /// Whether types of messages are given.
    pub(crate) fn given(&self) -> bool {
        self.descriptors.is_some()
    }

    /// Reads the files.
    ///
    /// # Errors
    /// The file that can't be read or is none of descriptors, the message whose type is not in it.
    pub(crate) fn read(&self) -> Result<Option<MessageInput>, String> {
        let Some(path) = &self.descriptors else { return Ok(None) };
        let is_source = path.extension().is_some_and(|extension| extension == "proto");
        let help = match is_source {
            true => "; it is made with `protoc --include_imports --descriptor_set_out=FILE`",
            false => "",
        };
        let wrong = |error| format!("--descriptors: {}: {error}{help}", path.display());
        let types = Descriptors::from_bytes(&read_bytes(path)?).map_err(wrong)?;
        let messages = self.message.iter().map(|text| message(text, &types, path)).collect::<Result<_, _>>()?;
        Ok(Some(MessageInput { types, messages }))
    }
}

fn message(text: &str, types: &Descriptors, descriptors: &Path) -> Result<MessageFile, String> {
    let parts = text.split_once('=').and_then(|(left, file)| Some((left.split_once(':')?, file)));
    let Some(((name, type_name), file)) = parts else {
        return Err(format!("--message: `{text}` is not of the form NAME:TYPE=FILE"));
    };
    if types.message(type_name).is_none() {
        let names = || types.messages().map(|message| message.name());
        // The name without its package, else a misspelt one.
        let short = names().find(|name| name.rsplit('.').next() == Some(type_name));
        let meant = short.or_else(|| celero::diagnostics::similar(type_name, names()));
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        return Err(format!("--message: {} has no message `{type_name}`{meant}", descriptors.display()));
    }
    let bytes = read_bytes(Path::new(file))?;
    Ok(MessageFile { name: name.to_owned(), type_name: type_name.to_owned(), bytes })
}
