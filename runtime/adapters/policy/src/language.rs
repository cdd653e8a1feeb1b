//! The languages of rules that policies and tools know: a registry of the process.

use celero::Env;
use celero::filter::FilterLanguage;
use celero::language::{AnyLanguage, Cel, Lexicon};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock};

/// A language of rules. Cheap to copy; two are equal if they have one name.
///
/// [`cel`](Self::cel) and [`filter`](Self::filter) are known. A program adds its own with
/// [`register`](Self::register), before it reads rules: policies, files of rules, the command and
/// the language server then know it by its name.
#[derive(Clone, Copy)]
pub struct Language(&'static AnyLanguage);

static CEL: LazyLock<AnyLanguage> = LazyLock::new(|| AnyLanguage::new(Cel));
static FILTER: LazyLock<AnyLanguage> = LazyLock::new(|| FilterLanguage::http().into());
static KNOWN: LazyLock<RwLock<Vec<Language>>> =
    LazyLock::new(|| RwLock::new(vec![Language::cel(), Language::filter()]));

/// Longest name of a language, in bytes.
const LONGEST_NAME: usize = 32;

impl Language {
    /// Returns CEL, the language of rules that name none, and of all definitions.
    #[must_use]
    pub fn cel() -> Self {
        Self(&CEL)
    }

    /// Returns Cloudflare's filter language.
    #[must_use]
    pub fn filter() -> Self {
        Self(&FILTER)
    }

    /// Returns the language whose fields policies may give values: their key `fields`.
    pub(crate) fn of_fields() -> Self {
        Self::filter()
    }

    /// Adds a language for the rest of the process. Its name is the word of the key `language`, and
    /// the extension of files with one rule in it.
    ///
    /// # Errors
    /// The name is known already, or is no name: lower-case ASCII letters, digits and `-`, at most 32.
    pub fn register(language: AnyLanguage) -> Result<Self, String> {
        let name = language.name();
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.len() <= LONGEST_NAME
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_name {
            return Err(format!("`{name}` is no name of a language: write lower-case letters, digits and `-`"));
        }
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        if known.iter().any(|other| other.name() == name) {
            return Err(format!("there is a language `{name}` already"));
        }
        let added = Self(Box::leak(Box::new(language)));
        known.push(added);
        Ok(added)
    }

    /// Returns the known languages: CEL first, then in the order in which they were added.
    #[must_use]
    pub fn all() -> Vec<Self> {
        KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the names of the known languages.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::all().into_iter().map(Self::name).collect()
    }

    /// Returns the language of a name.
    ///
    /// # Errors
    /// A name of no language: the names of those that there are.
    pub fn named(name: &str) -> Result<Self, String> {
        let known = Self::all();
        known.iter().find(|language| language.name() == name).copied().ok_or_else(|| {
            let names: Vec<String> = Self::names().iter().map(|name| format!("`{name}`")).collect();
            let (last, first) = names.split_last().map_or(("", &[][..]), |(last, first)| (last, first));
            format!("there is no language `{name}`: expected {} or {last}", first.join(", "))
        })
    }

    /// Returns the name: the word of the key `language`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns what people call the language.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.0.title()
    }

    /// Returns the words of the language, for editors.
    #[must_use]
    pub fn lexicon(self) -> Lexicon {
        self.0.lexicon()
    }

    /// Returns the language as environments take it.
    #[must_use]
    pub fn any(self) -> &'static AnyLanguage {
        self.0
    }

    /// Returns whether it is the language of rules that name none.
    #[must_use]
    pub fn is_default(self) -> bool {
        self == Self::default()
    }

    /// Returns an environment in this language.
    #[must_use]
    pub fn env<C>(self, env: &Env<C>) -> Env<C> {
        env.clone().in_language(self.0)
    }
}

impl Default for Language {
    fn default() -> Self {
        Self::cel()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Language {}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Language").field(&self.name()).finish()
    }
}
