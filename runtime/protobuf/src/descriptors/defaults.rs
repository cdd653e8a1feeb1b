//! Defaults of fields, as descriptors write them (`FieldDescriptorProto.default_value`).

use super::{Default, EnumType, Kind, Scalar};

/// Reads a default; `None` if it is none of the field's type.
pub(super) fn read(text: &str, kind: Kind, enumeration: Option<&EnumType>) -> Option<Default> {
    let scalar = match kind {
        Kind::Scalar(scalar) => scalar,
        Kind::Enum(_) => return enumeration?.number(text).map(|number| Default::Int(number.into())),
        Kind::Message(_) | Kind::Group(_) => return None,
    };
    match scalar {
        Scalar::Bool => text.parse().ok().map(|value: bool| Default::Int(value.into())),
        Scalar::Double => text.parse().ok().map(Default::Double),
        Scalar::Float => text.parse().ok().map(|value: f32| Default::Double(value.into())),
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => {
            text.parse().ok().map(|value: i32| Default::Int(value.into()))
        }
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => text.parse().ok().map(Default::Int),
        Scalar::Uint32 | Scalar::Fixed32 => text.parse().ok().map(|value: u32| Default::Uint(value.into())),
        Scalar::Uint64 | Scalar::Fixed64 => text.parse().ok().map(Default::Uint),
        Scalar::String => Some(Default::Text(text.into())),
        Scalar::Bytes => unescaped(text).map(|bytes| Default::Bytes(bytes.into())),
    }
}

/// Bytes are written with the escapes of C.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let digits = |first: u32, radix: u32, most: usize, rest: &mut std::iter::Peekable<std::str::Bytes<'_>>| {
            let mut value = first;
            for _ in 0..most {
                let Some(digit) = rest.peek().and_then(|b| char::from(*b).to_digit(radix)) else { break };
                rest.next();
                value = value.saturating_mul(radix).saturating_add(digit);
            }
            u8::try_from(value).ok()
        };
        out.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'x' | b'X' => {
                let first = char::from(rest.next()?).to_digit(16)?;
                digits(first, 16, 1, &mut rest)?
            }
            octal @ b'0'..=b'7' => digits(u32::from(octal.wrapping_sub(b'0')), 8, 2, &mut rest)?,
            quoted @ (b'\\' | b'"' | b'\'' | b'?') => quoted,
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_escapes_of_c() {
        assert_eq!(unescaped(r"a\000\n\\\'\x7f\377b"), Some(b"a\0\n\\'\x7f\xffb".to_vec()));
        for wrong in [r"\", r"\x", r"\q", r"\777"] {
            assert_eq!(unescaped(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_default_is_of_the_type() {
        let int32 = Kind::Scalar(Scalar::Int32);
        assert_eq!(read("-1", int32, None), Some(Default::Int(-1)));
        assert_eq!(read("2147483648", int32, None), None);
        assert_eq!(read("inf", Kind::Scalar(Scalar::Float), None), Some(Default::Double(f64::INFINITY)));
        assert_eq!(read("true", Kind::Scalar(Scalar::Bool), None), Some(Default::Int(1)));
        assert_eq!(read("", Kind::Message(0), None), None);
    }
}
