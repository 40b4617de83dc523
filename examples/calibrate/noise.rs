//! What differs between jobs of the same code, and what a change does.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal, Uniform};

use super::pool::FIELDS;

/// Noise of a job, as standard deviations of the logarithm: 0.05 is 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Of everything in the job.
    pub run: f64,
    /// Of every group.
    pub group: f64,
    /// Of every field.
    pub field: f64,
    /// Of every metric.
    pub class: f64,
    /// Share of machines that are slower, and by which share.
    pub slow: Option<(f64, f64)>,
}

impl Noise {
    /// Run noise with 1 % for groups and 1 % for fields.
    pub const fn run(run: f64) -> Self {
        Noise { run, group: 0.01, field: 0.01, class: 0.0, slow: None }
    }

    /// With this noise of groups and of fields.
    pub const fn local(self, share: f64) -> Self {
        Noise { group: share, field: share, ..self }
    }

    /// With this noise of metrics.
    pub const fn class(self, class: f64) -> Self {
        Noise { class, ..self }
    }

    /// One job's (or pair's) shift of every field.
    pub fn draw(&self, groups: usize, rng: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
        let mut normal = |spread: f64| {
            let z: f64 = StandardNormal.sample(rng);
            spread * z
        };
        let run = normal(self.run);
        let classes: Vec<f64> = (0..4).map(|_| normal(self.class)).collect();
        let mut shift = Vec::with_capacity(groups * FIELDS);
        for _ in 0..groups {
            let group = normal(self.group);
            for class in CLASS_OF {
                shift.push(run + group + classes[class] + normal(self.field));
            }
        }
        if let Some((share, slower)) = self.slow
            && Uniform::new(0.0, 1.0)?.sample(rng) < share
        {
            shift.iter_mut().for_each(|x| *x += slower.ln_1p());
        }
        Ok(shift)
    }
}

/// Which metric a field of a group belongs to: TTFT, TPOT, E2E, throughput.
pub const CLASS_OF: [usize; FIELDS] = [0, 0, 1, 1, 2, 3];

/// What the change under test does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Nothing: a failure is a false one.
    Nothing,
    /// Everything slower by this share.
    Everything(f64),
    /// TTFT of every group.
    Ttft(f64),
    /// TPOT of every group, and three quarters of it in E2E and throughput.
    Decode(f64),
    /// TTFT of one group.
    OneGroup(f64),
    /// TTFT P95 of one group alone.
    OneTail(f64),
    /// TTFT of half of the groups.
    HalfTheGroups(f64),
}

impl Effect {
    /// As the tables name it.
    pub fn name(self) -> String {
        let percent = |share: f64| format!("+{:.0} %", share * 100.0);
        match self {
            Effect::Nothing => "nothing changed".to_owned(),
            Effect::Everything(share) => format!("everything {}", percent(share)),
            Effect::Ttft(share) => format!("all TTFT {}", percent(share)),
            Effect::Decode(share) => format!("decode {}", percent(share)),
            Effect::OneGroup(share) => format!("one group's TTFT {}", percent(share)),
            Effect::OneTail(share) => format!("only its P95 {}", percent(share)),
            Effect::HalfTheGroups(share) => format!("half of the groups' TTFT {}", percent(share)),
        }
    }

    /// Shift of the logarithm of this field of this group, + = worse.
    pub fn of(self, group: usize, groups: usize, field: usize) -> f64 {
        let (share, hit) = match self {
            Effect::Nothing => (0.0, false),
            Effect::Everything(share) => (share, true),
            Effect::Ttft(share) => (share, field < 2),
            Effect::Decode(share) if field < 4 => (share, field >= 2),
            Effect::Decode(share) => (0.75 * share, true),
            Effect::OneGroup(share) => (share, group == 0 && field < 2),
            Effect::OneTail(share) => (share, group == 0 && field == 1),
            Effect::HalfTheGroups(share) => (share, group < (groups / 2).max(1) && field < 2),
        };
        if hit { share.ln_1p() } else { 0.0 }
    }
}
