//! Short names for content: equal where it is equal.

use sha2::{Digest, Sha256};

/// All digits that [`hex`] can give.
pub const WHOLE: usize = 64;

/// The first `digits` hexadecimal digits of the bytes' SHA-256; an even number.
#[must_use]
pub fn hex(bytes: impl AsRef<[u8]>, digits: usize) -> String {
    Sha256::digest(bytes).iter().take(digits / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_sha256sum() {
        // printf abc | sha256sum
        let whole = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex("abc", WHOLE), whole);
        assert_eq!(hex(b"abc", 12), whole[..12]);
    }
}
