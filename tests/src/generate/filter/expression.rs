//! Writes rules: what is needed is a type, and whether there are many values; everything that yields it may be written.

use super::literal::{Spelling, bytes_text, int_text, ip_item, ip_text, pattern, pattern_text, replacement, wildcard};
use super::{FIELDS, Rng, SIMPLE_FIELDS, values};
use celero::filter::{
    Accepts, ArgumentKind, FilterFunction, FilterParameter, FilterType, LiteralRule, ResultType, Scheme,
};

/// Deepest nesting of what is written.
const DEEPEST: usize = 6;

/// Writes one rule.
pub(super) struct Writer<'r> {
    rng: &'r mut Rng,
    scheme: &'r Scheme,
    published: bool,
    /// How many more values and conditions may be written.
    left: usize,
}

impl<'r> Writer<'r> {
    pub(super) fn new(rng: &'r mut Rng, scheme: &'r Scheme, published: bool) -> Self {
        let left = 2 + rng.below(14);
        Self { rng, scheme, published, left }
    }

    /// A rule that is a condition.
    pub(super) fn whole_condition(&mut self) -> String {
        let rule = self.chain(false, 0);
        match self.rng.below(20) {
            0 => format!(" \n{rule}\t\r\n"),
            _ => rule,
        }
    }

    /// A rule that is a value.
    pub(super) fn whole_value(&mut self) -> String {
        let ty = self.some_type();
        self.value(&ty, false, 0).unwrap_or_else(|| "http.host".to_owned())
    }

    fn some_type(&mut self) -> FilterType {
        let simple = self.scalar();
        match self.rng.below(6) {
            0 => FilterType::Bool,
            1 => FilterType::array(FilterType::Bool),
            2..=3 => FilterType::array(simple),
            _ => simple,
        }
    }

    fn scalar(&mut self) -> FilterType {
        self.rng.pick(&[FilterType::Int, FilterType::Ip, FilterType::Bytes, FilterType::Bytes]).clone()
    }

    /// Blanks, at least one.
    fn gap(&mut self) -> &'static str {
        match self.rng.below(30) {
            0 => "\n",
            1 => "  ",
            2 => "\r\n",
            _ => " ",
        }
    }

    /// Blanks, or none.
    fn maybe_gap(&mut self) -> &'static str {
        if self.rng.chance(85) { "" } else { self.gap() }
    }

    /// What stands behind a word: blanks, rarely none.
    fn behind_word(&mut self) -> &'static str {
        if self.rng.chance(5) { "" } else { self.gap() }
    }

    /// Conditions joined by any connectives.
    fn chain(&mut self, many: bool, depth: usize) -> String {
        let mut text = self.simple(many, depth);
        let most = if depth == 0 { 4 } else { 3 };
        for _ in 0..self.rng.below(most) {
            if self.left == 0 {
                break;
            }
            let (word, sign) = self.rng.pick(&[("or", "||"), ("xor", "^^"), ("and", "&&")]);
            if self.rng.chance(30) {
                text.push_str(self.maybe_gap());
                text.push_str(sign);
                text.push_str(self.maybe_gap());
            } else {
                text.push_str(self.gap());
                text.push_str(word);
                text.push_str(self.behind_word());
            }
            text.push_str(&self.simple(many, depth));
        }
        text
    }

    fn simple(&mut self, many: bool, depth: usize) -> String {
        let choice = if self.left == 0 || depth >= DEEPEST { 99 } else { self.rng.below(100) };
        match choice {
            0..16 => self.negation(many, depth + 1),
            16..32 => self.group(many, depth + 1),
            32..50 if !many && !self.published => self.quantifier(depth + 1),
            _ => self.leaf(many, depth + 1),
        }
    }

    fn negation(&mut self, many: bool, depth: usize) -> String {
        let not =
            if self.rng.chance(30) { "!".to_owned() + self.maybe_gap() } else { "not".to_owned() + self.behind_word() };
        not + &self.simple(many, depth)
    }

    fn group(&mut self, many: bool, depth: usize) -> String {
        let (open, close) = (self.maybe_gap(), self.maybe_gap());
        format!("({open}{}{close})", self.chain(many, depth))
    }

    fn quantifier(&mut self, depth: usize) -> String {
        let word = *self.rng.pick(&["any", "all"]);
        let gap = if self.rng.chance(5) { self.gap() } else { "" };
        let argument = match self.rng.below(10) {
            0..=2 => self.value(&FilterType::array(FilterType::Bool), false, depth),
            3..=5 => Some(self.group(true, depth)),
            6 => Some(self.negation(true, depth)),
            _ => self.comparison(true, depth),
        };
        let argument = argument.unwrap_or_else(|| "flags".to_owned());
        let (open, close) = (self.maybe_gap(), self.maybe_gap());
        format!("{word}{gap}({open}{argument}{close})")
    }

    /// A condition without others in it: a comparison, or a value that is a condition.
    fn leaf(&mut self, many: bool, depth: usize) -> String {
        let bare = match (many, self.rng.below(10)) {
            (false, 0..=1) => self.value(&FilterType::Bool, false, depth),
            (true, 0..=1) => self.value(&FilterType::array(FilterType::Bool), false, depth),
            (true, 2) => self.value(&FilterType::Bool, true, depth),
            _ => None,
        };
        let leaf = bare.or_else(|| self.comparison(many, depth));
        leaf.unwrap_or_else(|| if many { "flags" } else { "ssl" }.to_owned())
    }

    fn comparison(&mut self, each: bool, depth: usize) -> Option<String> {
        let ty = self.scalar();
        let value = self.value(&ty, each, depth)?;
        let order = [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];
        let choice = self.rng.below(10);
        let (word, sign, right) = match (&ty, choice) {
            (_, 0..=2) => ("in", "", self.set(&ty)),
            (FilterType::Int, 3) => ("bitwise_and", "&", self.literal(&ty)),
            (FilterType::Bytes, 3..=4) => ("contains", "", self.literal(&ty)),
            (FilterType::Bytes, 5) => {
                let pattern = pattern(self.rng);
                ("matches", "~", pattern_text(self.rng, pattern, self.published))
            }
            (FilterType::Bytes, 6..=7) if !self.published => {
                let pattern = wildcard(self.rng);
                let text = bytes_text(self.rng, &pattern, Spelling::Text);
                (*self.rng.pick(&["wildcard", "strict wildcard"]), "", text)
            }
            _ => {
                let (word, sign) = *self.rng.pick(&order);
                (word, sign, self.literal(&ty))
            }
        };
        Some(if !sign.is_empty() && self.rng.chance(35) {
            format!("{value}{}{sign}{}{right}", self.maybe_gap(), self.maybe_gap())
        } else {
            format!("{value}{}{word}{}{right}", self.gap(), self.behind_word())
        })
    }

    /// A literal on the right side of an operator.
    fn literal(&mut self, ty: &FilterType) -> String {
        let spelling = if self.published { Spelling::Published } else { Spelling::Any };
        match ty {
            FilterType::Int => {
                let number = values::number(self.rng, self.published);
                int_text(self.rng, number)
            }
            FilterType::Ip => {
                let address = values::address(self.rng);
                ip_text(self.rng, address)
            }
            _ => {
                let text = values::text(self.rng);
                bytes_text(self.rng, &text, spelling)
            }
        }
    }

    /// A set or a list behind `in`.
    fn set(&mut self, ty: &FilterType) -> String {
        if !self.published && self.rng.chance(20) {
            let list = match ty {
                FilterType::Int => "numbers",
                FilterType::Ip => "bad",
                _ => "words",
            };
            return format!("${}", self.rng.pick(&[list, list, "not_there"]));
        }
        let most = if self.rng.chance(5) { 30 } else { 5 };
        let count = self.rng.below(most);
        let mut text = "{".to_owned() + self.maybe_gap();
        for index in 0..count {
            text.push_str(if index > 0 { self.gap() } else { "" });
            let item = match ty {
                FilterType::Ip => ip_item(self.rng),
                FilterType::Int if self.rng.chance(40) => {
                    let (a, b) = (values::number(self.rng, self.published), values::number(self.rng, self.published));
                    format!("{}..{}", int_text(self.rng, a.min(b)), int_text(self.rng, a.max(b)))
                }
                _ => self.literal(ty),
            };
            text.push_str(&item);
        }
        text + self.maybe_gap() + "}"
    }

    /// A value of a type, or many values of it; nothing if there is none.
    fn value(&mut self, ty: &FilterType, each: bool, depth: usize) -> Option<String> {
        self.left = self.left.saturating_sub(1);
        let calls = !self.published && self.left > 0 && depth < DEEPEST && self.rng.chance(35);
        let called = if calls { self.of_call(ty, each, depth + 1) } else { None };
        let value = called.or_else(|| self.path(ty, each));
        // Some types are only made by functions.
        value.or_else(|| if depth < 2 * DEEPEST { self.of_call(ty, each, depth + 1) } else { None })
    }

    /// A field, or a part of one.
    fn path(&mut self, ty: &FilterType, each: bool) -> Option<String> {
        let most = if self.published { SIMPLE_FIELDS } else { FIELDS.len() };
        let mut found = Vec::new();
        for (index, field) in self.scheme.fields().iter().enumerate().take(most) {
            let (mut part, mut steps) = (&field.ty, 0usize);
            loop {
                if part == ty && (steps > 0 || !each) {
                    found.push((index, steps));
                }
                let Some(inner) = part.element() else { break };
                (part, steps) = (inner, steps + 1);
            }
        }
        if found.is_empty() {
            return None;
        }
        let (index, steps) = *self.rng.pick(&found);
        let field = self.scheme.fields().get(index)?;
        let mut text = field.name.to_string();
        let first_each = self.rng.below(steps);
        let mut part = &field.ty;
        for step in 0..steps {
            let all = each && (step == first_each || self.rng.chance(30));
            text.push_str(&self.step(part, all));
            part = part.element()?;
        }
        Some(text)
    }

    /// `[*]`, or the index of an element or value.
    fn step(&mut self, of: &FilterType, all: bool) -> String {
        let inner = match of {
            _ if all => "*".to_owned(),
            FilterType::Map(_) => {
                let key = *self.rng.pick(values::KEYS);
                bytes_text(self.rng, key.as_bytes(), Spelling::Quoted)
            }
            _ => {
                let index = i64::try_from(self.rng.below(4)).unwrap_or(0);
                int_text(self.rng, index)
            }
        };
        format!("[{}{inner}{}]", self.maybe_gap(), self.maybe_gap())
    }

    /// A call that yields a value of a type, or an array of such values and `[*]` or an index.
    fn of_call(&mut self, ty: &FilterType, each: bool, depth: usize) -> Option<String> {
        let array = FilterType::array(ty.clone());
        if each {
            return Some(self.call(&array, depth)? + &self.step(&array, true));
        }
        if self.rng.chance(20)
            && let Some(call) = self.call(&array, depth)
        {
            return Some(call + &self.step(&array, false));
        }
        self.call(ty, depth)
    }

    /// A call with this result. It is made for many values if the function results in the elements of the result.
    fn call(&mut self, result: &FilterType, depth: usize) -> Option<String> {
        let element = match result {
            FilterType::Array(element) => Some(&**element),
            _ => None,
        };
        let functions: Vec<(&FilterFunction, bool)> = self
            .scheme
            .functions()
            .iter()
            .flat_map(|function| [(function, false), (function, true)])
            .filter(|(function, mapped)| {
                let Some(wanted) = (if *mapped { element } else { Some(result) }) else { return false };
                if *mapped && function.parameter(0).is_some_and(|first| first.kind == ArgumentKind::Literal) {
                    return false;
                }
                match &function.result {
                    ResultType::Type(ty) => ty == wanted,
                    ResultType::SameAsFirst => matches!(wanted, FilterType::Bytes | FilterType::Array(_)),
                }
            })
            .collect();
        if functions.is_empty() || depth > 2 * DEEPEST {
            return None;
        }
        let (function, mapped) = *self.rng.pick(&functions);
        let wanted = if mapped { element? } else { result };
        let first_type = match &function.result {
            ResultType::SameAsFirst => wanted.clone(),
            ResultType::Type(_) => self.accepted(function.parameter(0)?, None),
        };
        let optional = self.rng.below(function.optional.len() + 1);
        let repeated = if function.repeated.is_some() { self.rng.below(3) } else { 0 };
        let mut arguments = Vec::new();
        for index in 0..function.required.len() + optional + repeated {
            let parameter = function.parameter(index)?;
            let argument = match index {
                0 if mapped => self.value(&first_type, true, depth + 1)?,
                0 => self.argument(parameter, &first_type, index, depth + 1)?,
                _ => {
                    let ty = self.accepted(parameter, Some(&first_type));
                    self.argument(parameter, &ty, index, depth + 1)?
                }
            };
            arguments.push(format!("{}{argument}{}", self.maybe_gap(), self.maybe_gap()));
        }
        let gap = if self.rng.chance(5) { self.gap() } else { "" };
        Some(format!("{}{gap}({})", function.name, arguments.join(",")))
    }

    /// One of the types that a parameter takes.
    fn accepted(&mut self, parameter: &FilterParameter, first: Option<&FilterType>) -> FilterType {
        match self.rng.pick(&parameter.accepts) {
            Accepts::Type(ty) => ty.clone(),
            Accepts::SameAsFirst => first.cloned().unwrap_or(FilterType::Bytes),
            Accepts::ElementOfFirst => match first {
                Some(FilterType::Array(element) | FilterType::Map(element)) => (**element).clone(),
                _ => FilterType::Bytes,
            },
            Accepts::Anything => self.scalar(),
            Accepts::AnyMap => FilterType::map(self.scalar()),
            Accepts::PrimitiveCollection => {
                let element = self.scalar();
                if self.rng.chance(50) { FilterType::array(element) } else { FilterType::map(element) }
            }
            Accepts::AnyArray => {
                let ty = if self.rng.chance(20) { FilterType::Bool } else { self.scalar() };
                FilterType::array(ty)
            }
        }
    }

    fn argument(&mut self, parameter: &FilterParameter, ty: &FilterType, index: usize, depth: usize) -> Option<String> {
        let can_be_literal = matches!(ty, FilterType::Int | FilterType::Ip | FilterType::Bytes);
        let is_literal = match parameter.kind {
            ArgumentKind::Literal => true,
            ArgumentKind::Field => false,
            ArgumentKind::Any => can_be_literal && self.rng.chance(50),
        };
        if is_literal {
            return Some(self.literal_argument(parameter.rule, ty, index));
        }
        let condition = self.left > 0 && depth < DEEPEST && self.rng.chance(50);
        match ty {
            FilterType::Bool if condition => match self.rng.below(4) {
                0 => Some(self.group(false, depth)),
                1 => Some(self.negation(false, depth)),
                2 => Some(self.quantifier(depth)),
                _ => self.comparison(false, depth),
            },
            FilterType::Array(element) if condition && **element == FilterType::Bool => match self.rng.below(3) {
                0 => Some(self.group(true, depth)),
                1 => Some(self.negation(true, depth)),
                _ => self.comparison(true, depth),
            },
            _ => self.value(ty, false, depth),
        }
    }

    fn literal_argument(&mut self, rule: LiteralRule, ty: &FilterType, index: usize) -> String {
        let value = match (rule, ty) {
            (LiteralRule::Between(first, last), _) => {
                let any = first.saturating_add(i64::try_from(self.rng.below(130)).unwrap_or(0)).min(last);
                let number = *self.rng.pick(&[first, last, any, any]);
                return int_text(self.rng, number);
            }
            (LiteralRule::Flags(flags), _) => {
                let mut flags = flags.as_bytes().to_vec();
                flags.truncate(self.rng.below(flags.len() + 1));
                flags
            }
            (LiteralRule::Pattern, _) => pattern(self.rng).as_bytes().to_vec(),
            (LiteralRule::Wildcard, _) => wildcard(self.rng),
            (_, FilterType::Bytes) if index == 2 && self.rng.chance(70) => replacement(self.rng).to_vec(),
            (_, FilterType::Bytes) if index > 0 && self.rng.chance(30) => {
                self.rng.pick(values::KEYS).as_bytes().to_vec()
            }
            (rule, FilterType::Bytes) => {
                let mut text = values::text(self.rng);
                if rule == LiteralRule::NotEmpty && text.is_empty() {
                    text.push(b'a');
                }
                text
            }
            _ => return self.literal(ty),
        };
        let value = if rule == LiteralRule::NotEmpty && value.is_empty() { b"a".to_vec() } else { value };
        bytes_text(self.rng, &value, Spelling::Argument)
    }
}
