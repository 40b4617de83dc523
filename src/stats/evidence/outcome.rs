use super::field::Class;
use super::input::Tier;

/// One channel's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// Estimated change on the logarithmic scale, + = worse: of everything, of a class against the reference, of a
    /// field against its class or the reference.
    pub estimate: f64,
    /// Its standard error.
    pub se: f64,
    /// One-sided p: how often noise alone moves it this far towards worse.
    pub p: f64,
    /// p adjusted for the other classes or fields (Holm); equal to `p` run-wide and for companions.
    pub p_adjusted: f64,
    /// Whether the channel itself regressed: significant and over its limits.
    pub regressed: bool,
    /// Smallest true change found with 90 % power, as a share (0.32 = 32 % worse); `None`: this evidence can't fail it.
    pub smallest_found: Option<f64>,
}

/// One class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassOutcome {
    /// Which.
    pub class: Class,
    /// Whether the middle of its gated fields is over the limits.
    pub over_limits: bool,
    /// Its test against the reference class; `None` for the reference itself.
    pub test: Option<Test>,
}

/// The judgement of a gated field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldWord {
    /// Over its limit, and its own test, its class or everything regressed.
    Regressed,
    /// The mirrored rule would call the opposite change regressed.
    Improved,
    /// Over its limit, and noise can't be excluded.
    Unresolved,
    /// Within its limit.
    Unchanged,
}

/// One field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldOutcome {
    /// `None` for a companion, which is never judged.
    pub word: Option<FieldWord>,
    /// Baseline level, sign-aligned logarithm.
    pub baseline: f64,
    /// Change against it, + = worse.
    pub change: f64,
    /// Candidate ÷ baseline in the metric's own sign.
    pub ratio: f64,
    /// Two-sided 95 % interval of `ratio`: run noise and the field's own together.
    pub interval: (f64, f64),
    /// Whether the change is over limit and floor.
    pub over_limit: bool,
    /// The field's own test; its estimate is relative to class or reference.
    pub test: Test,
    /// Unresolved, but rarely that far by chance: worth an annotation.
    pub warned: bool,
}

/// Everything the evidence rule says about one gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How the noise is known.
    pub tier: Tier,
    /// Everything together.
    pub run: Test,
    /// Whether the middle of all gated fields is over the limits.
    pub run_over_limits: bool,
    /// The class the others are compared with.
    pub reference: Class,
    /// Every class that occurs, in fixed order, the reference too.
    pub classes: Vec<ClassOutcome>,
    /// Factor between assumed and seen spread of fields.
    pub kappa: f64,
    /// In the order of the input.
    pub fields: Vec<FieldOutcome>,
    /// Standard errors either side of an estimate that its 95 % interval spans, at this tier's degrees of freedom.
    pub interval_reach: f64,
    /// Gated fields over their limit.
    pub over_count: usize,
    /// How many noise alone would put there.
    pub over_expected: f64,
    /// Whether a channel regressed.
    pub failed: bool,
}

impl Outcome {
    /// The class, if it occurs.
    pub fn class(&self, class: Class) -> Option<&ClassOutcome> {
        self.classes.iter().find(|outcome| outcome.class == class)
    }

    /// The channels over their limits without significance: run-wide first, then the classes that were tested.
    pub fn warned_channels(&self) -> (bool, Vec<Class>) {
        let insignificant =
            |outcome: &&ClassOutcome| outcome.over_limits && outcome.test.is_some_and(|test| !test.regressed);
        let classes = self.classes.iter().filter(insignificant).map(|outcome| outcome.class).collect();
        (self.run_over_limits && !self.run.regressed, classes)
    }

    /// Smallest change of a metric that this evidence could have shown in one group: the best of its class and of its
    /// own gated fields, given by index; for the reference class of everything and of those. `None`: none at all.
    pub fn smallest_found(&self, class: Class, own_fields: &[usize]) -> Option<f64> {
        let of_channel = match self.class(class) {
            Some(ClassOutcome { test: Some(test), .. }) => test.smallest_found,
            Some(ClassOutcome { test: None, .. }) => self.run.smallest_found,
            None => None,
        };
        let gated =
            own_fields.iter().filter_map(|f| self.fields.get(*f)).filter(|field| field.word.is_some());
        gated.filter_map(|field| field.test.smallest_found).chain(of_channel).min_by(f64::total_cmp)
    }
}
