//! Any bytes, read by every reader in turn: what is read is a report that reads back as it is, and the rest says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::source::ingest::{FORMATS, Options, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    let forced = FORMATS.iter().map(|def| Options { format: Some(def.format), ..Options::default() });
    for options in std::iter::once(Options::default()).chain(forced) {
        match read_bytes("report", bytes.to_vec(), &options) {
            Ok(report) => {
                let text = serde_json::to_vec(&report).expect("a report can be written");
                let again = read_bytes("again", text, &Options::default()).expect("what was written can be read");
                assert!(again == report, "it reads back as something else");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});
