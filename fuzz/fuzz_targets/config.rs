//! Any text as pacegate.toml: a configuration, or a reason with its place.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pacegate::config;

fuzz_target!(|text: &str| {
    if let Err(error) = config::load(Path::new("pacegate.toml"), text) {
        assert!(error.to_string().starts_with("pacegate.toml:"), "{error}");
    }
});
