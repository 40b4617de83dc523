//! Nothing that a stranger wrote steers a page, a reader or the runner: whatever it is, the structure stays that of
//! harmless text.

use pacegate::emit::text::terminal;
use pacegate::emit::{github, junit, markdown, openmetrics};
use pulldown_cmark::{Event, Options, Parser};
use roxmltree::Document;

use crate::junit::run;
use crate::oracle::commands;
use crate::poisoned::{attacks, poisoned};
use crate::{golden, openmetrics as reader};

const HARMLESS: &str = "harmless";

/// The page without what its code spans say.
fn shape(page: &str) -> Vec<Event<'_>> {
    let all = Options::all()
        - Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        - Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let blank = |event| if let Event::Code(_) = event { Event::Code("".into()) } else { event };
    Parser::new_ext(page, all).map(blank).collect()
}

#[test]
fn markdown_keeps_its_shape() {
    let harmless = markdown(&poisoned(HARMLESS));
    for attack in attacks() {
        let page = markdown(&poisoned(&attack));
        assert_eq!(shape(&page), shape(&harmless), "{attack:?}:\n{page}");
    }
}

/// Elements and the names of their attributes.
fn elements(xml: &str) -> Vec<(String, Vec<String>)> {
    let tree = Document::parse(xml).unwrap_or_else(|e| panic!("{e}: {xml}"));
    let names = |n: roxmltree::Node| n.attributes().map(|a| a.name().to_owned()).collect();
    let elements = tree.descendants().filter(roxmltree::Node::is_element);
    elements.map(|n| (n.tag_name().name().to_owned(), names(n))).collect()
}

#[test]
fn junit_keeps_its_elements_and_shows_the_text() {
    let harmless = elements(&junit(&poisoned(HARMLESS), &run()));
    for attack in attacks() {
        let mut verdict = poisoned(&attack);
        let xml = junit(&verdict, &run());
        assert_eq!(elements(&xml), harmless, "{attack:?}:\n{xml}");
        let tree = Document::parse(&xml).unwrap();
        let model = tree.descendants().find(|n| n.attribute("name") == Some("model")).unwrap();
        assert_eq!(model.attribute("value"), Some(&*terminal(&attack)), "{attack:?}");
        let visible = |c: char| c == '\n' || (' '..='~').contains(&c);
        assert!(xml.chars().all(visible), "{attack:?}:\n{xml}");
        let strange = |c: char| c.is_control() && c != '\n' || "\u{2028}\u{2029}\u{202e}\u{2066}".contains(c);
        let read = |n: roxmltree::Node| {
            n.text().unwrap_or_default().to_owned() + n.attribute("message").unwrap_or_default()
        };
        assert!(!tree.descendants().map(read).any(|said| said.contains(strange)), "{attack:?}:\n{xml}");
        assert_eq!(commands(&xml), [], "{attack:?}: a reader that prints it into its log");
        verdict.profile = attack.clone();
        assert_eq!(elements(&junit(&verdict, &run())), harmless, "{attack:?}");
    }
}

#[test]
fn the_runner_takes_nothing_but_our_annotations() {
    let harmless = github(&poisoned(HARMLESS), None);
    for attack in attacks() {
        let mut verdict = poisoned(&attack);
        let lines = github(&verdict, Some(&attack));
        let names = |log: &str| commands(log).into_iter().map(|c| c.name).collect::<Vec<_>>();
        assert_eq!(names(&lines), names(&harmless), "{attack:?}:\n{lines}");
        assert_eq!(lines.lines().count(), harmless.lines().count(), "{attack:?}:\n{lines}");
        assert!(!lines.chars().any(|c| c.is_control() && !"\n\t".contains(c)), "{attack:?}:\n{lines}");
        for command in commands(&lines) {
            assert!(!command.data.contains('\r'), "{attack:?}: {command:?}");
            let keys: Vec<&str> = command.properties.iter().map(|(key, _)| key.as_str()).collect();
            assert!(
                keys.iter().all(|key| ["file", "line", "title"].contains(key)),
                "{attack:?}: {command:?}"
            );
        }
        verdict.profile = attack.clone();
        assert_eq!(names(&github(&verdict, None)), names(&harmless), "{attack:?}");
    }
}

#[test]
fn openmetrics_reads_back_under_any_profile() {
    let harmless = reader::read(&openmetrics(&poisoned(HARMLESS))).len();
    for attack in attacks() {
        let mut verdict = poisoned(&attack);
        verdict.profile = attack.clone();
        let text = openmetrics(&verdict);
        assert_eq!(reader::read(&text).len(), harmless, "{attack:?}:\n{text}");
    }
}

#[test]
fn all_attacks_at_once_are_committed_for_other_readers() {
    let mut verdict = crate::poisoned::hostile();
    golden::assert_same("tests/snapshots/markdown/hostile.md", &markdown(&verdict));
    golden::assert_same("tests/snapshots/github/hostile.txt", &github(&verdict, None));
    verdict.profile = attacks().concat();
    // The profile is the only text from outside there, and it stands in every line.
    verdict.findings.truncate(4);
    golden::assert_same("tests/snapshots/openmetrics/hostile.prom", &openmetrics(&verdict));
}
