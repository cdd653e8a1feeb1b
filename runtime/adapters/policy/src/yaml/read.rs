//! Reads YAML: from the events of the parser to a tree.

use super::advice::advice;
use super::problems::{FileSpan, Problems};
use super::surrogates::{LoneSurrogate, Surrogates};
use super::{MapEntry, Node, NodeValue, Scalar, SourceText};
use saphyr_parser::{Event, Marker, Parser, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// The deepest nesting of a document.
const MAX_LEVELS: usize = 32;

const NO_TAGS: &str = "tags are not supported";

/// Reads a file. Returns `None` if it is empty or not valid YAML, which is reported.
pub fn read(file: usize, problems: &mut Problems) -> Option<Node> {
    read_nested(file, MAX_LEVELS, problems)
}

/// Reads a file that may be nested this deep. Else as [`read`]; walks over its nodes recurse as deep.
pub fn read_nested(file: usize, max_levels: usize, problems: &mut Problems) -> Option<Node> {
    let text = problems.text(file).to_owned();
    let surrogates = Surrogates::of(&text);
    let offsets = Offsets::of(&text);
    let reader = Reader { file, max_levels, offsets, surrogates, open: Vec::new(), root: None, documents: 0 };
    reader.run(&text, problems)
}

/// The byte offset of each character of a text.
struct Offsets {
    /// Empty if every character is one byte.
    of_characters: Vec<u32>,
    length: u32,
}

impl Offsets {
    fn of(text: &str) -> Self {
        let of_characters = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(offset, _)| u32::try_from(offset).unwrap_or(u32::MAX)).collect()
        };
        Self { of_characters, length: u32::try_from(text.len()).unwrap_or(u32::MAX) }
    }

    fn at(&self, marker: Marker) -> u32 {
        if self.of_characters.is_empty() {
            return u32::try_from(marker.index()).unwrap_or(u32::MAX).min(self.length);
        }
        self.of_characters.get(marker.index()).copied().unwrap_or(self.length)
    }
}

/// A list or mapping that is not closed yet.
struct OpenCollection {
    place: FileSpan,
    content: Content,
}

/// A mapping that is not closed yet.
#[derive(Default)]
struct OpenMap {
    entries: Vec<MapEntry>,
    /// A key whose value follows.
    key: Option<SourceText>,
    /// Where each key was written first.
    places: HashMap<String, FileSpan>,
}

enum Content {
    List(Vec<Node>),
    Map(OpenMap),
}

struct Reader<'t> {
    file: usize,
    max_levels: usize,
    offsets: Offsets,
    surrogates: Surrogates<'t>,
    open: Vec<OpenCollection>,
    root: Option<Node>,
    documents: usize,
}

impl Reader<'_> {
    fn run(mut self, text: &str, problems: &mut Problems) -> Option<Node> {
        let parsed = self.surrogates.text.clone();
        let mut parser = Parser::new_from_str(&parsed);
        while let Some(event) = parser.next_event() {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.offsets.at(*error.marker());
                    let place = FileSpan::new(self.file, at, at.saturating_add(1));
                    let problem = problems.add("policy-yaml", place, format!("this is not YAML: {}", error.info()));
                    if let Some(help) = advice(error.info(), text, at as usize) {
                        problem.help(help);
                    }
                    return None;
                }
            };
            let place = self.place(span);
            if let Err(message) = self.take(event, place, problems) {
                let problem = problems.add("policy-yaml", place, message.clone().into_owned());
                if message == NO_TAGS
                    && let Some(help) = advice(&message, text, place.start as usize)
                {
                    problem.help(help);
                }
                return None;
            }
        }
        self.root
    }

    fn place(&self, span: Span) -> FileSpan {
        FileSpan::new(self.file, self.offsets.at(span.start), self.offsets.at(span.end))
    }

    fn take(&mut self, event: Event<'_>, place: FileSpan, problems: &mut Problems) -> Result<(), Cow<'static, str>> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    return Err("a file is one document: `---` is allowed at its start only".into());
                }
            }
            Event::Alias(_) => {
                return Err("aliases are not supported: repeat the value, or define it once under `variables`".into());
            }
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                return Err(NO_TAGS.into());
            }
            Event::Scalar(text, style, ..) => {
                let range = place.start as usize..place.end as usize;
                let text = match self.surrogates.restored(text.into_owned(), style, range) {
                    Ok(text) => text,
                    Err(LoneSurrogate(at)) => {
                        let at = u32::try_from(at).unwrap_or(u32::MAX);
                        let place = FileSpan::new(self.file, at, at.saturating_add(6));
                        let message = "this escape is one half of a surrogate pair, without the other half".to_owned();
                        let help = "a character is both halves, as in `\\ud83d\\ude00`, or its code: `\\U0001F600`";
                        problems.add("policy-yaml", place, message).help(help);
                        String::new()
                    }
                };
                let scalar = Scalar { text, style };
                return self.put(Node { place, value: NodeValue::Scalar(scalar) }, problems);
            }
            Event::SequenceStart(..) => return self.start(place, Content::List(Vec::new())),
            Event::MappingStart(..) => return self.start(place, Content::Map(OpenMap::default())),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(OpenCollection { place: start, content }) = self.open.pop() {
                    let value = match content {
                        Content::List(nodes) => NodeValue::List(nodes),
                        Content::Map(map) => NodeValue::Map(map.entries),
                    };
                    return self.put(Node { place: FileSpan { end: place.end, ..start }, value }, problems);
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, place: FileSpan, content: Content) -> Result<(), Cow<'static, str>> {
        if self.open.len() >= self.max_levels {
            return Err(format!("this is nested deeper than {} levels", self.max_levels).into());
        }
        self.open.push(OpenCollection { place, content });
        Ok(())
    }

    /// Adds a node to the innermost open list or mapping.
    fn put(&mut self, node: Node, problems: &mut Problems) -> Result<(), Cow<'static, str>> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.content {
            Content::List(nodes) => nodes.push(node),
            Content::Map(map) => match map.key.take() {
                None => {
                    let NodeValue::Scalar(Scalar { text, style }) = node.value else {
                        return Err("a key must be text".into());
                    };
                    if let Some(first) = map.places.get(&text) {
                        let message = format!("`{text}` occurs a second time here");
                        problems.add("policy-duplicate", node.place, message).also(*first, "the first is here");
                    } else {
                        map.places.insert(text.clone(), node.place);
                    }
                    map.key = Some(SourceText::new(text, node.place, style));
                }
                Some(key) => map.entries.push(MapEntry { key, value: node }),
            },
        }
        Ok(())
    }
}
