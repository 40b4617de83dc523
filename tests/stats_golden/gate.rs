use super::compare::{Case, floats, whole};
use pacegate::stats::constants::Rule;
use pacegate::stats::evidence::{
    Class, Decision, Evidence, Field, FieldWord, JobRow, Outcome, Tier, judge, limit_of_decrease,
    limit_of_increase, look, over_limit,
};
use serde_json::Value;

pub fn class(name: &str) -> Class {
    match name {
        "ttft" => Class::Ttft,
        "tpot" => Class::Tpot,
        "itl" => Class::Itl,
        "e2e" => Class::E2e,
        "throughput" => Class::Throughput,
        other => panic!("unknown class {other}"),
    }
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Ttft => "ttft",
        Class::Tpot => "tpot",
        Class::Itl => "itl",
        Class::E2e => "e2e",
        Class::Throughput => "throughput",
    }
}

fn limit(limit: &Value) -> f64 {
    match (limit.get("max_increase"), limit.get("max_decrease")) {
        (Some(share), None) => limit_of_increase(share.as_f64().unwrap()).unwrap(),
        (None, Some(share)) => limit_of_decrease(share.as_f64().unwrap()).unwrap(),
        _ => panic!("limit {limit}"),
    }
}

fn fields(input: &Value) -> Vec<Field> {
    let field = |(f, name): (usize, &Value)| Field {
        class: class(name.as_str().unwrap()),
        group: whole(&input["groups"][f]),
        log_limit: match input.get("limits") {
            Some(limits) => limit(&limits[f]),
            None => input["ln_limits"][f].as_f64().unwrap(),
        },
        floor: input["floors"].get(f).and_then(Value::as_f64).unwrap_or(0.0),
        gated: input["gated"].get(f).and_then(Value::as_bool).unwrap_or(true),
        summary: match &input["summaries"] {
            Value::Array(per_field) => per_field[f].as_bool().unwrap(),
            all => all.as_bool().unwrap_or(false),
        },
    };
    input["classes"].as_array().unwrap().iter().enumerate().map(field).collect()
}

fn rows(x: &Value, w: &Value) -> Vec<JobRow> {
    let row = |(x, w): (&Value, &Value)| JobRow { x: floats(x), w: floats(w) };
    x.as_array().unwrap().iter().zip(w.as_array().unwrap()).map(row).collect()
}

pub fn gate(case: &Case) {
    let input = &case.input;
    let fields = fields(input);
    let rule = Rule::STANDARD;
    let outcome = if input["tier"] == "duet" {
        let pairs = rows(&input["ln_ratio_rounds"], &input["w_rounds"]);
        let baseline = floats(&input["base_ln_mean"]);
        judge(&rule, &fields, &Evidence::Pairs { pairs: &pairs, baseline: &baseline }, 1.0)
    } else {
        let baseline = rows(&input["base_ln"], &input["base_w"]);
        let candidate = rows(&input["cand_ln"], &input["cand_w"]);
        let fewest_rounds = whole(&input["rounds"]);
        let evidence = Evidence::Jobs { baseline: &baseline, candidate: &candidate, fewest_rounds };
        judge(&rule, &fields, &evidence, 1.0)
    };
    compare(case, &fields, &outcome.unwrap());
}

/// Compares everything that a vector says about a gate.
pub fn compare(case: &Case, fields: &[Field], found: &Outcome) {
    let expected = &case.expected;
    let tier = match found.tier {
        Tier::Single => "single",
        Tier::Replicated => "replicated",
        Tier::Duet => "duet",
    };
    case.same("tier", &expected["tier"], tier);
    let run = &expected["run"];
    case.number("run ratio", &run["ratio"], found.run.estimate.exp());
    case.number("run se", &run["se"], found.run.se);
    case.number("run p", &run["p"], found.run.p);
    case.same("run over", &run["over_limit"], found.run_over_limits);
    case.same("run regressed", &run["regressed"], found.run.regressed);
    case.optional("run mde", &run["mde"], found.run.smallest_found);
    case.same("reference", &expected["reference"], class_name(found.reference));
    compare_classes(case, found);
    case.number("kappa", &expected["kappa"], found.kappa);
    compare_fields(case, fields, found);
    case.same("over_count", &expected["over_count"], found.over_count);
    case.number("over_expected", &expected["over_expected"], found.over_expected);
    let warned: Vec<usize> = (0..fields.len()).filter(|f| found.fields[*f].warned).collect();
    case.same("warn_fields", &expected["warn_fields"], warned);
    case.same("gate", &expected["gate"], if found.failed { "fail" } else { "ok" });
}

fn compare_classes(case: &Case, found: &Outcome) {
    let expected = case.expected["classes"].as_object().unwrap();
    let tested: Vec<_> =
        found.classes.iter().filter_map(|class| class.test.map(|test| (class, test))).collect();
    assert_eq!(tested.len(), expected.len(), "{}: tested classes", case.id);
    for (class, test) in tested {
        let name = class_name(class.class);
        let expected = &expected[name];
        case.number(name, &expected["ln_vs_reference"], test.estimate);
        case.number(name, &expected["se"], test.se);
        case.number(name, &expected["p"], test.p);
        case.number(name, &expected["p_holm"], test.p_adjusted);
        case.same(name, &expected["over_limit"], class.over_limits);
        case.same(name, &expected["regressed"], test.regressed);
        case.optional(name, &expected["mde"], test.smallest_found);
    }
}

fn compare_fields(case: &Case, fields: &[Field], found: &Outcome) {
    let expected = case.expected["fields"].as_array().unwrap();
    assert_eq!(expected.len(), found.fields.len(), "{}: fields", case.id);
    for (f, (expected, found)) in expected.iter().zip(&found.fields).enumerate() {
        let word = found.word.map(|word| match word {
            FieldWord::Regressed => "regressed",
            FieldWord::Improved => "improved",
            FieldWord::Unresolved => "unresolved",
            FieldWord::Unchanged => "unchanged",
        });
        let what = format!("field {f}");
        case.same(&what, &expected["verdict"], word);
        case.number(&what, &expected["ratio"], found.ratio);
        case.number(&what, &expected["ln_residual"], found.test.estimate);
        case.number(&what, &expected["se"], found.test.se);
        case.number(&what, &expected["p"], found.test.p);
        // A companion is never judged: its adjusted p means nothing.
        if fields[f].gated {
            case.number(&what, &expected["p_holm"], found.test.p_adjusted);
        }
        case.same(&what, &expected["over_limit"], found.over_limit);
        case.optional(&what, &expected["mde"], found.test.smallest_found);
        case.number(&what, &expected["ln_limit"], fields[f].log_limit);
        let (lower, upper) = found.interval;
        assert!(lower < found.ratio && found.ratio < upper, "{}: {what}: interval", case.id);
    }
}

pub fn boundary(case: &Case) {
    let over: Vec<bool> = case.input["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let class = if row[2].get("max_decrease").is_some() { Class::Throughput } else { Class::Ttft };
            let field = Field {
                class,
                group: 0,
                log_limit: limit(&row[2]),
                floor: row[3].as_f64().unwrap(),
                gated: true,
                summary: false,
            };
            let log = |i: usize| class.sign() * row[i].as_f64().unwrap().ln();
            over_limit(&field, log(0), log(1) - log(0))
        })
        .collect();
    case.same("over", &case.expected["over"], over);
}

/// A duet that grows pair by pair: looked at only at the planned numbers, until a look decides.
pub fn adaptive(case: &Case) {
    let input = &case.input;
    let fields = fields(input);
    let all = rows(&input["ln_ratio_rounds"], &input["w_rounds"]);
    let level = vec![0.0; fields.len()];
    let mut looks = Vec::new();
    for count in 1..=all.len() {
        let Some(taken) = look(&Rule::STANDARD, &fields, &all[..count], &level).unwrap() else {
            continue;
        };
        assert_eq!(taken.pairs, count, "{}", case.id);
        let stop = !matches!(taken.decision, Decision::Next(_));
        looks.push(taken);
        if stop {
            break;
        }
    }
    let expected = case.expected["looks"].as_array().unwrap();
    assert_eq!(looks.len(), expected.len(), "{}: looks", case.id);
    for (n, (expected, found)) in expected.iter().zip(&looks).enumerate() {
        case.same("m", &expected["m"], found.pairs);
        case.number("alpha_scale", &expected["alpha_scale"], found.alpha_scale);
        case.number("p_run", &expected["p_run"], found.outcome.run.p);
        case.optional("min_p_class", &expected["min_p_class"], found.smallest_class_p);
        case.number("min_p_field", &expected["min_p_field"], found.smallest_field_p);
        let decision = match found.decision {
            Decision::Fail => "fail",
            Decision::Clear => "clear",
            Decision::End => "end",
            Decision::Next(next) => {
                assert_eq!(looks[n + 1].pairs, next, "{}: next look", case.id);
                "next"
            }
        };
        case.same("decision", &expected["decision"], decision);
    }
}
