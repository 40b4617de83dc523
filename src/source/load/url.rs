//! Where requests go: a base URL as a person writes it, and what is made of it.

use std::fmt;

use http::Uri;

use crate::model::profile::Api;

/// A server and the path under which its API lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    tls: bool,
    host: String,
    port: u16,
    /// Without a slash at its end; empty for the root.
    path: String,
    query: Option<String>,
}

/// A base URL that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// No http or https.
    #[error("\"{0}\" has no scheme; expected http://HOST:PORT or https://HOST")]
    NoScheme(String),
    /// Not a URL.
    #[error("\"{0}\" is no URL; expected http://HOST:PORT or https://HOST, with or without a path")]
    NotAUrl(String),
    /// A user name or password in it.
    #[error(
        "the base URL holds a user name or password, which would reach logs; take it out and use --api-key-env"
    )]
    Credentials,
}

impl BaseUrl {
    /// Reads a base URL. One with a path is used as given; one without gets `/v1`.
    ///
    /// # Errors
    /// What is no http or https URL, and one that holds credentials.
    pub fn parse(text: &str) -> Result<BaseUrl, UrlError> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").ok_or_else(|| UrlError::NoScheme(text.to_owned()))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlError::NoScheme(text.to_owned())),
        };
        let no_url = || UrlError::NotAUrl(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(no_url)?;
        // A port that is no number is not seen as one by the parser.
        if authority.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'))
            && uri.port_u16().is_none()
        {
            return Err(no_url());
        }
        let mut path = uri.path().trim_end_matches('/').to_owned();
        for call in ["/chat/completions", "/completions"] {
            if let Some(base) = path.strip_suffix(call) {
                // Someone pasted the whole address of the call: what is left is the base, even if it is the root.
                let base = if base.is_empty() { "/".to_owned() } else { base.to_owned() };
                path = base;
                break;
            }
        }
        if path.is_empty() {
            "/v1".clone_into(&mut path);
        }
        Ok(BaseUrl {
            tls,
            host: host.to_ascii_lowercase(),
            port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            path: path.trim_end_matches('/').to_owned(),
            query: uri.query().map(str::to_owned),
        })
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn tls(&self) -> bool {
        self.tls
    }

    /// The host without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `HOST:PORT`, with the port left out where it is the scheme's own: the `Host` header.
    #[must_use]
    pub fn authority(&self) -> String {
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Path and query of an API call.
    #[must_use]
    pub fn call(&self, api: Api) -> String {
        let call = match api {
            Api::Chat => "/chat/completions",
            Api::Completions => "/completions",
        };
        self.below(&format!("{}{call}", self.path))
    }

    /// Path and query of the list of models.
    #[must_use]
    pub fn models(&self) -> String {
        self.below(&format!("{}/models", self.path))
    }

    /// Path of something that lies beside the API, such as `/metrics` and `/tokenize`.
    #[must_use]
    pub fn beside(&self, name: &str) -> String {
        format!("{}{name}", self.path.strip_suffix("/v1").unwrap_or(&self.path))
    }

    fn below(&self, path: &str) -> String {
        self.query.as_ref().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
    }

    /// The same server with the other form of path: without the `/v1`, or with one.
    #[must_use]
    pub fn other_form(&self) -> BaseUrl {
        let path = match self.path.strip_suffix("/v1") {
            Some(without) => without.to_owned(),
            None => format!("{}/v1", self.path),
        };
        BaseUrl { path, ..self.clone() }
    }

    /// The base as a person would write it so that it is used exactly so.
    #[must_use]
    pub fn written(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        let path = if self.path.is_empty() { "/chat/completions" } else { &self.path };
        format!("{scheme}://{}{path}", self.authority())
    }

    /// The whole address of a call, for people: a query may hold a secret and is left out.
    #[must_use]
    pub fn shown(&self, api: Api) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        let call = self.call(api);
        let path = call.split('?').next().unwrap_or_default();
        format!("{scheme}://{}{path}", self.authority())
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(base: &str) -> String {
        BaseUrl::parse(base).unwrap().shown(Api::Chat)
    }

    #[test]
    fn a_base_without_a_path_gets_v1_and_one_with_a_path_is_used_as_given() {
        for (base, call) in [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"),
            ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
            ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/chat/completions"),
            ("https://API.example.com/openai/v2", "https://api.example.com/openai/v2/chat/completions"),
            ("https://h:443", "https://h/v1/chat/completions"),
            ("https://h:8443", "https://h:8443/v1/chat/completions"),
            ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("http://h/chat/completions", "http://h/chat/completions"),
            ("http://h/v1?api-version=2&key=secret", "http://h/v1/chat/completions"),
        ] {
            assert_eq!(shown(base), call, "{base}");
        }
        let azure = BaseUrl::parse("https://h/deployments/x?api-version=2").unwrap();
        assert_eq!(azure.call(Api::Completions), "/deployments/x/completions?api-version=2");
    }

    #[test]
    fn metrics_lie_beside_the_api() {
        let beside = |base| BaseUrl::parse(base).unwrap().beside("/metrics");
        assert_eq!(beside("http://h:1"), "/metrics");
        assert_eq!(beside("http://h:1/v1"), "/metrics");
        assert_eq!(beside("http://h:1/proxy/v1"), "/proxy/metrics");
        assert_eq!(beside("http://h:1/proxy"), "/proxy/metrics");
    }

    #[test]
    fn the_other_form_adds_or_takes_away_v1() {
        let other = |base| BaseUrl::parse(base).unwrap().other_form().shown(Api::Chat);
        assert_eq!(other("http://h"), "http://h/chat/completions");
        assert_eq!(other("http://h/v1"), "http://h/chat/completions");
        assert_eq!(other("http://h/api"), "http://h/api/v1/chat/completions");
        let bare = BaseUrl::parse("http://h/v1").unwrap().other_form();
        assert_eq!(BaseUrl::parse(&bare.written()).unwrap().shown(Api::Chat), "http://h/chat/completions");
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for bad in ["", "localhost:8000", "ftp://h", "http://", "http://h:99999", "http://h:x", "http://h h"]
        {
            assert!(BaseUrl::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(BaseUrl::parse("http://user:pw@h"), Err(UrlError::Credentials));
    }

    #[test]
    fn an_address_with_credentials_is_refused_without_repeating_them() {
        let error = BaseUrl::parse("https://sk-secret@h/v1").unwrap_err().to_string();
        assert!(!error.contains("sk-secret"), "{error}");
    }
}
