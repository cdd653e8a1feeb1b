//! An array in JSON as lines of JSON: each element is a line.
//!
//! The text is changed in place. Values of `serde_json` take several times the memory of their
//! text, and an operator may send megabytes.

use serde_json::value::RawValue;

/// Returns the elements of an array, each as a line, in the memory of the text.
///
/// # Errors
/// The text is no array in JSON.
pub(crate) fn of_array(text: String) -> Result<String, String> {
    let value: &RawValue = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if !value.get().starts_with('[') {
        return Err("the body is another value".to_owned());
    }
    let mut bytes = text.into_bytes();
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in &mut bytes {
        if in_text {
            in_text = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match *byte {
            b'"' => in_text = true,
            b'[' | b'{' => {
                if depth == 0 {
                    *byte = b' ';
                }
                depth = depth.saturating_add(1);
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    *byte = b' ';
                }
            }
            b',' if depth == 1 => *byte = b'\n',
            // Outside texts these are spaces.
            b'\n' | b'\r' => *byte = b' ',
            _ => {}
        }
    }
    // Bytes of ASCII stand in the place of others, so it is UTF-8 still.
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::of_array;
    use serde_json::Value;

    #[test]
    fn elements_are_lines() {
        let nested =
            r#"[1, "a,b", "a\"]\n,[", {"entry": "x", "n": [1,[2],{"a":","}]}, null, [], {}, "ä\\", -1.5e3, "\\\"]"]"#;
        let spaced = "\r\n[ 1 ,\n\n{ \"entry\" :\r\n \"x\" } ,\n[ ]\n,\" \" ]\n";
        for array in ["[]", " [ ] ", "[[]]", "[\"\"]", "[1]", "[1,2]", nested, spaced] {
            let expected: Vec<Value> = serde_json::from_str(array).unwrap();
            let lines = of_array(array.to_owned()).unwrap();
            let found = lines.lines().filter(|line| !line.trim().is_empty());
            let found: Vec<Value> = found.map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(found, expected, "{array}");
        }
        for wrong in
            ["", "1", "{}", "[1", "[1,]", "[1 2]", "[1]]", "[1],", "[\"]", "[\"\\x\"]", "[01]", &"[".repeat(1 << 20)]
        {
            assert!(of_array(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_memory_of_the_text_suffices() {
        let text = format!("[{}0]", "0,".repeat(1 << 20));
        let (place, capacity) = (text.as_ptr(), text.capacity());
        let lines = of_array(text).unwrap();
        assert_eq!((lines.as_ptr(), lines.capacity()), (place, capacity));
        assert_eq!(lines.lines().count(), (1 << 20) + 1);
    }
}
