//! Prompt files: `prompts.json` with named sets (short, medium, long, very_long), or one prompt a line (JSONL).

use serde_json::Value;

use crate::model::group::name_part;

use super::Prompt;

/// Prompts under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptSet {
    /// The name, as it stands in group ids.
    pub name: String,
    /// The prompts, in order.
    pub prompts: Vec<Prompt>,
}

/// A prompt file can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptFileError {
    /// Not JSON.
    #[error("{file}:{line}: no JSON ({reason})")]
    NotJson {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Why.
        reason: String,
    },
    /// An entry that is no prompt.
    #[error(
        "{file}: {place} is no prompt; expected a text, {{\"prompt\": \"…\"}} or {{\"messages\": [{{\"role\": …, \"content\": …}}]}}"
    )]
    NoPrompt {
        /// The file.
        file: String,
        /// Which entry.
        place: String,
    },
    /// Nothing in it.
    #[error("{0} holds no prompt")]
    Empty(String),
}

/// Reads a prompt file.
///
/// # Errors
/// The first line or entry that is no prompt, by its place.
pub fn read(file: &str, text: &str) -> Result<Vec<PromptSet>, PromptFileError> {
    let sets = match serde_json::from_str::<Value>(text) {
        // One JSON value: named sets, a list, or a JSONL file of a single line.
        Ok(Value::Object(fields)) if prompt(&Value::Object(fields.clone())).is_none() => {
            let named = fields.iter().map(|(name, value)| set(file, name, value));
            named.collect::<Result<Vec<_>, _>>()?
        }
        Ok(value @ Value::Array(_)) => vec![set(file, "prompts", &value)?],
        Ok(value) => vec![set(file, "prompts", &Value::Array(vec![value]))?],
        Err(_) => vec![lines(file, text)?],
    };
    if sets.is_empty() || sets.iter().any(|set| set.prompts.is_empty()) {
        return Err(PromptFileError::Empty(file.to_owned()));
    }
    Ok(sets)
}

fn lines(file: &str, text: &str) -> Result<PromptSet, PromptFileError> {
    let mut prompts = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|error| PromptFileError::NotJson {
            file: file.to_owned(),
            line: number,
            reason: error.to_string(),
        })?;
        let no_prompt =
            || PromptFileError::NoPrompt { file: file.to_owned(), place: format!("line {number}") };
        prompts.push(prompt(&value).ok_or_else(no_prompt)?);
    }
    Ok(PromptSet { name: "prompts".to_owned(), prompts })
}

fn set(file: &str, name: &str, value: &Value) -> Result<PromptSet, PromptFileError> {
    let no_prompt = |place: String| PromptFileError::NoPrompt { file: file.to_owned(), place };
    let name = name_part(name).ok_or_else(|| no_prompt(format!("the set {name:?}")))?;
    let entries = match value {
        Value::Array(entries) => entries.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut prompts = Vec::new();
    for (number, entry) in (1..).zip(entries) {
        let found = prompt(entry).ok_or_else(|| no_prompt(format!("entry {number} of \"{name}\"")))?;
        prompts.push(found);
    }
    Ok(PromptSet { name, prompts })
}

fn prompt(value: &Value) -> Option<Prompt> {
    let text =
        |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(|t| Prompt::Text(t.to_owned()));
    match value {
        Value::String(_) => text(value),
        Value::Object(fields) => {
            let messages = fields.get("messages").and_then(Value::as_array).filter(|list| !list.is_empty());
            let messages = messages.map(|list| Prompt::Messages(list.clone()));
            messages
                .or_else(|| ["prompt", "text", "content"].iter().find_map(|name| text(fields.get(*name)?)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
