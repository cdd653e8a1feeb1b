//! The vector instructions that a literal map uses.

/// The vector instructions of a processor that a [`LiteralMap`](crate::LiteralMap) uses; each level
/// includes those before it.
///
/// For tests: [`LiteralMap::new`](crate::LiteralMap::new) takes the best that the processor has.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LiteralLevel {
    /// None.
    #[default]
    Scalar,
    /// SSSE3: blocks of 16 bytes.
    Ssse3,
    /// AVX2, BMI1 and BMI2: blocks of 32 bytes.
    Avx2,
    /// AVX-512 F, BW, VL and VBMI, and GFNI: blocks of 64 bytes.
    Avx512,
}

impl LiteralLevel {
    /// All levels, the lowest first.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Ssse3, Self::Avx2, Self::Avx512];

    /// The best level that this processor has.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if !has!("ssse3") {
                return Self::Scalar;
            }
            if !(has!("avx2") && has!("bmi1") && has!("bmi2")) {
                return Self::Ssse3;
            }
            let wide = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vbmi");
            if wide && has!("gfni") { Self::Avx512 } else { Self::Avx2 }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self::Scalar
    }
}
