use super::compare::{Case, floats};
use super::gate;
use pacegate::stats::constants::Rule;
use pacegate::stats::evidence::{
    Class, Evidence, Field, JobRow, judge, limit_of_decrease, limit_of_increase,
};
use pacegate::stats::percentile::{Definition, Sorted, too_few};
use pacegate::stats::sampling::{
    JobValue, percentile_inflation, percentile_variance, round_inflation, throughput_inflation,
    throughput_variance,
};
use serde_json::{Value, json};

/// A field of the family, in the order in which it was taken in.
struct Member {
    metric: String,
    percentile: Option<f64>,
    gated: bool,
}

impl Member {
    fn id(&self) -> String {
        match self.percentile {
            Some(p) => format!("{}.p{p}", self.metric),
            None => self.metric.clone(),
        }
    }

    fn class(&self) -> Class {
        if self.percentile.is_some() { gate::class(&self.metric) } else { Class::Throughput }
    }

    /// Value and sampling variance in one round.
    fn measure(&self, round: &Value) -> (f64, f64) {
        let Some(p) = self.percentile else {
            let e2e = floats(&round["e2e"]);
            let inflation = throughput_inflation(&e2e).unwrap();
            let variance = throughput_variance(&Sorted::new(e2e).unwrap(), inflation).unwrap();
            return (round[&self.metric].as_f64().unwrap(), variance);
        };
        let arrivals = floats(&round[&self.metric]);
        let inflation = percentile_inflation(&arrivals, p).unwrap();
        let sorted = Sorted::new(arrivals).unwrap();
        let value = sorted.percentile(p, Definition::FloorRank).unwrap();
        (value, percentile_variance(&sorted, p, inflation).unwrap())
    }
}

fn rounds<'a>(case: &'a Case, side: &str) -> Vec<&'a Vec<Value>> {
    case.input[side].as_array().unwrap().iter().map(|job| job.as_array().unwrap()).collect()
}

/// Stand-ins and companions of one group by hand: a percentile with too few samples is replaced by its P50, another
/// one brings an ungated P50 along when that is not gated itself.
fn family(case: &Case) -> (Vec<Member>, Vec<String>) {
    let gated: Vec<&str> =
        case.input["gated"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let smallest = |side: &str, metric: &str| {
        let all = rounds(case, side);
        all.into_iter().flatten().map(|round| round[metric].as_array().unwrap().len()).min().unwrap()
    };
    let (mut members, mut dropped): (Vec<Member>, Vec<String>) = (Vec::new(), Vec::new());
    for id in &gated {
        let Some((metric, p)) = id.split_once(".p") else {
            members.push(Member { metric: (*id).to_owned(), percentile: None, gated: true });
            continue;
        };
        let p: f64 = p.parse().unwrap();
        let few = too_few(p, smallest("baseline_jobs", metric), smallest("candidate_jobs", metric)).unwrap();
        let median = format!("{metric}.p50");
        if p != 50.0 && !gated.contains(&median.as_str()) {
            let stands_in = few.is_some();
            members.push(Member { metric: metric.to_owned(), percentile: Some(50.0), gated: stands_in });
        }
        if few.is_some() {
            dropped.push((*id).to_owned());
        } else {
            members.push(Member { metric: metric.to_owned(), percentile: Some(p), gated: true });
        }
    }
    (members, dropped)
}

pub fn end_to_end(case: &Case) {
    let (members, dropped) = family(case);
    let found: Vec<Value> = members.iter().map(|m| json!({"field": m.id(), "gated": m.gated})).collect();
    case.same("family", &case.expected["family"], found);
    case.same("too_few", &case.expected["too_few"], dropped);

    let share = case.input["limit"].as_f64().unwrap();
    let fields: Vec<Field> = members
        .iter()
        .map(|member| Field {
            class: member.class(),
            group: 0,
            log_limit: match member.class() {
                Class::Throughput => limit_of_decrease(share).unwrap(),
                _ => limit_of_increase(share).unwrap(),
            },
            floor: 0.0,
            gated: member.gated,
            summary: false,
        })
        .collect();
    let baseline = rounds(case, "baseline_jobs");
    let candidate = rounds(case, "candidate_jobs");
    for (j, job) in baseline.iter().chain(&candidate).enumerate() {
        for (r, round) in job.iter().enumerate() {
            compare_round(case, &members, round, j, r);
        }
    }
    if case.input["tier"] == "duet" {
        duet(case, &members, &fields, baseline[0], candidate[0]);
    } else {
        jobs(case, &members, &fields, &baseline, &candidate);
    }
}

fn compare_round(case: &Case, members: &[Member], round: &Value, j: usize, r: usize) {
    for (f, member) in members.iter().enumerate() {
        let (value, w) = member.measure(round);
        case.number("value", &case.expected["values"][j][r][member.id()], value);
        case.number("round w", &case.expected["round_w"][j][r][f], w);
    }
}

fn log(member: &Member, round: &Value) -> (f64, f64) {
    let (value, w) = member.measure(round);
    (member.class().sign() * value.ln(), w)
}

fn duet(case: &Case, members: &[Member], fields: &[Field], baseline: &[Value], candidate: &[Value]) {
    let pair = |(b, c): (&Value, &Value)| {
        let both = |member: &Member| (log(member, b), log(member, c));
        let (x, w) = members.iter().map(both).map(|((b, wb), (c, wc))| (c - b, wb + wc)).unzip();
        JobRow { x, w }
    };
    let pairs: Vec<JobRow> = baseline.iter().zip(candidate).map(pair).collect();
    let level: Vec<f64> = members
        .iter()
        .map(|member| baseline.iter().map(|round| log(member, round).0).sum::<f64>() / baseline.len() as f64)
        .collect();
    let evidence = Evidence::Pairs { pairs: &pairs, baseline: &level };
    gate::compare(case, fields, &judge(&Rule::STANDARD, fields, &evidence, 1.0).unwrap());
}

fn jobs(
    case: &Case,
    members: &[Member],
    fields: &[Field],
    baseline: &[&Vec<Value>],
    candidate: &[&Vec<Value>],
) {
    let job_values = |job: &&Vec<Value>| -> Vec<JobValue> {
        let value = |member: &Member| {
            let (x, w): (Vec<f64>, Vec<f64>) = job.iter().map(|round| log(member, round)).unzip();
            JobValue::of_rounds(&x, &w).unwrap()
        };
        members.iter().map(value).collect()
    };
    let values: Vec<Vec<JobValue>> = baseline.iter().chain(candidate).map(job_values).collect();
    let inflation = round_inflation(values.iter().flatten());
    case.number("inflation", &case.expected["inflation"], inflation);
    let row = |job: &Vec<JobValue>| JobRow {
        x: job.iter().map(|value| value.x).collect(),
        w: job.iter().map(|value| value.variance(inflation)).collect(),
    };
    let rows: Vec<JobRow> = values.iter().map(row).collect();
    for (j, row) in rows.iter().enumerate() {
        case.numbers("job ln", &case.expected["job_ln"][j], &row.x);
        case.numbers("job w", &case.expected["job_w"][j], &row.w);
    }
    let (baseline_rows, candidate_rows) = rows.split_at(baseline.len());
    let fewest_rounds = baseline.iter().chain(candidate).map(|job| job.len()).min().unwrap();
    let evidence = Evidence::Jobs { baseline: baseline_rows, candidate: candidate_rows, fewest_rounds };
    gate::compare(case, fields, &judge(&Rule::STANDARD, fields, &evidence, 1.0).unwrap());
}
