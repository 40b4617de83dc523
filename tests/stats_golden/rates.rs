use super::compare::{Case, floats, whole};
use pacegate::stats::constants::{SUCCESS_MARGIN, SpeedupRule, SuccessRule};
use pacegate::stats::proportion::{self, Counts, equal_shares_z, newcombe};
use pacegate::stats::speedup::{Lead, Legs, SpeedupPair, SpeedupWord, judge_speedups};
use pacegate::stats::success::{RateCause, RateGroup, RateLimit, RateTest, RateVerdict, judge_success};
use pacegate::stats::tail::Tail;
use serde_json::Value;

pub fn constants() -> Vec<(&'static str, f64)> {
    let (success, speedup) = (SuccessRule::STANDARD, SpeedupRule::STANDARD);
    vec![
        ("success_rho", success.correlation),
        ("success_alpha", success.alpha),
        ("success_margin", SUCCESS_MARGIN),
        ("big_drop", success.large_drop),
        ("big_base", success.clean_baseline),
        ("big_alpha", success.large_alpha),
        ("speedup_z", speedup.decided_at),
        ("tau_leg", speedup.leg),
    ]
}

pub fn wilson(case: &Case) {
    let counts = Counts::new(whole(&case.input["successes"]), whole(&case.input["n"])).unwrap();
    let (lower, upper) = proportion::wilson(counts, case.input["conf"].as_f64().unwrap()).unwrap();
    case.number("lower", &case.expected["lower"], lower);
    case.number("upper", &case.expected["upper"], upper);
}

/// The margin-0 score statistic is the one that the gate uses; the other margins and Fisher's test are not offered.
pub fn proportion_difference(case: &Case) {
    let counts = |k: &str, n: &str| Counts::new(whole(&case.input[k]), whole(&case.input[n])).unwrap();
    let (candidate, baseline) = (counts("cand_successes", "cand_n"), counts("base_successes", "base_n"));
    let (lower, upper) = newcombe(candidate, baseline, case.input["conf"].as_f64().unwrap()).unwrap();
    case.number("newcombe lower", &case.expected["newcombe_lower"], lower);
    case.number("newcombe upper", &case.expected["newcombe_upper"], upper);
    let z = equal_shares_z(candidate, baseline);
    case.number("z", &case.expected["mn_z0"], z);
    case.number("p", &case.expected["mn_p0"], Tail::Normal.upper(-z).unwrap());
}

pub fn overdispersion(case: &Case) {
    let failures = |job: &Value| Counts::new(whole(&job[1]) - whole(&job[0]), whole(&job[1])).unwrap();
    let sides: Vec<Vec<Counts>> = case.input["groups"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| [&group["base"], &group["cand"]])
        .map(|side| side.as_array().unwrap().iter().map(failures).collect())
        .collect();
    let sides: Vec<&[Counts]> = sides.iter().map(Vec::as_slice).collect();
    case.number("phi", &case.expected["phi"], proportion::overdispersion(&sides).unwrap());
}

pub fn success(case: &Case) {
    let jobs = |side: &Value| -> Vec<Counts> {
        let job = |job: &Value| Counts::new(whole(&job[0]), whole(&job[1])).unwrap();
        side.as_array().unwrap().iter().map(job).collect()
    };
    let limit = RateLimit { max_decrease: SUCCESS_MARGIN, min: case.input["min"].as_f64() };
    let sides: Vec<(Vec<Counts>, Vec<Counts>)> = case.input["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (jobs(&group["base"]), jobs(&group["cand"])))
        .collect();
    let groups: Vec<RateGroup> =
        sides.iter().map(|(baseline, candidate)| RateGroup { baseline, candidate, limit }).collect();
    let found = judge_success(&SuccessRule::STANDARD, &groups, limit).unwrap();
    let tests: Vec<&RateTest> = found.groups.iter().chain(&found.together).collect();
    let expected = case.expected["tests"].as_array().unwrap();
    assert_eq!(tests.len(), expected.len(), "{}: tests", case.id);
    for (expected, test) in expected.iter().zip(tests) {
        compare_rate(case, expected, test);
    }
    case.same("gate", &case.expected["gate"], if found.failed { "fail" } else { "ok" });
}

fn compare_rate(case: &Case, expected: &Value, found: &RateTest) {
    case.number("z", &expected["z"], found.z);
    case.number("p", &expected["p"], found.p);
    case.number("p_holm", &expected["p_holm"], found.p_adjusted);
    case.number("phi", &expected["phi"], found.overdispersion);
    case.number("base", &expected["base"], found.baseline);
    case.number("drop", &expected["drop"], found.drop);
    let verdict = match found.verdict {
        RateVerdict::Regressed(_) => "regressed",
        RateVerdict::Unresolved => "unresolved",
        RateVerdict::Unchanged => "unchanged",
    };
    case.same("verdict", &expected["verdict"], verdict);
    case.same("zero", &expected["zero"], found.verdict == RateVerdict::Regressed(RateCause::NoSuccess));
    case.same("below", &expected["below"], found.verdict == RateVerdict::Regressed(RateCause::BelowMinimum));
    assert!(found.interval.0 <= found.drop && found.drop <= found.interval.1, "{}: interval", case.id);
}

pub fn speedup(case: &Case) {
    case.same("family", &case.input["tests_in_family"], 1);
    let input = |name: &str| floats(&case.input[name]);
    let (base_log, base_w) = (input("base_ln_speedup"), input("base_w"));
    let (cand_log, cand_w) = (input("cand_ln_speedup"), input("cand_w"));
    let pair = SpeedupPair {
        baseline: Legs { logs: &base_log, variances: &base_w },
        candidate: Legs { logs: &cand_log, variances: &cand_w },
        log_limit: -(-case.input["max_decrease"].as_f64().unwrap()).ln_1p(),
        summary_of_one_job: false,
    };
    let found = judge_speedups(&SpeedupRule::STANDARD, &[pair]).unwrap()[0];
    let lead = |lead: Lead| match lead {
        Lead::Faster => "faster",
        Lead::Slower => "slower",
        Lead::Undetermined => "undetermined",
    };
    case.same("base_state", &case.expected["base_state"], lead(found.baseline.lead));
    case.same("cand_state", &case.expected["cand_state"], lead(found.candidate.lead));
    for (name, side) in [("base_interval", found.baseline), ("cand_interval", found.candidate)] {
        case.numbers(name, &case.expected[name], &[side.interval.0, side.interval.1]);
        assert!(side.interval.0 < side.ratio() && side.ratio() < side.interval.1, "{}", case.id);
    }
    case.optional("p", &case.expected["p"], found.p);
    assert_eq!(found.p_adjusted, found.p, "{}: one test in the family", case.id);
    case.same("over_limit", &case.expected["over_limit"], found.over_limit);
    let word = match found.word {
        SpeedupWord::Reversed => "reversed",
        SpeedupWord::Regressed => "regressed",
        SpeedupWord::Unresolved => "unresolved",
        SpeedupWord::Unchanged => "unchanged",
    };
    case.same("verdict", &case.expected["verdict"], word);
}
