//! The ways in which people misread these reports: each has its sentence where it can happen, and nowhere else.

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
        "why 1.20 and not the factor 1.8 of speculative_decode: the factor divides prompt encode and decode only; preprocess stays as it is, congestion multiplies all of it, and random output lengths move the percentiles",
        &[DILUTED],
    ),
    ("so the mean can show no more than 1 / (", &[EMBEDDED]),
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
    ("by this tool's definition: its-own-word. In general: ", &[OTHER]),
    ("SIMULATED: no endpoint was measured", &[EMBEDDED]),
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
fn what_a_strategy_can_show_is_computed_from_where_the_time_went() {
    let report = reports::embedded();
    let reference = &report.jobs[0].rounds[0].groups[0];
    let fixed = reference.shares["preprocess"].get();
    let text = explain(&report, Some("int8_quant/chat/c8:speedup_vs_baseline")).unwrap();
    let expected = format!(
        "preprocess is {:.1} % of the reference strategy's time and stays, so the mean can show no more than 1 / ({fixed:.3} + {:.3} / 1.5) = {:.2}",
        fixed * 100.0,
        1.0 - fixed,
        1.0 / (fixed + (1.0 - fixed) / 1.5)
    );
    assert!(text.contains(&expected), "{expected}\n{text}");
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
