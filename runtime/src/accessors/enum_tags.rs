//! Values that are one of a few texts, as native code tells them apart: by the byte that is their enum's tag.
//!
//! Which byte that is the language does not say, and such an enum may be private to its crate. It is read off values that are
//! made for it, as `vec_layout` does it for vectors: where some variants hold nothing, all variants of a type have their tag in
//! the same place, and it is all that values of those variants have.

use celero_ir::layout::EnumTags;
use std::mem::MaybeUninit;

/// One for each value of a byte: address and length of a text, or zeros.
type Table = [[usize; 2]; 256];

/// The names that a byte tells apart, and from all `others`, in a type whose values `make` makes from text.
///
/// `None` where no byte shows that, or several do, and then native code asks an accessor. The tag always shows it, so that a
/// byte that does so alone is the tag. Values of equal text must be equal in it: they are all made by what `make` calls.
pub(crate) fn names<T>(
    names: &[&'static str],
    others: &[String],
    make: impl Fn(&str) -> Option<T>,
) -> Option<EnumTags> {
    let named: Vec<Vec<u8>> = names.iter().map(|name| make(name).map(bytes_of)).collect::<Option<_>>()?;
    let others: Vec<Vec<u8>> = others.iter().map(|other| make(other).map(bytes_of)).collect::<Option<_>>()?;
    let tags_at = |offset: usize, of: &[Vec<u8>]| -> Vec<u8> {
        of.iter().filter_map(|bytes| bytes.get(offset)).copied().collect()
    };
    let tells = |offset: &usize| {
        let (tags, others) = (tags_at(*offset, &named), tags_at(*offset, &others));
        let twice = (1..).zip(&tags).any(|(next, tag)| tags.iter().skip(next).any(|other| other == tag));
        !twice && !others.iter().any(|other| tags.contains(other))
    };
    let mut found = (0..size_of::<T>()).filter(tells);
    let tag = found.next().filter(|_| found.next().is_none())?;
    let mut table: Table = [[0; 2]; 256];
    let texts: Box<[(u8, &'static str)]> = tags_at(tag, &named).into_iter().zip(names.iter().copied()).collect();
    for (tag, name) in &texts {
        *table.get_mut(usize::from(*tag))? = [name.as_ptr().expose_provenance(), name.len()];
    }
    // Read by code that may live as long as the process.
    let table: &'static Table = Box::leak(Box::new(table));
    let table = table.as_ptr().expose_provenance();
    Some(EnumTags { tag: u32::try_from(tag).ok()?, table, texts: Box::leak(texts) })
}

/// The bytes of a value, with zeros where it has none of its own.
fn bytes_of<T>(value: T) -> Vec<u8> {
    let mut room = MaybeUninit::<T>::zeroed();
    room.write(value);
    let at = room.as_mut_ptr();
    // The compiler takes bytes between the value's own for uninitialised, which may not be read. After code that it can't
    // see into, and that might have written them, it does not.
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("/* {} */", in(reg) at, options(nostack, preserves_flags)) };
    // SAFETY: the room is of this size, and was cleared and then written to.
    let bytes = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), size_of::<T>()) }.to_vec();
    // SAFETY: the value is still there, and goes once.
    unsafe { room.assume_init_drop() };
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn methods_are_told_apart_by_one_byte() {
        let make = |text: &str| Method::from_bytes(text.as_bytes()).ok();
        let others: Vec<String> = (1..=24).map(|length| "X".repeat(length)).collect();
        let usual = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
        let found = names(&usual, &others, make).unwrap();
        assert!((found.tag as usize) < size_of::<Method>());
        // What is no name of the table does not read as one.
        assert!(names(&["GET", "HEAD"], &["GET".to_owned()], make).is_none());
        assert!(names(&["GET", "GET"], &[], make).is_none());
        assert!(names(&["GET", "no method"], &[], make).is_none());
    }

    #[test]
    fn several_bytes_that_differ_show_no_tag() {
        assert!(names(&["ab", "cd"], &[], |text| text.as_bytes().first_chunk::<2>().copied()).is_none());
    }
}
