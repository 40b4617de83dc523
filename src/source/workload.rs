//! The identity of a workload.

use sha2::{Digest as _, Sha256};

use crate::model::report::Workload;

/// A short hash of a group's workload: equal where every fact is equal.
#[must_use]
pub fn fingerprint(workload: &Workload) -> String {
    let mut hash = Sha256::new();
    for (fact, value) in workload {
        // The length keeps a value from passing for the fact that follows it.
        hash.update(format!("{fact} {} {value}\n", value.len()));
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
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
