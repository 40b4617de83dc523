//! A mapping and a report, parted by a NUL byte: neither may bring the program down.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pacegate::config;
use pacegate::source::ingest::{Options, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (Some(text), Some(report)) = (parts.next(), parts.next()) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(config) = config::load(Path::new("pacegate.toml"), text) else { return };
    for mapping in config.mappings.values() {
        let options = Options { mapping: Some(mapping.clone()), ..Options::default() };
        let _report_or_reason = read_bytes("report", report.to_vec(), &options);
    }
});
