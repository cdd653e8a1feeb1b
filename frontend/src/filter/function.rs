//! Signatures of functions: what each parameter takes and what a call results in.

use super::types::FilterType;
use std::fmt;
use std::sync::Arc;

/// A documented function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the functions")]
pub enum StandardFunction {
    BitSlice,
    Cidr,
    Cidr6,
    Coalesce,
    Concat,
    DecodeBase64,
    EncodeBase64,
    EndsWith,
    HasKey,
    HasValue,
    IsJwtPresent,
    IsJwtValid,
    IsTimedHmacValidV0,
    Join,
    Len,
    LookupJsonInteger,
    LookupJsonString,
    Lower,
    RegexReplace,
    RemoveBytes,
    RemoveQueryArgs,
    Sha256,
    Split,
    StartsWith,
    Substring,
    ToString,
    Upper,
    UrlDecode,
    Uuidv4,
    WildcardReplace,
}

impl StandardFunction {
    /// Returns whether only a host can compute the function.
    #[must_use]
    pub const fn is_of_host(self) -> bool {
        matches!(self, Self::BitSlice | Self::IsJwtPresent | Self::IsJwtValid)
    }
}

/// Whether an argument may, must or must not be a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentKind {
    /// A literal.
    Literal,
    /// A field, a call, or a condition.
    Field,
    /// Either.
    Any,
}

/// A type that a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Accepts {
    /// This type.
    Type(FilterType),
    /// Any type.
    Anything,
    /// An array of anything.
    AnyArray,
    /// A map of anything.
    AnyMap,
    /// An array or map of values that are no arrays or maps themselves.
    PrimitiveCollection,
    /// The type of the first argument.
    SameAsFirst,
    /// The type of the elements of the first argument, or of its values.
    ElementOfFirst,
}

impl Accepts {
    /// Returns whether the type follows from that of the first argument.
    #[must_use]
    pub fn follows_first(&self) -> bool {
        matches!(self, Self::SameAsFirst | Self::ElementOfFirst)
    }

    fn takes(&self, ty: &FilterType, first: Option<&FilterType>) -> bool {
        match self {
            Self::Type(wanted) => wanted == ty,
            Self::Anything => true,
            Self::AnyArray => matches!(ty, FilterType::Array(_)),
            Self::AnyMap => matches!(ty, FilterType::Map(_)),
            Self::PrimitiveCollection => element_of(ty).is_some_and(|element| element_of(element).is_none()),
            Self::SameAsFirst => first == Some(ty),
            Self::ElementOfFirst => first.and_then(element_of) == Some(ty),
        }
    }
}

/// The type of the elements of an array or of the values of a map.
fn element_of(ty: &FilterType) -> Option<&FilterType> {
    if let FilterType::Array(element) | FilterType::Map(element) = ty { Some(element) } else { None }
}

/// What a literal argument must be, besides its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralRule {
    /// Nothing more.
    #[default]
    None,
    /// Not the empty string.
    NotEmpty,
    /// A number from the first to the second.
    Between(i64, i64),
    /// A regular expression.
    Pattern,
    /// A wildcard pattern.
    Wildcard,
    /// Some of these characters, each at most once.
    Flags(&'static str),
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FilterParameter {
    /// Whether the argument may be a literal.
    pub kind: ArgumentKind,
    /// The types it takes.
    pub accepts: Box<[Accepts]>,
    /// What a literal must be.
    pub rule: LiteralRule,
}

impl FilterParameter {
    /// A parameter that takes one type.
    #[must_use]
    pub fn new(kind: ArgumentKind, ty: FilterType) -> Self {
        Self { kind, accepts: [Accepts::Type(ty)].into(), rule: LiteralRule::None }
    }

    /// The same, for literals with a further rule.
    #[must_use]
    pub fn with_rule(mut self, rule: LiteralRule) -> Self {
        self.rule = rule;
        self
    }

    /// The same, which also takes something else.
    #[must_use]
    pub fn or(mut self, other: Accepts) -> Self {
        let mut accepts = Vec::from(std::mem::take(&mut self.accepts));
        accepts.push(other);
        self.accepts = accepts.into();
        self
    }

    /// Returns whether an argument of a type fits.
    #[must_use]
    pub fn takes(&self, ty: &FilterType, first: Option<&FilterType>) -> bool {
        self.accepts.iter().any(|accepted| accepted.takes(ty, first))
    }

    /// Returns whether it names this type, or one that follows from the first argument's and is this one.
    #[must_use]
    pub fn accepts_some(&self, ty: &FilterType, first: Option<&FilterType>) -> bool {
        let names = |accepted: &&Accepts| matches!(accepted, Accepts::Type(_)) || accepted.follows_first();
        self.accepts.iter().filter(names).any(|accepted| accepted.takes(ty, first))
    }

    /// The types that it takes, for messages: `Bytes or Array`.
    pub(crate) fn wanted(&self, first: Option<&FilterType>) -> String {
        let names: Vec<String> = self
            .accepts
            .iter()
            .map(|accepted| match (accepted, first) {
                (Accepts::Type(ty), _) | (Accepts::SameAsFirst, Some(ty)) => ty.to_string(),
                (Accepts::Anything, _) => "anything".to_owned(),
                (Accepts::AnyArray, _) => "Array".to_owned(),
                (Accepts::AnyMap, _) => "Map".to_owned(),
                (Accepts::PrimitiveCollection, _) => "Array or Map of Bool, Int, Ip or Bytes".to_owned(),
                (Accepts::SameAsFirst, None) => "the first argument's type".to_owned(),
                (Accepts::ElementOfFirst, first) => match first.and_then(element_of) {
                    Some(element) => element.to_string(),
                    None => "the type of its elements".to_owned(),
                },
            })
            .collect();
        names.join(" or ")
    }
}

/// What a call of a function results in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResultType {
    /// A value of this type, or nil.
    Type(FilterType),
    /// A value of the first argument's type, or nil.
    SameAsFirst,
}

/// A function that rules may call.
///
/// A call whose first argument contains `[*]` calls the function for each value, leaves out the
/// results that are nil, and results in an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterFunction {
    /// Its name.
    pub name: Arc<str>,
    /// The parameters that must have arguments.
    pub required: Box<[FilterParameter]>,
    /// Those that may have.
    pub optional: Box<[FilterParameter]>,
    /// What any number of further arguments must be.
    pub repeated: Option<FilterParameter>,
    /// What a call results in.
    pub result: ResultType,
    /// Most calls in an expression, where the product bounds them.
    pub most_calls: Option<u32>,
    /// Which of the documented functions this is; `None` for a function of the host.
    pub standard: Option<StandardFunction>,
}

impl FilterFunction {
    /// A function of the host with these required parameters.
    #[must_use]
    pub fn new(name: &str, required: impl Into<Box<[FilterParameter]>>, result: FilterType) -> Self {
        let (required, optional) = (required.into(), Box::default());
        let (repeated, most_calls, standard) = (None, None, None);
        Self { name: name.into(), required, optional, repeated, result: ResultType::Type(result), most_calls, standard }
    }

    /// The parameter of an argument's position.
    #[must_use]
    pub fn parameter(&self, index: usize) -> Option<&FilterParameter> {
        let optional = index.checked_sub(self.required.len());
        self.required.get(index).or_else(|| self.optional.get(optional?)).or(self.repeated.as_ref())
    }

    /// The most arguments, if there is a bound.
    #[must_use]
    pub fn most_arguments(&self) -> Option<usize> {
        let most = self.required.len().saturating_add(self.optional.len());
        if self.repeated.is_some() { None } else { Some(most) }
    }
}

impl fmt::Display for FilterFunction {
    /// The signature: `split(Bytes, literal Bytes, literal Int) -> Array<Bytes>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |parameter: &FilterParameter| {
            let literal = if parameter.kind == ArgumentKind::Literal { "literal " } else { "" };
            format!("{literal}{}", parameter.wanted(None))
        };
        let mut parameters: Vec<String> = self.required.iter().map(show).collect();
        parameters.extend(self.optional.iter().map(|parameter| format!("[{}]", show(parameter))));
        parameters.extend(self.repeated.iter().map(|parameter| format!("{}...", show(parameter))));
        write!(f, "{}({}) -> ", self.name, parameters.join(", "))?;
        match &self.result {
            ResultType::Type(ty) => write!(f, "{ty}"),
            ResultType::SameAsFirst => f.write_str("the first argument's type"),
        }
    }
}
