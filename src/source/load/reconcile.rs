//! Whether three counts agree: the client's own, the server's `usage`, and the server's `/metrics` before and after.

use std::collections::BTreeMap;

/// What an engine counts since it started. `None`: it has no such counter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Requests that ended well.
    pub requests: Option<f64>,
    /// Prompt tokens, those from a cache included.
    pub prompt_tokens: Option<f64>,
    /// Output tokens.
    pub output_tokens: Option<f64>,
}

/// The client's side: everything that it sent to one server, warm-up and probes included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Requests.
    pub requests: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Prompt tokens by `usage`; `None` where any success lacks it.
    pub prompt_tokens: Option<u64>,
    /// Output tokens by `usage`; `None` where any success lacks it.
    pub output_tokens: Option<u64>,
}

/// The names of one engine's counters. Each count is the sum of its counters over their labels.
struct Names {
    engine: &'static str,
    prefix: &'static str,
    requests: &'static [&'static str],
    prompt_tokens: &'static [&'static str],
    output_tokens: &'static [&'static str],
}

const ENGINES: [Names; 4] = [
    Names {
        engine: "vLLM",
        prefix: "vllm:",
        requests: &["vllm:request_success_total"],
        prompt_tokens: &["vllm:prompt_tokens_total"],
        output_tokens: &["vllm:generation_tokens_total"],
    },
    Names {
        engine: "llama.cpp",
        prefix: "llamacpp:",
        requests: &[],
        // A cached prompt token is not in the first of them.
        prompt_tokens: &["llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"],
        output_tokens: &["llamacpp:tokens_predicted_total"],
    },
    Names {
        engine: "SGLang",
        prefix: "sglang:",
        requests: &["sglang:num_requests_total"],
        prompt_tokens: &["sglang:prompt_tokens_total"],
        output_tokens: &["sglang:generation_tokens_total"],
    },
    Names {
        engine: "TGI",
        prefix: "tgi_",
        requests: &["tgi_request_success"],
        prompt_tokens: &["tgi_request_input_length_sum"],
        output_tokens: &["tgi_request_generated_tokens_sum"],
    },
];

/// Reads an engine's name and counters from the Prometheus text; `None` where no known engine wrote it.
#[must_use]
pub fn counters(text: &str) -> Option<(&'static str, Counters)> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        // A label's value may hold spaces: the number follows the last brace.
        let after = line.rsplit_once('}').map_or_else(|| &line[name.len()..], |(_, after)| after);
        let number = after.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
        if let Some(number) = number.filter(|number| number.is_finite()) {
            *sums.entry(name).or_default() += number;
        }
    }
    let sum = |names: &[&str]| {
        let found: Vec<f64> = names.iter().filter_map(|name| sums.get(name).copied()).collect();
        (!found.is_empty()).then(|| found.iter().sum())
    };
    let names = ENGINES.iter().find(|names| sums.keys().any(|name| name.starts_with(names.prefix)))?;
    let counters = Counters {
        requests: sum(names.requests),
        prompt_tokens: sum(names.prompt_tokens),
        output_tokens: sum(names.output_tokens),
    };
    Some((names.engine, counters))
}

/// What the three counts say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Why the run can't be trusted.
    pub problems: Vec<String>,
}

/// Counters may differ by so much, relatively, and still agree.
const NEAR: f64 = 0.01;

/// Holds the client's counts against the server's. `before` and `after` are `None` where `/metrics` could not be read.
#[must_use]
pub fn reconcile(server: &str, sent: Sent, before: Option<Counters>, after: Option<Counters>) -> Findings {
    let mut findings = Findings::default();
    let (Some(before), Some(after)) = (before, after) else {
        if sent.output_tokens.is_none() && sent.succeeded > 0 {
            findings.warnings.push(format!(
                "{server}: nothing shows that a model was called: its replies have no usage and it has no counters that \
                 could be read; check that this is the endpoint you mean"
            ));
        }
        return findings;
    };
    let rose = |pick: fn(&Counters) -> Option<f64>| Some(pick(&after)? - pick(&before)?);
    let rows = [
        ("requests that succeeded", Some(sent.succeeded), rose(|c| c.requests)),
        ("prompt tokens", sent.prompt_tokens, rose(|c| c.prompt_tokens)),
        ("output tokens", sent.output_tokens, rose(|c| c.output_tokens)),
    ];
    for (what, ours, theirs) in rows {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
        let ours = ours as f64;
        if theirs < 0.0 {
            let text = format!("{server}: its counter of {what} fell, so it was restarted during the run");
            findings.problems.push(text);
        } else if theirs < ours - (ours * NEAR).max(1.0) {
            findings.problems.push(format!(
                "{server}: {ours} {what} by the replies, but its own counter rose by only {theirs}: something else answered, \
                 or the replies claim too much"
            ));
        } else if theirs > ours + (ours * NEAR).max(1.0) && sent.succeeded == sent.requests {
            findings.warnings.push(format!(
                "{server}: its counter of {what} rose by {theirs}, this run had {ours}: somebody else used it meanwhile"
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_summed_and_comments_are_no_numbers() {
        let text = "# HELP vllm:request_success_total x 9\nvllm:request_success_total{a=\"b } c\",d=\"e\"} 6.0\nvllm:request_success_total{a=\"x\"} 11.0 1700000000\nvllm:request_success_created{a=\"x\"} 1.79e+09\n";
        assert_eq!(counters(text).unwrap().1.requests, Some(17.0));
        assert_eq!(counters("http_requests_total 7\n"), None);
        assert_eq!(counters("<html>"), None);
    }

    fn sent() -> Sent {
        Sent { requests: 21, succeeded: 21, prompt_tokens: Some(2100), output_tokens: Some(420) }
    }

    fn at(requests: f64, prompt: f64, output: f64) -> Option<Counters> {
        Some(Counters { requests: Some(requests), prompt_tokens: Some(prompt), output_tokens: Some(output) })
    }

    #[test]
    fn counts_that_add_up_are_no_finding() {
        let found = reconcile("h", sent(), at(5.0, 100.0, 7.0), at(26.0, 2200.0, 427.0));
        assert_eq!(found, Findings::default());
    }

    #[test]
    fn a_server_that_counts_less_than_its_replies_claim_makes_the_run_invalid() {
        let found = reconcile("h", sent(), at(0.0, 0.0, 0.0), at(21.0, 2100.0, 0.0));
        assert_eq!(found.problems.len(), 1);
        assert!(
            found.problems[0].contains("420 output tokens") && found.problems[0].contains("only 0"),
            "{found:?}"
        );
    }

    #[test]
    fn a_restart_and_foreign_traffic_are_said() {
        let restarted = reconcile("h", sent(), at(100.0, 2.0, 3.0), at(21.0, 2102.0, 423.0));
        assert!(restarted.problems[0].contains("restarted"), "{restarted:?}");
        let shared = reconcile("h", sent(), at(0.0, 0.0, 0.0), at(42.0, 4200.0, 840.0));
        assert!(shared.problems.is_empty() && shared.warnings.len() == 3, "{shared:?}");
        // What failed here may still have cost tokens there.
        let failed = Sent { requests: 40, ..sent() };
        assert_eq!(reconcile("h", failed, at(0.0, 0.0, 0.0), at(21.0, 3000.0, 500.0)), Findings::default());
    }

    #[test]
    fn without_usage_and_counters_nothing_shows_that_a_model_was_called() {
        let silent = Sent { prompt_tokens: None, output_tokens: None, ..sent() };
        let found = reconcile("h", silent, None, None);
        assert!(found.warnings[0].contains("nothing shows that a model was called"), "{found:?}");
        assert_eq!(reconcile("h", sent(), None, None), Findings::default());
    }
}
