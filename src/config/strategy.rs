//! `[profile.NAME.strategies.STRATEGY]`.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::model::group::name_part;
use crate::model::profile::{Strategy, Value};

use super::error::{ConfigError, Problem};
use super::table::Entry;

/// Body fields that the profile or the program itself sets.
const TAKEN: [&str; 9] = [
    "model",
    "messages",
    "prompt",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "n",
];

/// Reads the strategies in the order of the file: a table each, or a list of names.
pub(super) fn read(entry: &Entry<'_>, profile: &str) -> Result<Vec<Strategy>, ConfigError> {
    let mut strategies: Vec<Strategy> = Vec::new();
    if let DeValue::Table(_) = entry.value.get_ref() {
        let table = entry.table(format!("[profile.{profile}.strategies]"))?;
        for strategy in table.entries() {
            strategies.push(one(strategy, profile)?);
        }
        if strategies.is_empty() {
            return Err(entry.wrong("at least one strategy"));
        }
        return Ok(strategies);
    }
    for item in entry.items()? {
        let text = item.string("a list of names or a table each")?;
        named(text).map_err(|problem| item.value_error(problem))?;
        if strategies.iter().any(|other| other.name == text) {
            let (key, name) = ("strategies".to_owned(), text.to_owned());
            return Err(item.value_error(Problem::Twice { key, name }));
        }
        strategies.push(Strategy { name: text.to_owned(), ..Strategy::default() });
    }
    Ok(strategies)
}

/// Names become parts of group names and files, so they are lower case and without spaces.
pub(super) fn named(name: &str) -> Result<(), Problem> {
    let right = name_part(name);
    if right.as_deref() == Some(name) {
        return Ok(());
    }
    let right = right.map(|right| format!(", such as \"{right}\"")).unwrap_or_default();
    Err(Problem::Wrong {
        key: "the name".to_owned(),
        found: format!("\"{name}\""),
        expected: format!("1 to 64 of a-z, 0-9, \".\", \"_\" and \"-\"{right}"),
    })
}

fn one(entry: &Entry<'_>, profile: &str) -> Result<Strategy, ConfigError> {
    named(entry.key).map_err(|problem| entry.key_error(problem))?;
    let table = entry
        .table(format!("[profile.{profile}.strategies.{}]", entry.key))?
        .known("profile.NAME.strategies.STRATEGY")?;
    Ok(Strategy {
        name: entry.key.to_owned(),
        base_url: table.get("base_url").map(base_url).transpose()?,
        model: table.get("model").map(|model| model.string("a model id")).transpose()?.map(str::to_owned),
        headers: table.get("headers").map(headers).transpose()?.unwrap_or_default(),
        body: table.get("body").map(body).transpose()?.unwrap_or_default(),
    })
}

/// An absolute http or https URL without a key in it.
pub(super) fn base_url(entry: &Entry<'_>) -> Result<String, ConfigError> {
    let expected = "a URL such as \"http://127.0.0.1:8000\"";
    let url = entry.string(expected)?;
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(entry.wrong(expected));
    }
    if host.contains('@') {
        return Err(entry.value_error(Problem::Wrong {
            key: entry.key.to_owned(),
            found: "a URL with a user or password in it".to_owned(),
            expected: "a URL without; a key comes from the environment (--api-key-env)".to_owned(),
        }));
    }
    Ok(url.to_owned())
}

fn headers(entry: &Entry<'_>) -> Result<BTreeMap<String, Value>, ConfigError> {
    let mut headers = BTreeMap::new();
    for header in entry.table("headers".to_owned())?.entries() {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if !header.key.bytes().all(token) || header.key.is_empty() {
            return Err(header.key_error(Problem::Wrong {
                key: "the header".to_owned(),
                found: format!("\"{}\"", header.key),
                expected: "letters, digits and \"-\"".to_owned(),
            }));
        }
        let name = header.key.to_ascii_lowercase();
        if headers.contains_key(&name) {
            return Err(header.key_error(Problem::Twice { key: "headers".to_owned(), name }));
        }
        headers.insert(name, header_value(header)?);
    }
    Ok(headers)
}

fn header_value(header: &Entry<'_>) -> Result<Value, ConfigError> {
    let expected = "a text in quotes, or { env = \"NAME\" } for a variable of the environment";
    match header.value.get_ref() {
        DeValue::String(text) if !text.chars().any(char::is_control) => Ok(Value::Text(text.to_string())),
        DeValue::Table(table) if table.len() == 1 => {
            let table = header.table(header.key.to_owned())?;
            let Some(variable) = table.get("env") else { return Err(header.wrong(expected)) };
            let name = variable.string("the name of a variable of the environment")?;
            if name.contains(['=', '\0', '$', ' ']) {
                return Err(variable.wrong("the bare name of a variable, such as \"TEAM\""));
            }
            Ok(Value::Env(name.to_owned()))
        }
        _ => Err(header.wrong(expected)),
    }
}

fn body(entry: &Entry<'_>) -> Result<BTreeMap<String, serde_json::Value>, ConfigError> {
    let mut body = BTreeMap::new();
    for field in entry.table("body".to_owned())?.entries() {
        if TAKEN.contains(&field.key) {
            return Err(field.key_error(Problem::Wrong {
                key: "body".to_owned(),
                found: format!("setting \"{}\"", field.key),
                expected: "other fields; this one is set by the profile's own keys".to_owned(),
            }));
        }
        body.insert(field.key.to_owned(), json(field)?);
    }
    Ok(body)
}

fn json(entry: &Entry<'_>) -> Result<serde_json::Value, ConfigError> {
    use serde_json::Value as Json;
    let expected = "a value that JSON can hold";
    Ok(match entry.value.get_ref() {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Boolean(value) => Json::Bool(*value),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Json::from)
            .map_err(|_| entry.wrong(expected))?,
        DeValue::Float(_) => Json::from(entry.finite(expected)?.get()),
        DeValue::Datetime(_) => return Err(entry.wrong(expected)),
        DeValue::Array(items) => {
            let item = |value| json(&Entry { value, ..*entry });
            Json::Array(items.iter().map(item).collect::<Result<_, _>>()?)
        }
        DeValue::Table(_) => {
            let table = entry.table(entry.key.to_owned())?;
            let field = |field: &Entry<'_>| Ok((field.key.to_owned(), json(field)?));
            Json::Object(table.entries().map(field).collect::<Result<_, ConfigError>>()?)
        }
    })
}
