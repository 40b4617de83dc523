//! How much measuring shows which change, for the terminal.

use std::fmt::Write;

use crate::model::Tier;
use crate::model::plan::{Measured, Plan, PlanRow, PlanTarget};
use crate::model::wording::{count, share};

use super::text;

/// One line a change: what is seen now, and how much of one thing alone would show it.
#[must_use]
pub fn plan(plan: &Plan) -> String {
    let mut page = head(plan);
    let cells: Vec<[String; 6]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(plan.rows.iter().map(|row| cells(row, &plan.measured)))
        .collect();
    let widths: Vec<usize> =
        (0..6).map(|at| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    for row in &cells {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(page, "  {}", line.join("  ").trim_end());
    }
    page.push_str(&foot(plan));
    page
}

const HEAD: [&str; 6] = ["to see", "now seen from", "requests", "or rounds", "or blessed jobs", "or duet"];

fn head(plan: &Plan) -> String {
    let measured = &plan.measured;
    let (path, profile) = (text::terminal(&plan.baseline), text::terminal(&plan.profile));
    let round = measured.round_ms.map_or_else(
        || "how long a round takes is not recorded".to_owned(),
        |ms| format!("a round takes {}", duration(ms.get())),
    );
    format!(
        "PLAN {path} (profile {profile}): {} of {} of {} \u{d7} {}; {round}\n\
         tier {}, noise between jobs taken as {}; found in 9 of 10 runs\n\n",
        count(measured.jobs, "blessed job"),
        count(measured.rounds, "round"),
        count(measured.groups, "group"),
        measured.requests.map_or_else(|| "requests not recorded".to_owned(), |n| count(n, "request")),
        plan.tier,
        share(plan.run_noise),
    )
}

fn cells(row: &PlanRow, measured: &Measured) -> [String; 6] {
    let mark = if row.allowed { " *" } else { "" };
    let (visible, sign) = (row.visible, sign(&row.target));
    [
        format!("{}{mark}", target(row)),
        visible.map_or_else(|| "nothing".to_owned(), |seen| format!("{sign}{}", share(seen))),
        amount(row.requests, |n| requests(n, measured)),
        amount(row.rounds, |n| rounds(n, measured)),
        amount(row.jobs, |n| jobs(n, measured)),
        amount(row.pairs, |n| pairs(n, measured)),
    ]
}

fn target(row: &PlanRow) -> String {
    let wanted = share(row.wanted);
    let sign = sign(&row.target);
    match &row.target {
        PlanTarget::Everything => format!("everything {wanted} slower"),
        PlanTarget::Metric { name, .. } => format!("{name} {sign}{wanted} everywhere"),
        PlanTarget::Field { name, .. } => format!("{name} {sign}{wanted} alone"),
    }
}

fn sign(target: &PlanTarget) -> &'static str {
    match target {
        PlanTarget::Metric { rate: true, .. } | PlanTarget::Field { rate: true, .. } => "\u{2212}",
        PlanTarget::Everything | PlanTarget::Metric { .. } | PlanTarget::Field { .. } => "+",
    }
}

/// `-` where no amount does.
fn amount(n: Option<u64>, words: impl Fn(u64) -> String) -> String {
    n.map_or_else(|| "-".to_owned(), words)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of requests and rounds are far below 2^53")]
fn time(measured: &Measured, rounds: u64, requests: u64) -> String {
    let share = measured.requests.map_or(1.0, |now| requests as f64 / now.max(1) as f64);
    let time = measured.round_ms.map(|ms| duration(ms.get() * rounds as f64 * share));
    time.map_or_else(String::new, |time| format!(" ({time})"))
}

/// Time is that of one run.
fn requests(n: u64, measured: &Measured) -> String {
    if measured.requests.is_some_and(|now| n <= now) {
        return "enough".to_owned();
    }
    format!("{n}{}", time(measured, measured.rounds as u64, n))
}

fn rounds(n: u64, measured: &Measured) -> String {
    if n <= measured.rounds as u64 {
        return "enough".to_owned();
    }
    format!("{n}{}", time(measured, n, measured.requests.unwrap_or(1)))
}

/// Time is that of the jobs that are missing.
fn jobs(n: u64, measured: &Measured) -> String {
    let missing = n.saturating_sub(measured.jobs as u64);
    if missing == 0 {
        return "enough".to_owned();
    }
    format!(
        "{n}: {missing} more{}",
        time(measured, missing * measured.rounds as u64, measured.requests.unwrap_or(1))
    )
}

/// Both sides are measured.
fn pairs(n: u64, measured: &Measured) -> String {
    format!("{n} pairs{}", time(measured, 2 * n, measured.requests.unwrap_or(1)))
}

fn foot(plan: &Plan) -> String {
    let mut foot = String::from(
        "\nEach column alone, all else as it was: requests per group and round, rounds per run, jobs in the baseline \
         (--bless --add, on other days and machines), or round pairs of a duet (run --against). \"-\": no amount does.\n",
    );
    if plan.limits_decide {
        foot.push_str(
            "With what is blessed now a plain limit decides some fields or all: what is over it fails, noise or not. The \
             table says what it takes to tell the two apart.\n",
        );
    }
    if plan.rows.iter().any(|row| row.allowed) {
        foot.push_str(
            "* the rules allow this much; to fail it, lower the limit too (planned with half of what is to be seen)\n",
        );
    }
    let hidden =
        plan.rows.iter().any(|row| row.requests.is_none() && row.rounds.is_none() && row.jobs.is_none());
    if hidden && plan.tier != Tier::Duet {
        foot.push_str(
            "Where only a duet sees it, the noise lies between jobs: more of the same job can't average it out. A quiet \
             machine may say so with run_noise under [gate].\n",
        );
    }
    foot
}

/// `45 s`, `4.2 min`, `3.1 h`.
fn duration(ms: f64) -> String {
    match ms / 1000.0 {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
