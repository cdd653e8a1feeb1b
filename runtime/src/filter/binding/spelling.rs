//! Fields that have the values of a variable in other words. A comparison with one of the words is
//! a comparison of the variable with its own word, so that rules can be translated word by word.

use std::borrow::Cow;

/// Words of a variable, each with the word of the field.
pub(crate) type Words = &'static [(&'static str, &'static str)];

/// A field that has the values of a variable in other words. Values that are none of them are the same in both.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    /// The field.
    pub(crate) field: u32,
    /// The variable.
    pub(crate) variable: u32,
    /// The words of both.
    pub(crate) words: Words,
}

impl Spelling {
    /// Returns the word of the variable that means the same as a word of the field; `None` if the
    /// field never has this value.
    pub(crate) fn of_variable<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        same_in(self.words.iter().map(|(of_variable, of_field)| (*of_field, *of_variable)), word)
    }

    /// Returns the word of the field that means the same as a word of the variable; `None` if the
    /// variable never has this value.
    pub(crate) fn of_field<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        same_in(self.words.iter().copied(), word)
    }
}

/// The second of the pair whose first is a word; the word itself if it is in no pair.
fn same_in<'w>(
    pairs: impl Iterator<Item = (&'static str, &'static str)> + Clone,
    word: &'w str,
) -> Option<Cow<'w, str>> {
    if let Some((_, other)) = pairs.clone().find(|(from, _)| *from == word) {
        return Some(Cow::Borrowed(other));
    }
    let is_only_other = pairs.into_iter().any(|(_, to)| to == word);
    (!is_only_other).then_some(Cow::Borrowed(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_one_equal_or_none() {
        let spelling = Spelling { field: 0, variable: 0, words: &[("HTTP/2.0", "HTTP/2")] };
        for (of_variable, of_field) in [("HTTP/2.0", "HTTP/2"), ("HTTP/1.1", "HTTP/1.1"), ("", "")] {
            assert_eq!(spelling.of_variable(of_field).as_deref(), Some(of_variable));
            assert_eq!(spelling.of_field(of_variable).as_deref(), Some(of_field));
        }
        assert_eq!((spelling.of_variable("HTTP/2.0"), spelling.of_field("HTTP/2")), (None, None));
    }
}
