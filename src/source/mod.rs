//! Where numbers come from. Every source ends in a report.

pub mod ingest;
pub mod load;
pub mod simulate;
pub mod workload;
