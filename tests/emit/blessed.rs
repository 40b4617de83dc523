//! What a bless prints.

use std::path::Path;

use pacegate::baseline;
use pacegate::emit::{BlessPage, blessed};
use pacegate::model::baseline::{BlessAction, Blessed};
use pacegate::model::{Judgement, Reason, Verdict};
use pacegate::source::ingest::{Input, Options, read};

use crate::samples::{self, finding, put};

fn page(sight: &Verdict) -> String {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports/original/benchmark-chat-c8.json");
    let report = read(&[Input { strategy: None, path: file }], &Options::default()).unwrap();
    let blessed_as = Blessed {
        baseline: baseline::fresh(&report),
        action: BlessAction::First,
        unchanged: false,
        dropped: 0,
        rows: Vec::new(),
        drift: Vec::new(),
    };
    let path = "baselines/chat.json";
    blessed(&BlessPage {
        blessed: &blessed_as,
        path,
        bytes: 1234,
        sight,
        unwatched: &[],
        diff: "",
        quiet: false,
    })
}

#[test]
fn a_simulated_baseline_says_so_first() {
    let mut sight = samples::pass();
    assert!(page(&sight).starts_with("BLESSED baselines/chat.json: the first baseline"), "{}", page(&sight));
    sight.simulated = true;
    let text = page(&sight);
    assert!(
        text.starts_with(
            "SIMULATED: no model was measured; these are the embedded engine's numbers\nBLESSED "
        ),
        "{text}"
    );
}

#[test]
fn fields_with_too_few_samples_are_named_once_with_what_they_need() {
    let mut sight = samples::pass();
    for of in ["chat/c1", "chat/c8"] {
        for name in ["ttft.p95", "tpot.p95"] {
            let mut few = finding(&format!("{of}:{name}"), Judgement::TooFew, Some(412.0), Some(412.0));
            few.reasons = vec![Reason::TooFewSamples {
                field: few.field.clone(),
                n: 60,
                needed: 72,
                instead: pacegate::model::reason::Instead::Nothing,
            }];
            put(&mut sight, few);
        }
    }
    let text = page(&sight);
    let line = text.lines().find(|line| line.starts_with("not judged")).unwrap();
    assert_eq!(
        line,
        "not judged at this number of samples: ttft.p95 (60, needs 72), tpot.p95 (60, needs 72)"
    );
    assert!(!page(&samples::pass()).contains("not judged"));
}
