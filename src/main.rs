//! pacegate.
fn main() {}
