//! Where a key goes, and where it never does.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use pacegate::model::profile::Value;
use pacegate::model::report::FailureKind;
use pacegate::source::load::key::{Secret, Trusted};
use pacegate::source::load::{LoadError, Options, measure};

use crate::measured::{groups, options, profile, run};
use crate::server::{Server, Then, model, plain};

fn key() -> Secret {
    Secret::new("OPENAI_API_KEY", "sk-abcdefghijklmnop").unwrap().unwrap()
}

#[test]
fn the_key_does_not_go_where_only_a_file_points_and_nothing_is_sent_there() {
    let server = Server::start(model);
    let refused = measure(
        &profile(&server.url),
        &Options { key: Some(key()), ..options() },
        &mut |_| {},
        &AtomicBool::new(false),
    );
    assert!(matches!(refused, Err(LoadError::Key(_))));
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_key_goes_to_a_host_that_a_person_named_and_into_no_report() {
    let server =
        Server::start(|seen| match seen.head.contains("authorization: Bearer sk-abcdefghijklmnop") {
            true if seen.body.contains("\"stream\":true") => Then::Reply(plain(
                "401 Unauthorized",
                "",
                "{\"error\":{\"message\":\"bad key sk-abcdefghijklmnop\"}}",
            )),
            true => model(seen),
            false => Then::Reply(plain("500 Internal Server Error", "", "no key came")),
        });
    let options = Options { base_url: Some(server.url.clone()), key: Some(key()), ..options() };
    let report = run(&profile("http://only-in-the-file.invalid"), &options);
    let group = groups(&report)[0];
    assert_eq!(group.requests.error_samples[&FailureKind::Http401], "401 bad key [key]");
    let everything = format!("{}{report:?}{options:?}", serde_json::to_string(&report).unwrap());
    assert!(!everything.contains("sk-abcdef"));
}

#[test]
fn a_redirect_takes_the_key_nowhere() {
    let other = Server::start(model);
    let to = format!("location: {}/v1/chat/completions\r\n", other.url);
    let server = Server::start(move |_| Then::Reply(plain("307 Temporary Redirect", &to, "")));
    let options = Options { base_url: Some(server.url.clone()), key: Some(key()), ..options() };
    let report = run(&profile("http://unused.invalid"), &options);
    assert_eq!(groups(&report)[0].requests.failed, BTreeMap::from([(FailureKind::Malformed, 5)]));
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn header_values_from_the_environment_follow_the_keys_rule() {
    let server = Server::start(model);
    let mut profile = profile(&server.url);
    profile.strategies[0].headers.insert("x-team".to_owned(), Value::Env("TEAM".to_owned()));
    profile.strategies[0].headers.insert("x-plain".to_owned(), Value::Text("yes".to_owned()));
    let refuse =
        |options: &Options| measure(&profile, options, &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(refuse(&options()), LoadError::HeaderVariable { .. }));
    let set = Options { variable: |_| Some("team-secret".to_owned()), ..options() };
    assert!(matches!(refuse(&set), LoadError::Key(_)));
    let trusted = Trusted::hosts([server.url.as_str()]);
    run(&profile, &Options { trusted, ..set });
    let heads: Vec<String> = server.requests().into_iter().map(|seen| seen.head).collect();
    assert!(heads.iter().all(|head| head.contains("x-team: team-secret") && head.contains("x-plain: yes")));
}
