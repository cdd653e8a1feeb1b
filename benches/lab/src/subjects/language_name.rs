//! A language in JSON: its name. For `#[serde(with = ..)]`.

use celero_tooling::language::Language;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(language: &Language, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(language.name())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Language, D::Error> {
    Language::named(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}
