//! Counting and naming tokens, and the cache of prompts read before.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Most characters in a token.
const MOST_CHARS: usize = 8;
/// Tokens in the vocabulary.
const VOCABULARY: u64 = 32_000;
/// What a chat template puts around a message.
const TOKENS_PER_MESSAGE: usize = 4;
/// Tokens that are cached or not cached together.
const BLOCK: usize = 16;
/// Blocks remembered, after which everything is forgotten.
const MOST_BLOCKS: usize = 1 << 20;

/// The ids of a text's tokens: each word with the white space before it, cut after 8 characters.
///
/// It stands in for a real tokenizer: deterministic, and longer for longer text.
pub fn tokenize(text: &str) -> Vec<u32> {
    let mut ids = Vec::with_capacity(text.len() / 5);
    let (mut start, mut chars, mut in_word) = (0, 0, false);
    for (at, c) in text.char_indices() {
        let ends_word = in_word && c.is_whitespace();
        if ends_word || (in_word && chars == MOST_CHARS) {
            ids.push(id(&text[start..at]));
            (start, chars) = (at, 0);
        }
        in_word = !c.is_whitespace();
        chars += usize::from(in_word);
    }
    if in_word {
        ids.push(id(&text[start..]));
    }
    ids
}

/// The ids of a conversation: each message's role and text, with what a chat template puts around them.
pub fn tokenize_chat<'a>(messages: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<u32> {
    let mut ids = Vec::new();
    for (role, text) in messages {
        ids.extend(std::iter::repeat_n(id(role), TOKENS_PER_MESSAGE));
        ids.extend(tokenize(text));
    }
    ids
}

fn id(token: &str) -> u32 {
    (fnv(FNV_OFFSET, token.as_bytes()) % VOCABULARY) as u32
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bit (draft-eastlake-fnv), continued from an earlier value.
fn fnv(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A number that stands for a prompt.
pub fn identity(ids: &[u32]) -> u64 {
    ids.iter().fold(FNV_OFFSET, |hash, id| fnv(hash, &id.to_le_bytes()))
}

/// The blocks of prompts that were read before.
#[derive(Debug, Default)]
pub struct PrefixCache(Mutex<HashSet<u64>>);

impl PrefixCache {
    /// How many of the prompt's tokens need not be read again; afterwards its whole blocks are there.
    ///
    /// At least one token is always read, for the first output token comes from it.
    pub fn hit(&self, model: usize, ids: &[u32]) -> usize {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() > MOST_BLOCKS {
            seen.clear();
        }
        let mut hash = fnv(FNV_OFFSET, &model.to_le_bytes());
        let (mut hits, mut all_so_far) = (0, true);
        for block in ids.chunks_exact(BLOCK) {
            // Each block's hash contains all before it, so that only a common beginning counts.
            hash = block.iter().fold(hash, |hash, id| fnv(hash, &id.to_le_bytes()));
            all_so_far &= !seen.insert(hash);
            hits += if all_so_far { BLOCK } else { 0 };
        }
        hits.min(ids.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_tokens_and_long_words_are_several() {
        for (text, tokens) in [
            ("", 0),
            ("   ", 0),
            ("Why does the queue grow?", 5),
            ("12345678", 1),
            ("123456789", 2),
            ("  two\n\nwords  ", 2),
            ("東京東京東京東京東", 2),
        ] {
            assert_eq!(tokenize(text).len(), tokens, "{text:?}");
        }
        assert_eq!(tokenize("a b c"), tokenize("a b c"));
        assert_ne!(tokenize("a b c"), tokenize("a b d"));
        assert_eq!(tokenize_chat([("system", "be brief"), ("user", "why")].into_iter()).len(), 4 + 2 + 4 + 1);
    }

    #[test]
    fn only_whole_blocks_of_a_common_beginning_are_cached() {
        let cache = PrefixCache::default();
        let prompt: Vec<u32> = (0..40).collect();
        assert_eq!(cache.hit(0, &prompt), 0);
        assert_eq!(cache.hit(0, &prompt), 32);
        assert_eq!(cache.hit(1, &prompt), 0, "another model has its own");
        assert_eq!(cache.hit(0, &prompt[..32]), 31, "one token is always read");
        let later: Vec<u32> = std::iter::once(99).chain(prompt.iter().copied().skip(1)).collect();
        assert_eq!(cache.hit(0, &later), 0, "the first token differs");
        assert_eq!(cache.hit(0, &prompt[..8]), 0);
    }
}
