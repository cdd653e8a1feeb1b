//! From the parser's events to a tree.

use super::{Entry, Node, Scalar, Text, Value};
use crate::problems::{Place, Problems};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

/// Most levels of a document.
const MOST_LEVELS: usize = 32;

/// The tree of a file, `None` if it is empty or no YAML, which is then a problem.
pub fn read(file: usize, problems: &mut Problems) -> Option<Node> {
    let text = problems.text(file).to_owned();
    let reader = Reader { file, offsets: Offsets::of(&text), open: Vec::new(), root: None, documents: 0 };
    reader.run(&text, problems)
}

/// Where each character of a text lies.
struct Offsets {
    /// Empty if all characters are bytes.
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
struct Open {
    place: Place,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    /// The entries, and a key that waits for its value.
    Map(Vec<Entry>, Option<Text>),
}

struct Reader {
    file: usize,
    offsets: Offsets,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

impl Reader {
    fn run(mut self, text: &str, problems: &mut Problems) -> Option<Node> {
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.offsets.at(*error.marker());
                    let place = Place::new(self.file, at, at.saturating_add(1));
                    let problem = problems.add("policy-yaml", place, format!("this is no YAML: {}", error.info()));
                    if error.info().contains("mapping values") {
                        problem.help("text with `: ` in it needs quotes, or a block: `|` and lines that are indented");
                    }
                    return None;
                }
            };
            let place = self.place(span);
            if let Err(message) = self.take(event, place, problems) {
                problems.add("policy-yaml", place, message.to_owned());
                return None;
            }
        }
        self.root
    }

    fn place(&self, span: Span) -> Place {
        Place::new(self.file, self.offsets.at(span.start), self.offsets.at(span.end))
    }

    fn take(&mut self, event: Event<'_>, place: Place, problems: &mut Problems) -> Result<(), &'static str> {
        const TAG: &str = "tags have no meaning here";
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                self.documents = self.documents.saturating_add(1);
                if self.documents > 1 {
                    return Err("a file is one document: `---` may stand at its start only");
                }
            }
            Event::Alias(_) => {
                return Err(
                    "aliases are not taken: what is used twice is written twice, or defined once and used by name",
                );
            }
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                return Err(TAG);
            }
            Event::Scalar(text, style, ..) => {
                let scalar = Scalar { text: text.into_owned(), style };
                return self.put(Node { place, value: Value::Scalar(scalar) }, problems);
            }
            Event::SequenceStart(..) => return self.start(place, Content::List(Vec::new())),
            Event::MappingStart(..) => return self.start(place, Content::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { place: start, content }) = self.open.pop() {
                    let value = match content {
                        Content::List(nodes) => Value::List(nodes),
                        Content::Map(entries, _) => Value::Map(entries),
                    };
                    return self.put(Node { place: Place { end: place.end, ..start }, value }, problems);
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, place: Place, content: Content) -> Result<(), &'static str> {
        const { assert!(MOST_LEVELS == 32, "the message says so") };
        if self.open.len() >= MOST_LEVELS {
            return Err("this lies deeper than 32 levels");
        }
        self.open.push(Open { place, content });
        Ok(())
    }

    /// Puts a node where the parser is.
    fn put(&mut self, node: Node, problems: &mut Problems) -> Result<(), &'static str> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.content {
            Content::List(nodes) => nodes.push(node),
            Content::Map(entries, key @ None) => {
                let Value::Scalar(Scalar { text, style }) = node.value else { return Err("a key must be text") };
                if let Some(first) = entries.iter().find(|entry| entry.key.text == text) {
                    let message = format!("`{text}` stands here a second time");
                    problems.add("policy-duplicate", node.place, message).also(first.key.place, "the first is here");
                }
                *key = Some(Text { text, place: node.place, style });
            }
            Content::Map(entries, key) => {
                let nothing = || Text { text: String::new(), place: node.place, style: ScalarStyle::Plain };
                let key = key.take().unwrap_or_else(nothing);
                entries.push(Entry { key, value: node });
            }
        }
        Ok(())
    }
}
