//! Common words: most tokenizers have each as one token.

use crate::source::simulate::random::Substream;

/// Sixty-four words of four letters: eight of them are 48 bits.
pub(super) const NONCE: [&str; 64] = [
    "time", "year", "work", "life", "part", "hand", "week", "case", "fact", "home", "side", "room", "line",
    "city", "name", "team", "idea", "body", "face", "door", "game", "book", "food", "road", "rule", "rate",
    "view", "tree", "bank", "army", "camp", "plan", "land", "news", "list", "term", "test", "type", "unit",
    "user", "wall", "wind", "wood", "word", "zone", "area", "baby", "ball", "band", "base", "bill", "bird",
    "blue", "boat", "card", "cell", "coat", "cost", "data", "deal", "desk", "east", "farm", "fire",
];

const TEXT: [&str; 96] = [
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not",
    "he", "this", "are", "or", "his", "from", "at", "which", "but", "have", "an", "had", "they", "you",
    "were", "their", "one", "all", "we", "can", "her", "has", "there", "been", "if", "more", "when", "will",
    "would", "who", "so", "no", "people", "water", "world", "system", "house", "school", "number", "point",
    "group", "problem", "service", "market", "morning", "river", "question", "answer", "story", "power",
    "place", "country", "company", "family", "music", "paper", "money", "office", "window", "street",
    "north", "white", "small", "large", "long", "short", "early", "second", "local", "public", "human",
    "common", "simple", "strong", "open", "full", "great", "new", "old", "little",
];

const WORDS_A_SENTENCE: u32 = 12;

/// Every word once.
pub(in crate::source::load) const ALL: u32 = TEXT.len() as u32;

/// Adds so many words, in sentences.
pub(super) fn fill(text: &mut String, words: u32, draw: &mut Substream) {
    write(text, words, |_| draw.whole(0, ALL - 1));
}

/// Adds so many words, each as often as the others: what they cost is what words cost on average.
pub(super) fn fill_evenly(text: &mut String, words: u32) {
    write(text, words, |written| written % ALL);
}

fn write(text: &mut String, words: u32, mut choose: impl FnMut(u32) -> u32) {
    for written in 0..words {
        if written > 0 {
            text.push_str(if written % WORDS_A_SENTENCE == 0 { ". " } else { " " });
        }
        text.push_str(TEXT[choose(written) as usize]);
    }
    if words > 0 {
        text.push_str(".\n");
    }
}
