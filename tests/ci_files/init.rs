//! `pacegate init`.

use std::fs;
use std::path::Path;

use crate::world::{BINARY, VLLM, bare, data, git, text};

fn init(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = bare(BINARY, folder).arg("init").args(arguments).output().unwrap();
    (output.status.code().unwrap(), text(&output))
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    folder
}

#[test]
fn nothing_that_stands_there_is_written_over() {
    let folder = repository();
    let workflow = folder.path().join(".github/workflows/pacegate.yml");
    fs::create_dir_all(workflow.parent().unwrap()).unwrap();
    fs::write(&workflow, "mine").unwrap();
    let (code, said) = init(folder.path(), &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("wrote pacegate.toml\nkept .github/workflows/pacegate.yml"), "{said}");
    assert_eq!(fs::read_to_string(&workflow).unwrap(), "mine");
    let toml = fs::read(folder.path().join("pacegate.toml")).unwrap();
    let (_, said) = init(folder.path(), &[]);
    assert!(said.contains("kept pacegate.toml"), "{said}");
    assert_eq!(fs::read(folder.path().join("pacegate.toml")).unwrap(), toml);
}

#[test]
fn a_link_to_nowhere_is_not_followed() {
    let folder = repository();
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("pacegate.toml")).unwrap();
    let (code, said) = init(folder.path(), &["--ci", "none"]);
    assert_eq!(code, 0, "{said}");
    assert!(!folder.path().join("elsewhere").exists(), "{said}");
}

#[test]
fn files_go_to_the_root_of_the_repository() {
    let folder = repository();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(init(&below, &[]).0, 0);
    assert!(folder.path().join("pacegate.toml").exists());
    assert!(folder.path().join(".github/workflows/pacegate.yml").exists());
    assert!(!below.join("pacegate.toml").exists());
}

#[test]
fn the_new_pacegate_toml_changes_nothing_until_a_comment_is_taken_away() {
    let folder = repository();
    init(folder.path(), &["--ci", "none"]);
    let text = fs::read_to_string(folder.path().join("pacegate.toml")).unwrap();
    let plain = pacegate::config::load(Path::new("pacegate.toml"), &text).unwrap();
    assert_eq!(plain, pacegate::config::Config::default());
    let taken: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(key) if !key.starts_with(' ') => format!("{key}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let config = pacegate::config::load(Path::new("pacegate.toml"), &taken)
        .unwrap_or_else(|error| panic!("{error}\n{taken}"));
    assert_eq!(config.default.as_deref(), Some("chat"));
    // The rules that are shown are the rules that hold.
    let shown = config.policy(Some("chat"));
    let built_in = pacegate::config::Config::default().policy(None);
    let rules = |policy: &pacegate::model::policy::Policy| policy.rules.len();
    assert!(rules(&shown) >= rules(&built_in));
    for rule in pacegate::config::defaults::RULES {
        assert!(text.contains(&format!("#{}\n", rule.written())), "{}", rule.written());
    }
}

#[test]
fn the_workflow_names_the_reports_and_this_version() {
    let folder = repository();
    init(folder.path(), &["results/a.json", "int8=results/*.json"]);
    let workflow = fs::read_to_string(folder.path().join(".github/workflows/pacegate.yml")).unwrap();
    assert!(
        workflow.contains("reports: |\n            results/a.json\n            int8=results/*.json\n"),
        "{workflow}"
    );
    assert!(workflow.contains("uses: pacegate/pacegate@"), "{workflow}");
    assert!(workflow.contains("fetch-depth: 2"), "{workflow}");
    for left in ["@USES@", "@REPORTS@", "@HOME@", "@VERSION@"] {
        assert!(!workflow.contains(left), "{workflow}");
    }
}

#[test]
fn gitlab_is_taken_where_its_file_stands_and_that_file_is_left_alone() {
    let folder = repository();
    fs::write(folder.path().join(".gitlab-ci.yml"), "mine").unwrap();
    let (_, said) = init(folder.path(), &["results/a.json"]);
    assert!(said.contains("wrote .gitlab/pacegate.yml"), "{said}");
    assert!(said.contains("include"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join(".gitlab-ci.yml")).unwrap(), "mine");
    let job = fs::read_to_string(folder.path().join(".gitlab/pacegate.yml")).unwrap();
    assert!(job.contains("pacegate check results/a.json --base-ref origin/target"), "{job}");
}

#[test]
fn names_that_would_break_a_workflow_are_refused_before_anything_is_written() {
    for name in ["a b.json", "a;rm.json", "$(id)", "-x", "a\nb", "'a'", "", "a`id`", "a&b", "é.json"] {
        let folder = repository();
        let (code, said) = init(folder.path(), &["--", name]);
        assert_eq!(code, 2, "{name:?}: {said}");
        assert!(!folder.path().join("pacegate.toml").exists(), "{name:?}");
    }
}

#[test]
fn it_says_that_run_measures_no_endpoint_yet_and_how_to_name_one() {
    let folder = repository();
    let (_, said) = init(folder.path(), &[]);
    assert!(said.contains("`pacegate run` measures its embedded engine"), "{said}");
    let run = || text(&bare(BINARY, folder.path()).arg("run").output().unwrap());
    assert!(run().contains("SIMULATED: "), "{}", run());
    let toml = folder.path().join("pacegate.toml");
    let named = ["[profile.chat]", "base_url = \"http://127.0.0.1:8000\"", "model = "];
    let uncommented = fs::read_to_string(&toml).unwrap().lines().fold(String::new(), |text, line| {
        let bare = line.strip_prefix('#').filter(|bare| named.iter().any(|start| bare.starts_with(start)));
        text + bare.unwrap_or(line) + "\n"
    });
    fs::write(&toml, uncommented.replace("127.0.0.1:8000", "127.0.0.1:9")).unwrap();
    let doctor = bare(BINARY, folder.path()).arg("doctor").output().unwrap();
    assert_eq!(doctor.status.code(), Some(5), "{}", text(&doctor));
    assert!(text(&doctor).contains("http://127.0.0.1:9/v1/chat/completions"), "{}", text(&doctor));
}

#[test]
fn its_own_next_steps_lead_to_a_gate_that_passes() {
    let folder = repository();
    fs::create_dir(folder.path().join("results")).unwrap();
    fs::copy(data(VLLM), folder.path().join("results/vllm.json")).unwrap();
    let (_, said) = init(folder.path(), &["results/vllm.json"]);
    let steps: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(_, command)| command)
        .filter(|command| command.starts_with("pacegate ") || command.starts_with("git "))
        .collect();
    assert_eq!(steps.len(), 2, "{said}");
    for step in steps {
        let line = step.replace("pacegate check", &format!("{BINARY} check"));
        let output = bare("bash", folder.path()).args(["-e", "-c", &line]).output().unwrap();
        assert!(output.status.success(), "{step}: {}", text(&output));
    }
    let output = bare(BINARY, folder.path())
        .args(["check", "results/vllm.json", "--base-ref", "HEAD"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(git(folder.path(), &["status", "--porcelain"]), "?? results/");
}
