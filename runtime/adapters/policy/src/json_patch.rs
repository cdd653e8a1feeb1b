//! Changes of a JSON document by JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396).
//!
//! Only the objects and arrays that a change goes through are read. All other values keep their bytes: the spelling of numbers and texts, blanks,
//! the order of members. An object that a change goes through must not have a name twice, because servers disagree about which member counts,
//! and no second name that only differs in case from one that the change names, because many servers read names ignoring case.

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
    Object(Vec<(String, Part<'d>)>),
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
    /// Reads a document. A change may add `most` bytes, and the changed document may have as many. Takes time linear in the document.
    ///
    /// # Errors
    /// [`PatchError::NotJson`].
    pub(crate) fn read(body: &'d [u8], most: usize) -> Result<Self, PatchError> {
        let text = std::str::from_utf8(body).map_err(|_| PatchError::NotJson)?;
        let root: &RawValue = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
        Ok(Self { root: Part::Text(Cow::Borrowed(root.get())), left: most, most })
    }

    /// Applies one operation of a patch, with its value if it has one. A patch of which an operation fails has no result (RFC 6902, section 5).
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

    /// Applies a merge patch: members that are `null` are removed, objects are merged, other values replace (RFC 7396, section 2).
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
            Part::Object(members) => {
                let index = member(members, name)?;
                match index.and_then(|index| members.get_mut(index)) {
                    Some((_, known)) => *known = value,
                    None => members.push((name.to_string(), value)),
                }
            }
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
            Part::Object(members) => {
                let index = member(members, name)?.ok_or(PatchError::Missing)?;
                Ok(members.remove(index).1)
            }
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

/// Returns the place of the member of this name.
///
/// # Errors
/// [`PatchError::OtherCase`].
fn member(members: &[(String, Part<'_>)], name: &str) -> Result<Option<usize>, PatchError> {
    let mut found = None;
    for (index, (known, _)) in members.iter().enumerate() {
        if known == name {
            found = Some(index);
        } else if is_same_ignoring_case(known, name) {
            return Err(PatchError::OtherCase);
        }
    }
    Ok(found)
}

fn is_same_ignoring_case(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() { one.eq_ignore_ascii_case(other) } else { one_case(one).eq(one_case(other)) }
}

/// Returns a name in one case. Some servers compare so beyond ASCII: `ſ` is `s` then, and the sign of the unit kelvin is `k`.
fn one_case(name: &str) -> impl Iterator<Item = char> {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
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
            Self::Object(members) => {
                let index = member(members, name)?;
                index.and_then(|index| members.get_mut(index)).map(|(_, part)| part)
            }
            Self::Array(elements) => index(name).and_then(|index| elements.get_mut(index)),
            Self::Text(_) => None,
        }
        .ok_or(PatchError::Missing)
    }

    fn merge(&mut self, mut patch: serde_json::Map<String, Json>, left: &mut usize) -> Result<(), PatchError> {
        self.open()?;
        let before = if let Self::Object(members) = self { std::mem::take(members) } else { Vec::new() };
        let in_one_case: HashSet<String> = patch.keys().map(|name| one_case(name).collect()).collect();
        let mut merged = Vec::with_capacity(before.len());
        for (name, mut part) in before {
            match patch.remove(&name) {
                None if in_one_case.contains(&one_case(&name).collect::<String>()) => {
                    return Err(PatchError::OtherCase);
                }
                None => {}
                Some(Json::Null) => continue,
                Some(Json::Object(inner)) => part.merge(inner, left)?,
                Some(value) => part = added(&value, left)?,
            }
            merged.push((name, part));
        }
        for (name, value) in patch {
            let part = match value {
                Json::Null => continue,
                Json::Object(inner) => {
                    let mut part = Self::Object(Vec::new());
                    part.merge(inner, left)?;
                    part
                }
                value => added(&value, left)?,
            };
            *left = left.checked_sub(name.len()).ok_or(PatchError::TooLarge)?;
            merged.push((name, part));
        }
        *self = Self::Object(merged);
        Ok(())
    }

    /// Returns whether the part is this value (RFC 6902, section 4.6): numbers are compared by their values.
    fn equals(&mut self, expected: &Json) -> Result<bool, PatchError> {
        self.open()?;
        match (self, expected) {
            (Self::Object(members), Json::Object(expected)) => {
                if members.len() != expected.len() {
                    return Ok(false);
                }
                for (name, part) in members {
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
            Self::Object(members) => {
                for (position, (name, part)) in members.iter().enumerate() {
                    out.push(if position == 0 { '{' } else { ',' });
                    out.push_str(&Json::from(name.as_str()).to_string());
                    out.push(':');
                    part.write(out);
                }
                out.push_str(if members.is_empty() { "{}" } else { "}" });
            }
            Self::Array(elements) => {
                for (position, part) in elements.iter().enumerate() {
                    out.push(if position == 0 { '[' } else { ',' });
                    part.write(out);
                }
                out.push_str(if elements.is_empty() { "[]" } else { "]" });
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

/// Returns the members or elements in the text of a value, which is valid JSON; `None` if it has none because it is no object and no array.
fn opened<'t, 'd>(text: &'t str, keep: impl Fn(&'t str) -> Cow<'d, str>) -> Result<Option<Part<'d>>, PatchError> {
    let part = |value: &'t RawValue| Part::Text(keep(value.get()));
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
            let mut names = HashSet::with_capacity(members.len());
            if members.iter().any(|(name, _)| !names.insert(name.as_str())) {
                return Err(PatchError::Duplicate);
            }
            Some(Part::Object(members.into_iter().map(|(name, value)| (name, part(value))).collect()))
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| PatchError::NotJson)?;
            Some(Part::Array(elements.into_iter().map(part).collect()))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::PatchError::{Duplicate, Missing, NotJson, OtherCase, TestFailed, TooLarge};
    use super::*;
    use serde_json::json;

    fn pointer(text: &str) -> JsonPointer {
        JsonPointer::parse(text).unwrap()
    }

    /// Applies a patch, written as RFC 6902 writes it.
    fn patched_within(document: &str, patch: &Json, most: usize) -> Result<String, PatchError> {
        let mut document = JsonDocument::read(document.as_bytes(), most)?;
        for operation in patch.as_array().unwrap() {
            let place = |key: &str| pointer(operation[key].as_str().unwrap());
            let parsed = match operation["op"].as_str().unwrap() {
                "add" => PatchOperation::Add(place("path"), ()),
                "remove" => PatchOperation::Remove(place("path")),
                "replace" => PatchOperation::Replace(place("path"), ()),
                "move" => PatchOperation::Move { from: place("from"), to: place("path") },
                "copy" => PatchOperation::Copy { from: place("from"), to: place("path") },
                _ => PatchOperation::Test(place("path"), ()),
            };
            document.apply(&parsed, &operation["value"])?;
        }
        document.text()
    }

    fn patched(document: &str, patch: &Json) -> Result<String, PatchError> {
        patched_within(document, patch, 1000)
    }

    fn merged(document: &str, patch: Json) -> Result<String, PatchError> {
        let Json::Object(patch) = patch else { panic!("a merge patch is an object") };
        let mut document = JsonDocument::read(document.as_bytes(), 1000)?;
        document.merge(patch)?;
        document.text()
    }

    /// The examples of RFC 6902, appendix A.
    #[test]
    fn the_examples_of_json_patch() {
        let cases = [
            (r#"{"foo":"bar"}"#, json!([{"op":"add","path":"/baz","value":"qux"}]), Ok(r#"{"foo":"bar","baz":"qux"}"#)),
            (
                r#"{"foo":["bar","baz"]}"#,
                json!([{"op":"add","path":"/foo/1","value":"qux"}]),
                Ok(r#"{"foo":["bar","qux","baz"]}"#),
            ),
            (r#"{"baz":"qux","foo":"bar"}"#, json!([{"op":"remove","path":"/baz"}]), Ok(r#"{"foo":"bar"}"#)),
            (
                r#"{"foo":["bar","qux","baz"]}"#,
                json!([{"op":"remove","path":"/foo/1"}]),
                Ok(r#"{"foo":["bar","baz"]}"#),
            ),
            (
                r#"{"baz":"qux","foo":"bar"}"#,
                json!([{"op":"replace","path":"/baz","value":"boo"}]),
                Ok(r#"{"baz":"boo","foo":"bar"}"#),
            ),
            (
                r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
                json!([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]),
                Ok(r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
            ),
            (
                r#"{"foo":["all","grass","cows","eat"]}"#,
                json!([{"op":"move","from":"/foo/1","path":"/foo/3"}]),
                Ok(r#"{"foo":["all","cows","eat","grass"]}"#),
            ),
            (
                r#"{"baz":"qux","foo":["a",2,"c"]}"#,
                json!([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]),
                Ok(r#"{"baz":"qux","foo":["a",2,"c"]}"#),
            ),
            (r#"{"baz":"qux"}"#, json!([{"op":"test","path":"/baz","value":"bar"}]), Err(TestFailed)),
            (
                r#"{"foo":"bar"}"#,
                json!([{"op":"add","path":"/child","value":{"grandchild":{}}}]),
                Ok(r#"{"foo":"bar","child":{"grandchild":{}}}"#),
            ),
            (r#"{"foo":"bar"}"#, json!([{"op":"add","path":"/baz/bat","value":"qux"}]), Err(Missing)),
            (r#"{"/":9,"~1":10}"#, json!([{"op":"test","path":"/~01","value":10}]), Ok(r#"{"/":9,"~1":10}"#)),
            (r#"{"/":9,"~1":10}"#, json!([{"op":"test","path":"/~01","value":"10"}]), Err(TestFailed)),
            (
                r#"{"foo":["bar"]}"#,
                json!([{"op":"add","path":"/foo/-","value":["abc","def"]}]),
                Ok(r#"{"foo":["bar",["abc","def"]]}"#),
            ),
        ];
        for (document, patch, expected) in cases {
            assert_eq!(
                patched(document, &patch).as_deref(),
                expected.as_ref().map(|text| &**text),
                "{document} {patch}"
            );
        }
    }

    /// The examples of RFC 7396, appendix A, whose patches are objects.
    #[test]
    fn the_examples_of_merge_patch() {
        let cases = [
            (r#"{"a":"b"}"#, json!({"a":"c"}), r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, json!({"b":"c"}), r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, json!({"a":null}), "{}"),
            (r#"{"a":"b","b":"c"}"#, json!({"a":null}), r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, json!({"a":"c"}), r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, json!({"a":["b"]}), r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, json!({"a":{"b":"d","c":null}}), r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, json!({"a":[1]}), r#"{"a":[1]}"#),
            (r#"{"e":null}"#, json!({"a":1}), r#"{"e":null,"a":1}"#),
            ("[1,2]", json!({"a":"b","c":null}), r#"{"a":"b"}"#),
            ("{}", json!({"a":{"bb":{"ccc":null}}}), r#"{"a":{"bb":{}}}"#),
        ];
        for (document, patch, expected) in cases {
            assert_eq!(merged(document, patch.clone()).as_deref(), Ok(expected), "{document} {patch}");
        }
    }

    #[test]
    fn what_a_change_does_not_go_through_keeps_its_bytes() {
        let document = "{ \"big\": 123456789012345678901234567890, \"e\":1.50E+400,\n\"s\":\"\\u0041\\ud800\", \"twice\":{\"x\":1,\"x\":2}, \"a\" : [ 1 , 2 ] }";
        let kept = r#"{"big":123456789012345678901234567890,"e":1.50E+400,"s":"\u0041\ud800","twice":{"x":1,"x":2},"a":[ 1 , 2 ],"n":1}"#;
        assert_eq!(merged(document, json!({"n": 1})).as_deref(), Ok(kept));
        assert_eq!(patched(document, &json!([{"op": "add", "path": "/n", "value": 1}])).as_deref(), Ok(kept));
        assert_eq!(patched(document, &json!([{"op": "replace", "path": "/twice/x", "value": 1}])), Err(Duplicate));
        assert_eq!(merged(r#"{"a":1,"\u0061":2}"#, json!({"b": 1})), Err(Duplicate), "two spellings of one name");
    }

    #[test]
    fn names_that_differ_only_in_case_are_no_two_members() {
        for document in [r#"{"a":{"tenant":"x","Tenant":"root"}}"#, r#"{"a":{"\u0054enant":"root"}}"#] {
            for patch in [json!({"a": {"tenant": "acme"}}), json!({"a": {"tenant": null}})] {
                assert_eq!(merged(document, patch), Err(OtherCase), "{document}");
            }
            for operation in ["add", "replace", "remove", "test"] {
                let patch = json!([{"op": operation, "path": "/a/tenant", "value": "x"}]);
                assert_eq!(patched(document, &patch), Err(OtherCase), "{document} {patch}");
            }
            for (from, path) in [("/b", "/a/tenant"), ("/a/tenant", "/c")] {
                for operation in ["move", "copy"] {
                    let patch = json!([
                        {"op": "add", "path": "/b", "value": 1},
                        {"op": operation, "from": from, "path": path},
                    ]);
                    assert_eq!(patched(document, &patch), Err(OtherCase), "{document} {patch}");
                }
            }
        }
        let parents = r#"{"user":{"id":1},"USER":{"id":2}}"#;
        assert_eq!(merged(parents, json!({"user": {"id": 3}})), Err(OtherCase));
        assert_eq!(patched(parents, &json!([{"op": "replace", "path": "/user/id", "value": 3}])), Err(OtherCase));
        for other in ["\u{17f}\u{212a}", "s\u{212a}", "\u{17f}k", "SK"] {
            let document = json!({ other: 1 }).to_string();
            assert_eq!(merged(&document, json!({"sk": 2})), Err(OtherCase), "{document}");
            assert_eq!(patched(&document, &json!([{"op": "add", "path": "/sk", "value": 2}])), Err(OtherCase));
        }
        // Both are named, or neither is.
        let both = r#"{"tenant":"x","Tenant":"y","n":1}"#;
        assert_eq!(
            merged(both, json!({"tenant": "a", "Tenant": "b"})).as_deref(),
            Ok(r#"{"tenant":"a","Tenant":"b","n":1}"#)
        );
        assert_eq!(merged(both, json!({"n": null})).as_deref(), Ok(r#"{"tenant":"x","Tenant":"y"}"#));
    }

    #[test]
    fn what_is_no_json_has_no_result() {
        for document in ["", "{", "{} x", "\u{feff}{}", "{'a':1}", "[1,]", "nul"] {
            assert_eq!(merged(document, json!({"a": 1})), Err(NotJson), "{document}");
        }
        assert_eq!(JsonDocument::read(b"\"\xff\"", 10).map(drop), Err(NotJson));
        let deep = "[".repeat(100_000);
        assert_eq!(merged(&deep, json!({"a": 1})), Err(NotJson));
        let deep = format!("{deep}{}", "]".repeat(100_000));
        assert_eq!(
            patched_within(&deep, &json!([{"op": "add", "path": "/-", "value": 1}]), 1 << 20).map(|text| text.len()),
            Ok(200_002)
        );
    }

    #[test]
    fn a_change_is_bounded() {
        let copies: Vec<Json> = (0..64).map(|_| json!({"op": "copy", "from": "", "path": "/-"})).collect();
        assert_eq!(patched(r#"["aaaaaaaaaaaaaaaa"]"#, &Json::Array(copies)), Err(TooLarge));
        assert_eq!(
            patched_within("[]", &json!([{"op": "add", "path": "/0", "value": "aaaa"}]), 8).as_deref(),
            Ok("[\"aaaa\"]")
        );
        assert_eq!(patched_within("[]", &json!([{"op": "add", "path": "/0", "value": "aaaa"}]), 7), Err(TooLarge));
    }

    #[test]
    fn places_that_are_not_there() {
        for (document, place) in
            [("[1]", "/1"), ("[1]", "/01"), ("[1]", "/-"), ("[1]", "/+0"), ("{}", "/a"), ("1", "/a"), ("\"a\"", "/0")]
        {
            for operation in ["replace", "remove", "test"] {
                let patch = json!([{"op": operation, "path": place, "value": 1}]);
                assert_eq!(patched(document, &patch), Err(Missing), "{document} {patch}");
            }
        }
        assert_eq!(patched("[1]", &json!([{"op": "add", "path": "/2", "value": 1}])), Err(Missing));
        for wrong in ["a", "/~", "/~2", "/a~", " "] {
            assert_eq!(JsonPointer::parse(wrong), None, "{wrong}");
        }
        let contains = |one: &str, other: &str| pointer(one).contains(&pointer(other));
        assert!(contains("/a", "/a/b") && !contains("/a/b", "/a") && !contains("/a", "/a") && !contains("/a", "/ab"));
    }

    #[test]
    fn numbers_are_tested_by_value() {
        for (document, value) in [("1.0", json!(1)), ("1", json!(1.0)), ("100e-2", json!(1)), ("-0", json!(0))] {
            let patch = json!([{"op": "test", "path": "", "value": value}]);
            assert_eq!(patched(document, &patch).as_deref(), Ok(document));
        }
        assert_eq!(
            patched("18446744073709551615", &json!([{"op": "test", "path": "", "value": 18446744073709551614_u64}])),
            Err(TestFailed)
        );
    }

    #[test]
    fn later_operations_see_what_earlier_ones_did() {
        let patch = json!([
            {"op": "add", "path": "/a", "value": {"b": [1]}},
            {"op": "add", "path": "/a/b/0", "value": 0},
            {"op": "copy", "from": "/a/b", "path": "/c"},
            {"op": "remove", "path": "/a"},
            {"op": "test", "path": "/c", "value": [0, 1]},
            {"op": "replace", "path": "", "value": {"d": 1}},
        ]);
        assert_eq!(patched("{}", &patch).as_deref(), Ok(r#"{"d":1}"#));
    }
}
