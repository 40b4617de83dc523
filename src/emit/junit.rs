//! JUnit XML, what every CI system reads.

use std::time::Duration;

use junit_report::{Report, TestCase, TestResult, TestSuite};

use crate::model::{Finding, Timestamp, Verdict};

use super::text::{terminal, xml_clean, xml_text};
use case::{Case, End};

mod case;
mod finish;
mod properties;

/// When and how long was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// When it began.
    pub started: Timestamp,
    /// How long it took; zero where nothing was measured here.
    pub took: Duration,
}

/// Cases are written up to here, in bytes: some readers refuse ten million, and the summary that an action makes of
/// sixty thousand cases is not shown at all.
const MOST_BYTES: usize = 4_000_000;

/// The verdict as JUnit XML: a suite for the profile, in it a case for the run and one for each gated field, worst
/// first.
///
/// A regressed or missing field is a failure; what could not be compared, and what could not have failed, is an error;
/// what is waived or could be noise is skipped. Fields that a person can do nothing about one by one, for lack of
/// samples or of a blessed value, are one skipped case together; fields that no rule gates are no tests. Valid under
/// the schema of Jenkins (junit-10) and the one that Azure names.
#[must_use]
pub fn junit(verdict: &Verdict, run: &Run) -> String {
    let class = class_name(&verdict.profile);
    let mut whole = Case::of_run(verdict).test_case();
    whole.time = to_milliseconds(run.took);
    let mut cases = vec![whole];
    let mut bytes = 0;
    let tested: Vec<&Finding> = verdict.findings.iter().filter(|finding| case::is_tested(finding)).collect();
    for (at, finding) in tested.iter().enumerate() {
        let case = Case::of_field(verdict, finding);
        bytes += case.bytes() + class.len();
        if bytes > MOST_BYTES {
            cases.push(Case::left_out(verdict, &tested[at..]).test_case());
            break;
        }
        cases.push(case.test_case());
    }
    cases.extend(Case::together(verdict).iter().map(Case::test_case));
    for case in &mut cases {
        case.set_classname(&class);
    }
    write(suite(&xml_clean(&terminal(&verdict.profile)), run, cases), verdict)
        .unwrap_or_else(|error| unwritten(&error))
}

fn suite(profile: &str, run: &Run, cases: Vec<TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(profile);
    "pacegate".clone_into(&mut suite.package);
    suite.set_timestamp(run.started.get());
    suite.set_system_out("");
    suite.set_system_err("");
    suite.add_testcases(cases);
    suite
}

fn write(suite: TestSuite, verdict: &Verdict) -> Result<String, finish::Unfinished> {
    let skipped = suite.skipped();
    let mut report = Report::new();
    report.add_testsuite(suite);
    let mut xml = Vec::new();
    report.write_xml(&mut xml)?;
    finish::finish(&String::from_utf8_lossy(&xml), &properties::of(verdict), skipped)
}

/// Memory can be written and what was written can be read, so this can't be; if it is, the file still fails the gate.
fn unwritten(error: &finish::Unfinished) -> String {
    format!(
        r#"<testsuites><testsuite id="0" package="pacegate" name="pacegate" hostname="localhost" timestamp="1970-01-01T00:00:00" tests="1" failures="0" errors="1" skipped="0" time="0"><properties/><testcase classname="pacegate" name="{}" time="0"><error type="output" message="the verdict could not be written">{}</error></testcase><system-out/><system-err/></testsuite></testsuites>
"#,
        case::RUN,
        xml_text(&error.to_string())
    )
}

/// `pacegate.<profile>`: readers take what is before the last dot for a package, so the profile brings none.
fn class_name(profile: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("pacegate.{}", profile.chars().take(100).map(safe).collect::<String>())
}

/// Both schemas take at most three decimals.
fn to_milliseconds(took: Duration) -> time::Duration {
    time::Duration::milliseconds(i64::try_from(took.as_millis()).unwrap_or(i64::MAX))
}

impl Case {
    /// For the writer, which escapes attributes and leaves text as it is.
    fn test_case(&self) -> TestCase {
        let (name, message) = (xml_clean(&self.name), xml_clean(&self.message));
        let zero = time::Duration::ZERO;
        let mut case = match self.end {
            End::Passed => return TestCase::success(&name, zero),
            End::Skipped => TestCase::skipped_with_cause(&name, self.kind, &message),
            End::Failure => TestCase::failure(&name, zero, self.kind, &message),
            End::Error => TestCase::error(&name, zero, self.kind, &message),
        };
        if let TestResult::SkippedWithCause { cause, .. }
        | TestResult::Failure { cause, .. }
        | TestResult::Error { cause, .. } = &mut case.result
        {
            *cause = Some(xml_text(&self.text));
        }
        case
    }
}
