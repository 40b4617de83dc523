//! Who may see a secret. A key goes to hosts that a person named on the command line or in the environment, and never
//! to one that only a file in the checkout names: a pull request could change that file.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::url::BaseUrl;

/// Who named an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// A flag or the environment.
    Person,
    /// A file in the checkout.
    File,
}

/// A secret and where it came from.
#[derive(Clone)]
pub struct Secret {
    /// The environment variable that holds it.
    pub variable: String,
    value: SecretString,
}

/// The hosts that a person named.
#[derive(Clone, Debug, Default)]
pub struct Trusted(Vec<String>);

/// A secret must not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Only a file names the host.
    #[error(
        "{variable} is set, but {host} is named only by a file in the checkout, so the key does not go there; \
         pass --base-url, or --key-host {host} to allow it, or unset {variable}"
    )]
    HostOnlyInFile {
        /// The variable.
        variable: String,
        /// The host, with its port where it is not the usual one.
        host: String,
    },
    /// The variable holds what no header can carry.
    #[error(
        "{0} holds a line break or another character that no HTTP header can carry; set it again without it"
    )]
    NotAHeader(String),
}

impl Secret {
    /// Takes a secret out of an environment variable's text. Blank counts as not set.
    ///
    /// # Errors
    /// A text that no header can carry.
    pub fn new(variable: &str, text: &str) -> Result<Option<Secret>, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if !text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return Err(KeyError::NotAHeader(variable.to_owned()));
        }
        Ok(Some(Secret { variable: variable.to_owned(), value: SecretString::from(text.to_owned()) }))
    }

    /// The text, for the one header that carries it.
    pub(super) fn expose(&self) -> &str {
        self.value.expose_secret()
    }

    /// Allows the secret to go to this endpoint, or says why not.
    ///
    /// # Errors
    /// When only a file names the host.
    pub fn allow(&self, url: &BaseUrl, named_by: NamedBy, trusted: &Trusted) -> Result<(), KeyError> {
        if named_by == NamedBy::Person || trusted.holds(url) {
            Ok(())
        } else {
            Err(KeyError::HostOnlyInFile { variable: self.variable.clone(), host: url.authority() })
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.variable)
    }
}

impl Trusted {
    /// Hosts as a person writes them: `HOST` (any port), `HOST:PORT`, or a URL.
    #[must_use]
    pub fn hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Trusted {
        let plain = |host: &str| BaseUrl::parse(host).map_or_else(|_| host.to_owned(), |url| url.authority());
        Trusted(hosts.into_iter().map(|host| plain(host.trim()).to_ascii_lowercase()).collect())
    }

    fn holds(&self, url: &BaseUrl) -> bool {
        let with_port = format!("{}:{}", url.host(), url.port());
        let names = [url.host(), &url.authority(), &with_port];
        self.0.iter().any(|trusted| names.contains(&trusted.as_str()))
    }
}

/// The shortest piece of a secret that is not shown.
const PIECE: usize = 6;
/// The longest error text that is kept.
const LONGEST: usize = 300;

/// Makes a text of a server fit to be stored: one line, of limited length, without a secret or a piece of one. Servers
/// echo the key that they refuse, in whole or in part.
#[must_use]
pub fn clean<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    for secret in secrets {
        line = without(&line, secret.expose());
    }
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn without(text: &str, secret: &str) -> String {
    let (bytes, piece) = (text.as_bytes(), PIECE.min(secret.len()));
    let mut hidden = vec![false; bytes.len()];
    for window in secret.as_bytes().windows(piece) {
        for start in 0..(bytes.len() + 1).saturating_sub(piece) {
            if &bytes[start..start + piece] == window {
                hidden[start..start + piece].fill(true);
            }
        }
    }
    let mut shown = String::new();
    let mut was_hidden = false;
    for (at, c) in text.char_indices() {
        match (hidden[at], was_hidden) {
            (true, false) => shown.push_str("[key]"),
            (true, true) => {}
            (false, _) => shown.push(c),
        }
        was_hidden = hidden[at];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::new("OPENAI_API_KEY", " sk-abcdefghijklmnop \n").unwrap().unwrap()
    }

    fn allowed(url: &str, named_by: NamedBy, hosts: &[&str]) -> bool {
        let trusted = Trusted::hosts(hosts.iter().copied());
        secret().allow(&BaseUrl::parse(url).unwrap(), named_by, &trusted).is_ok()
    }

    #[test]
    fn a_host_that_only_a_file_names_gets_no_key() {
        assert!(allowed("https://h/v1", NamedBy::Person, &[]));
        assert!(!allowed("https://h/v1", NamedBy::File, &[]));
        assert!(!allowed("http://127.0.0.1:8000", NamedBy::File, &["127.0.0.1:8001", "other"]));
        assert!(!allowed("https://h.evil.example", NamedBy::File, &["h"]));
        for trusted in ["127.0.0.1:8000", "127.0.0.1", "http://127.0.0.1:8000/v1"] {
            assert!(allowed("http://127.0.0.1:8000", NamedBy::File, &[trusted]), "{trusted}");
        }
    }

    #[test]
    fn the_refusal_names_the_host_and_the_way_out() {
        let url = BaseUrl::parse("http://h:8000").unwrap();
        let error = secret().allow(&url, NamedBy::File, &Trusted::default()).unwrap_err().to_string();
        assert!(error.contains("--key-host h:8000") && error.contains("OPENAI_API_KEY"), "{error}");
        assert!(!error.contains("sk-abc"), "{error}");
    }

    #[test]
    fn a_blank_key_is_no_key_and_a_broken_one_is_refused() {
        assert!(Secret::new("K", "  \n").unwrap().is_none());
        assert!(Secret::new("K", "a\r\nX-Evil: 1").is_err());
        assert_eq!(secret().expose(), "sk-abcdefghijklmnop");
    }

    #[test]
    fn a_secret_prints_as_its_variable() {
        assert_eq!(format!("{:?}", secret()), "Secret(OPENAI_API_KEY)");
    }

    #[test]
    fn a_server_that_echoes_the_key_or_a_piece_of_it_does_not_get_it_stored() {
        let clean = |text: &str| clean(text, [&secret()]);
        assert_eq!(clean("Incorrect key: sk-abcdefghijklmnop."), "Incorrect key: [key].");
        assert_eq!(clean("Incorrect key: sk-abc****lmnop"), "Incorrect key: [key]****lmnop");
        assert_eq!(clean("ends in klmnop"), "ends in [key]");
        assert_eq!(clean("a\u{1b}[2Jb\r\n\tc"), "a [2Jb c");
        assert_eq!(clean(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }
}
