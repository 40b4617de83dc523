//! One group in one round against one endpoint.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::model::Finite;
use crate::model::Group;
use crate::source::load::block::{self, Block, Ran};
use crate::source::load::control;
use crate::source::load::key::clean;
use crate::source::load::plan::{Ask, Planned, Step};
use crate::source::load::prompts::{self, Prompt};
use crate::source::load::reconcile::{Counters, Findings, Sent, reconcile};
use crate::source::load::request::Call;
use crate::source::load::schedule::{Schedule, moments};
use crate::source::load::self_check;
use crate::source::load::side::Side;
use crate::source::load::tally::{self, Sample, Tally};
use crate::source::load::url::BaseUrl;
use crate::source::simulate::Progress;
use crate::source::simulate::random::StreamKey;
use crate::source::simulate::traffic::Workload;
use crate::source::workload::round_seed;

use super::{LoadError, Run, source_of};

/// Where an open loop's warm-up has no concurrency to run at.
const OPEN_LOOP_WARMUP: u32 = 8;

/// Warm-up prompts have indexes of their own, so that they warm no cache for what is measured.
const WARMUP_INDEX: u64 = 1 << 40;

/// A counter that lags behind its replies is read again once, after this.
const COUNTER_DELAY: Duration = Duration::from_millis(500);

impl Run<'_> {
    /// Warm-up, load, reconciliation.
    pub(super) fn group(
        &mut self,
        step: Step,
        round: u32,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Group, LoadError> {
        let planned = self.planned[step.group].clone();
        let side = self.look(step, round)?;
        progress(Progress::Group { round, id: &planned.id, requests: self.profile.requests });
        let before = counters(&side)?;
        let warmup = self.warm_up(step, round, &planned, &side)?;
        let (mut samples, ran, cpu_ms) = self.load(step, round, &planned, &side, progress)?;
        let mut sent = Sent::default();
        warmup.iter().chain(&samples).for_each(|sample| count(&mut sent, sample));
        let found = self.reconcile(&side, sent, before)?;
        let afterwards = count_afterwards(&side, &mut samples)?;
        self.simulated |= samples.iter().any(|sample| sample.timeline.simulated);
        let absurd = samples.iter().filter_map(|sample| sample.timeline.absurd_count).max();
        for model in samples.iter().filter_map(|sample| sample.timeline.model.as_ref()) {
            *self.models.entry(clean(model, &self.secrets)).or_default() += 1;
        }
        let ratio = tokens_per_event(&samples);
        let secrets = &self.secrets;
        let tally = Tally {
            samples,
            ran,
            from: source_of(afterwards),
            cpu_ms,
            cores: cores(),
            clean: &|text| clean(text, secrets),
        };
        let mut group = tally.group(&planned)?;
        let mut problems = self_check::problems(&group);
        problems.extend(found.problems);
        if let Some(check) = &mut group.self_check {
            check.problems = problems;
        }
        self.warnings.extend(found.warnings);
        self.warnings.extend(self_check::warnings(&group, ratio, self.profile.cache));
        self.warnings.extend(absurd.map(|count| self_check::absurd(&group, count)));
        self.warn_of_model(&side);
        Ok(group)
    }

    fn look(&mut self, step: Step, round: u32) -> Result<Side, LoadError> {
        let strategy = self.planned[step.group].strategy;
        let nonce = self.nonce(round, step, "probe");
        let profile = self.profile;
        let side = self.sides[strategy][usize::from(step.against)].as_mut();
        let side = side.ok_or_else(|| LoadError::NoEndpoint(profile.name.clone()))?;
        side.look(profile, &nonce)?;
        let side = side.clone();
        if self.scale.is_none() {
            self.scale = side.seen.as_ref().and_then(|seen| seen.scale);
        }
        if self.scale.is_none() && matches!(self.planned[step.group].ask, Ask::Traffic(_)) {
            self.warnings.insert(
                "the server did not say how many tokens a prompt has, so prompt lengths are estimated at 1.05 tokens a word"
                    .to_owned(),
            );
        }
        Ok(side)
    }

    fn warm_up(
        &mut self,
        step: Step,
        round: u32,
        planned: &Planned,
        side: &Side,
    ) -> Result<Vec<Sample>, LoadError> {
        let concurrency = planned.dimensions.concurrency.unwrap_or(OPEN_LOOP_WARMUP);
        let requests = self.profile.warmup.unwrap_or_else(|| concurrency.max(2));
        let calls = self.calls(step, round, planned, side, WARMUP_INDEX, requests);
        let mut samples = Vec::new();
        self.run(side, calls, Schedule::Closed(concurrency), &mut |sample| samples.push(sample))?;
        self.warmup.sent += samples.len() as u64;
        for (kind, n) in tally::failed(&samples) {
            *self.warmup.failed.entry(kind).or_default() += n;
        }
        Ok(samples)
    }

    fn load(
        &self,
        step: Step,
        round: u32,
        planned: &Planned,
        side: &Side,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Vec<Sample>, Ran, Option<u64>), LoadError> {
        let calls = self.calls(step, round, planned, side, 0, self.profile.requests);
        let schedule = match (planned.dimensions.concurrency, planned.dimensions.rate, planned.arrival) {
            (None, Some(rate), Some(arrival)) => {
                Schedule::Open(moments(rate, arrival, self.profile.requests, &self.key(planned, round)))
            }
            (concurrency, ..) => Schedule::Closed(concurrency.unwrap_or(1)),
        };
        let mut samples = Vec::new();
        let mut cpu = Cpu::default();
        let before = cpu.used_ms();
        let ran = self.run(side, calls, schedule, &mut |sample| {
            let failed = sample.timeline.failure.as_ref().map(|failure| failure.kind);
            let first_token = sample.timeline.first_token.filter(|_| failed.is_none());
            progress(Progress::Request { failed, ttft_us: first_token.map(|ns| ns / 1000) });
            samples.push(sample);
        })?;
        let used = cpu.used_ms().zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok((samples, ran, used))
    }

    fn run(
        &self,
        side: &Side,
        calls: Arc<[Call]>,
        schedule: Schedule,
        keep: &mut dyn FnMut(Sample),
    ) -> io::Result<Ran> {
        let endpoint = Arc::clone(&side.endpoint);
        let block = Block { endpoint, calls, schedule, timeouts: self.profile.timeouts, clock: self.clock };
        block::run(&block, self.cancel, |_, transcript| {
            let mut sample = Sample::of(&transcript);
            if sample.tokens.is_some() || sample.timeline.failure.is_some() {
                // Only an answer that has yet to be counted is kept, and only until then.
                sample.timeline.text = String::new();
            }
            keep(sample);
        })
    }

    fn key(&self, planned: &Planned, round: u32) -> StreamKey {
        StreamKey::new(round_seed(self.profile.seed, round), planned.workload_name().as_str())
    }

    /// The requests, made before the first is sent.
    fn calls(
        &self,
        step: Step,
        round: u32,
        planned: &Planned,
        side: &Side,
        first: u64,
        n: u32,
    ) -> Arc<[Call]> {
        let (profile, cache) = (self.profile, self.profile.cache);
        let part = if first == 0 { "load" } else { "warmup" };
        let (key, nonce) = (self.key(planned, round), self.nonce(round, step, part));
        let scale = self.scale.unwrap_or_default();
        let path = side.endpoint.url.call(side.form.api);
        let call = |index: u64| {
            let (prompt, max_tokens): (Prompt, u32) = match &planned.ask {
                Ask::Traffic(traffic) => {
                    let workload = Workload {
                        traffic: *traffic,
                        prompt_tokens: planned.dimensions.prompt_tokens,
                        max_tokens: profile.max_tokens,
                        cache,
                        early_stop: Finite::ZERO,
                        key: key.clone(),
                    };
                    let request = workload.request(index);
                    (prompts::text(&request, index, &key, scale, &nonce, cache), request.output_limit)
                }
                Ask::Set(set, _) => {
                    let chosen = &set.prompts[index as usize % set.prompts.len()];
                    (prompts::with_nonce(chosen, index, &nonce, cache), Planned::max_tokens(profile))
                }
            };
            let body = side.form.body(prompt, max_tokens);
            Call { path: path.clone(), body: Some(body), stream: side.form.stream }
        };
        (first..first + u64::from(n)).map(call).collect()
    }

    fn reconcile(&self, side: &Side, sent: Sent, before: Option<Counters>) -> Result<Findings, LoadError> {
        let server = shown(&side.endpoint.url);
        let found = reconcile(&server, sent, before, counters(side)?);
        if found.problems.is_empty() {
            return Ok(found);
        }
        thread::sleep(COUNTER_DELAY);
        Ok(reconcile(&server, sent, before, counters(side)?))
    }

    fn warn_of_model(&mut self, side: &Side) {
        let asked = &side.form.model;
        if let Some(other) = self.models.keys().find(|model| *model != asked && !asked.is_empty()) {
            let text = format!("the model that answered calls itself \"{other}\", not \"{asked}\"");
            self.warnings.insert(clean(&text, &self.secrets));
        }
    }
}

/// The server's counters now, where the first look found any.
fn counters(side: &Side) -> io::Result<Option<Counters>> {
    if side.seen.as_ref().is_none_or(|seen| seen.engine.is_none()) {
        return Ok(None);
    }
    Ok(control::counters(&side.endpoint)?.map(|(_, counters)| counters))
}

fn shown(url: &BaseUrl) -> String {
    url.authority()
}

fn count(sent: &mut Sent, sample: &Sample) {
    let first = sent.succeeded == 0;
    sent.requests += 1;
    if sample.timeline.failure.is_some() {
        return;
    }
    sent.succeeded += 1;
    let add = |sum: Option<u64>, own: Option<u64>| if first { own } else { sum.zip(own).map(|(a, b)| a + b) };
    sent.prompt_tokens = add(sent.prompt_tokens, sample.timeline.usage.and_then(|usage| usage.prompt));
    sent.output_tokens = add(sent.output_tokens, sample.tokens);
}

/// Asks the server's tokenizer for answers without usage. Whether any was counted so.
fn count_afterwards(side: &Side, samples: &mut [Sample]) -> Result<bool, LoadError> {
    let mut any = false;
    let uncounted = samples.iter_mut().filter(|s| s.tokens.is_none() && s.timeline.failure.is_none());
    for sample in uncounted {
        let text = std::mem::take(&mut sample.timeline.text);
        sample.tokens = control::tokenize(&side.endpoint, &side.form.model, &text)?.filter(|n| *n > 0);
        if sample.tokens.is_none() {
            // A server without a tokenizer has none for the other answers either.
            break;
        }
        any = true;
    }
    Ok(any)
}

fn tokens_per_event(samples: &[Sample]) -> Option<f64> {
    let counted = samples.iter().filter(|sample| sample.timeline.failure.is_none());
    let (mut tokens, mut events) = (0, 0);
    for sample in counted {
        tokens += sample.tokens?;
        events += sample.timeline.events.len();
    }
    (events > 0).then(|| tokens as f64 / events as f64)
}

fn cores() -> u32 {
    thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

/// CPU time of this process.
struct Cpu(Option<sysinfo::System>);

impl Default for Cpu {
    fn default() -> Self {
        Cpu(sysinfo::System::new().ok())
    }
}

impl Cpu {
    fn used_ms(&mut self) -> Option<u64> {
        let pid = sysinfo::get_current_pid().ok()?;
        let what = sysinfo::ProcessRefreshKind::nothing().with_cpu();
        let system = self.0.as_mut()?;
        system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::Some(&[pid]), false, what);
        Some(system.process(pid)?.accumulated_cpu_time())
    }
}
