//! Changes of a JSON document by JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396).
//!
//! Only the objects and arrays that a change goes through are read. All other values keep their
//! bytes: the spelling of numbers and texts, blanks, the order of members. An object that a change
//! goes through must not have a name twice, because servers disagree about which member counts, and
//! no second name that only differs in case from one that the change names, because many servers
//! read names ignoring case.

mod object;
#[cfg(test)]
mod tests;

use object::{Object, in_one_case};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// A JSON Pointer (RFC 6901): the names and indices on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPointer(Box<[Box<str>]>);

/// An operation of JSON Patch.
#[derive(Debug)]
pub(crate) enum PatchOperation<V> {
    Add(JsonPointer, V),
    Remove(JsonPointer),
    Replace(JsonPointer, V),
    Move { from: JsonPointer, to: JsonPointer },
    Copy { from: JsonPointer, to: JsonPointer },
    Test(JsonPointer, V),
}

impl<V> PatchOperation<V> {
    /// Returns the value of an operation that has one.
    pub(crate) fn value(&self) -> Option<&V> {
        match self {
            Self::Add(_, value) | Self::Replace(_, value) | Self::Test(_, value) => Some(value),
            Self::Remove(_) | Self::Move { .. } | Self::Copy { .. } => None,
        }
    }
}

/// Why a document can't be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchError {
    /// The document is not JSON.
    NotJson,
    /// An object that the change goes through has a name twice.
    Duplicate,
    /// An object that the change goes through has a name that only differs in case from one of the change.
    OtherCase,
    /// There is nothing at the place.
    Missing,
    /// The value at the place is another one than the patch expects.
    TestFailed,
    /// What the change adds, or the changed document, is larger than the bound.
    TooLarge,
}

/// A JSON document that is changed.
#[derive(Debug)]
pub(crate) struct JsonDocument<'d> {
    root: Part<'d>,
    /// How many bytes may still be added.
    left: usize,
    most: usize,
}

/// A part of a document.
#[derive(Debug)]
enum Part<'d> {
    /// The text of a value.
    Text(Cow<'d, str>),
    Object(Box<Object<'d>>),
    Array(Vec<Part<'d>>),
}

impl JsonPointer {
    /// Reads a pointer. Returns `None` if the text is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Box::default()));
        }
        text.strip_prefix('/')?.split('/').map(unescaped).collect::<Option<_>>().map(Self)
    }

    /// Returns whether it is the whole document.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the place of `other` is inside of the value at this place.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self != other && other.0.starts_with(&self.0)
    }
}

/// Undoes the escapes of a part of a pointer: `~1` is `/`, `~0` is `~`.
fn unescaped(text: &str) -> Option<Box<str>> {
    let mut parts = text.split('~');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first()? {
            b'0' => ('~', part.get(1..)?),
            b'1' => ('/', part.get(1..)?),
            _ => return None,
        };
        out.push(escaped);
        out.push_str(rest);
    }
    Some(out.into())
}

impl<'d> JsonDocument<'d> {
    /// Reads a document. A change may add `most` bytes, and the changed document may have as many.
    /// Takes time linear in the document.
    ///
    /// # Errors
    /// [`PatchError::NotJson`].
    pub(crate) fn read(body: &'d [u8], most: usize) -> Result<Self, PatchError> {
        let text = std::str::from_utf8(body).map_err(|_| PatchError::NotJson)?;
        let root: &RawValue = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
        Ok(Self { root: Part::Text(Cow::Borrowed(root.get())), left: most, most })
    }

    /// Applies one operation of a patch, with its value if it has one. A patch of which an
    /// operation fails has no result (RFC 6902, section 5).
    ///
    /// # Errors
    /// The operation can't be applied.
    pub(crate) fn apply<V>(&mut self, operation: &PatchOperation<V>, value: &Json) -> Result<(), PatchError> {
        match operation {
            PatchOperation::Add(to, _) => {
                let value = self.added(value)?;
                self.insert(to, value)
            }
            PatchOperation::Remove(from) => self.take(from).map(drop),
            PatchOperation::Replace(at, _) => {
                let value = self.added(value)?;
                *self.part(&at.0)? = value;
                Ok(())
            }
            PatchOperation::Move { from, to } => {
                let value = self.take(from)?;
                self.insert(to, value)
            }
            PatchOperation::Copy { from, to } => {
                let mut text = String::new();
                self.part(&from.0)?.write(&mut text);
                self.left = self.left.checked_sub(text.len()).ok_or(PatchError::TooLarge)?;
                self.insert(to, Part::Text(Cow::Owned(text)))
            }
            PatchOperation::Test(at, _) => {
                let is_equal = self.part(&at.0)?.equals(value)?;
                if is_equal { Ok(()) } else { Err(PatchError::TestFailed) }
            }
        }
    }

    /// Applies a merge patch: members that are `null` are removed, objects are merged, other values
    /// replace (RFC 7396, section 2).
    ///
    /// # Errors
    /// The document can't be changed.
    pub(crate) fn merge(&mut self, patch: serde_json::Map<String, Json>) -> Result<(), PatchError> {
        self.root.merge(patch, &mut self.left)
    }

    /// Returns the changed document.
    ///
    /// # Errors
    /// [`PatchError::TooLarge`].
    pub(crate) fn text(&self) -> Result<String, PatchError> {
        let mut text = String::new();
        self.root.write(&mut text);
        if text.len() > self.most { Err(PatchError::TooLarge) } else { Ok(text) }
    }

    fn added(&mut self, value: &Json) -> Result<Part<'d>, PatchError> {
        added(value, &mut self.left)
    }

    /// Returns the part at a place.
    fn part(&mut self, place: &[Box<str>]) -> Result<&mut Part<'d>, PatchError> {
        place.iter().try_fold(&mut self.root, |part, name| part.child(name))
    }

    /// Puts a value at a place, whose parent must be there.
    fn insert(&mut self, place: &JsonPointer, value: Part<'d>) -> Result<(), PatchError> {
        let Some((name, parents)) = place.0.split_last() else {
            self.root = value;
            return Ok(());
        };
        let parent = self.part(parents)?;
        parent.open()?;
        match parent {
            Part::Object(object) => object.set(name, value)?,
            Part::Array(elements) if &**name == "-" => elements.push(value),
            Part::Array(elements) => {
                let index = index(name).filter(|index| *index <= elements.len()).ok_or(PatchError::Missing)?;
                elements.insert(index, value);
            }
            Part::Text(_) => return Err(PatchError::Missing),
        }
        Ok(())
    }

    /// Removes the value at a place, and returns it.
    fn take(&mut self, place: &JsonPointer) -> Result<Part<'d>, PatchError> {
        let (name, parents) = place.0.split_last().ok_or(PatchError::Missing)?;
        let parent = self.part(parents)?;
        parent.open()?;
        match parent {
            Part::Object(object) => object.take(name)?.ok_or(PatchError::Missing),
            Part::Array(elements) => {
                let index = index(name).filter(|index| *index < elements.len()).ok_or(PatchError::Missing)?;
                Ok(elements.remove(index))
            }
            Part::Text(_) => Err(PatchError::Missing),
        }
    }
}

/// Returns a value that a change adds, and counts its bytes.
fn added<'d>(value: &Json, left: &mut usize) -> Result<Part<'d>, PatchError> {
    let text = value.to_string();
    *left = left.checked_sub(text.len()).ok_or(PatchError::TooLarge)?;
    Ok(Part::Text(Cow::Owned(text)))
}

/// Returns the index of an element: digits without leading zeros (RFC 6901, section 4).
fn index(name: &str) -> Option<usize> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    name.parse().ok().filter(|_| is_number)
}

impl<'d> Part<'d> {
    /// Reads the members of an object or the elements of an array. Other values stay text.
    fn open(&mut self) -> Result<(), PatchError> {
        let Self::Text(text) = self else { return Ok(()) };
        let opened = match text {
            Cow::Borrowed(text) => opened(text, Cow::Borrowed)?,
            Cow::Owned(text) => opened(text, |text: &str| Cow::Owned(text.to_owned()))?,
        };
        if let Some(opened) = opened {
            *self = opened;
        }
        Ok(())
    }

    /// Returns the member of this name, or the element of this index.
    fn child(&mut self, name: &str) -> Result<&mut Self, PatchError> {
        self.open()?;
        match self {
            Self::Object(object) => object.get_mut(name)?,
            Self::Array(elements) => index(name).and_then(|index| elements.get_mut(index)),
            Self::Text(_) => None,
        }
        .ok_or(PatchError::Missing)
    }

    fn merge(&mut self, mut patch: serde_json::Map<String, Json>, left: &mut usize) -> Result<(), PatchError> {
        self.open()?;
        let before = if let Self::Object(object) = self { std::mem::take(&mut **object) } else { Object::default() };
        let named: HashSet<String> = patch.keys().map(|name| in_one_case(name)).collect();
        let mut merged = Object::default();
        for (name, mut part) in before.into_members() {
            match patch.remove(&name) {
                None if named.contains(&in_one_case(&name)) => {
                    return Err(PatchError::OtherCase);
                }
                None => {}
                Some(Json::Null) => continue,
                Some(Json::Object(inner)) => part.merge(inner, left)?,
                Some(value) => part = added(&value, left)?,
            }
            merged.push(name, part);
        }
        for (name, value) in patch {
            let part = match value {
                Json::Null => continue,
                Json::Object(inner) => {
                    let mut part = Self::Object(Box::default());
                    part.merge(inner, left)?;
                    part
                }
                value => added(&value, left)?,
            };
            *left = left.checked_sub(name.len()).ok_or(PatchError::TooLarge)?;
            merged.push(name, part);
        }
        *self = Self::Object(Box::new(merged));
        Ok(())
    }

    /// Returns whether the part is this value (RFC 6902, section 4.6): numbers are compared by their values.
    fn equals(&mut self, expected: &Json) -> Result<bool, PatchError> {
        self.open()?;
        match (self, expected) {
            (Self::Object(object), Json::Object(expected)) => {
                if object.members().count() != expected.len() {
                    return Ok(false);
                }
                for (name, part) in object.members_mut() {
                    let is_equal = expected.get(name).map_or(Ok(false), |expected| part.equals(expected))?;
                    if !is_equal {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Array(elements), Json::Array(expected)) => {
                if elements.len() != expected.len() {
                    return Ok(false);
                }
                for (part, expected) in elements.iter_mut().zip(expected) {
                    if !part.equals(expected)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Text(text), expected) => Ok(match (serde_json::from_str(text), expected) {
                (Ok(Json::Number(number)), Json::Number(expected)) => {
                    number == *expected
                        || (number.is_f64() || expected.is_f64()) && number.as_f64() == expected.as_f64()
                }
                (Ok(value), expected) => value == *expected,
                (Err(_), _) => false,
            }),
            _ => Ok(false),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Object(object) => {
                out.push('{');
                for (position, (name, part)) in object.members().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    out.push_str(&Json::from(name.as_str()).to_string());
                    out.push(':');
                    part.write(out);
                }
                out.push('}');
            }
            Self::Array(elements) => {
                out.push('[');
                for (position, part) in elements.iter().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    part.write(out);
                }
                out.push(']');
            }
        }
    }
}

/// The members of an object, in their order.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Returns the members or elements in the text of a value, which is valid JSON; `None` if it has
/// none because it is no object and no array.
fn opened<'t, 'd>(text: &'t str, keep: impl Fn(&'t str) -> Cow<'d, str>) -> Result<Option<Part<'d>>, PatchError> {
    let part = |value: &'t RawValue| Part::Text(keep(value.get()));
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
            let mut names = HashSet::with_capacity(members.len());
            if members.iter().any(|(name, _)| !names.insert(name.as_str())) {
                return Err(PatchError::Duplicate);
            }
            let mut object = Object::default();
            members.into_iter().for_each(|(name, value)| object.push(name, part(value)));
            Some(Part::Object(Box::new(object)))
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
            Some(Part::Array(elements.into_iter().map(part).collect()))
        }
        _ => None,
    })
}
