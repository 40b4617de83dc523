//! The name that somebody probably meant.

/// The nearest of the known names, if one is near enough to be a slip of the finger or a part of it.
#[must_use]
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let plain = |text: &str| text.trim().to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(wanted);
    let mut best: Option<(usize, &str)> = None;
    let mut part: Option<&str> = None;
    for name in known {
        let candidate = plain(name);
        let distance = strsim::osa_distance(&wanted, &candidate);
        let allowed = (wanted.chars().count().max(candidate.chars().count()) / 3).max(1);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
        if wanted.len() >= 4 && part.is_none() && candidate.contains(&wanted) {
            part = Some(name);
        }
    }
    best.map(|(_, name)| name).or(part).map(str::to_owned)
}

/// `; did you mean "ttft"?`, or the list of what there is.
pub(super) fn hint(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None if known.is_empty() => String::new(),
        None => format!("; there is {}", known.join(", ")),
    }
}

/// `; did you mean "smoke"? There is chat, smoke, full`.
pub(super) fn meant_and_all(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean \"{name}\"? There is {}", known.join(", ")),
        None => hint(None, known),
    }
}

/// ` (did you mean "p95"?)`, where the sentence goes on.
pub(super) fn in_brackets(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let metrics = ["ttft", "tpot", "output_throughput", "speedup_vs_baseline"];
        assert_eq!(nearest("tftt", metrics).as_deref(), Some("ttft"));
        assert_eq!(nearest("Output-Throughput", metrics).as_deref(), Some("output_throughput"));
        assert_eq!(nearest("throughput", metrics).as_deref(), Some("output_throughput"));
        assert_eq!(nearest("latency", metrics), None);
        assert_eq!(nearest("", metrics), None);
    }
}
