//! Checks signatures of tokens (RFC 7518, section 3; RFC 8037, section 3.1) with the algorithms of `ring`.

use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// The fewest bytes of the modulus of an RSA key: RFC 7518, section 3.3, demands 2,048 bits.
const SHORTEST_MODULUS: usize = 256;

/// What checks the signatures of an algorithm.
enum Check {
    Hmac(hmac::Algorithm),
    Rsa(&'static RsaParameters),
    Curve(&'static dyn VerificationAlgorithm),
}

fn check_of(algorithm: Algorithm) -> Option<(AlgorithmFamily, Check)> {
    use AlgorithmFamily::{Ec, Ed, Hmac, Rsa};
    Some(match algorithm {
        Algorithm::HS256 => (Hmac, Check::Hmac(hmac::HMAC_SHA256)),
        Algorithm::HS384 => (Hmac, Check::Hmac(hmac::HMAC_SHA384)),
        Algorithm::HS512 => (Hmac, Check::Hmac(hmac::HMAC_SHA512)),
        Algorithm::RS256 => (Rsa, Check::Rsa(&RSA_PKCS1_2048_8192_SHA256)),
        Algorithm::RS384 => (Rsa, Check::Rsa(&RSA_PKCS1_2048_8192_SHA384)),
        Algorithm::RS512 => (Rsa, Check::Rsa(&RSA_PKCS1_2048_8192_SHA512)),
        Algorithm::PS256 => (Rsa, Check::Rsa(&RSA_PSS_2048_8192_SHA256)),
        Algorithm::PS384 => (Rsa, Check::Rsa(&RSA_PSS_2048_8192_SHA384)),
        Algorithm::PS512 => (Rsa, Check::Rsa(&RSA_PSS_2048_8192_SHA512)),
        Algorithm::ES256 => (Ec, Check::Curve(&ECDSA_P256_SHA256_FIXED)),
        Algorithm::ES384 => (Ec, Check::Curve(&ECDSA_P384_SHA384_FIXED)),
        Algorithm::EdDSA => (Ed, Check::Curve(&ED25519)),
        _ => return None,
    })
}

/// Returns whether `signature` is the key's signature of `message` by this algorithm. `false` also
/// if the key is of another kind than the algorithm's: a public key never counts as a secret.
pub(super) fn verifies(key: &DecodingKey, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
    let Some((family, check)) = check_of(algorithm) else { return false };
    if key.family() != family {
        return false;
    }
    match (check, key.kind()) {
        (Check::Hmac(digest), DecodingKeyKind::SecretOrDer(secret)) => {
            hmac::verify(&hmac::Key::new(digest, secret), message, signature).is_ok()
        }
        (Check::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
            RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
        }
        (Check::Rsa(parameters), DecodingKeyKind::SecretOrDer(key)) => {
            UnparsedPublicKey::new(parameters, key).verify(message, signature).is_ok()
        }
        (Check::Curve(curve), DecodingKeyKind::SecretOrDer(point)) => {
            UnparsedPublicKey::new(curve, point).verify(message, signature).is_ok()
        }
        _ => false,
    }
}

/// Returns whether this is an RSA key that is too short to verify with.
pub(super) fn is_short_rsa(key: &DecodingKey) -> bool {
    let length = match key.kind() {
        DecodingKeyKind::RsaModulusExponent { n, .. } => n.iter().skip_while(|byte| **byte == 0).count(),
        // A sequence of modulus and exponent, so longer than the modulus.
        DecodingKeyKind::SecretOrDer(key) => key.len(),
    };
    key.family() == AlgorithmFamily::Rsa && length < SHORTEST_MODULUS
}
