//! Whole explanations as committed files.

use crate::reports::explain;
use crate::{golden, reports};

#[test]
fn every_report_reads_as_its_snapshot() {
    for (name, report) in reports::all() {
        let text = explain(&report, None).unwrap();
        golden::assert_same(&format!("tests/snapshots/explain/{}.txt", name.replace('/', "-")), &text);
    }
}
