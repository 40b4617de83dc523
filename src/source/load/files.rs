//! Whether the system lets this process open a connection for every request in flight. Found before the first request:
//! later it would look like a server that refuses connections.

use crate::model::profile::Load;

use super::measure::LoadError;

/// Files that are open beside the connections: standard streams, event queues, outputs.
const RESERVED: u64 = 64;

/// # Errors
/// When a concurrency needs more open files than this process may have.
pub(super) fn check(load: &Load, requests: u32, allowed: Option<u64>) -> Result<(), LoadError> {
    let (Some(allowed), Load::Concurrency(levels)) = (allowed, load) else { return Ok(()) };
    let most = levels.iter().copied().max().unwrap_or_default().min(requests);
    if u64::from(most) + RESERVED <= allowed {
        return Ok(());
    }
    Err(LoadError::OpenFiles { concurrency: most, allowed, needed: u64::from(most) + RESERVED })
}

/// How many files this process may have open; `None` where the system does not tell (only Linux does).
pub(super) fn allowed() -> Option<u64> {
    soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    // "unlimited" is no number, and no limit.
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_connections_than_open_files_are_refused_before_the_first_request() {
        let check = |concurrency, requests, allowed| {
            check(&Load::Concurrency(vec![1, concurrency]), requests, allowed)
                .map_err(|error| error.to_string())
        };
        let refused = check(1000, 5000, Some(1024)).unwrap_err();
        assert!(
            refused.contains("1000 requests in flight") && refused.contains("ulimit -n 1064"),
            "{refused}"
        );
        assert_eq!(check(960, 5000, Some(1024)), Ok(()));
        // Fewer requests than places: no more connections than requests.
        assert_eq!(check(1000, 32, Some(1024)), Ok(()));
        assert_eq!(check(1000, 5000, None), Ok(()));
    }

    #[test]
    fn the_soft_limit_is_read_and_none_is_no_limit() {
        let text = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n";
        assert_eq!(soft_limit(text), Some(1024));
        assert_eq!(
            soft_limit("Max open files            unlimited            unlimited            files\n"),
            None
        );
        assert_eq!(soft_limit(""), None);
    }
}
