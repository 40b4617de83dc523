//! Every escaper against every attack string and arbitrary text, judged by readers that are not ours.
#[cfg(test)]
mod exact;
#[cfg(test)]
mod oracle;

#[cfg(test)]
mod each_sink {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    use proptest::prelude::*;
    use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

    use crate::oracle::{self, HIDDEN, NOT_FOR_XML};
    use pacegate::emit::text::{self, Annotation, AnnotationLevel};

    fn attacks() -> Vec<String> {
        let by_place: BTreeMap<String, Vec<String>> =
            serde_json::from_str(include_str!("../data/escapers/attacks.json")).unwrap();
        let not_utf8: [&[u8]; 3] = [b"lone \xed\xa0\x80 surrogate", b"caf\xe9", b"\xff\xfe"];
        let not_utf8 = not_utf8.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let attacks: Vec<String> =
            by_place.into_values().flatten().chain(not_utf8).chain([String::new()]).collect();
        assert!(attacks.len() > 120, "{} attacks", attacks.len());
        attacks
    }

    const PIECES: &[&str] = &[
        "##[",
        "##",
        "::",
        "error",
        "::error::",
        "]",
        "`",
        "``",
        "|",
        "\\",
        "\n",
        "\r",
        "\t",
        " ",
        "%",
        "%0A",
        "&",
        "<",
        ">",
        "\"",
        "'",
        "]]>",
        "#",
        "=",
        ",",
        ":",
        "\u{1b}[",
        "\u{9b}",
        "\u{202e}",
        "\u{200d}",
        "\u{2028}",
        "\u{a0}",
        "\u{fffe}",
        "\u{85}",
        "vso[",
    ];

    /// Arbitrary Unicode, with what matters to some reader far more often than chance would have it; short enough that
    /// no sink has to cut it.
    fn anything() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => prop::sample::select(PIECES).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
            1 => prop::sample::select(attacks()),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().chars().take(100).collect())
    }

    fn check_terminal(foreign: &str) {
        let shown = text::terminal(foreign);
        assert!(!HIDDEN.is_match(&shown), "{foreign:?} -> {shown:?}");
        for before in ["", "  ", "model ", "\u{3000}"] {
            let line = format!("{before}{shown} end");
            assert_eq!(oracle::commands(&line), [], "{foreign:?} -> {line:?}");
            assert!(!line.trim_start().starts_with("::"), "{foreign:?} -> {line:?}");
        }
        let expected = oracle::parted(&oracle::visible(foreign, &HIDDEN, ""));
        let leading = regex::Regex::new(r"^(\p{White_Space}*)::").unwrap();
        assert_eq!(shown, leading.replace(&expected, "$1: :"));
        assert_eq!(text::terminal(&shown), shown, "a second pass changes nothing");
    }

    fn check_xml(foreign: &str) {
        let inside = text::xml_text(foreign);
        let document = format!(r#"<?xml version="1.0" encoding="UTF-8"?><t>{inside}</t>"#);
        let tree = roxmltree::Document::parse(&document)
            .unwrap_or_else(|e| panic!("{foreign:?} -> {document:?}: {e}"));
        let expected = oracle::visible(foreign, &NOT_FOR_XML, "");
        assert_eq!(text::xml_clean(foreign), expected);
        assert_eq!(tree.root_element().text().unwrap_or_default(), expected);
        assert_eq!(tree.root().descendants().filter(|node| node.is_element()).count(), 1);
    }

    fn check_markdown(foreign: &str) {
        let visible = match oracle::visible(foreign, &HIDDEN, "") {
            empty if empty.is_empty() => " ".to_owned(),
            visible => visible,
        };
        let code = || Event::Code(CowStr::from(visible.clone()));
        let plain = |words: &'static str| Event::Text(words.into());
        let all = Options::all()
            - Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            - Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;

        let span = text::markdown_code(foreign);
        let (paragraph, end) = (Event::Start(Tag::Paragraph), Event::End(TagEnd::Paragraph));
        for (before, after) in [("model ", " end"), ("", "")] {
            let page = format!("{before}{span}{after}\n\nafter\n");
            let read: Vec<Event<'_>> = Parser::new_ext(&page, all).collect();
            let words = |part| (!str::is_empty(part)).then(|| plain(part));
            let expected =
                [Some(paragraph.clone()), words(before), Some(code()), words(after), Some(end.clone())];
            let rest = [paragraph.clone(), plain("after"), end.clone()];
            assert_eq!(read, expected.into_iter().flatten().chain(rest).collect::<Vec<_>>(), "{page:?}");
        }

        let cell = text::markdown_code_cell(foreign);
        let page = format!("| h1 | h2 |\n|---|---|\n| {cell} | end |\n\nafter\n");
        let row: Vec<Event<'_>> =
            Parser::new_ext(&page, all).skip_while(|event| *event != Event::Start(Tag::TableRow)).collect();
        let (open, close) = (Event::Start(Tag::TableCell), Event::End(TagEnd::TableCell));
        let expected = [
            Event::Start(Tag::TableRow),
            open.clone(),
            code(),
            close.clone(),
            open,
            plain("end"),
            close,
            Event::End(TagEnd::TableRow),
            Event::End(TagEnd::Table),
            paragraph,
            plain("after"),
            end,
        ];
        assert_eq!(row, expected, "{page:?}");
    }

    fn check_workflow(foreign: &str) {
        let expected = oracle::parted(&oracle::visible(foreign, &HIDDEN, "\n\r\t"));
        let annotation = Annotation {
            level: AnnotationLevel::Error,
            file: Some(foreign),
            line: NonZeroU32::new(7),
            title: Some(foreign),
            message: foreign,
        };
        let line = text::workflow_command(&annotation);
        assert_eq!(oracle::commands(&line).len(), 1, "{line:?}");
        let command = oracle::commands(&line).remove(0);
        assert_eq!(command.name, "error");
        assert_eq!(command.data, expected);
        let property =
            |key: &str, value: &str| (!value.is_empty()).then(|| (key.to_owned(), value.to_owned()));
        // The runner trims the property list, so white space at its very end is lost, there and only there.
        // Line breaks arrive as `%0A` and stay.
        let title = expected.trim_end_matches(|c: char| c.is_whitespace() && c != '\n' && c != '\r');
        let properties = [property("file", &expected), property("line", "7"), property("title", title)];
        let read: Vec<(String, String)> =
            command.properties.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        assert_eq!(read, properties.into_iter().flatten().collect::<Vec<_>>(), "{line:?}");

        let written = format!("{}\n", text::workflow_data(foreign));
        assert_eq!(oracle::commands(&format!("plain {written}")), []);
    }

    fn check_openmetrics(foreign: &str) {
        let sample = format!("name{{label=\"{}\"}} 1\n", text::openmetrics_label(foreign));
        assert_eq!(oracle::label(&sample), Some(oracle::visible(foreign, &HIDDEN, "\n")), "{sample:?}");
    }

    #[test]
    fn no_attack_string_gets_through_any_sink() {
        for attack in attacks() {
            check_terminal(&attack);
            check_xml(&attack);
            check_markdown(&attack);
            check_workflow(&attack);
            check_openmetrics(&attack);
        }
    }

    #[test]
    fn hidden_characters_are_those_of_unicode() {
        for c in '\0'..=char::MAX {
            let hidden = HIDDEN.is_match(c.encode_utf8(&mut [0; 4]));
            assert_eq!(text::terminal(&c.to_string()) != c.to_string(), hidden, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn xml_takes_exactly_the_characters_that_every_reader_takes() {
        for c in '\0'..=char::MAX {
            let refused = NOT_FOR_XML.is_match(c.encode_utf8(&mut [0; 4]));
            assert_eq!(text::xml_clean(&c.to_string()) != c.to_string(), refused, "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn a_terminal_gets_no_control_and_a_runner_no_command(foreign in anything()) { check_terminal(&foreign); }

        #[test]
        fn xml_is_well_formed_and_reads_back(foreign in anything()) { check_xml(&foreign); }

        #[test]
        fn markdown_shows_one_code_span(foreign in anything()) { check_markdown(&foreign); }

        #[test]
        fn a_runner_reads_one_annotation(foreign in anything()) { check_workflow(&foreign); }


        #[test]
        fn an_openmetrics_label_reads_back(foreign in anything()) { check_openmetrics(&foreign); }

        #[test]
        fn shortened_text_keeps_its_limit_and_counts_the_rest(foreign in anything(), limit in 40_usize..80) {
            let short = text::shorten(&foreign, limit, char::len_utf16);
            prop_assert!(short.encode_utf16().count() <= limit);
            if foreign.encode_utf16().count() <= limit {
                prop_assert_eq!(&*short, &*foreign);
            } else {
                let (kept, more) = short.rsplit_once("… ").unwrap();
                prop_assert!(foreign.starts_with(kept));
                prop_assert_eq!(more, format!("{} more bytes", foreign.len() - kept.len()));
            }
        }
    }
}
