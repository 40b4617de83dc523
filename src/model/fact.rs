//! What must be the same on both sides for a comparison to mean anything.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A thing that two reports may agree or differ in. Its name is what `--allow-different` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "Fact::what says it of each")]
pub enum Fact {
    Traffic,
    Prompts,
    PromptTokens,
    Concurrency,
    Rate,
    OutputLimit,
    Sampling,
    CacheMode,
    Model,
    Server,
    Tool,
    ToolVersion,
    Definition,
    PercentileDefinition,
    Requests,
    OutputTokens,
    Client,
    Engine,
}

/// What a difference in a fact means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Not comparable: exit 3, unless allowed.
    Refused,
    /// The subject itself: reported and judged, for that is what the gate is for.
    Changed,
    /// Said, and compared.
    Warned,
}

/// Every fact with what it is and how a difference counts.
pub const FACTS: &[(Fact, &str, Severity)] = &[
    (Fact::Traffic, "the traffic model or data set", Severity::Refused),
    (Fact::Prompts, "the hash of the prompts", Severity::Refused),
    (Fact::PromptTokens, "the prompt length", Severity::Refused),
    (Fact::Concurrency, "the number of requests in flight", Severity::Refused),
    (Fact::Rate, "the arrival rate", Severity::Refused),
    (Fact::OutputLimit, "the output limit", Severity::Refused),
    (Fact::Sampling, "the sampling", Severity::Refused),
    (Fact::CacheMode, "the prefix cache mode", Severity::Refused),
    (Fact::Model, "the model", Severity::Refused),
    (Fact::Server, "the declared server hardware", Severity::Refused),
    (Fact::Tool, "the measuring tool", Severity::Refused),
    (Fact::ToolVersion, "the measuring tool's version", Severity::Warned),
    (Fact::Definition, "what the metric measures", Severity::Refused),
    (Fact::PercentileDefinition, "the percentile definition", Severity::Refused),
    (Fact::Requests, "the number of requests", Severity::Warned),
    (Fact::OutputTokens, "the mean output length", Severity::Refused),
    (Fact::Client, "the client machine", Severity::Warned),
    (Fact::Engine, "the engine, its version and parameters", Severity::Changed),
];

impl Fact {
    /// The name in files and flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Fact::Traffic => "traffic",
            Fact::Prompts => "prompts",
            Fact::PromptTokens => "prompt-tokens",
            Fact::Concurrency => "concurrency",
            Fact::Rate => "rate",
            Fact::OutputLimit => "output-limit",
            Fact::Sampling => "sampling",
            Fact::CacheMode => "cache-mode",
            Fact::Model => "model",
            Fact::Server => "server",
            Fact::Tool => "tool",
            Fact::ToolVersion => "tool-version",
            Fact::Definition => "definition",
            Fact::PercentileDefinition => "percentile-definition",
            Fact::Requests => "requests",
            Fact::OutputTokens => "output-tokens",
            Fact::Client => "client",
            Fact::Engine => "engine",
        }
    }

    fn row(self) -> Option<&'static (Fact, &'static str, Severity)> {
        FACTS.iter().find(|(fact, _, _)| *fact == self)
    }

    /// What it is, in words.
    #[must_use]
    pub fn what(self) -> &'static str {
        self.row().map_or("", |(_, what, _)| what)
    }

    /// What a difference means.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.row().map_or(Severity::Refused, |(_, _, severity)| *severity)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is nothing that two reports can differ in; expected one of {list}", list = names())]
pub struct UnknownFact(String);

fn names() -> String {
    let refused = FACTS.iter().filter(|(_, _, severity)| *severity == Severity::Refused);
    refused.map(|(fact, _, _)| fact.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Fact {
    type Err = UnknownFact;
    fn from_str(text: &str) -> Result<Fact, UnknownFact> {
        let wanted = text.replace('_', "-");
        FACTS
            .iter()
            .map(|(fact, _, _)| *fact)
            .find(|fact| fact.name() == wanted)
            .ok_or_else(|| UnknownFact(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_row_and_its_serde_name() {
        for (fact, what, _) in FACTS {
            assert!(!what.is_empty());
            assert_eq!(serde_json::to_string(fact).unwrap(), format!("\"{}\"", fact.name()));
            assert_eq!(fact.name().parse::<Fact>().unwrap(), *fact);
        }
    }
}
