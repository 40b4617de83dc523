//! Requests that are not answered.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use pacegate::server::{Ending, Fault, ServerError, Settings, run_blocking, start};
use serde_json::{Value, json};

use crate::client::{CHAT, Client, chat, post, server, until_metric};

#[test]
fn wrong_paths_methods_and_models_are_refused_as_vllm_does() {
    let running = server(|_| {});
    let mut client = Client::connect(running.addr());
    let path = client.post("/v1/v1/chat/completions", &chat(1));
    assert_eq!((path.status(), path.text().as_str()), (404, r#"{"detail":"Not Found"}"#));
    assert_eq!(client.get(CHAT).status(), 405);
    let mut body = chat(1);
    body["model"] = json!("no-such-model");
    let model = client.post(CHAT, &body);
    assert_eq!(model.status(), 404);
    assert_eq!(
        model.json(),
        json!({"error": {"message": "The model `no-such-model` does not exist. Valid aliases: embedded.",
            "type": "NotFoundError", "param": "model", "code": 404}})
    );
    body = chat(1);
    body["max_tokens"] = json!(0);
    assert_eq!(client.post(CHAT, &body).status(), 400);
    assert_eq!(client.post(CHAT, &chat(1)).status(), 200, "the connection is still good");
}

#[test]
fn what_is_not_http_is_refused_and_the_connection_closed() {
    let running = server(|_| {});
    for (request, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".to_owned(), 411),
        ("POST /v1/completions HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n".to_owned(), 413),
        ("POST /v1/completions HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_owned(), 400),
    ] {
        let mut client = Client::connect(running.addr());
        client.send(&request);
        let answer = client.answer();
        assert_eq!(answer.status(), status, "{request}");
        assert!(answer.head().contains("connection: close"));
    }
}

#[test]
fn the_key_is_asked_for_where_vllm_asks_for_it() {
    let running = server(|settings| settings.api_key = Some("secret".into()));
    let mut client = Client::connect(running.addr());
    assert_eq!(client.post(CHAT, &chat(1)).status(), 401);
    assert_eq!(client.get("/v1/models").status(), 401);
    assert_eq!(client.get("/health").status(), 200);
    for (key, status) in [("wrong", 401), ("secret", 200)] {
        client.send(&post(CHAT, &format!("authorization: Bearer {key}\r\n"), &chat(1)));
        assert_eq!(client.answer().status(), status);
    }
}

#[test]
fn one_request_too_many_is_sent_away_and_comes_in_when_there_is_room() {
    let running = server(|settings| {
        settings.max_in_flight = Some(1);
        settings.retry_after_s = 7;
        settings.faults = vec!["stall@0".parse().unwrap()];
    });
    let mut first = Client::connect(running.addr());
    first.send(&post(CHAT, "", &chat(4)));
    first.exactly(1);
    let refused = Client::connect(running.addr()).post(CHAT, &chat(4));
    assert_eq!(refused.status(), 429);
    assert!(refused.head().contains("\r\nretry-after: 7\r\n"), "{}", refused.head());
    assert_eq!(refused.json()["error"]["code"], 429);
    drop(first);
    until_metric(&running, r#"vllm:num_requests_running{engine="0",model_name="embedded"}"#, 0.0);
    assert_eq!(Client::connect(running.addr()).post(CHAT, &chat(4)).status(), 200);
    let records = running.records();
    let endings: Vec<_> = records.iter().map(|r| (r.index, r.status, r.fault, r.ending)).collect();
    assert_eq!(
        endings,
        [
            (0, 200, Some(Fault::Stall), Ending::Broken),
            (1, 429, None, Ending::Refused),
            (2, 200, None, Ending::Complete)
        ]
    );
}

#[test]
fn every_error_status_comes_for_the_request_it_is_set_for() {
    let running = server(|settings| {
        let rules = ["401@0", "404@1", "404-model@2", "429@3", "500@4"];
        settings.faults = rules.map(|rule| rule.parse().unwrap()).to_vec();
    });
    let mut client = Client::connect(running.addr());
    let answers: Vec<_> = (0..6).map(|_| client.post(CHAT, &chat(1))).collect();
    let statuses: Vec<u16> = answers.iter().map(super::client::Answer::status).collect();
    assert_eq!(statuses, [401, 404, 404, 429, 500, 200]);
    assert_eq!(answers[1].json(), json!({"detail": "Not Found"}));
    assert_eq!(answers[2].json()["error"]["param"], "model");
    assert!(answers[3].head().contains("retry-after: 1"));
    let codes: Vec<Value> =
        answers[3..5].iter().map(|answer| answer.json()["error"]["code"].clone()).collect();
    assert_eq!(codes, [429, 500]);
    let faults: Vec<Option<Fault>> = running.records().iter().map(|record| record.fault).collect();
    let expected =
        [Fault::Unauthorized, Fault::NoPath, Fault::NoModel, Fault::TooMany, Fault::ServerError].map(Some);
    assert_eq!(faults[..5], expected);
    assert_eq!(faults[5], None);
}

#[test]
fn the_server_is_for_this_machine_alone_unless_told_otherwise() {
    let listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused = start(Settings { listen, ..Settings::default() });
    assert!(matches!(refused, Err(ServerError::Remote(_))));
    let taken = server(|_| {});
    let refused = start(Settings { listen: taken.addr(), ..Settings::default() });
    assert!(matches!(refused, Err(ServerError::Listen { .. })));
}

#[test]
fn a_blocking_run_announces_its_address_and_stops_when_told() {
    let stop = AtomicBool::new(false);
    let mut status = None;
    run_blocking(Settings::default(), &stop, |addr| {
        // The server is in its own threads already, so the announcement may use it.
        status = Some(Client::connect(addr).get("/health").status());
        stop.store(true, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(status, Some(200));
}
