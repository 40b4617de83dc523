//! What a request's body says.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::Finite;
use crate::model::profile::Api;

use super::prompts::{Prompt, field};

/// What all requests of one strategy have in common.
#[derive(Clone, Debug)]
pub struct Form {
    /// The API.
    pub api: Api,
    /// The model asked for.
    pub model: String,
    /// Sampling temperature.
    pub temperature: Finite,
    /// Sampling seed.
    pub seed: u64,
    /// Whether a stream is asked for.
    pub stream: bool,
    /// Whether the server was found to take `ignore_eos`, so that every answer has the same length.
    pub ignore_eos: bool,
    /// The strategy's own fields; a null takes a field out.
    pub extra: BTreeMap<String, Value>,
}

impl Form {
    /// The body of a request.
    #[must_use]
    pub fn body(&self, prompt: Prompt, max_tokens: u32) -> Vec<u8> {
        let (name, value) = field(prompt, self.api);
        let mut fields = Map::new();
        fields.insert("model".to_owned(), json!(self.model));
        fields.insert(name.to_owned(), value);
        fields.insert("max_tokens".to_owned(), json!(max_tokens));
        fields.insert("temperature".to_owned(), number(self.temperature));
        fields.insert("seed".to_owned(), json!(self.seed));
        fields.insert("stream".to_owned(), json!(self.stream));
        if self.stream {
            fields.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
        if self.ignore_eos {
            fields.insert("ignore_eos".to_owned(), json!(true));
        }
        for (name, value) in &self.extra {
            if value.is_null() {
                fields.remove(name);
            } else {
                fields.insert(name.clone(), value.clone());
            }
        }
        Value::Object(fields).to_string().into_bytes()
    }

    /// The same without a stream, for probes: servers that leave usage out of streams have it here.
    #[must_use]
    pub fn plain(&self) -> Form {
        Form { stream: false, ..self.clone() }
    }

    /// Sampling as a fact of the workload. The seed is none: it may differ between comparable runs.
    #[must_use]
    pub fn sampling(&self) -> String {
        let length = if self.ignore_eos { ", ignore_eos" } else { "" };
        let stream = if self.stream { "" } else { ", not streamed" };
        format!("temperature {}{length}{stream}", self.temperature)
    }
}

/// 0 rather than 0.0: some servers take a whole number for granted.
fn number(value: Finite) -> Value {
    let whole = value.get() as i64;
    if whole as f64 == value.get() { json!(whole) } else { json!(value.get()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        Form {
            api: Api::Chat,
            model: "m".to_owned(),
            temperature: Finite::ZERO,
            seed: 7,
            stream: true,
            ignore_eos: true,
            extra: BTreeMap::new(),
        }
    }

    fn body(form: &Form) -> Value {
        serde_json::from_slice(&form.body(Prompt::Text("hi".to_owned()), 64)).unwrap()
    }

    #[test]
    fn usage_is_asked_for_in_streams_alone() {
        assert_eq!(
            body(&form()),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 64, "temperature": 0,
                "seed": 7, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true})
        );
        assert_eq!(body(&form().plain()).get("stream_options"), None);
    }

    #[test]
    fn a_strategy_adds_replaces_and_takes_out_fields() {
        let extra =
            [("max_tokens", Value::Null), ("max_completion_tokens", json!(9)), ("temperature", json!(0.5))];
        let extra = extra.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let body = body(&Form { extra, ..form() });
        assert_eq!((body.get("max_tokens"), &body["max_completion_tokens"]), (None, &json!(9)));
        assert_eq!(body["temperature"], json!(0.5));
    }
}
