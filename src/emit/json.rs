//! The verdict for programs.

use crate::model::Verdict;

/// The verdict as pretty JSON that `schemas/verdict.schema.json` describes, with a line break at its end.
#[must_use]
pub fn json(verdict: &Verdict) -> String {
    match serde_json::to_string_pretty(verdict) {
        Ok(text) => text + "\n",
        // Finite numbers and text keys only, so this can't be; a consumer's schema check would refuse it.
        Err(error) => serde_json::json!({ "error": error.to_string() }).to_string(),
    }
}
