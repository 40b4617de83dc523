//! What an answer consists of, and when each part of it is due. Pure.

use crate::source::simulate::engine::Stages;

/// The words that answers are made of, with the space before them. JSON carries them as they are.
///
/// Every fourth has characters of more than one byte, as real text has.
const WORDS: [&str; 16] = [
    " The",
    " gate",
    " measures",
    " naïve",
    " queues",
    " under",
    " load",
    " 東京",
    " and",
    " says",
    " which",
    " größer",
    " side",
    " was",
    " slower",
    " 🚀",
];

/// A word in which every cut between two bytes but the first is inside a character.
pub const MANY_BYTES: &str = " 東京";

/// What an event carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Text that the model thinks.
    Reasoning,
    /// Text that the model says.
    Content,
    /// A part of a tool call's arguments.
    ToolCall,
}

/// An answer before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Output tokens.
    pub tokens: u32,
    /// Whether the answer ends before its limit.
    pub stops_early: bool,
    /// Tokens in an event; the last may have fewer.
    pub per_event: u32,
    /// Tokens at the beginning that are reasoning.
    pub reasoning: u32,
    /// Tokens at the end that are a tool call.
    pub tool_call: u32,
    /// The word it begins with.
    pub first_word: usize,
    /// What each stage takes.
    pub stages: Stages,
}

impl Plan {
    /// Events that carry tokens.
    pub fn events(&self) -> u32 {
        self.tokens.div_ceil(self.per_event)
    }

    /// The tokens of an event, as positions in the answer.
    pub fn range(&self, event: u32) -> std::ops::Range<u32> {
        let start = event.saturating_mul(self.per_event).min(self.tokens);
        start..start.saturating_add(self.per_event).min(self.tokens)
    }

    /// When the last token of an event is made, in microseconds after the request.
    pub fn due_us(&self, event: u32) -> u64 {
        self.stages.first_token_us() + self.stages.decode_us(self.range(event).end.saturating_sub(1))
    }

    /// What an event carries: what its first token is.
    pub fn carries(&self, event: u32) -> Carries {
        let first = self.range(event).start;
        if first < self.reasoning {
            Carries::Reasoning
        } else if first >= self.tokens - self.tool_call.min(self.tokens) {
            Carries::ToolCall
        } else {
            Carries::Content
        }
    }

    /// Whether an event is the first that carries this.
    pub fn begins(&self, event: u32) -> bool {
        event == 0 || self.carries(event - 1) != self.carries(event)
    }

    /// The text of some tokens.
    pub fn text(&self, tokens: std::ops::Range<u32>) -> impl Iterator<Item = &'static str> {
        tokens.map(|token| WORDS[(self.first_word + token as usize) % WORDS.len()])
    }

    /// `finish_reason`.
    pub fn finish_reason(&self) -> &'static str {
        match (self.tool_call, self.stops_early) {
            (0, true) => "stop",
            (0, false) => "length",
            _ => "tool_calls",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(tokens: u32, per_event: u32) -> Plan {
        let stages =
            Stages { preprocess_us: 6_000, encode_us: 130_000, decode_us_per_token: 14_000.0, penalty: 1.0 };
        Plan { tokens, stops_early: false, per_event, reasoning: 0, tool_call: 0, first_word: 0, stages }
    }

    #[test]
    fn an_event_is_due_when_its_last_token_is_made() {
        assert_eq!([0, 1, 2].map(|event| plan(3, 1).due_us(event)), [136_000, 150_000, 164_000]);
        let four = plan(10, 4);
        assert_eq!(four.events(), 3);
        assert_eq!([four.range(0), four.range(1), four.range(2)], [0..4, 4..8, 8..10]);
        assert_eq!([0, 1, 2].map(|event| four.due_us(event)), [178_000, 234_000, 262_000]);
    }

    #[test]
    fn reasoning_comes_first_and_the_tool_call_last() {
        let mixed = Plan { reasoning: 2, tool_call: 3, ..plan(8, 1) };
        use Carries::{Content, Reasoning, ToolCall};
        let carried: Vec<Carries> = (0..8).map(|event| mixed.carries(event)).collect();
        assert_eq!(carried, [Reasoning, Reasoning, Content, Content, Content, ToolCall, ToolCall, ToolCall]);
        let begins: Vec<u32> = (0..8).filter(|event| mixed.begins(*event)).collect();
        assert_eq!(begins, [0, 2, 5]);
        assert_eq!(mixed.finish_reason(), "tool_calls");
    }
}
