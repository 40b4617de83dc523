//! Where a key goes, and where it never does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use pacegate::model::profile::Value;
use pacegate::model::report::FailureKind;
use pacegate::source::load::key::{Secret, Trusted};
use pacegate::source::load::{LoadError, Options, measure};

use crate::measured::{groups, options, profile, run};
use crate::server::{Seen, Server, Then, model, plain, stream};

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

const KEY: &str = "sk-Zq7Xw9Vt4Rb2Nk8Mh5Jd3";

/// A server's way to send the key back.
type Echo = fn(&Seen) -> Then;

/// Every way in which a server could get a key that it was given into somebody's log.
const ECHOES: [(&str, Echo); 7] = [
    ("refusal", |_| Then::Reply(plain("401 Unauthorized", "", &format!("{{\"error\":\"bad key {KEY}\"}}")))),
    ("bare text", |_| Then::Reply(plain("500 Oops", "", &format!("Bearer {KEY} made me fall")))),
    ("retry-after", |_| Then::Reply(plain("429 Slow", &format!("retry-after: {KEY}\r\n"), "{}"))),
    ("no answer", |_| Then::Reply(plain("200 OK", "", &format!("{{\"your_key\":\"{KEY}\"}}")))),
    ("error event", |_| Then::Reply(stream(&[format!("{{\"error\":{{\"message\":\"{KEY}\"}}}}")]))),
    ("model name", |seen| {
        let Then::Reply(bytes) = model(seen) else { unreachable!() };
        // As long as the model's name in the request, so that no length changes.
        Then::Reply(String::from_utf8(bytes).unwrap().replace(&"m".repeat(KEY.len()), KEY).into_bytes())
    }),
    ("list of models", |seen| match seen.head.starts_with("GET") {
        true => Then::Reply(plain(
            "200 OK",
            "",
            &format!("{{\"data\":[{{\"id\":\"{KEY}\"}}],\"version\":\"{KEY}\"}}"),
        )),
        false => Then::Reply(plain(
            "404 Not Found",
            "",
            "{\"error\":{\"message\":\"no model\",\"param\":\"model\"}}",
        )),
    }),
];

/// Runs the program with the key in its environment and gives back everything that it printed.
fn pacegate(folder: &Path, arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pacegate"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env_remove("CI")
        .env("OPENAI_API_KEY", KEY)
        .env("RUST_BACKTRACE", "full")
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
        .env("GITHUB_OUTPUT", folder.join("output.txt"))
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every file of the folder, as text.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else {
            found.push((
                entry.display().to_string(),
                String::from_utf8_lossy(&fs::read(&entry).unwrap()).into_owned(),
            ));
        }
    }
    found
}

#[test]
fn the_key_is_in_no_output_no_log_and_no_file_whatever_a_server_does_with_it() {
    let elsewhere = Server::start(model);
    let to = format!("location: {}/v1/chat/completions?key={KEY}\r\n", elsewhere.url);
    let redirecting = Server::start(move |_| Then::Reply(plain("307 Temporary Redirect", &to, "")));
    let mut servers = vec![("redirect", redirecting)];
    servers.extend(ECHOES.map(|(name, echo)| (name, Server::start(echo))));
    for (name, server) in servers {
        let folder = tempfile::tempdir().unwrap();
        let profile = format!(
            "[profile.p]\nmodel = \"{}\"\ntraffic = [\"chat\"]\nprompt_tokens = [64]\nconcurrency = [1]\nrequests = 4\nrounds = 1\nmax_tokens = 6\nwarmup = 1\n",
            "m".repeat(KEY.len())
        );
        fs::write(folder.path().join("pacegate.toml"), profile).unwrap();
        let outputs =
            "--report r.json --json v.json --markdown v.md --junit v.xml --metrics v.txt --log log.txt";
        let mut printed = String::new();
        for arguments in [
            format!("doctor --profile p --base-url {}", server.url),
            format!("run --profile p --base-url {} -vv {outputs}", server.url),
            format!("run --profile p --base-url {} -vv --bless --reason because", server.url),
            "check r.json -vv --json again.json".to_owned(),
            "explain r.json".to_owned(),
        ] {
            printed += &pacegate(folder.path(), &arguments);
        }
        // The key went out: what is searched is what came of it.
        assert!(
            server.requests().iter().any(|seen| seen.head.contains(KEY)),
            "{name}: the key was never sent"
        );
        let mut places = files(folder.path());
        assert!(places.len() > 6, "{name}: {:?}", places.iter().map(|(file, _)| file).collect::<Vec<_>>());
        places.push(("what was printed".to_owned(), printed));
        for (place, text) in &places {
            for piece in [&KEY[..10], &KEY[7..17], &KEY[14..]] {
                assert!(!text.contains(piece), "{name}: {piece} is in {place}:\n{text}");
            }
        }
        let said = places.iter().any(|(_, text)| text.contains("[key]"));
        assert!(said, "{name}: what the server said was lost with the key");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}
