//! Message authentication codes: HMAC (RFC 2104) over the digests of SHA-2, and the hmac library (cel-go's
//! `ext/security/hmac`), which is behind the feature `hmac`.
//!
//! Invariant: comparing codes takes the same time wherever they differ, and no error says anything of a key. Test:
//! `runtime/src/library/hmac.rs::every_bit_of_a_code_counts`.

use sha2::Digest;
use sha2::digest::Output;
use sha2::digest::common::BlockSizeUser;

/// HMAC of a message in parts.
pub(crate) fn code<D: Digest + BlockSizeUser + Clone>(key: &[u8], message: &[&[u8]]) -> Output<D> {
    let hashed;
    let key = if key.len() > D::block_size() {
        hashed = D::digest(key);
        hashed.as_slice()
    } else {
        key
    };
    // The key is padded with zeros to a block.
    let padded = |mask: u8| {
        let mut digest = D::new();
        let padding = std::iter::repeat_n(&0, D::block_size().saturating_sub(key.len()));
        let block: smallvec::SmallVec<[u8; 128]> = key.iter().chain(padding).map(|byte| byte ^ mask).collect();
        digest.update(block);
        digest
    };
    let mut inner = padded(0x36);
    message.iter().for_each(|part| inner.update(part));
    let mut outer = padded(0x5c);
    outer.update(inner.finalize());
    outer.finalize()
}

/// Whether codes are the same. Without a branch on their bytes, so that the time says nothing about the right one.
pub(crate) fn is_same(expected: &[u8], code: &[u8]) -> bool {
    let difference = expected.iter().zip(code).fold(0u8, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    expected.len() == code.len() && difference == 0
}

#[cfg(feature = "hmac")]
pub(super) use calls::{compute, verify, verify_text};
#[cfg(not(feature = "hmac"))]
pub(super) use none::{compute, verify, verify_text};

#[cfg(feature = "hmac")]
mod calls {
    use super::{code, is_same};
    use crate::arena::EvalResult;
    use crate::cx::Cx;
    use crate::library::encoders::{BASE64, BASE64_URL, padding_is_whole, pair};
    use base64::Engine;
    use base64::engine::GeneralPurpose;
    use celero_ir::ErrorKind::InvalidArgument;
    use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
    use smallvec::SmallVec;

    /// Cost of a digest per byte, relative to a scan.
    const COST: usize = 8;

    /// Steps of a call besides those for the bytes: reading the name of the algorithm, and two digests of short texts,
    /// each of at most two blocks.
    const STEPS: usize = 32;

    /// Longest name of an algorithm before the code.
    const MAX_PREFIX: usize = 20;

    /// The longest code, in bytes.
    const MAX_CODE: usize = 64;

    type Code = SmallVec<[u8; MAX_CODE]>;

    #[derive(Clone, Copy)]
    enum Algorithm {
        Sha224,
        Sha256,
        Sha384,
        Sha512,
        Sha512Of224,
        Sha512Of256,
    }

    impl Algorithm {
        /// The algorithm of a name: `SHA256`, `sha-256`, `HS256`; `SHA512_256`, `SHA-512/256`.
        fn named(name: &str) -> Option<Self> {
            // Also of blanks: no name costs more than its steps.
            if name.len() > MAX_PREFIX {
                return None;
            }
            let name = name.trim().to_ascii_uppercase().replace(['-', '/'], "_");
            let size =
                name.strip_prefix("SHA_").or_else(|| name.strip_prefix("SHA")).or_else(|| name.strip_prefix("HS"));
            Some(match size? {
                "224" => Self::Sha224,
                "256" => Self::Sha256,
                "384" => Self::Sha384,
                "512" => Self::Sha512,
                "512_224" => Self::Sha512Of224,
                "512_256" => Self::Sha512Of256,
                _ => return None,
            })
        }

        fn code(self, cx: &Cx<'_>, key: &[u8], message: &[u8]) -> EvalResult<Code> {
            cx.charge_bytes(key.len().saturating_add(message.len()).saturating_mul(COST))?;
            let message = &[message];
            Ok(match self {
                Self::Sha224 => Code::from_slice(&code::<Sha224>(key, message)),
                Self::Sha256 => Code::from_slice(&code::<Sha256>(key, message)),
                Self::Sha384 => Code::from_slice(&code::<Sha384>(key, message)),
                Self::Sha512 => Code::from_slice(&code::<Sha512>(key, message)),
                Self::Sha512Of224 => Code::from_slice(&code::<Sha512_224>(key, message)),
                Self::Sha512Of256 => Code::from_slice(&code::<Sha512_256>(key, message)),
            })
        }
    }

    /// `hmac.compute(message, key, algorithm)`: the code.
    pub(in crate::library) fn compute<'a>(cx: &Cx<'a>, message: &[u8], key: &[u8], name: &str) -> EvalResult<&'a [u8]> {
        cx.charge(STEPS)?;
        let algorithm = Algorithm::named(name).ok_or(InvalidArgument)?;
        let mut bytes = cx.arena().vec();
        bytes.extend(&algorithm.code(cx, key, message)?)?;
        Ok(bytes.finish())
    }

    /// `hmac.verify(message, code, key, algorithm)` of bytes: whether the code is right.
    pub(in crate::library) fn verify(
        cx: &Cx<'_>,
        message: &[u8],
        code: &[u8],
        key: &[u8],
        name: &str,
    ) -> EvalResult<bool> {
        cx.charge(STEPS)?;
        let Some(algorithm) = Algorithm::named(name) else { return Ok(false) };
        Ok(is_same(&algorithm.code(cx, key, message)?, code))
    }

    /// `hmac.verify(message, code, key, algorithm)` of texts. The code is written in hexadecimal or base64, or as it
    /// is, perhaps after the name of an algorithm, which counts then, or a version: `sha256=..`, `v1=..`.
    pub(in crate::library) fn verify_text(
        cx: &Cx<'_>,
        message: &str,
        code: &str,
        key: &str,
        name: &str,
    ) -> EvalResult<bool> {
        cx.charge_each_byte(code.len().saturating_mul(2))?;
        cx.charge(STEPS)?;
        let (prefix, code) = split(code.trim());
        let Some(algorithm) = prefix.or_else(|| Algorithm::named(name)) else { return Ok(false) };
        let expected = algorithm.code(cx, key.as_bytes(), message.as_bytes())?;
        let is_written = |read: Option<&[u8]>| read.is_some_and(|read| is_same(&expected, read));
        // No form of a code is longer, and none of them is an error.
        if code.len() > 2 * MAX_CODE {
            return Ok(false);
        }
        Ok(is_written(hex(code).as_deref())
            | is_written(decoded(&BASE64, code).as_deref())
            | is_written(decoded(&BASE64_URL, code).as_deref())
            | is_written(Some(code.as_bytes())))
    }

    /// What stands before the code, if it names an algorithm, and the code.
    fn split(text: &str) -> (Option<Algorithm>, &str) {
        let Some((prefix, code)) = text.split_once('=').filter(|(prefix, _)| (1..MAX_PREFIX).contains(&prefix.len()))
        else {
            return (None, text);
        };
        let (prefix, code) = (prefix.trim(), code.trim());
        match Algorithm::named(prefix) {
            None if prefix.eq_ignore_ascii_case("v0") || prefix.eq_ignore_ascii_case("v1") => (None, code),
            None => (None, text),
            algorithm => (algorithm, code),
        }
    }

    fn hex(text: &str) -> Option<Code> {
        text.as_bytes().chunks(2).map(|digits| pair(digits).ok()).collect()
    }

    fn decoded(alphabet: &GeneralPurpose, text: &str) -> Option<Code> {
        let mut code = Code::from_elem(0, text.len());
        let length = alphabet.decode_slice(text, &mut code).ok().filter(|_| padding_is_whole(text.as_bytes()))?;
        code.truncate(length);
        Some(code)
    }
}

/// What the functions are without the feature: no environment has them.
#[cfg(not(feature = "hmac"))]
mod none {
    use crate::arena::EvalResult;
    use crate::cx::Cx;
    use celero_ir::ErrorKind::Host;

    pub(in crate::library) fn compute<'a>(_: &Cx<'a>, _: &[u8], _: &[u8], _: &str) -> EvalResult<&'a [u8]> {
        Err(Host)
    }

    pub(in crate::library) fn verify(_: &Cx<'_>, _: &[u8], _: &[u8], _: &[u8], _: &str) -> EvalResult<bool> {
        Err(Host)
    }

    pub(in crate::library) fn verify_text(_: &Cx<'_>, _: &str, _: &str, _: &str, _: &str) -> EvalResult<bool> {
        Err(Host)
    }
}

#[cfg(all(test, feature = "hmac"))]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::cx::Cx;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn codes_are_those_of_rfc_4231() {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(1_000_000, &arena);
        let long = vec![0xaa; 131];
        let block = b"Test Using Larger Than Block-Size Key - Hash Key First";
        for (key, message, name, expected) in [
            (
                &b"Jefe"[..],
                &b"what do ya want for nothing?"[..],
                "SHA256",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "hs224",
                "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
            ),
            (&long, block, "sha-256", "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            (
                &long,
                block,
                "SHA-384",
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
            ),
            (
                &long,
                block,
                "HS512",
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ),
        ] {
            assert_eq!(compute(&cx, message, key, name).map(hex), Ok(expected.to_owned()), "{name}");
        }
    }

    #[test]
    fn every_bit_of_a_code_counts() {
        let arena = Arena::new(1 << 20);
        let cx = Cx::new(10_000_000, &arena);
        let right = compute(&cx, b"message", b"key", "SHA256").unwrap().to_vec();
        assert_eq!(verify(&cx, b"message", &right, b"key", "SHA256"), Ok(true));
        for bit in 0..right.len() * 8 {
            let mut wrong = right.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&cx, b"message", &wrong, b"key", "SHA256"), Ok(false), "{bit}");
            assert_eq!(verify_text(&cx, "message", &hex(&wrong), "key", "SHA256"), Ok(false), "{bit}");
        }
        assert_eq!(verify(&cx, b"message", &right[..31], b"key", "SHA256"), Ok(false));
        assert_eq!(verify(&cx, b"message", &[], b"key", "SHA256"), Ok(false));
        assert_eq!(verify(&cx, b"message", &right, b"", "SHA256"), Ok(false));
    }
}
