//! `--history` and `pacegate trend` through the binary, on made series.

#![expect(clippy::unwrap_used, reason = "a test that can't go on says where")]

mod damage;
mod history;
mod made;
mod page;
mod series;
mod sets;
