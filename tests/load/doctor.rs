//! Every row of the table of errors that people meet: its cause and its remedy are named.

use std::net::TcpListener;
use std::path::Path;

use pacegate::model::profile::{Profile, Timeouts};
use pacegate::source::load::Options;
use pacegate::source::load::doctor::{Cause, Diagnosis, examine};
use pacegate::source::load::key::Secret;

use crate::measured::{options, profile};
use crate::replay::{ROLE, STOP, content};
use crate::server::{Seen, Server, Then, model, plain, stream, unfinished};

fn diagnose(profile: &Profile, options: &Options) -> Diagnosis {
    examine(profile, options, "OPENAI_API_KEY").unwrap().remove(0)
}

fn of(answer: impl Fn(&Seen) -> Then + Send + Sync + 'static) -> Diagnosis {
    let server = Server::start(answer);
    diagnose(&profile(&server.url), &options())
}

fn refused(status: &'static str, body: &'static str) -> impl Fn(&Seen) -> Then + Send + Sync + 'static {
    move |_| Then::Reply(plain(status, "retry-after: 9\r\n", body))
}

#[test]
fn a_healthy_endpoint_says_who_answered_and_how_fast() {
    let found = of(model);
    assert!(found.is_healthy() && found.remedy().is_none(), "{found}");
    let text = found.to_string();
    assert!(
        text.contains("/v1/chat/completions: m, first token after") && text.contains("16 tokens by usage"),
        "{text}"
    );
}

#[test]
fn a_401_without_a_key_names_the_variable_and_with_one_the_key() {
    let server =
        Server::start(refused("401 Unauthorized", "{\"error\":{\"message\":\"bad sk-0123456789\"}}"));
    let found = diagnose(&profile(&server.url), &options());
    assert_eq!(found.cause, Cause::NoKey(401));
    assert!(found.remedy().unwrap().starts_with("export OPENAI_API_KEY"), "{found}");
    let key = Secret::new("OPENAI_API_KEY", "sk-0123456789").unwrap();
    let found = diagnose(
        &profile("http://x.invalid"),
        &Options { key, base_url: Some(server.url.clone()), ..options() },
    );
    assert_eq!(found.cause, Cause::KeyRefused);
    assert!(!found.to_string().contains("sk-0123"), "{found}");
}

#[test]
fn a_403_without_a_key_asks_for_one_and_not_for_rights() {
    let server = Server::start(refused("403 Forbidden", "{\"message\":\"Missing Authentication Token\"}"));
    let found = diagnose(&profile(&server.url), &options());
    assert_eq!(found.cause, Cause::NoKey(403));
    assert!(found.what().contains("(403), and OPENAI_API_KEY is not set"), "{found}");
    assert!(found.remedy().unwrap().starts_with("export OPENAI_API_KEY"), "{found}");
    assert!(found.to_string().contains("it said: 403 Missing Authentication Token"), "{found}");
    let key = Secret::new("OPENAI_API_KEY", "sk-0123456789").unwrap();
    let base_url = Some(server.url.clone());
    let found = diagnose(&profile("http://x.invalid"), &Options { key, base_url, ..options() });
    assert_eq!(found.cause, Cause::Forbidden);
}

#[test]
fn a_404_tries_the_other_form_of_the_path_and_names_the_base_url_that_works() {
    // A base URL that carries a /v1 too many.
    let server = Server::start(model);
    let found = diagnose(&profile(&format!("{}/v1/v1", server.url)), &options());
    assert_eq!(found.cause, Cause::OtherPath(format!("{}/v1", server.url)));
    assert_eq!(found.remedy().unwrap(), format!("set base_url = \"{}/v1\"", server.url));
    // One that lacks it.
    let deep = Server::start(|seen| {
        if !seen.head.starts_with("POST /api/v1/chat/completions") {
            return Then::Reply(plain("404 Not Found", "", "{\"detail\":\"Not Found\"}"));
        }
        Then::Reply(stream(&[content("a"), STOP.to_owned()]))
    });
    let found = diagnose(&profile(&format!("{}/api", deep.url)), &options());
    assert_eq!(found.cause, Cause::OtherPath(format!("{}/api/v1", deep.url)));
    assert_eq!(of(refused("404 Not Found", "nothing here")).cause, Cause::WrongPath);
}

#[test]
fn an_unknown_model_lists_the_models_that_there_are() {
    let found = of(|seen| {
        if seen.head.starts_with("GET /v1/models") {
            return Then::Reply(plain(
                "200 OK",
                "",
                "{\"data\":[{\"id\":\"llama-a\"},{\"id\":\"llama-b\"}]}",
            ));
        }
        let body = "{\"error\":{\"message\":\"The model `m` does not exist.\",\"code\":404}}";
        Then::Reply(plain("404 Not Found", "", body))
    });
    assert!(found.what().contains("no model \"m\""), "{found}");
    assert_eq!(found.remedy().unwrap(), "set model to one of: llama-a, llama-b");
}

#[test]
fn a_429_says_to_step_down() {
    let found = of(refused("429 Too Many Requests", "slow"));
    assert_eq!(found.cause, Cause::TooMany(Some("9".to_owned())));
    assert!(found.remedy().unwrap().contains("step down to 8"), "{found}");
    assert!(found.what().contains("wait 9 s"), "{found}");
}

#[test]
fn a_stream_without_tokens_names_empty_chunks() {
    let found = of(|_| Then::Reply(stream(&[ROLE.to_owned(), STOP.to_owned()])));
    assert_eq!(found.cause, Cause::NoTokens);
    assert!(found.remedy().unwrap().contains("empty choices or no content"), "{found}");
}

#[test]
fn every_other_ending_has_its_cause() {
    assert_eq!(of(refused("400 Bad Request", "no")).cause, Cause::Refused);
    assert_eq!(of(refused("503 Service Unavailable", "loading")).cause, Cause::ServerError);
    assert_eq!(of(|_| Then::Close(unfinished(&[content("a")]))).cause, Cause::Broken);
    let error = "{\"error\":{\"message\":\"queue full\",\"code\":503}}".to_owned();
    let found = of(move |_| Then::Reply(stream(std::slice::from_ref(&error))));
    assert_eq!(found.cause, Cause::ErrorInStream);
    assert!(found.to_string().contains("it said: 503: queue full"), "{found}");
    for diagnosis in [found, of(refused("400 Bad Request", ""))] {
        assert!(diagnosis.remedy().is_some_and(|remedy| !remedy.is_empty()));
    }
}

#[test]
fn nobody_at_the_port_and_no_tls_behind_it_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(diagnose(&profile(&format!("http://{address}")), &options()).cause, Cause::Unreachable);
    assert_eq!(of(|_| Then::Close(Vec::new())).cause, Cause::HungUp);
    let ca_file = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls/ca.pem"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let closing = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let found = diagnose(&profile(&url), &Options { ca_file, ..options() });
    assert_eq!(found.cause, Cause::NoTls);
    closing.join().unwrap();
}

#[test]
fn a_server_that_takes_the_request_and_sends_nothing_is_slow_and_not_away() {
    // It reads the request and then waits for the client to go.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let silent = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut sink = [0; 4096];
        while std::io::Read::read(&mut socket, &mut sink).is_ok_and(|n| n > 0) {}
    });
    let timeouts = Timeouts { first_token_ms: 50, ..Timeouts::default() };
    let found = diagnose(&Profile { timeouts, ..profile(&url) }, &options());
    assert_eq!(found.cause, Cause::TokenTooSlow);
    assert!(found.remedy().unwrap().contains("queue is full"), "{found}");
    silent.join().unwrap();
}
