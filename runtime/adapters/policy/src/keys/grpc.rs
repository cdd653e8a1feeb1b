//! The keys for calls of gRPC.

use crate::schema::ValueSpec::{Mapping, Text};
use crate::schema::{KeySpec, MappingSpec};

static GRPC: MappingSpec = MappingSpec::new(
    "`grpc`",
    &[KeySpec::required(
        "descriptors",
        Text,
        "The file with the descriptors of services and messages: a `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out=FILE` writes it; at most 16MiB. The path is relative to this file.",
    )],
);

pub(crate) const GRPC_KEY: KeySpec = KeySpec::optional(
    "grpc",
    Mapping(&GRPC),
    "The services of gRPC whose messages rules read. Expressions may name their messages and the values of their enums.",
);

pub(crate) const METHOD_KEY: KeySpec = KeySpec::optional(
    "method",
    Text,
    "The method of gRPC whose calls the rule is about: `package.Service/Method`, one of `grpc.descriptors`. In `requestBody` the rule reads each message that the client sends, `request.message`; in `responseBody` each that the server sends, `response.message`.",
);
