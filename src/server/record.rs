//! The true times of every request.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::fault::Fault;

/// A write that carried tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// When it was due.
    pub due_us: u64,
    /// When it was written; the clock is read just before.
    pub at_us: u64,
    /// Tokens in it.
    pub tokens: u32,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Answered to its end, faulty or not.
    Complete,
    /// Not answered: the status says why.
    Refused,
    /// Broken off by a fault.
    Broken,
    /// The client hung up.
    HungUp,
}

/// One completion request. Times are microseconds since [`Running::epoch`](super::Running::epoch), on the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Position in the order of arrival, from 0.
    pub index: u64,
    /// The id in the answer.
    pub id: String,
    /// `x-request-id`, if the client sent one.
    pub request_id: Option<String>,
    /// HTTP status.
    pub status: u16,
    /// The fault that struck.
    pub fault: Option<Fault>,
    /// How it ended.
    pub ending: Ending,
    /// When the head of the request had been read.
    pub received_us: u64,
    /// When the first token was written; the clock is read just before.
    pub first_token_us: Option<u64>,
    /// The same of the last token.
    pub last_token_us: Option<u64>,
    /// Every write that carried tokens.
    pub sent: Vec<Sent>,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Of them, from the prefix cache.
    pub cached_tokens: u32,
    /// Output tokens written.
    pub tokens: u32,
    /// Requests in flight when it came, itself included.
    pub in_flight: u32,
}

/// The latest records.
#[derive(Debug)]
pub struct Log {
    most: usize,
    records: Mutex<VecDeque<Record>>,
}

impl Log {
    /// Keeps at most so many.
    pub fn new(most: usize) -> Self {
        Self { most, records: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one; the oldest goes when there are too many.
    pub fn push(&self, record: Record) {
        let mut records = self.lock();
        records.push_back(record);
        if records.len() > self.most {
            records.pop_front();
        }
    }

    /// All that are kept, in the order of their end.
    pub fn all(&self) -> Vec<Record> {
        self.lock().iter().cloned().collect()
    }
}
