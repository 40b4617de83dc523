//! Which gates are simulated: the tables of `docs/calibration.md`.

use super::data::Model;
use super::gate::{Design, Setting, Watched};
use super::noise::{Effect, Noise};

/// One table.
pub struct Table {
    /// Name on the command line and in the page's markers.
    pub name: &'static str,
    /// What the rows are.
    pub heading: &'static str,
    /// Columns, in order.
    pub columns: Vec<String>,
    /// Decimals of its percentages.
    pub decimals: usize,
    /// What fills it.
    pub tasks: Vec<Task>,
}

/// Gates of one kind, which fill one or more cells.
pub struct Task {
    /// How requests behave.
    pub model: Model,
    /// Requests of a group in a round.
    pub n: usize,
    /// How many gates.
    pub runs: usize,
    /// What is simulated.
    pub what: What,
}

/// What a task simulates.
pub enum What {
    /// The evidence rule in each of these settings; a cell shows the worst of them.
    Gates {
        /// Settings.
        settings: Vec<Setting>,
        /// Row of the cells.
        row: String,
        /// Their columns, with the change that is simulated.
        cells: Vec<(String, Effect)>,
    },
    /// Other rules beside it, each a row.
    Rules {
        /// Groups of the profile.
        groups: usize,
        /// Noise of a job.
        noise: Noise,
        /// Columns, with the change that is simulated.
        cells: Vec<(String, Effect)>,
    },
}

const DRIFT: Noise = Noise { run: 0.01, group: 0.01, field: 0.005, class: 0.0, slow: None };

/// All tables but [`small`], with cells of `runs` gates (power: half of it).
pub fn all(runs: usize) -> Vec<Table> {
    vec![unchanged(runs), drift(runs), data(runs), power(runs / 2), local(runs / 2), rules(runs / 2)]
        .into_iter()
        .chain([changed(runs / 2), few_fields(runs / 2), more(runs)])
        .collect()
}

fn setting(design: Design, groups: usize, n: usize, noise: Noise) -> Setting {
    Setting { design, groups, n, noise, watched: Watched::All }
}

fn unchanged(runs: usize) -> Table {
    let noises = [
        ("2 %, 1+1", Noise::run(0.02)),
        ("5 %, 1+1", Noise::run(0.05)),
        ("5 %, 2+2", Noise::run(0.05).local(0.02)),
        ("5 %, 3+3", Noise::run(0.05).local(0.03)),
        ("5 %, class 3 %", Noise::run(0.05).class(0.03)),
        ("10 %, 1+1", Noise::run(0.10)),
        ("5 %, 6+6", Noise::run(0.05).local(0.06)),
        ("5 %, class 5 %", Noise::run(0.05).class(0.05)),
        ("2 %, 10 % of jobs 30 % slower", Noise { slow: Some((0.1, 0.3)), ..Noise::run(0.02) }),
    ];
    let designs = [
        Design::Jobs(1, 1),
        Design::Jobs(1, 3),
        Design::Jobs(1, 5),
        Design::Summaries,
        Design::Jobs(3, 3),
        Design::Jobs(5, 3),
        Design::Jobs(10, 3),
        Design::Jobs(10, 1),
    ];
    let mut tasks = Vec::new();
    for (name, noise) in noises {
        for groups in [12, 3, 1] {
            for design in designs {
                let settings = vec![setting(design, groups, 300, noise)];
                let row = format!("{name}; {groups} group{}", if groups == 1 { "" } else { "s" });
                let cells = vec![(design.name(), Effect::Nothing)];
                let what = What::Gates { settings, row, cells };
                tasks.push(Task { model: Model::Lognormal, n: 300, runs, what });
            }
        }
    }
    let columns = designs.map(Design::name).to_vec();
    Table { name: "unchanged", heading: "noise of a job; groups", columns, decimals: 1, tasks }
}

fn drift(runs: usize) -> Table {
    let drifts = [
        ("1 %", Noise { group: 0.01, ..DRIFT }),
        ("3 %", Noise { run: 0.03, group: 0.02, field: 0.01, ..DRIFT }),
        ("5 %", Noise { run: 0.05, group: 0.03, field: 0.02, ..DRIFT }),
    ];
    let designs = [Design::Duet(3), Design::Duet(5)];
    let mut tasks = Vec::new();
    for (row, noise) in drifts {
        for design in designs {
            let settings = [12, 3, 1].map(|groups| setting(design, groups, 300, noise)).to_vec();
            let cells = vec![(design.name(), Effect::Nothing)];
            let what = What::Gates { settings, row: row.to_owned(), cells };
            tasks.push(Task { model: Model::Lognormal, n: 300, runs, what });
        }
    }
    let columns = designs.map(Design::name).to_vec();
    Table { name: "drift", heading: "drift of a pair", columns, decimals: 1, tasks }
}

fn data(runs: usize) -> Table {
    let models = [
        Model::LognormalWide,
        Model::Queue8,
        Model::Queue32,
        Model::Queue32Apart,
        Model::Autoregressive,
        Model::Bimodal,
        Model::BimodalAtP50,
        Model::BimodalAtP95,
        Model::Pareto,
        Model::Ties,
    ];
    let designs = [
        Design::Jobs(1, 1),
        Design::Jobs(1, 3),
        Design::Jobs(1, 5),
        Design::Summaries,
        Design::Jobs(3, 3),
        Design::Jobs(10, 3),
        Design::Jobs(10, 1),
        Design::Duet(5),
    ];
    let mut tasks = Vec::new();
    for model in models {
        for n in [100, 300, 1000] {
            for design in designs {
                let noise = match design {
                    Design::Duet(_) => Noise { run: 0.03, group: 0.02, field: 0.01, ..DRIFT },
                    Design::Jobs(..) | Design::Unequal(..) | Design::Summaries => Noise::run(0.05),
                };
                let settings = [1, 3, 12].map(|groups| setting(design, groups, n, noise)).to_vec();
                let (row, cells) =
                    (format!("{}; n = {n}", model.name()), vec![(design.name(), Effect::Nothing)]);
                tasks.push(Task { model, n, runs, what: What::Gates { settings, row, cells } });
            }
        }
    }
    let columns = designs.map(Design::name).to_vec();
    Table { name: "data", heading: "data; requests", columns, decimals: 1, tasks }
}

/// What else the promise leaves out, or its page names.
fn more(runs: usize) -> Table {
    let cell = |design: Design, model: Model, n: usize, noise: Noise| {
        let settings = [1, 3, 12].map(|groups| setting(design, groups, n, noise)).to_vec();
        let (row, cells) = (
            format!("{}; n = {n}; {}", model.name(), design.name()),
            vec![("fails".into(), Effect::Nothing)],
        );
        Task { model, n, runs, what: What::Gates { settings, row, cells } }
    };
    let usual = Noise::run(0.05);
    let tasks = vec![
        cell(Design::Jobs(3, 1), Model::Queue32Apart, 100, usual),
        cell(Design::Jobs(5, 3), Model::Queue32Apart, 100, usual),
        cell(Design::Unequal(1, 5, 1), Model::Queue32Apart, 100, usual),
        cell(Design::Unequal(3, 5, 1), Model::Queue32Apart, 100, usual),
        cell(Design::Unequal(10, 5, 1), Model::Queue32Apart, 100, usual),
        cell(Design::Unequal(10, 5, 1), Model::Queue32Apart, 300, usual),
        cell(Design::Unequal(10, 1, 5), Model::Queue32Apart, 100, usual),
    ];
    Table {
        name: "more",
        heading: "data; requests; design",
        columns: vec!["fails".into()],
        decimals: 1,
        tasks,
    }
}

const POWER_DESIGNS: [Design; 13] = [
    Design::Jobs(1, 1),
    Design::Summaries,
    Design::Jobs(1, 3),
    Design::Jobs(1, 5),
    Design::Jobs(3, 3),
    Design::Jobs(3, 5),
    Design::Jobs(5, 3),
    Design::Jobs(10, 3),
    Design::Jobs(10, 5),
    Design::Jobs(10, 1),
    Design::Duet(3),
    Design::Duet(5),
    Design::Duet(8),
];

fn power(runs: usize) -> Table {
    let mut effects = Vec::new();
    for effect in [Effect::Everything as fn(f64) -> Effect, Effect::Ttft, Effect::Decode] {
        effects.extend([0.15, 0.2, 0.3].map(effect));
    }
    let mut tasks = Vec::new();
    for design in POWER_DESIGNS.into_iter().filter(|design| *design != Design::Jobs(10, 1)) {
        let noises: Vec<(&str, Noise)> = match design {
            Design::Duet(_) => vec![("drift 1 %", DRIFT)],
            Design::Jobs(..) | Design::Unequal(..) | Design::Summaries => {
                vec![("2 %", Noise::run(0.02)), ("5 %", Noise::run(0.05)), ("10 %", Noise::run(0.10))]
            }
        };
        for (name, noise) in noises {
            let row = format!("{}; {name}", design.name());
            tasks.push(changes(row, vec![setting(design, 12, 300, noise)], &effects, runs));
        }
    }
    let columns = effects.iter().map(|effect| effect.name()).collect();
    Table { name: "power", heading: "design; run noise", columns, decimals: 0, tasks }
}

fn changes(row: String, settings: Vec<Setting>, effects: &[Effect], runs: usize) -> Task {
    let cells = effects.iter().map(|effect| (effect.name(), *effect)).collect();
    Task { model: Model::Lognormal, n: 300, runs, what: What::Gates { settings, row, cells } }
}

fn local(runs: usize) -> Table {
    let effects = [
        Effect::OneGroup(0.2),
        Effect::OneGroup(0.3),
        Effect::OneGroup(0.5),
        Effect::OneGroup(1.0),
        Effect::OneTail(0.5),
        Effect::OneTail(1.0),
        Effect::HalfTheGroups(0.3),
    ];
    let mut tasks = Vec::new();
    for design in POWER_DESIGNS {
        let noise = match design {
            Design::Duet(_) => DRIFT,
            Design::Jobs(..) | Design::Unequal(..) | Design::Summaries => Noise::run(0.05),
        };
        let task = |groups: usize, effects: &[Effect]| {
            let row = format!("{}; {groups} group{}", design.name(), if groups == 1 { "" } else { "s" });
            changes(row, vec![setting(design, groups, 300, noise)], effects, runs)
        };
        tasks.push(task(12, &effects));
        tasks.push(task(1, &effects[..6]));
    }
    let columns = effects.iter().map(|effect| effect.name()).collect();
    Table { name: "local", heading: "design; groups in all", columns, decimals: 0, tasks }
}

/// One group of which only a field or six are gated.
fn few_fields(runs: usize) -> Table {
    let effects = [
        Effect::Ttft(0.3),
        Effect::Ttft(0.5),
        Effect::Ttft(1.0),
        Effect::OneTail(0.5),
        Effect::OneTail(1.0),
        Effect::Nothing,
    ];
    let gated = [
        ("ttft.p95 with its P50 as companion", Watched::TailWithCompanion),
        ("ttft.p95 without companion", Watched::Tail),
        ("6 fields", Watched::All),
    ];
    let mut tasks = Vec::new();
    for (name, watched) in gated {
        for design in [Design::Jobs(1, 1), Design::Jobs(1, 5), Design::Jobs(5, 3), Design::Duet(5)] {
            let run = if matches!(design, Design::Duet(_)) { 0.01 } else { 0.05 };
            let setting = Setting { watched, ..setting(design, 1, 300, Noise::run(run)) };
            tasks.push(changes(format!("{name}; {}", design.name()), vec![setting], &effects, runs));
        }
    }
    let columns = effects.iter().map(|effect| effect.name()).collect();
    Table { name: "few", heading: "gated; design", columns, decimals: 1, tasks }
}

fn rules(runs: usize) -> Table {
    let columns = [
        ("run noise 2 %", Model::Lognormal, 0.02),
        ("5 %", Model::Lognormal, 0.05),
        ("10 %", Model::Lognormal, 0.10),
        ("queue c = 32", Model::Queue32, 0.05),
        ("AR(1)", Model::Autoregressive, 0.05),
        ("bimodal", Model::Bimodal, 0.05),
        ("Pareto", Model::Pareto, 0.05),
        ("ties", Model::Ties, 0.05),
    ];
    let task = |(name, model, run): (&str, Model, f64)| {
        let cells = vec![(name.to_owned(), Effect::Nothing)];
        Task { model, n: 300, runs, what: What::Rules { groups: 12, noise: Noise::run(run), cells } }
    };
    let tasks = columns.map(task).into();
    let columns = columns.map(|(name, ..)| name.to_owned()).to_vec();
    Table { name: "rules", heading: "rule", columns, decimals: 1, tasks }
}

fn changed(runs: usize) -> Table {
    let effects = [
        Effect::Nothing,
        Effect::Everything(0.2),
        Effect::Everything(0.3),
        Effect::Ttft(0.2),
        Effect::Decode(0.2),
        Effect::OneGroup(0.3),
        Effect::OneGroup(1.0),
    ];
    let cells: Vec<(String, Effect)> = effects.iter().map(|effect| (effect.name(), *effect)).collect();
    let columns = cells.iter().map(|(name, _)| name.clone()).collect();
    let what = What::Rules { groups: 12, noise: Noise::run(0.05), cells };
    let tasks = vec![Task { model: Model::Lognormal, n: 300, runs, what }];
    Table { name: "changed", heading: "rule", columns, decimals: 1, tasks }
}

/// Gates of [`small`].
const SMALL_RUNS: usize = 200;

/// A table that takes a second, whatever is asked for: a test makes it afresh.
pub fn small() -> Table {
    let effects = [Effect::Nothing, Effect::Everything(0.3), Effect::OneGroup(1.0)];
    let designs =
        [Design::Jobs(1, 1), Design::Jobs(1, 3), Design::Summaries, Design::Jobs(3, 3), Design::Duet(3)];
    let task = |design: Design| {
        let noise = if matches!(design, Design::Duet(_)) { DRIFT } else { Noise::run(0.05) };
        let mut task = changes(design.name(), vec![setting(design, 1, 100, noise)], &effects, SMALL_RUNS);
        task.n = 100;
        task
    };
    let columns = effects.iter().map(|effect| effect.name()).collect();
    Table { name: "small", heading: "design", columns, decimals: 1, tasks: designs.map(task).into() }
}
