//! Who counts tokens, and whether the counts agree.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pacegate::model::Metric;
use pacegate::model::report::TokenSource;
use pacegate::source::load::reconcile::{self, Counters};

use crate::measured::{groups, options, profile, run};
use crate::server::{Seen, Server, Then, model, plain};

fn without_usage(seen: &Seen) -> Then {
    let Then::Reply(bytes) = model(seen) else { unreachable!() };
    Then::Reply(String::from_utf8(bytes).unwrap().replace("\"usage\":", "\"other\":").into_bytes())
}

#[test]
fn m14_m15_without_usage_tokens_are_absent_and_that_is_said() {
    let server = Server::start(without_usage);
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.tokens.output, group.tokens.from), (None, TokenSource::Unknown));
    assert!(
        !group.metrics.contains_key(&Metric::TPOT) && !group.metrics.contains_key(&Metric::OUTPUT_THROUGHPUT)
    );
    assert!(group.metrics.contains_key(&Metric::TTFT));
    let said = report.source.warnings.join("\n");
    assert!(said.contains("nothing shows that a model was called") && said.contains("tpot"), "{said}");
}

#[test]
fn m14_m15_the_servers_tokenizer_counts_whole_answers_only() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let server = Server::start(move |seen| {
        if !seen.head.starts_with("POST /tokenize") {
            return without_usage(seen);
        }
        let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
        kept.lock().unwrap().push(body["prompt"].as_str().unwrap().to_owned());
        Then::Reply(plain("200 OK", "", "{\"count\":6,\"tokens\":[]}"))
    });
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.tokens.output, group.tokens.from), (Some(30), TokenSource::Tokenize));
    assert_eq!(*asked.lock().unwrap(), vec!["w w w w w w ".to_owned(); 5]);
}

#[test]
fn counts_that_overflowed_are_not_taken_and_that_is_said() {
    let server = Server::start(|seen| {
        let Then::Reply(bytes) = model(seen) else { unreachable!() };
        let text = String::from_utf8(bytes).unwrap();
        // The chunk's length must not change.
        let absurd = text.replace(r#""completion_tokens":6"#, r#""completion_tokens":6000000000"#);
        let longer = absurd.len() - text.len();
        let Some(at) = absurd.find(r#"{"choices":[],"usage""#) else { return Then::Reply(text.into_bytes()) };
        let size = absurd[..at].rfind("\r\ndata: ").unwrap();
        let start = absurd[..size].rfind('\n').unwrap() + 1;
        let length = usize::from_str_radix(&absurd[start..size], 16).unwrap() + longer;
        Then::Reply(format!("{}{length:x}{}", &absurd[..start], &absurd[size..]).into_bytes())
    });
    let report = run(&profile(&server.url), &options());
    let group = groups(&report)[0];
    assert_eq!((group.requests.succeeded, group.tokens.output), (Some(5), None), "{:?}", group.requests);
    let said = report.source.warnings.join("\n");
    assert!(said.contains("claims 6000000000 tokens in one answer"), "{said}");
}

/// Counters as vLLM has them, rising by what `claims` makes of the real tokens.
fn counting(claims: fn(u64) -> u64) -> Server {
    let (requests, prompt, output) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    Server::start(move |seen| {
        if seen.head.starts_with("GET /metrics") {
            let value = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
            let text = format!(
                "vllm:request_success_total{{a=\"b\"}} {}.0\nvllm:prompt_tokens_total {}\nvllm:generation_tokens_total {}\n",
                value(&requests),
                value(&prompt),
                claims(value(&output))
            );
            return Then::Reply(plain("200 OK", "", &text));
        }
        if seen.head.starts_with("POST") {
            let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
            let words = body["messages"][0]["content"].as_str().unwrap().split_whitespace().count() as u64;
            requests.fetch_add(1, Ordering::SeqCst);
            prompt.fetch_add(words + 10, Ordering::SeqCst);
            output.fetch_add(body["max_tokens"].as_u64().unwrap(), Ordering::SeqCst);
        }
        model(seen)
    })
}

#[test]
fn three_counts_that_agree_are_no_finding_and_name_the_engine() {
    let report = run(&profile(&counting(|tokens| tokens).url), &options());
    assert_eq!(report.source.warnings, Vec::<String>::new());
    assert_eq!(groups(&report)[0].self_check.as_ref().unwrap().problems, Vec::<String>::new());
    assert_eq!(report.subject.engine.as_deref(), Some("vLLM"));
}

#[test]
fn m7_a_server_whose_counters_do_not_rise_makes_the_run_invalid() {
    let report = run(&profile(&counting(|_| 0).url), &options());
    let problems = &groups(&report)[0].self_check.as_ref().unwrap().problems;
    // 7 streams of 6 tokens.
    assert!(problems[0].contains("42 output tokens") && problems[0].contains("only 0"), "{problems:?}");
}

#[test]
fn the_counters_of_real_engines_agree_with_their_usage() {
    let counters = |engine: &str, when: &str| {
        let text =
            std::fs::read_to_string(crate::replay::data().join(engine).join(format!("metrics-{when}.prom")));
        reconcile::counters(&text.unwrap()).unwrap()
    };
    // Requests, prompt and output tokens, each added up by hand from usage.tsv and what its notes say of two choices.
    for (engine, name, requests, prompt, output) in [
        ("vllm-0.32.0", "vLLM", Some(17.0), 2371.0, 400.0),
        ("llama.cpp-b11549", "llama.cpp", None, 2321.0, 519.0),
        ("llama.cpp-b11549-draft", "llama.cpp", None, 100.0, 388.0),
    ] {
        let ((seen, before), (_, after)) = (counters(engine, "before"), counters(engine, "after"));
        assert_eq!(seen, name);
        let rose = |pick: fn(&Counters) -> Option<f64>| Some(pick(&after)? - pick(&before)?);
        assert_eq!(rose(|c| c.requests), requests, "{engine}");
        assert_eq!(rose(|c| c.prompt_tokens), Some(prompt), "{engine}");
        assert_eq!(rose(|c| c.output_tokens), Some(output), "{engine}");
    }
}
