//! Sending one answer, each part when it is due, with what goes wrong on the way.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::ask::Ask;
use super::connection::{Connection, HungUp};
use super::engine::{Engine, Slot};
use super::fault::Fault;
use super::frames::{Frames, LAST_CHUNK, Tokens, chunk, whole};
use super::metrics::Counters;
use super::plan::{MANY_BYTES, Plan};
use super::record::{Ending, Record, Sent};
use super::reply::{Reply, error_body, stream_head};
use super::script::{Act, struck, struck_whole};
use super::settings::Usage;

/// An answer on its way.
pub struct Delivery<'a> {
    pub engine: &'a Engine,
    pub connection: &'a mut Connection,
    pub ask: Ask,
    pub plan: Plan,
    pub record: Record,
    pub fault: Option<Fault>,
    /// Given back before the last byte, so that who reads it can send the next request at once.
    pub slot: Option<Slot<'a>>,
    /// Cached prompt tokens, where there is a cache.
    pub cached: Option<u32>,
    /// Whether the client wants the connection closed after it.
    pub close: bool,
}

impl Delivery<'_> {
    /// Sends it. An error means that the connection is of no use any more.
    pub async fn run(mut self) -> Result<(), HungUp> {
        let sent = if self.ask.stream { self.stream().await } else { self.in_one_piece().await };
        if sent.is_err() && self.slot.is_some() {
            self.conclude(Ending::HungUp);
        }
        sent
    }

    async fn stream(&mut self) -> Result<(), HungUp> {
        let crlf = self.fault == Some(Fault::SplitCrlf);
        let model = &self.engine.models[self.ask.model].name;
        let frames = Frames::new(self.ask.interface, &self.record.id, self.engine.created, model, crlf);
        let mut head = stream_head(self.close);
        let mut role = Vec::new();
        if let Some(event) = frames.role(self.so_far(0)) {
            chunk(&mut role, event.as_bytes());
        }
        if self.engine.settings.role_at_once {
            head.append(&mut role);
        }
        self.connection.write(&head).await?;
        match self.fault {
            Some(Fault::ErrorFirst) => self.error_event(&frames).await,
            Some(Fault::StallFirst) => self.broken(vec![Act::Stall]).await,
            Some(Fault::ZeroTokens) => {
                self.wait_for(0).await?;
                self.tail(&frames, role).await
            }
            _ => self.tokens(&frames, role).await,
        }
    }

    /// Sends every event that carries tokens, behind what is in `lead`, and then the tail.
    async fn tokens(&mut self, frames: &Frames, mut lead: Vec<u8>) -> Result<(), HungUp> {
        let strike = self.fault.and_then(|fault| Some((fault, strikes_at(fault, self.plan.events())?)));
        let mut held = None;
        for event in 0..self.plan.events() {
            self.wait_for(event).await?;
            let fault = strike.filter(|(_, at)| *at == event).map(|(fault, _)| fault);
            let mut payload = self.event(frames, event, fault);
            match fault {
                Some(Fault::ErrorEvent) => return self.error_event(frames).await,
                Some(Fault::TwoEvents) => held = Some((payload, event)),
                Some(fault) => self.strike(fault, &mut lead, event, payload).await?,
                None => {
                    let mut first = event;
                    if let Some((before, its_event)) = held.take() {
                        self.record.fault = Some(Fault::TwoEvents);
                        (payload, first) = (before + &payload, its_event);
                    }
                    chunk(&mut lead, payload.as_bytes());
                    self.note(first, event);
                    self.connection.write(&lead).await?;
                    lead.clear();
                }
            }
        }
        self.tail(frames, lead).await
    }

    fn event(&self, frames: &Frames, event: u32, fault: Option<Fault>) -> String {
        let usage = self.so_far(self.plan.range(event).end);
        if fault == Some(Fault::SplitUtf8) {
            return frames.with_text(&self.plan, event, usage, MANY_BYTES);
        }
        frames.tokens(&self.plan, event, usage)
    }

    /// Sends an event in the way of the fault, behind what is in `lead`.
    async fn strike(
        &mut self,
        fault: Fault,
        lead: &mut Vec<u8>,
        event: u32,
        payload: String,
    ) -> Result<(), HungUp> {
        let acts = struck(fault, payload.as_bytes());
        self.connection.write(lead).await?;
        lead.clear();
        if acts.iter().any(|act| matches!(act, Act::Close | Act::Reset | Act::Stall)) {
            return self.broken(acts).await;
        }
        self.record.fault = Some(fault);
        let last = acts.len().saturating_sub(1);
        for (step, act) in acts.iter().enumerate() {
            if step == last {
                self.note(event, event);
            }
            self.connection.act(act, &self.engine.clock).await?;
        }
        Ok(())
    }

    /// Does what breaks the answer off.
    async fn broken(&mut self, acts: Vec<Act>) -> Result<(), HungUp> {
        self.record.fault = self.fault;
        self.record.ending = Ending::Broken;
        self.engine.log.push(self.record.clone());
        // A stalled request stays in flight until the client hangs up.
        let slot = self.slot.take().filter(|_| acts.contains(&Act::Stall));
        for act in &acts {
            self.connection.act(act, &self.engine.clock).await?;
        }
        drop(slot);
        Err(HungUp)
    }

    async fn error_event(&mut self, frames: &Frames) -> Result<(), HungUp> {
        self.record.fault = self.fault;
        self.count(|counters| &counters.failed, 1);
        let error = match self.fault {
            Some(Fault::ErrorFirst) => {
                let busy = "The engine is currently busy and cannot accept new requests.";
                error_body(503, "Service Unavailable", None, busy)
            }
            _ => error_body(500, "InternalServerError", None, "The engine failed."),
        };
        let mut out = Vec::new();
        chunk(&mut out, frames.error(&error).as_bytes());
        chunk(&mut out, frames.done().as_bytes());
        out.extend_from_slice(LAST_CHUNK);
        self.conclude(Ending::Broken);
        self.connection.write(&out).await
    }

    /// What comes after the last token, in one write.
    async fn tail(&mut self, frames: &Frames, mut out: Vec<u8>) -> Result<(), HungUp> {
        if self.fault == Some(Fault::ZeroTokens) {
            self.record.fault = self.fault;
        } else {
            chunk(&mut out, frames.finish(&self.plan, self.so_far(self.plan.tokens)).as_bytes());
            self.count_success();
        }
        if self.tells_usage() {
            chunk(&mut out, frames.usage(self.final_usage()).as_bytes());
        }
        if self.fault == Some(Fault::NoDone) {
            self.record.fault = self.fault;
        } else {
            chunk(&mut out, frames.done().as_bytes());
        }
        out.extend_from_slice(LAST_CHUNK);
        self.conclude(Ending::Complete);
        self.connection.write(&out).await
    }

    async fn in_one_piece(&mut self) -> Result<(), HungUp> {
        let last = self.plan.events() - 1;
        self.wait_for(last).await?;
        let usage = (self.engine.settings.usage != Usage::Never).then(|| self.final_usage());
        let model = &self.engine.models[self.ask.model].name;
        let (id, created) = (&self.record.id, self.engine.created);
        let reply = Reply::json(whole(self.ask.interface, id, created, model, &self.plan, usage));
        let head = reply.head(self.close);
        let acts = self.fault.and_then(|fault| Some((fault, struck_whole(fault, &head, reply.body())?)));
        match acts {
            Some((_, acts)) if acts.iter().any(|act| !matches!(act, Act::Write(_) | Act::Pause)) => {
                self.broken(acts).await
            }
            Some((fault, acts)) => {
                self.record.fault = Some(fault);
                self.answered();
                for act in &acts {
                    self.connection.act(act, &self.engine.clock).await?;
                }
                Ok(())
            }
            None => {
                self.answered();
                self.connection.write(&[&head, reply.body()].concat()).await
            }
        }
    }

    /// Notes an answer in one piece, just before it is written.
    fn answered(&mut self) {
        self.note(0, self.plan.events() - 1);
        self.count_success();
        self.conclude(Ending::Complete);
    }

    async fn wait_for(&mut self, event: u32) -> Result<(), HungUp> {
        let due_us = self.record.received_us.saturating_add(self.plan.due_us(event));
        self.connection.wait(&self.engine.clock, due_us).await
    }

    /// Notes the tokens of some events, just before the write that carries them.
    fn note(&mut self, first: u32, last: u32) {
        let due_us = self.record.received_us.saturating_add(self.plan.due_us(last));
        let tokens = self.plan.range(last).end - self.plan.range(first).start;
        let at_us = self.engine.clock.now_us();
        if self.record.first_token_us.is_none() {
            self.record.first_token_us = Some(at_us);
            self.count(|counters| &counters.prompt_tokens, u64::from(self.record.prompt_tokens));
            self.count(|counters| &counters.first_tokens, 1);
            self.count(|counters| &counters.first_token_us, at_us.saturating_sub(self.record.received_us));
        }
        self.record.last_token_us = Some(at_us);
        self.record.tokens += tokens;
        self.record.sent.push(Sent { due_us, at_us, tokens });
        self.count(|counters| &counters.generation_tokens, u64::from(tokens));
    }

    /// Notes the end, before the client can see it.
    fn conclude(&mut self, ending: Ending) {
        self.record.ending = ending;
        self.engine.log.push(self.record.clone());
        self.slot = None;
    }

    fn count(&self, counter: impl Fn(&Counters) -> &AtomicU64, by: u64) {
        counter(&self.engine.models[self.ask.model].counters).fetch_add(by, Relaxed);
    }

    fn count_success(&self) {
        if self.plan.stops_early {
            self.count(|counters| &counters.stopped, 1);
        } else {
            self.count(|counters| &counters.at_length, 1);
        }
    }

    fn tokens_with(&self, completion: u32) -> Tokens {
        Tokens { prompt: self.record.prompt_tokens, cached: self.cached, completion }
    }

    fn tells_usage(&self) -> bool {
        match self.engine.settings.usage {
            Usage::WhenAsked => self.ask.include_usage,
            Usage::Always => true,
            Usage::Never => false,
        }
    }

    /// The usage of an event that carries tokens, where every event tells it.
    fn so_far(&self, tokens: u32) -> Option<Tokens> {
        let settings = &self.engine.settings;
        let tells = (self.ask.continuous_usage || settings.continuous_usage) && self.tells_usage();
        tells.then(|| self.tokens_with(tokens))
    }

    fn final_usage(&mut self) -> Tokens {
        if self.fault == Some(Fault::WrongUsage) {
            self.record.fault = self.fault;
            return self.tokens_with(self.record_tokens() * 2 + 1);
        }
        self.tokens_with(self.record_tokens())
    }

    fn record_tokens(&self) -> u32 {
        if self.fault == Some(Fault::ZeroTokens) { 0 } else { self.plan.tokens }
    }
}

/// The event that a fault strikes, of so many; `None` where it strikes no single event.
fn strikes_at(fault: Fault, events: u32) -> Option<u32> {
    let middle = events / 2;
    match fault {
        Fault::TwoEvents => events.checked_sub(2).map(|last| middle.min(last)),
        Fault::SplitUtf8
        | Fault::SplitCrlf
        | Fault::TruncatedChunk
        | Fault::Reset
        | Fault::Stall
        | Fault::Drip
        | Fault::Garbage
        | Fault::ErrorEvent => Some(middle),
        _ => None,
    }
}
