//! What a workflow may hand to the action by mistake or by malice.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::world::{Runner, World, bare, root};

/// Names of the commands that a runner would take from a log: lines end at LF or CR, and the older form counts anywhere.
fn workflow_commands(log: &str) -> Vec<&str> {
    log.split(['\n', '\r'])
        .filter(|line| line.trim_start().starts_with("::") || line.contains("##["))
        .collect()
}

#[test]
fn text_of_inputs_never_becomes_a_command_of_the_shell() {
    let world = World::with_pull_request(|_| {});
    let checkout = world.checkout(2);
    for attack in
        ["$(touch pwned)", "`touch pwned`", "a; touch pwned", "a\" && touch pwned; \"", "--help", "a'b"]
    {
        for input in ["REPORTS", "PROFILE", "BASE_REF", "COMMAND", "REPORT_ONLY"] {
            let step = world.pull_request(&checkout).set(&format!("PACEGATE_ACTION_{input}"), attack).gate();
            assert_ne!(step.code, 0, "{input} = {attack}: {}", step.log);
            assert!(!checkout.join("pwned").exists(), "{input} = {attack}");
        }
    }
}

#[test]
fn text_of_inputs_never_becomes_a_workflow_command_or_an_output() {
    let world = World::with_pull_request(|_| {});
    let checkout = world.checkout(2);
    for attack in ["x\n::error::planted", "x\r::add-mask::a", "x\nverdict=pass", "x ##[error]planted"] {
        for input in ["PROFILE", "BASE_REF", "COMMAND", "REPORT_ONLY", "REPORTS"] {
            let step = world.pull_request(&checkout).set(&format!("PACEGATE_ACTION_{input}"), attack).gate();
            assert_ne!((step.code, step.output("verdict")), (0, "pass"), "{input} = {attack:?}");
            let planted = workflow_commands(&step.log)
                .into_iter()
                .filter(|line| !line.starts_with("::error title=pacegate"))
                .collect::<Vec<_>>();
            assert_eq!(planted, Vec::<&str>::new(), "{input} = {attack:?}: {}", step.log);
        }
    }
}

#[test]
fn check_without_reports_and_run_with_some_are_refused_with_the_input_that_mends_it() {
    let world = World::with_pull_request(|_| {});
    let checkout = world.checkout(2);
    let none = world.pull_request(&checkout).set("PACEGATE_ACTION_REPORTS", "\n").gate();
    none.ended(2, "usage");
    assert!(none.log.contains("reports: expected one report a line"), "{}", none.log);
    let both = world.pull_request(&checkout).set("PACEGATE_ACTION_COMMAND", "run").gate();
    both.ended(2, "usage");
    assert!(both.log.contains("say command: check"), "{}", both.log);
}

#[test]
fn a_report_that_is_not_there_is_named_by_pacegate_itself() {
    let world = World::with_pull_request(|_| {});
    let runner = world.pull_request(&world.checkout(2)).set("PACEGATE_ACTION_REPORTS", "results/*.csv");
    let step = runner.gate();
    step.ended(2, "usage");
    assert!(step.log.contains("results/*.csv"), "{}", step.log);
    assert_eq!(step.output("report"), "");
}

#[test]
fn a_cancelled_job_reaches_pacegate_and_its_exit_code_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("work");
    fs::create_dir_all(&checkout).unwrap();
    let binary = folder.path().join("pacegate");
    // Says that it is there, then waits for ever; the real one ends by 143 where it was asked to stop.
    let script = "#!/bin/bash\ntrap 'exit 143' TERM\nmkfifo forever && exec 3<>forever\nmkfifo ready && echo ready >ready\nread -r <&3\n";
    fs::write(&binary, script).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    let outputs = folder.path().join("output");
    // A test run in the background ignores SIGINT, and so would all that it starts.
    let mut gate = bare("perl", &checkout)
        .args(["-e", "$SIG{INT} = 'DEFAULT'; exec @ARGV or die", "bash"])
        .arg(root().join("scripts/action/gate"))
        .env("PACEGATE_ACTION_BINARY", &binary)
        .env("PACEGATE_ACTION_REPORTS", "report.json")
        .env("RUNNER_TEMP", folder.path())
        .env("GITHUB_OUTPUT", &outputs)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let wait = bare("bash", &checkout)
        .args(["-c", "until [ -p ready ]; do :; done; read -r line <ready"])
        .status()
        .unwrap();
    assert!(wait.success());
    let signal = bare("kill", &checkout).args(["-INT", &gate.id().to_string()]).status().unwrap();
    assert!(signal.success());
    assert_eq!(gate.wait().unwrap().code(), Some(143));
    let outputs = fs::read_to_string(outputs).unwrap();
    assert!(outputs.contains("verdict=interrupted\nexit-code=143\n"), "{outputs}");
}

/// The gate's step with a pacegate that only does what `script` says.
fn with_binary(script: &str) -> crate::world::Step {
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("work");
    fs::create_dir_all(&checkout).unwrap();
    let binary = folder.path().join("pacegate");
    fs::write(&binary, format!("#!/bin/bash\n{script}\n")).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    Runner::new(&checkout).set("PACEGATE_ACTION_BINARY", binary.display().to_string()).gate()
}

#[test]
fn a_crash_is_no_interruption_and_is_said() {
    for (script, code) in [("exit 101", 101), ("kill -KILL $$", 137), ("kill -SEGV $$", 139)] {
        let step = with_binary(script);
        step.ended(code, "crashed");
        let errors = workflow_commands(&step.log);
        assert_eq!(errors.len(), 1, "{}", step.log);
        assert!(errors[0].contains(&format!("ended with {code}")), "{}", step.log);
    }
    for (script, code) in [("exit 130", 130), ("kill -TERM $$", 143)] {
        with_binary(script).ended(code, "interrupted");
    }
}

#[test]
fn success_without_a_verdict_is_no_pass() {
    let verdict = |text: &str| {
        format!("for word; do [ \"$last\" != --json ] || printf '{text}' >\"$word\"; last=$word; done")
    };
    for script in [
        "exit 0".to_owned(),
        verdict(""),
        verdict("{\\n}\\n"),
        verdict("{\\n  \"outcome\": \"run_failed\",\\n}\\n"),
    ] {
        let step = with_binary(&script);
        step.ended(2, "crashed");
        assert!(step.log.contains("no verdict was written"), "{}", step.log);
    }
    with_binary(&verdict("{\\n  \"outcome\": \"pass\",\\n}\\n")).ended(0, "pass");
}

#[test]
fn without_a_runner_the_script_still_judges() {
    let world = World::with_pull_request(|_| {});
    let checkout = world.checkout(2);
    let runner =
        Runner::new(&checkout).set("GITHUB_OUTPUT", "/dev/null").set("GITHUB_STEP_SUMMARY", "/dev/null");
    assert_eq!(runner.gate().code, 0);
}
