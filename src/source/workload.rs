//! The identity of a workload, and what makes each of its rounds another draw.

use sha2::{Digest as _, Sha256};

use crate::model::digest;
use crate::model::report::Workload;

/// A short hash of a group's workload: equal where every fact is equal.
#[must_use]
pub fn fingerprint(workload: &Workload) -> String {
    // The length keeps a value from passing for the fact that follows it.
    let lines = workload.iter().map(|(fact, value)| format!("{fact} {} {value}\n", value.len()));
    digest::hex(lines.collect::<String>(), 16)
}

/// The seed of a round. Neighbouring seeds of two jobs must not share rounds, so they are mixed, not added; 53 bits
/// survive every JSON reader.
#[must_use]
pub fn round_seed(seed: u64, round: u32) -> u64 {
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(round.to_le_bytes()).finalize();
    let bytes = digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte));
    bytes >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fact;

    #[test]
    fn every_fact_and_its_value_change_the_fingerprint() {
        let chat = Workload::from([(Fact::Traffic, "chat".to_owned()), (Fact::Concurrency, "8".to_owned())]);
        // printf 'traffic 4 chat\nconcurrency 1 8\n' | sha256sum
        assert_eq!(fingerprint(&chat), "78e4b58e25cdaa7a");
        let mut other = chat.clone();
        other.insert(Fact::Concurrency, "80".to_owned());
        assert_ne!(fingerprint(&other), fingerprint(&chat));
        other.remove(&Fact::Concurrency);
        assert_ne!(fingerprint(&other), fingerprint(&chat));
    }
}
