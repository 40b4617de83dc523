use super::compare::{Case, floats, whole};
use pacegate::stats::constants::TrendRule;
use pacegate::stats::trend::{self, best_split, in_a_row};
use std::collections::BTreeSet;

pub fn history(case: &Case) {
    let jobs: Vec<BTreeSet<&str>> = case.input["hot_channels_oldest_first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job.as_array().unwrap().iter().map(|channel| channel.as_str().unwrap()).collect())
        .collect();
    let found: Vec<&str> = in_a_row(&jobs).into_iter().collect();
    case.same("fails_now", &case.expected["fails_now"], found);
}

pub fn change_points(case: &Case) {
    let series = floats(&case.input["ln_series"]);
    let rule = TrendRule {
        p_max: case.input["p_max"].as_f64().unwrap(),
        segment: whole(&case.input["min_segment"]),
        change: case.input["min_abs_ln_change"].as_f64().unwrap(),
    };
    let found = trend::change_points(&rule, &series).unwrap();
    let expected = case.expected["change_points"].as_array().unwrap();
    assert_eq!(expected.len(), found.len(), "{}: change points", case.id);
    for (expected, found) in expected.iter().zip(found) {
        case.same("index", &expected["index"], found.index);
        case.number("p", &expected["p"], found.p);
        case.number("ln_change", &expected["ln_change"], found.change);
    }
    let split = best_split(&series, rule.segment);
    if let Some(index) = case.expected.get("best_split") {
        case.same("best_split", index, split.map(|split| split.index));
        let energy = split.map_or(0.0, |split| split.energy);
        case.number("q_at_best", &case.expected["q_at_best"], energy);
    } else {
        assert_eq!(split, None, "{}: best split", case.id);
    }
}
