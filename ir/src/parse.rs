//! Reads the text form of a graph: `parse(print(g)) == g`.
//!
//! Empty lines and lines that start with `#` are skipped. Any text is safe to read: nesting of constants is bounded by
//! [`MAX_CONSTANT_DEPTH`], and the time is linear. The graph is not verified: see [`verify`](crate::verify()).

use crate::constant::{ConstId, Constant, MAX_CONSTANT_DEPTH, Parameter, ParameterKind};
use crate::error::{ErrorKind, Origin};
use crate::graph::{Graph, NodeId};
use crate::helper::Helper;
use crate::op::{CallForm, Op};
use crate::projection::{Projection, Step};
use crate::ty::{Ty, Types};
use crate::wildcard::Wildcard;
use std::fmt;
use std::sync::Arc;

/// Why a text is not a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// What was expected, and what was found.
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for ParseError {}

/// Reads a graph.
///
/// # Errors
/// The first line that is neither a node, a root nor a comment, or that repeats a node.
pub fn parse(text: &str) -> Result<Graph, ParseError> {
    let mut graph = Graph::new();
    for (index, text) in text.lines().enumerate() {
        let mut line = Line { rest: text.trim() };
        if line.rest.is_empty() || line.rest.starts_with('#') {
            continue;
        }
        line.read(&mut graph).map_err(|reason| ParseError {
            line: u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX),
            reason,
        })?;
    }
    Ok(graph)
}

type Read<T> = Result<T, String>;

/// The unread part of a line.
struct Line<'t> {
    rest: &'t str,
}

impl<'t> Line<'t> {
    fn read(&mut self, graph: &mut Graph) -> Read<()> {
        if self.word("root") {
            let root = self.node()?;
            graph.add_root(root);
        } else {
            self.definition(graph)?;
        }
        if self.rest.is_empty() { Ok(()) } else { self.expected("the end of the line") }
    }

    fn definition(&mut self, graph: &mut Graph) -> Read<()> {
        let id = self.node()?;
        let due = graph.len();
        if id.0 as usize != due {
            return Err(format!("nodes are numbered in order: expected v{due}, found {id}"));
        }
        self.sign(":")?;
        let ty = self.ty()?;
        self.sign("=")?;
        let name = self.name();
        let Some(&template) = Op::EACH.iter().find(|op| op.decl().name == name) else {
            return Err(format!("no operation is called `{name}`"));
        };
        let op = self.payload(graph, template)?;
        let mut args = Vec::new();
        if self.rest.starts_with('v') {
            args.push(self.node()?);
            while self.eat(",") {
                args.push(self.node()?);
            }
        }
        let mut origin = Origin::default();
        if self.eat("@") {
            origin.start = self.number()?;
            self.sign("..")?;
            origin.end = self.number()?;
        }
        let added = graph.add(op, ty, &args, origin);
        if added == id { Ok(()) } else { Err(format!("{id} repeats {added}")) }
    }

    fn payload(&mut self, graph: &mut Graph, template: Op) -> Read<Op> {
        let op = match template {
            Op::Fail(_) => {
                let name = self.name();
                let kind = ErrorKind::ALL.iter().copied().find(|kind| kind.name() == name);
                Op::Fail(kind.ok_or_else(|| format!("no error kind is called `{name}`"))?)
            }
            Op::Field(_) => Op::Field(self.number()?),
            Op::HasField(_) => Op::HasField(self.number()?),
            Op::Elements(_) => Op::Elements(self.number()?),
            Op::Cursor(_) => Op::Cursor(self.number()?),
            Op::Entry(_) => Op::Entry(self.number()?),
            Op::EntryValue(_) => Op::EntryValue(self.number()?),
            Op::Local(_) => Op::Local(self.number()?),
            Op::Let(_) => Op::Let(self.number()?),
            Op::Reach(_) => Op::Reach(self.number()?),
            Op::Member { .. } => Op::Member { field: self.number()?, member: self.number()? },
            Op::Header { .. } => Op::Header { field: self.number()?, name: ConstId(0) },
            Op::Fold { kind, .. } => {
                let level = self.number()?;
                let pairs = self.word("pairs");
                Op::Fold { kind, level, pairs, filtered: self.word("filtered") }
            }
            Op::Unbox(_) => Op::Unbox(self.ty()?),
            Op::HasTypes(_) => Op::HasTypes(self.types()?),
            Op::Call(_) => {
                let name = self.name();
                Op::Call(Helper::from_name(name).ok_or_else(|| format!("no helper is called `{name}`"))?)
            }
            Op::Dispatch { .. } => {
                let pure = self.word("pure");
                if !pure && !self.word("impure") {
                    return self.expected("`pure` or `impure`");
                }
                Op::Dispatch { function: graph.function(&self.string()?), pure }
            }
            Op::Invoke { .. } => {
                let Some(form) = CallForm::ALL.into_iter().find(|form| self.word(form.name())) else {
                    return self.expected("`total`, `partial`, `framed` or `impure`");
                };
                Op::Invoke { function: graph.function(&self.string()?), form }
            }
            other => other,
        };
        if op.constant().is_none() {
            return Ok(op);
        }
        let constant = self.constant(MAX_CONSTANT_DEPTH)?;
        Ok(op.with_constant(graph.constant(constant)))
    }

    fn constant(&mut self, depth: usize) -> Read<Constant> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("constants nest deeper than {MAX_CONSTANT_DEPTH}"));
        };
        if self.rest.starts_with('"') {
            return Ok(Constant::Str(self.string()?.into()));
        }
        if self.rest.starts_with("b\"") {
            return Ok(Constant::Bytes(self.text_or_bytes()?.into()));
        }
        if self.rest.starts_with('[') {
            return Ok(Constant::List(self.list("[", "]", |line| line.constant(depth))?));
        }
        if self.rest.starts_with('{') {
            let entry = |line: &mut Self| {
                let key = line.constant(depth)?;
                line.sign(":")?;
                Ok((key, line.constant(depth)?))
            };
            return Ok(Constant::Map(self.list("{", "}", entry)?));
        }
        if self.rest.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return self.numeric();
        }
        Ok(match self.name() {
            "null" => Constant::Null,
            "true" => Constant::Bool(true),
            "false" => Constant::Bool(false),
            "inf" => Constant::Double(f64::INFINITY.to_bits()),
            "nan" => {
                let digits = self.take_raw(|c| c.is_ascii_hexdigit());
                self.skip();
                match u64::from_str_radix(digits, 16) {
                    Ok(bits) if f64::from_bits(bits).is_nan() => Constant::Double(bits),
                    _ => return Err(format!("`{digits}` is not the bits of a NaN")),
                }
            }
            "duration" => Constant::Duration(self.number()?),
            "timestamp" => Constant::Timestamp(self.number()?, self.number()?),
            "type" => Constant::Type(self.string()?.into()),
            "ip" => Constant::Ip(from_text(&self.string()?, "an address")?),
            "cidr" => {
                let text = self.string()?;
                let (address, prefix) = text.split_once('/').ok_or_else(|| format!("`{text}` has no `/`"))?;
                Constant::Cidr(from_text(address, "an address")?, from_text(prefix, "a prefix length")?)
            }
            "searcher" => Constant::Searcher(self.text_or_bytes()?.into()),
            "regex" => Constant::Regex(self.string()?.into()),
            "byte_regex" => Constant::ByteRegex(self.string()?.into()),
            "header_name" => Constant::HeaderName(self.string()?.into()),
            "projection" => Constant::Projection(self.projection(depth)?),
            "wildcard" => {
                let strict = self.word("strict");
                let pieces = self.list("[", "]", |line| Ok(line.text_or_bytes()?.into()))?;
                Constant::Wildcard(Wildcard { pieces, strict })
            }
            "str_set" => Constant::StrSet(self.list("[", "]", |line| Ok(line.text_or_bytes()?.into()))?),
            "int_set" => Constant::IntSet(self.list("[", "]", Self::number)?),
            "parameter" => Constant::Parameter(self.parameter()?),
            other => return Err(format!("expected a constant, found `{other}` before `{}`", start(self.rest))),
        })
    }

    fn parameter(&mut self) -> Read<Parameter> {
        let plain = self.word("plain");
        let name = self.name();
        let kind = ParameterKind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| format!("no kind of parameter is called `{name}`"))?;
        Ok(Parameter { kind, plain, at: self.number()? })
    }

    fn projection(&mut self, depth: usize) -> Read<Projection> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("constants nest deeper than {MAX_CONSTANT_DEPTH}"));
        };
        if self.eat("*") {
            return Ok(Projection::all());
        }
        let part = |line: &mut Self| {
            let step =
                if line.rest.starts_with('"') { Step::Key(line.string()?.into()) } else { Step::Index(line.number()?) };
            line.sign(":")?;
            Ok((step, line.projection(depth)?))
        };
        Ok(Projection { whole: false, parts: self.list("{", "}", part)? })
    }

    fn numeric(&mut self) -> Read<Constant> {
        if self.eat("-inf") {
            return Ok(Constant::Double(f64::NEG_INFINITY.to_bits()));
        }
        let digits = self.take_raw(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'));
        let constant = if self.eat("u") {
            Constant::Uint(from_text(digits, "an unsigned integer")?)
        } else if digits.contains(['.', 'e', 'E']) {
            Constant::Double(from_text::<f64>(digits, "a double")?.to_bits())
        } else {
            Constant::Int(from_text(digits, "an integer")?)
        };
        self.skip();
        Ok(constant)
    }

    fn list<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Arc<[T]>> {
        self.sign(open)?;
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items.into());
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items.into());
            }
            self.sign(",")?;
        }
    }

    fn string(&mut self) -> Read<String> {
        if !self.rest.starts_with('"') {
            return self.expected("text in quotes");
        }
        self.advance();
        let mut text = String::new();
        loop {
            match self.advance() {
                Some('"') => break,
                Some('\\') => text.push(self.escaped()?),
                Some(c) => text.push(c),
                None => return Err("text ends without a quote".to_owned()),
            }
        }
        self.skip();
        Ok(text)
    }

    fn escaped(&mut self) -> Read<char> {
        match self.advance() {
            Some('n') => Ok('\n'),
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('u') => {
                let braced = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
                let (digits, rest) = braced.ok_or("expected `{` and `}` after `\\u`")?;
                self.rest = rest;
                let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                c.ok_or_else(|| format!("`{digits}` is not the code of a character"))
            }
            _ => Err("unknown escape in text".to_owned()),
        }
    }

    /// Reads text as its bytes, or a byte string.
    fn text_or_bytes(&mut self) -> Read<Vec<u8>> {
        match self.rest.strip_prefix("b\"") {
            Some(rest) => {
                self.rest = rest;
                self.bytes()
            }
            None => self.string().map(String::into_bytes),
        }
    }

    /// Reads a byte string after its opening quote.
    fn bytes(&mut self) -> Read<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let c = match self.advance() {
                Some('"') => break,
                Some('\\') => match self.advance() {
                    Some('x') => {
                        let (digits, rest) = self.rest.split_at_checked(2).ok_or("expected two digits after `\\x`")?;
                        self.rest = rest;
                        let byte = u8::from_str_radix(digits, 16);
                        bytes.push(byte.map_err(|_| format!("`{digits}` is not two hexadecimal digits"))?);
                        continue;
                    }
                    Some(c @ ('"' | '\\')) => c,
                    _ => return Err("unknown escape in bytes".to_owned()),
                },
                Some(c) => c,
                None => return Err("bytes end without a quote".to_owned()),
            };
            match u8::try_from(c) {
                Ok(byte) if byte.is_ascii() => bytes.push(byte),
                _ => return Err(format!("`{c}` is not ASCII")),
            }
        }
        self.skip();
        Ok(bytes)
    }

    fn node(&mut self) -> Read<NodeId> {
        if !self.rest.starts_with('v') {
            return self.expected("a node");
        }
        self.advance();
        self.number().map(NodeId)
    }

    fn ty(&mut self) -> Read<Ty> {
        let name = self.name();
        let ty = Ty::ALL.into_iter().find(|ty| ty.name() == name);
        ty.ok_or_else(|| format!("no type is called `{name}`"))
    }

    fn types(&mut self) -> Read<Types> {
        self.sign("[")?;
        let mut types = Vec::new();
        while !self.eat("]") {
            if !types.is_empty() {
                self.sign(",")?;
            }
            types.push(self.ty()?);
        }
        Types::new(&types).ok_or_else(|| format!("a call has at most {} operands", Types::MAX))
    }

    fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        let number = self.take_raw(|c| c.is_ascii_digit() || c == '-');
        self.skip();
        from_text(number, "an integer of that size")
    }

    fn name(&mut self) -> &'t str {
        let name = self.take_raw(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        self.skip();
        name
    }

    /// Reads the next name if it is this one, and returns whether it was.
    fn word(&mut self, word: &str) -> bool {
        let before = self.rest;
        let found = self.name() == word;
        if !found {
            self.rest = before;
        }
        found
    }

    fn eat(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        if let Some(rest) = rest {
            self.rest = rest;
            self.skip();
        }
        rest.is_some()
    }

    fn sign(&mut self, sign: &str) -> Read<()> {
        if self.eat(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn take_raw(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn advance(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn expected<T>(&self, what: &str) -> Read<T> {
        Err(format!("expected {what}, found `{}`", start(self.rest)))
    }
}

fn from_text<T: std::str::FromStr>(text: &str, what: &str) -> Read<T> {
    text.parse().map_err(|_| format!("`{text}` is not {what}"))
}

/// The beginning of a text, for a message.
fn start(text: &str) -> String {
    text.chars().take(20).collect()
}
