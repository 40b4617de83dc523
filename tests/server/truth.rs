//! The records and counters against what a client saw.

use std::time::{Duration, Instant};

use pacegate::model::Finite;
use pacegate::server::{Ending, Latency, Record};
use serde_json::{Value, json};

use crate::client::{CHAT, Client, chat, metric, post, server, until_metric};

fn us(moment: Instant, epoch: Instant) -> u64 {
    u64::try_from(moment.duration_since(epoch).as_micros()).unwrap()
}

#[test]
fn true_times_lie_between_the_clients_own() {
    let gaps = Latency::Fixed { first_token: Duration::from_millis(3), gap: Duration::from_millis(1) };
    let running = server(|settings| settings.latency = gaps);
    let mut client = Client::connect(running.addr());
    let before = us(Instant::now(), running.epoch());
    client.send(&post(CHAT, "x-request-id: mine\r\n", &chat(5)));
    client.answer();
    let after = us(Instant::now(), running.epoch());
    let records = running.records();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(record.request_id.as_deref(), Some("mine"));
    assert_eq!((record.ending, record.status, record.tokens), (Ending::Complete, 200, 5));
    let sent: Vec<u64> = record.sent.iter().map(|sent| sent.at_us).collect();
    assert_eq!((record.first_token_us, record.last_token_us), (Some(sent[0]), Some(sent[4])));
    let ordered = [&[before, record.received_us], sent.as_slice(), &[after]].concat();
    assert!(ordered.is_sorted(), "{ordered:?}");
    let due: Vec<u64> = record.sent.iter().map(|sent| sent.due_us - record.received_us).collect();
    assert_eq!(due, [3_000, 4_000, 5_000, 6_000, 7_000]);
    assert!(record.sent.iter().all(|sent| sent.at_us >= sent.due_us), "nothing is sent early");
}

#[test]
fn the_engines_own_times_apply_by_the_models_strategy() {
    let running = server(|settings| {
        settings.latency = Latency::Engine;
        settings.models = vec!["baseline".into(), "int8_quant".into()];
        settings.engine.preprocess_ms = Finite::whole(1);
        settings.engine.prompt_encode_ms = Finite::thousandths(30);
        settings.engine.decode_ms = Finite::thousandths(600);
        settings.engine.noise = Finite::ZERO;
    });
    let mut client = Client::connect(running.addr());
    for model in ["baseline", "int8_quant"] {
        let mut body = chat(3);
        body["model"] = json!(model);
        client.post(CHAT, &body);
    }
    let due = |record: &Record| -> Vec<u64> {
        record.sent.iter().map(|sent| sent.due_us - record.received_us).collect()
    };
    let records = running.records();
    // 1,000 + 9 tokens x 30, then 600 each; int8_quant divides both but not the 1,000 by 1.5.
    assert_eq!(due(&records[0]), [1_270, 1_870, 2_470]);
    assert_eq!(due(&records[1]), [1_180, 1_580, 1_980]);
}

#[test]
fn requests_in_flight_slow_each_other_down() {
    let running = server(|settings| {
        settings.latency = Latency::Engine;
        settings.engine.preprocess_ms = Finite::whole(1);
        settings.engine.prompt_encode_ms = Finite::ZERO;
        settings.engine.decode_ms = Finite::ZERO;
        settings.engine.noise = Finite::ZERO;
        settings.faults = vec!["stall@0".parse().unwrap()];
    });
    let mut stalled = Client::connect(running.addr());
    stalled.send(&post(CHAT, "", &chat(1)));
    stalled.exactly(1);
    Client::connect(running.addr()).post(CHAT, &chat(1));
    let records = running.records();
    let second = records.iter().find(|record| record.index == 1).unwrap();
    // 1 ms x (1 + 0.15).
    assert_eq!((second.in_flight, second.sent[0].due_us - second.received_us), (2, 1_150));
}

#[test]
fn counters_agree_with_all_that_many_clients_were_told() {
    const CLIENTS: u64 = 16;
    const EACH: u64 = 8;
    let running = server(|settings| {
        settings.prefix_cache = true;
        settings.records = 100;
    });
    let addr = running.addr();
    let one_client = move |number: u64| -> (u64, u64, u64) {
        let mut client = Client::connect(addr);
        let mut told = (0, 0, 0);
        for request in 0..EACH {
            let mut body = chat(20);
            body["ignore_eos"] = json!(false);
            body["messages"][0]["content"] = json!(format!("word {} {number} {request}", "more ".repeat(20)));
            let events = client.post(CHAT, &body).events();
            let usage = events.last().unwrap()["usage"].clone();
            let tokens = events.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str());
            assert_eq!(tokens.filter(|t| !t.is_empty()).count() as u64, usage["completion_tokens"]);
            told.0 += usage["prompt_tokens"].as_u64().unwrap();
            told.1 += usage["completion_tokens"].as_u64().unwrap();
            told.2 += usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
        }
        told
    };
    let clients: Vec<_> = (0..CLIENTS).map(|number| std::thread::spawn(move || one_client(number))).collect();
    let told = clients.into_iter().map(|client| client.join().unwrap());
    let told = told.fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));

    let plain = |name: &str| metric(&running, &format!(r#"vllm:{name}{{engine="0",model_name="embedded"}}"#));
    let whole = |value: f64| value as u64;
    assert_eq!(whole(plain("prompt_tokens_total")), told.0);
    assert_eq!(whole(plain("generation_tokens_total")), told.1);
    assert_eq!(whole(plain("prefix_cache_hits_total")), told.2);
    assert_eq!(whole(plain("prefix_cache_queries_total")), told.0);
    assert_eq!(whole(plain("time_to_first_token_seconds_count")), CLIENTS * EACH);
    assert_eq!(plain("num_requests_running"), 0.0);
    let ended = |reason: &str| {
        let labels = format!(r#"engine="0",finished_reason="{reason}",model_name="embedded""#);
        metric(&running, &format!("vllm:request_success_total{{{labels}}}"))
    };
    assert_eq!(whole(ended("stop") + ended("length")), CLIENTS * EACH);
    assert!(ended("stop") > 0.0 && ended("length") > 0.0 && ended("error") == 0.0);
    let records = running.records();
    assert_eq!(records.len(), 100, "only the latest are kept");
    let mut indices: Vec<u64> = records.iter().map(|record| record.index).collect();
    indices.sort_unstable();
    indices.dedup();
    assert_eq!(indices.len(), 100);
}

#[test]
fn a_hang_up_ends_the_work_and_is_no_success() {
    let slow = Latency::Fixed { first_token: Duration::ZERO, gap: Duration::from_secs(3_600) };
    let running = server(|settings| settings.latency = slow);
    let mut client = Client::connect(running.addr());
    client.send(&post(CHAT, "", &chat(5)));
    // The role and the first token: nothing else is written for an hour.
    let mut bytes = Vec::new();
    while String::from_utf8_lossy(&bytes).matches("\n\n\r\n").count() < 2 {
        bytes.extend(client.exactly(1));
    }
    drop(client);
    until_metric(&running, r#"vllm:num_requests_running{engine="0",model_name="embedded"}"#, 0.0);
    let records = running.records();
    assert_eq!((records[0].ending, records[0].tokens), (Ending::HungUp, 1));
    assert_eq!(metric(&running, r#"vllm:generation_tokens_total{engine="0",model_name="embedded"}"#), 1.0);
    for reason in ["stop", "length"] {
        let labels = format!(r#"engine="0",finished_reason="{reason}",model_name="embedded""#);
        assert_eq!(metric(&running, &format!("vllm:request_success_total{{{labels}}}")), 0.0);
    }
}

#[test]
fn requests_sent_ahead_are_answered_in_their_order() {
    let running = server(|_| {});
    let mut client = Client::connect(running.addr());
    let tokenize = |prompt: &str| post("/tokenize", "", &json!({"prompt": prompt}));
    client.send(&(tokenize("one") + &tokenize("one two")));
    let counts: Vec<Value> = [0, 1].map(|_| client.one_after_another()["count"].clone()).to_vec();
    assert_eq!(counts, [1, 2]);
}

#[test]
fn records_are_told_over_http_too() {
    let running = server(|settings| settings.faults = vec!["no-done@1".parse().unwrap()]);
    let mut client = Client::connect(running.addr());
    client.post(CHAT, &chat(2));
    client.post(CHAT, &chat(2));
    let text = client.get("/records").text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["fault"], &lines[1]["fault"]), (&Value::Null, &json!("no-done")));
    assert_eq!(lines[0]["first_token_us"], lines[0]["sent"][0]["at_us"]);
    assert_eq!(lines[0]["ending"], "complete");
}

#[test]
fn stopping_closes_connections_and_keeps_the_records() {
    let mut running = server(|_| {});
    let mut client = Client::connect(running.addr());
    client.post(CHAT, &chat(2));
    running.stop();
    assert_eq!(std::io::Read::read(&mut client.socket, &mut [0]).unwrap(), 0);
    assert_eq!(running.records().len(), 1);
    running.stop();
}
