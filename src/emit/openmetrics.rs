//! The verdict as OpenMetrics text: gauges in base units, which every reader of the Prometheus text format takes too.

use std::collections::BTreeMap;

use crate::model::finding::Change;
use crate::model::{Finding, Finite, Judgement, Outcome, Unit, Verdict};

use super::headline::fails;
use super::text::openmetrics_label;

/// The verdict as OpenMetrics text: gauges only, no time stamps, `# EOF` at the end.
///
/// A series that would come twice is written once. Of a field whose numbers can't be right, and of one that was not
/// measured, no candidate value is written: what failed has no latency.
#[must_use]
pub fn openmetrics(verdict: &Verdict) -> String {
    let profile = openmetrics_label(&verdict.profile);
    let mut page = Page { profile, families: BTreeMap::new() };
    outcome(&mut page, verdict);
    requests(&mut page, verdict);
    for finding in &verdict.findings {
        field(&mut page, finding);
    }
    for (metric, groups) in &verdict.resolution.metrics {
        for (group, share) in groups {
            if let Some(share) = share {
                page.add(VISIBLE, &[("group", group.as_str()), ("metric", metric.id())], share.get());
            }
        }
    }
    page.text()
}

/// One metric family. Its name lacks `pacegate_` and ends in its unit.
#[derive(Clone, Copy, Debug)]
struct Family<'a> {
    name: &'a str,
    unit: &'static str,
    help: &'static str,
}

const fn family(name: &'static str, unit: &'static str, help: &'static str) -> Family<'static> {
    Family { name, unit, help }
}

const BUILD: Family = family("build_info", "", "Always 1; the labels say what judged, and how.");
const EXIT: Family = family("exit_code", "", "Exit code of the command, report-only included.");
const OUTCOME: Family =
    family("outcome", "", "1 for the way in which the comparison ended, 0 for the others.");
const FIELDS: Family = family("fields", "", "Fields by what is said of them.");
const REQUIRED: Family = family("required_fields", "", "Gated fields that the blessed baseline has.");
const COMPARED: Family = family("compared_fields", "", "Required fields that were compared.");
const REQUESTS: Family = family("requests", "", "Requests of all groups by how they ended, warm-up apart.");
const FAILED: Family =
    family("failed_requests", "", "Failed requests of all groups by reason, warm-up apart.");
const FAILS: Family = family("field_fails", "", "1 where a gated field stands in the way of a pass, else 0.");
const CHANGE: Family =
    family("change_ratio", "ratio", "Candidate divided by blessed value, minus 1, whichever way is better.");
const VISIBLE: Family = family(
    "smallest_visible_worsening_ratio",
    "ratio",
    "Smallest worsening that this evidence could have shown, as a share.",
);
const OTHER: Family =
    family("other_value", "", "Value of a metric that pacegate does not know, in the unit of its source.");

struct Page {
    profile: String,
    families: BTreeMap<String, (&'static str, &'static str, BTreeMap<String, f64>)>,
}

impl Page {
    /// Adds one gauge; the first of two equal series stays.
    fn add(&mut self, family: Family, labels: &[(&str, &str)], value: f64) {
        let mut all = format!("profile=\"{}\"", self.profile);
        for (name, text) in labels {
            all.push_str(&format!(",{name}=\"{}\"", openmetrics_label(text)));
        }
        let entry = self.families.entry(family.name.to_owned());
        let (_, _, series) = entry.or_insert((family.unit, family.help, BTreeMap::new()));
        series.entry(all).or_insert(value);
    }

    fn text(self) -> String {
        let mut text = String::new();
        for (name, (unit, help, series)) in self.families {
            text.push_str(&format!("# HELP pacegate_{name} {help}\n# TYPE pacegate_{name} gauge\n"));
            if !unit.is_empty() {
                text.push_str(&format!("# UNIT pacegate_{name} {unit}\n"));
            }
            for (labels, value) in series {
                text.push_str(&format!("pacegate_{name}{{{labels}}} {value}\n"));
            }
        }
        text + "# EOF\n"
    }
}

fn outcome(page: &mut Page, verdict: &Verdict) {
    let tier = verdict.tier.map_or("none", |tier| tier.name());
    let simulated = if verdict.simulated { "true" } else { "false" };
    let labels = [("simulated", simulated), ("tier", tier), ("version", verdict.tool.version.as_str())];
    page.add(BUILD, &labels, 1.0);
    page.add(EXIT, &[], f64::from(verdict.exit_code));
    for one in
        [Outcome::Pass, Outcome::Inconclusive, Outcome::NoVerdict, Outcome::Regression, Outcome::RunFailed]
    {
        let word = one.word().to_lowercase().replace(' ', "_");
        page.add(OUTCOME, &[("outcome", &word)], f64::from(u8::from(one == verdict.outcome)));
    }
    let mut judged: BTreeMap<Judgement, usize> = BTreeMap::new();
    for finding in &verdict.findings {
        *judged.entry(finding.judgement).or_default() += 1;
    }
    for (judgement, n) in judged {
        page.add(FIELDS, &[("judgement", &judgement.word().replace(' ', "_"))], count(n as u64));
    }
    page.add(REQUIRED, &[], count(verdict.counts.required as u64));
    page.add(COMPARED, &[], count(verdict.counts.compared as u64));
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(n: u64) -> f64 {
    n as f64
}

fn requests(page: &mut Page, verdict: &Verdict) {
    let requests = &verdict.candidate.requests;
    for (result, n) in [("sent", requests.sent), ("succeeded", requests.succeeded)] {
        if let Some(n) = n {
            page.add(REQUESTS, &[("result", result)], count(n));
        }
    }
    for (kind, n) in &requests.failed {
        page.add(FAILED, &[("reason", kind.words())], count(*n));
    }
}

fn field(page: &mut Page, finding: &Finding) {
    let group = finding.field.group.as_str();
    let stat = finding.field.statistic.to_string();
    let metric = finding.field.metric.id();
    let candidate = finding.new.filter(|_| finding.judgement != Judgement::Invalid);
    for (side, value) in [("blessed", finding.old), ("candidate", candidate)] {
        if let Some(value) = value {
            measured(page, finding, &[("group", group), ("stat", &stat), ("side", side)], value);
        }
    }
    let labels = [("group", group), ("metric", metric), ("stat", &stat)];
    if finding.gated {
        page.add(FAILS, &labels, f64::from(u8::from(fails(finding))));
    }
    if let Some(share) = candidate.and(finding.change()).as_ref().and_then(Change::relative) {
        page.add(CHANGE, &labels, share.get());
    }
}

/// A value in the family of its metric; metrics from outside the table share one, so that no name of theirs can meet
/// a name of ours.
fn measured(page: &mut Page, finding: &Finding, labels: &[(&str, &str)], value: Finite) {
    let metric = &finding.field.metric;
    let Some(def) = metric.def().filter(|def| def.unit == finding.unit) else {
        let labels: Vec<(&str, &str)> = [("metric", metric.id())].iter().chain(labels).copied().collect();
        return page.add(OTHER, &labels, value.get());
    };
    let (unit, value) = match def.unit {
        Unit::Millisecond => ("seconds", value.get() / 1000.0),
        Unit::TokensPerSecond => ("tokens_per_second", value.get()),
        Unit::RequestsPerSecond => ("requests_per_second", value.get()),
        Unit::Fraction | Unit::Ratio => ("ratio", value.get()),
        Unit::Megabyte => ("bytes", value.get() * 1_000_000.0),
        Unit::Token => ("tokens", value.get()),
        Unit::Plain => ("", value.get()),
    };
    let id = def.id.trim_end_matches("_rate");
    let name = if unit.is_empty() || id.ends_with(unit) { id.to_owned() } else { format!("{id}_{unit}") };
    page.add(Family { name: &name, unit, help: def.definition }, labels, value);
}
