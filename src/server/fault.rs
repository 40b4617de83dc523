//! What can be made to go wrong, and for which requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::model::Finite;
use crate::model::report::FailureKind;
use crate::source::simulate::random::{Purpose, StreamKey};

/// One way to go wrong. The first five are answers with an error status, the rest happens to a good one.
///
/// What strikes in the middle strikes the event half-way through the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 401 as for a wrong key.
    Unauthorized,
    /// 404 as for a wrong path.
    NoPath,
    /// 404 as for a wrong model.
    NoModel,
    /// 429 with `Retry-After`.
    TooMany,
    /// 500.
    ServerError,
    /// A 200 whose first event is an error, then `[DONE]`: how vLLM refuses over its queue limit.
    ErrorFirst,
    /// One event is an error, then `[DONE]`.
    ErrorEvent,
    /// An event is cut in two inside a UTF-8 character, each part its own HTTP chunk and write.
    SplitUtf8,
    /// Lines end in CRLF, and an event is cut in two inside one, each part its own HTTP chunk; the write ends inside
    /// the CRLF of the first chunk.
    SplitCrlf,
    /// The connection is closed half-way through an HTTP chunk.
    TruncatedChunk,
    /// The connection is reset half-way through an HTTP chunk.
    Reset,
    /// Nothing comes after the middle, and the connection stays open.
    Stall,
    /// Nothing comes after the head of the answer, and the connection stays open.
    StallFirst,
    /// The bytes of one event come one by one, a millisecond apart.
    Drip,
    /// Two events come in one HTTP chunk, when the second is due.
    TwoEvents,
    /// An event that is no JSON and no UTF-8 comes between two good ones.
    Garbage,
    /// The stream ends well, but without `[DONE]`.
    NoDone,
    /// Usage says one more than twice the output tokens.
    WrongUsage,
    /// A stream with everything but text: a role, usage if asked for, `[DONE]`; no `finish_reason`.
    ZeroTokens,
}

const NAMES: [(Fault, &str); 19] = [
    (Fault::Unauthorized, "401"),
    (Fault::NoPath, "404"),
    (Fault::NoModel, "404-model"),
    (Fault::TooMany, "429"),
    (Fault::ServerError, "500"),
    (Fault::ErrorFirst, "error-first"),
    (Fault::ErrorEvent, "error-event"),
    (Fault::SplitUtf8, "split-utf8"),
    (Fault::SplitCrlf, "split-crlf"),
    (Fault::TruncatedChunk, "truncated-chunk"),
    (Fault::Reset, "reset"),
    (Fault::Stall, "stall"),
    (Fault::StallFirst, "stall-first"),
    (Fault::Drip, "drip"),
    (Fault::TwoEvents, "two-events"),
    (Fault::Garbage, "garbage"),
    (Fault::NoDone, "no-done"),
    (Fault::WrongUsage, "wrong-usage"),
    (Fault::ZeroTokens, "zero-tokens"),
];

impl Fault {
    /// Every fault, in the order of [`Fault`].
    pub fn all() -> impl Iterator<Item = Fault> {
        NAMES.iter().map(|(fault, _)| *fault)
    }

    /// What makes a request fail in the way that the embedded engine's own failures are named, where there is such a way.
    pub fn like(kind: FailureKind) -> Option<Fault> {
        Some(match kind {
            FailureKind::Http401 => Fault::Unauthorized,
            FailureKind::Http404Path => Fault::NoPath,
            FailureKind::Http404Model => Fault::NoModel,
            FailureKind::Http429 => Fault::TooMany,
            FailureKind::Http5xx => Fault::ServerError,
            FailureKind::Connect => Fault::Reset,
            FailureKind::TimeoutFirstToken => Fault::StallFirst,
            FailureKind::TimeoutGap | FailureKind::TimeoutTotal => Fault::Stall,
            FailureKind::Cut => Fault::TruncatedChunk,
            FailureKind::Malformed => Fault::Garbage,
            FailureKind::ZeroTokens => Fault::ZeroTokens,
            FailureKind::ErrorEvent => Fault::ErrorEvent,
            FailureKind::Http403
            | FailureKind::Http4xx
            | FailureKind::Tls
            | FailureKind::TimeoutConnect
            | FailureKind::Unknown => return None,
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(fault, _)| fault == self).map_or("", |(_, name)| name))
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Which requests a fault strikes.
#[derive(Clone, Debug, PartialEq)]
pub enum Strikes {
    /// These, counting completion requests from 0 in the order of their arrival.
    Requests(BTreeSet<u64>),
    /// This share of all, 0 to 1, drawn from the seed.
    Share(Finite),
}

/// A fault and the requests it strikes. As text: `reset@0,7` or `reset=5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultRule {
    /// What goes wrong.
    pub fault: Fault,
    /// For whom.
    pub strikes: Strikes,
}

/// The text is no fault rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRule {
    /// Neither `@` nor `=`.
    #[error(
        "\"{0}\" says no requests; write {0}=5% for a share of them or {0}@0,7 for the first and the eighth"
    )]
    NoRequests(String),
    /// No such fault.
    #[error("no fault is called \"{0}\"; expected one of {known}", known = known())]
    NoFault(String),
    /// Not a list of numbers.
    #[error("\"{0}\" is no list of requests, such as 0,7")]
    Requests(String),
    /// Not a share.
    #[error("\"{0}\" is no share of requests from 0% to 100%, such as 5%")]
    Share(String),
}

fn known() -> String {
    NAMES.map(|(_, name)| name).join(", ")
}

impl FromStr for FaultRule {
    type Err = UnknownRule;
    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        let fault = |name: &str| {
            let found = NAMES.iter().find(|(_, known)| *known == name);
            found.map(|(fault, _)| *fault).ok_or_else(|| UnknownRule::NoFault(name.to_owned()))
        };
        if let Some((name, list)) = text.split_once('@') {
            let indices: Result<_, _> = list.split(',').map(str::parse).collect();
            let requests = indices.map_err(|_| UnknownRule::Requests(list.to_owned()))?;
            return Ok(FaultRule { fault: fault(name)?, strikes: Strikes::Requests(requests) });
        }
        let Some((name, share)) = text.split_once('=') else {
            fault(text)?;
            return Err(UnknownRule::NoRequests(text.to_owned()));
        };
        let fault = fault(name)?;
        let percent = share.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
        let share = percent
            .filter(|percent| (0.0..=100.0).contains(percent))
            .and_then(|percent| Finite::new(percent / 100.0).ok())
            .ok_or_else(|| UnknownRule::Share(share.to_owned()))?;
        Ok(FaultRule { fault, strikes: Strikes::Share(share) })
    }
}

/// Decides which fault strikes a request.
#[derive(Clone, Debug)]
pub struct Faults {
    listed: BTreeMap<u64, Fault>,
    shares: Vec<(Fault, f64)>,
    key: StreamKey,
}

impl Faults {
    /// Of several rules that list a request, the first holds; shares take what no list names.
    pub fn new(rules: &[FaultRule], seed: u64) -> Self {
        let (mut listed, mut shares) = (BTreeMap::new(), Vec::new());
        for rule in rules {
            match &rule.strikes {
                Strikes::Requests(indices) => {
                    for index in indices {
                        listed.entry(*index).or_insert(rule.fault);
                    }
                }
                Strikes::Share(share) => shares.push((rule.fault, share.get())),
            }
        }
        Self { listed, shares, key: StreamKey::new(seed, "faults") }
    }

    /// The fault of the request with this index: the same for the same rules and seed.
    pub fn of(&self, index: u64) -> Option<Fault> {
        if let Some(fault) = self.listed.get(&index) {
            return Some(*fault);
        }
        // Every fault takes its share of the unit interval.
        let mut rest = self.key.substream(index, Purpose::Failure).unit();
        for (fault, share) in &self.shares {
            if rest < *share {
                return Some(*fault);
            }
            rest -= share;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_by_its_name() {
        for fault in Fault::all() {
            let rule: FaultRule = format!("{fault}@3,1").parse().unwrap();
            assert_eq!(rule, FaultRule { fault, strikes: Strikes::Requests(BTreeSet::from([1, 3])) });
        }
        let share: FaultRule = "429=12.5%".parse().unwrap();
        assert_eq!(share.strikes, Strikes::Share(Finite::new(0.125).unwrap()));
    }

    #[test]
    fn a_wrong_rule_is_refused_with_what_to_write() {
        for (text, says) in [
            ("reset", "reset=5%"),
            ("rest@1", "no fault is called \"rest\""),
            ("reset@1,x", "\"1,x\" is no list"),
            ("reset@", "no list"),
            ("reset=101%", "\"101%\" is no share"),
            ("reset=NaN%", "no share"),
            ("reset=0.5", "no share"),
        ] {
            let refused = text.parse::<FaultRule>().unwrap_err().to_string();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }

    #[test]
    fn shares_strike_as_often_as_they_say_and_the_same_requests_each_time() {
        let rules = ["reset=10%".parse().unwrap(), "429=30%".parse().unwrap()];
        let count = |seed, fault| {
            let faults = Faults::new(&rules, seed);
            (0..10_000).filter(|index| faults.of(*index) == Some(fault)).count()
        };
        // Four standard errors of 10 % and 30 % over 10,000 draws: 120 and 183.
        assert!((880..=1_120).contains(&count(1, Fault::Reset)), "{}", count(1, Fault::Reset));
        assert!((2_817..=3_183).contains(&count(1, Fault::TooMany)), "{}", count(1, Fault::TooMany));
        let struck = |seed| (0..100).map(|index| Faults::new(&rules, seed).of(index)).collect::<Vec<_>>();
        assert_eq!(struck(1), struck(1));
        assert_ne!(struck(1), struck(2));
    }

    #[test]
    fn a_listed_request_has_its_fault_whatever_the_shares() {
        let rules = ["500=100%".parse().unwrap(), "reset@2".parse().unwrap(), "drip@2".parse().unwrap()];
        let faults = Faults::new(&rules, 0);
        assert_eq!([faults.of(1), faults.of(2)], [Some(Fault::ServerError), Some(Fault::Reset)]);
    }
}
