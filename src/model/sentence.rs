//! Text in which what is ours and what is foreign stay apart, so that each sink can escape the foreign part its own way.

use std::fmt;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Our own words and numbers.
    Own(String),
    /// A name, path or message from outside.
    Foreign(String),
}

/// A sentence of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(pub Vec<Piece>);

impl Sentence {
    /// Adds our own words.
    #[must_use]
    pub fn own(mut self, text: impl Into<String>) -> Sentence {
        self.0.push(Piece::Own(text.into()));
        self
    }

    /// Adds something from outside.
    #[must_use]
    pub fn foreign(mut self, text: impl Into<String>) -> Sentence {
        self.0.push(Piece::Foreign(text.into()));
        self
    }

    /// Adds another sentence's pieces.
    #[must_use]
    pub fn then(mut self, next: Sentence) -> Sentence {
        self.0.extend(next.0);
        self
    }

    /// The text, foreign pieces passed through `escape`.
    #[must_use]
    pub fn render(&self, escape: impl Fn(&str) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Own(text) => text.clone(),
            Piece::Foreign(text) => escape(text),
        };
        self.0.iter().map(piece).collect()
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(|foreign| format!("\"{foreign}\"")))
    }
}
