//! `docs/calibration.md` against the rule: its small table made afresh, its big ones against the accepted figures.

#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that can't go on says where, and uses a part of the program"
)]

#[path = "../../examples/calibrate/data.rs"]
mod data;
#[path = "../../examples/calibrate/gate.rs"]
mod gate;
#[path = "../../examples/calibrate/noise.rs"]
mod noise;
#[path = "../../examples/calibrate/page.rs"]
mod page;
#[path = "../../examples/calibrate/pool.rs"]
mod pool;
#[path = "../../examples/calibrate/published.rs"]
mod published;
#[path = "../../examples/calibrate/rules.rs"]
mod rules;
#[path = "../../examples/calibrate/share.rs"]
mod share;
#[path = "../../examples/calibrate/simulate.rs"]
mod simulate;
#[path = "../../examples/calibrate/small.rs"]
mod small;
#[path = "../../examples/calibrate/tables.rs"]
mod tables;
#[path = "../../examples/calibrate/work.rs"]
mod work;

mod pages;
mod statistics;
