//! The ways in which people misread these reports: each has its sentence where it can happen, and nowhere else.

use pacegate::model::{Finite, Group, Metric, Statistic};

use crate::reports::{
    self, ALL_FAILED, C32, CHAT, CODE_LIST, DILUTED, EMBEDDED, INVERTED, LEVELS, LOAD, OTHER, RAG_BARE,
    SLOWER, VLLM, VLLM_ALL_FAILED, explain,
};

const SCRIPT_A: &[&str] = &[CHAT, INVERTED, SLOWER, CODE_LIST, RAG_BARE, DILUTED];
const SCRIPT_A_CHAT: &[&str] = &[CHAT, INVERTED, SLOWER, DILUTED];

/// A sentence, or the telling part of one, and every report in which it must stand.
const TRAPS: &[(&str, &[&str])] = &[
    // Script A.
    (
        "The strategy's own time is the DENOMINATOR: above 1 it is faster than the reference strategy, below 1 slower",
        &[CHAT, INVERTED, SLOWER, CODE_LIST, RAG_BARE, DILUTED, EMBEDDED, LOAD],
    ),
    (
        "p99 14209.0 ms / 17761.3 ms = 0.80. 0.80 is below 1: int8_quant is SLOWER than the reference strategy: it takes 1.25 times as long",
        &[SLOWER],
    ),
    (
        "UPSIDE DOWN in the file: it says 0.67 for int8_quant/chat/c8, and that is 9477.3 ms / 14209.0 ms, this strategy / the reference strategy. Numerator and denominator are swapped: right is 1.50, FASTER than the reference strategy",
        &[INVERTED],
    ),
    (
        "tpot.p99: benchmark.py computes P50 and P95 of tpot only. A gap in its design, not a lost value",
        SCRIPT_A,
    ),
    (
        "total_latency, ttft and tpot are three different times in the same unit: never one column without their names",
        SCRIPT_A,
    ),
    ("success_rate: the file counts no failures", SCRIPT_A),
    (
        "  P99 of 300 is the 298th fastest; nothing is interpolated\n",
        &[CHAT, INVERTED, SLOWER, CODE_LIST, RAG_BARE, DILUTED, EMBEDDED, LOAD],
    ),
    ("NumPy, which interpolates, reads p99 5.8 % lower on average at n = 300: up to ", SCRIPT_A),
    (
        "e2e p50 7146.0 ms / 5965.3 ms = 1.20: less than the factor 1.8, because it divides prompt encode and decode only: preprocess stays as it is, congestion multiplies all of it, and random output lengths move the percentiles",
        &[DILUTED],
    ),
    (
        "e2e p50 7146.0 ms / 4769.1 ms = 1.50: as good as the whole factor 1.5, because preprocess, which it does not touch, is a small part of it",
        &[CHAT, INVERTED, SLOWER, DILUTED],
    ),
    (
        "ttft p50 63.33 ms / 46.61 ms = 1.36: less than the factor 1.5, because preprocess, which it does not touch, weighs more in ttft than in e2e",
        &[CHAT, INVERTED, SLOWER, DILUTED],
    ),
    ("congestion multiplies both sides alike, so it does not change the ratio", &[EMBEDDED]),
    ("all strategies meet the same requests and answer with the same number of tokens", &[EMBEDDED]),
    ("it is one decode step shorter than script A's total latency", &[EMBEDDED]),
    ("int8_quant/chat/c8: 300 requests sent, successes not recorded", &[CHAT, INVERTED, SLOWER, DILUTED]),
    ("baseline/chat/c8: 300 of 300 (100.00 %); 148150 tokens in, 75964 tokens out", &[EMBEDDED]),
    ("tokens in and out: not recorded", SCRIPT_A),
    (
        "c8: every time is multiplied by 1 + (8 \u{2212} 1) \u{d7} 0.15 = 2.05 when 8 are in flight: congestion, not the strategy",
        &[CHAT, INVERTED, SLOWER, DILUTED, EMBEDDED],
    ),
    ("c32: every time is multiplied by 1 + (32 \u{2212} 1) \u{d7} 0.15 = 5.65", &[EMBEDDED]),
    ("from c8 to c32 alone makes everything 5.65 / 2.05 = 2.76 times as slow", &[EMBEDDED]),
    (
        "the file does not record it. The default run has up to 8 in flight, which multiplies every time by 1 + (8 \u{2212} 1) \u{d7} 0.15 = 2.05; at 32 it is 5.65",
        &[CODE_LIST, RAG_BARE],
    ),
    (
        "low ttft, and a tail that the few long prompts make",
        &[CHAT, INVERTED, SLOWER, DILUTED, EMBEDDED, LOAD],
    ),
    ("a prefix cache gains most here, because many requests share a long prefix", &[EMBEDDED, LOAD]),
    ("a strategy that helps in one traffic model and not in another is usually right", &[EMBEDDED, LOAD]),
    ("the file does not record its traffic model", &[CODE_LIST, RAG_BARE]),
    // Script B.
    ("the first streamed chunk OF ANY KIND", &[LEVELS, C32]),
    ("the gaps between content deltas. Everyone else calls that ITL; it is not their TPOT", &[LEVELS, C32]),
    ("P50 of 60 is the mean of the 30th and the 31st fastest (Python's statistics.median)", &[LEVELS]),
    ("P50 of 53 is the 27th fastest; nothing is interpolated", &[C32]),
    ("P95 of 60 is the 58th fastest; nothing is interpolated", &[LEVELS]),
    ("p50 and p95 of this script follow two different rules: the median, and a floor rank", &[LEVELS, C32]),
    (
        "c32: the zeros of its 7 failed requests are in no percentile; every latency is of the 53 that succeeded",
        &[C32],
    ),
    ("0 ms is not fast, it is absent", &[ALL_FAILED, VLLM_ALL_FAILED]),
    (
        "the provider should have counted about (60 prompts + 2 warm-up) \u{d7} 3 levels = 186 requests under the model id model-a",
        &[LEVELS],
    ),
    ("No usage at all means that nothing real was called", &[LEVELS, C32, ALL_FAILED]),
    ("warm-up requests are in none of the numbers", &[LEVELS, C32, ALL_FAILED]),
    ("Not the server's throughput: requests in flight side by side are not added up", &[LEVELS, C32]),
    ("success_rate and errors first, then p95: the tail tells more than p50", &[LEVELS, C32, ALL_FAILED]),
    ("one run can't tell a blip from a trend", &[LEVELS, C32, ALL_FAILED]),
    (
        "429 (too many requests), usually: too many requests in flight, or the quota is spent",
        &[C32, ALL_FAILED, LOAD],
    ),
    (
        "requests in flight are bounded on this side only: the server may queue, or answer 429",
        &[LEVELS, C32, ALL_FAILED, VLLM, VLLM_ALL_FAILED, OTHER, LOAD],
    ),
    // vLLM.
    ("p50 is what the file calls median: it has median_ttft_ms, and no p50_ttft_ms unless asked", &[VLLM]),
    (
        "P50 of 120 lies 50 % of the way from the 60th to the 61st fastest: interpolated (NumPy's default)",
        &[VLLM],
    ),
    ("--metric-percentiles 50,90,95,99", &[VLLM]),
    ("--save-result --save-detailed", &[VLLM]),
    ("near 0 where chunks arrive together, so not tpot", &[VLLM]),
    // Any other.
    ("how P99 of 120 is picked, the source does not say: compare it with nothing", &[OTHER]),
    ("by this tool's definition: its-own-word. As pacegate itself measures it: ", &[OTHER]),
    ("SIMULATED: no model was measured", &[EMBEDDED]),
];

#[test]
fn every_trap_has_its_sentence_where_it_applies_and_nowhere_else() {
    let texts: Vec<(&str, String)> =
        reports::all().into_iter().map(|(name, report)| (name, explain(&report, None).unwrap())).collect();
    for (sentence, applies) in TRAPS {
        for (name, text) in &texts {
            assert_eq!(
                text.contains(sentence),
                applies.contains(name),
                "{name} should {}have: {sentence}\n{text}",
                if applies.contains(name) { "" } else { "not " }
            );
        }
    }
}

#[test]
fn a_ratio_below_one_is_never_called_so_many_times_faster() {
    let wrong = regex::Regex::new(r"\b0\.\d+x? (times|\u{d7}) (as )?fast").unwrap();
    for (name, report) in reports::all() {
        let text = explain(&report, None).unwrap();
        assert!(!wrong.is_match(&text), "{name}:\n{text}");
    }
}

#[test]
fn what_a_strategy_shows_is_explained_from_where_the_time_went() {
    let report = reports::embedded();
    let [reference, quantised] = [0, 1].map(|at| &report.jobs[0].rounds[0].groups[at]);
    let value = |group: &Group, metric, statistic| group.metrics[&metric].stats[&statistic].get();
    let [mean, quantised_mean] = [reference, quantised].map(|g| value(g, Metric::E2E, Statistic::Mean));
    let [first, quantised_first] = [reference, quantised].map(|g| value(g, Metric::TTFT, Statistic::P50));
    let fixed = reference.shares["preprocess"].get();
    let preprocess = fixed * mean;
    // Congestion at most doubles 6 ms a little more than twice; the share of ttft follows from it.
    assert!(preprocess > 6.0 && preprocess < 6.0 * 2.1, "{preprocess}");
    let text = explain(&report, Some("int8_quant/chat/c8:speedup_vs_baseline")).unwrap();
    let whole = format!(
        "e2e mean {mean:.1} ms / {quantised_mean:.1} ms = 1.50: as good as the whole factor 1.5, because preprocess, which it does not touch, is only {:.1} % of it",
        fixed * 100.0
    );
    let share = preprocess / first;
    let part = format!(
        "ttft p50 {first:.2} ms / {quantised_first:.2} ms = {:.2}: less than the factor 1.5, because preprocess ({preprocess:.2} ms on average), which it does not touch, is {:.0} % of the reference strategy's, and 1 / ({share:.2} + {:.2} / 1.5) is about {:.2}",
        first / quantised_first,
        share * 100.0,
        1.0 - share,
        1.0 / (share + (1.0 - share) / 1.5)
    );
    for expected in [whole, part] {
        assert!(text.contains(&expected), "{expected}\n{text}");
    }
}

#[test]
fn a_stage_that_the_profile_slows_is_named_and_preprocess_not_blamed() {
    let mut report = reports::embedded();
    report.subject.parameters.insert("strategies.int8_quant.decode_times".to_owned(), "1.2".to_owned());
    for value in report.jobs[0].rounds[0].groups[1].metrics.get_mut(&Metric::E2E).unwrap().stats.values_mut()
    {
        *value = Finite::new(value.get() * 1.2).unwrap();
    }
    let text = explain(&report, Some("int8_quant/chat/c8:speedup_vs_baseline")).unwrap();
    assert!(
        text.contains("beside the factor 1.5 this run changes stages of int8_quant: decode_times 1.2"),
        "{text}"
    );
    assert!(
        text.contains("= 1.25: less than the factor 1.5, because of the stages that this run changes"),
        "{text}"
    );
    assert!(!text.contains("because preprocess"), "{text}");
}

#[test]
fn a_chat_file_of_script_a_has_no_word_of_the_other_script() {
    for name in SCRIPT_A_CHAT {
        let text = explain(&reports::named(name), None).unwrap();
        for word in ["usage check", "ITL", "warm-up", "vllm"] {
            assert!(!text.contains(word), "{name} says {word}");
        }
    }
}
