//! [`Object`]: the members of a JSON object that is changed, found by their names.

use super::{Part, PatchError};
use std::collections::HashMap;

/// The members of an object, in their order. A patch of many operations looks up many names, so
/// that from the first lookup on each takes a time that does not depend on the number of members.
#[derive(Debug, Default)]
pub(super) struct Object<'d> {
    /// `None` where a member was taken.
    members: Vec<Option<(String, Part<'d>)>>,
    /// By the name in one case. `None` until a member is looked up.
    places: Option<HashMap<String, Place>>,
}

/// Where the members are whose names are equal ignoring case.
#[derive(Clone, Copy, Debug)]
enum Place {
    Only(usize),
    Several,
}

/// Returns a name in one case. Some servers compare so beyond ASCII: `ſ` is `s` then, and the sign
/// of the unit kelvin is `k`.
pub(super) fn in_one_case(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn add_place(places: &mut HashMap<String, Place>, name: &str, index: usize) {
    places.entry(in_one_case(name)).and_modify(|place| *place = Place::Several).or_insert(Place::Only(index));
}

impl<'d> Object<'d> {
    /// The members, in their order.
    pub(super) fn members(&self) -> impl Iterator<Item = &(String, Part<'d>)> {
        self.members.iter().flatten()
    }

    /// The members, in their order.
    pub(super) fn members_mut(&mut self) -> impl Iterator<Item = &mut (String, Part<'d>)> {
        self.members.iter_mut().flatten()
    }

    /// The members, in their order.
    pub(super) fn into_members(self) -> impl Iterator<Item = (String, Part<'d>)> {
        self.members.into_iter().flatten()
    }

    /// Adds a member behind the last one. There must be none of this name.
    pub(super) fn push(&mut self, name: String, part: Part<'d>) {
        if let Some(places) = &mut self.places {
            add_place(places, &name, self.members.len());
        }
        self.members.push(Some((name, part)));
    }

    /// Returns the member of this name.
    ///
    /// # Errors
    /// [`PatchError::OtherCase`].
    pub(super) fn get_mut(&mut self, name: &str) -> Result<Option<&mut Part<'d>>, PatchError> {
        Ok(self.slot(name)?.and_then(Option::as_mut).map(|(_, part)| part))
    }

    /// Puts a value in the place of the member of this name, or behind the last member.
    ///
    /// # Errors
    /// [`PatchError::OtherCase`].
    pub(super) fn set(&mut self, name: &str, value: Part<'d>) -> Result<(), PatchError> {
        match self.get_mut(name)? {
            Some(part) => *part = value,
            None => self.push(name.to_owned(), value),
        }
        Ok(())
    }

    /// Removes the member of this name, and returns it.
    ///
    /// # Errors
    /// [`PatchError::OtherCase`].
    pub(super) fn take(&mut self, name: &str) -> Result<Option<Part<'d>>, PatchError> {
        let taken = self.slot(name)?.and_then(Option::take);
        if let (Some(_), Some(places)) = (&taken, &mut self.places) {
            places.remove(&in_one_case(name));
        }
        Ok(taken.map(|(_, part)| part))
    }

    /// Returns the place of the member of this name.
    fn slot(&mut self, name: &str) -> Result<Option<&mut Option<(String, Part<'d>)>>, PatchError> {
        let members = &mut self.members;
        let places = self.places.get_or_insert_with(|| {
            let mut places = HashMap::with_capacity(members.len());
            for (index, member) in members.iter().enumerate() {
                member.iter().for_each(|(name, _)| add_place(&mut places, name, index));
            }
            places
        });
        let slot = match places.get(&in_one_case(name)) {
            None => return Ok(None),
            Some(Place::Several) => return Err(PatchError::OtherCase),
            Some(Place::Only(index)) => members.get_mut(*index),
        };
        match &slot {
            Some(Some((known, _))) if known != name => Err(PatchError::OtherCase),
            _ => Ok(slot),
        }
    }
}
