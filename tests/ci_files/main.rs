//! What teams put pacegate into their CI with, acted out: the action's scripts with the runner's variables, the pages'
//! commands, `init`, completions and man pages. Needs bash, git and curl, as a runner has them.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

mod get;
mod init;
mod manual;
mod pages;
mod pins;
mod pull_request;
mod refusals;
mod world;
