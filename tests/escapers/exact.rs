//! The exact text of each escaper, and its limits.

use std::num::NonZeroU32;

use pacegate::emit::text::{self, Annotation, AnnotationLevel};

#[test]
fn terminal_shows_what_would_steer_it() {
    let shown = |foreign| text::terminal(foreign);
    assert_eq!(
        shown("\u{1b}[31mPASS\rFAIL\n\t\u{9b}0m\u{202e}"),
        r"\u{1b}[31mPASS\rFAIL\n\t\u{9b}0m\u{202e}"
    );
    assert_eq!(shown("\u{a0}\u{3000}::add-mask::a"), "\u{a0}\u{3000}: :add-mask::a");
    assert_eq!(shown("ok ##[error]p ###[x ##vso[y"), "ok # #[error]p ## #[x # #vso[y");
    assert_eq!(shown("## heading, C:\\new, a::b"), "## heading, C:\\new, a::b");
}

#[test]
fn xml_escapes_what_a_parser_would_change() {
    assert_eq!(
        text::xml_text("a & <b> \"c\" 'd' ]]>\r\n\t"),
        "a &amp; &lt;b&gt; &quot;c&quot; &apos;d&apos; ]]&gt;&#13;\n\t"
    );
    assert_eq!(text::xml_text("&#27;\u{1b}\u{fffe}\u{200d}"), "&amp;#27;\\u{1b}\\u{fffe}\u{200d}");
}

#[test]
fn xml_of_eleven_megabytes_is_cut_on_a_character() {
    let bytes = 11 * 1024 * 1024;
    let cut = text::xml_text(&"é".repeat(bytes / 2));
    assert!(cut.len() <= text::XML_TEXT_LIMIT && cut.len() > text::XML_TEXT_LIMIT - 4, "{}", cut.len());
    let kept = cut.chars().take_while(|c| *c == 'é').count() * 2;
    assert!(cut.ends_with(&format!("é… {} more bytes", bytes - kept)));
    let exact = "x".repeat(text::XML_TEXT_LIMIT);
    assert_eq!(text::xml_text(&exact), exact);
}

#[test]
fn markdown_fences_outgrow_the_backticks_inside() {
    assert_eq!(text::markdown_code("ttft.p95"), "`ttft.p95`");
    assert_eq!(text::markdown_code("a``b```c"), "````a``b```c````");
    assert_eq!(text::markdown_code("`"), "`` ` ``");
    assert_eq!(text::markdown_code(" x"), "`  x `");
    assert_eq!(text::markdown_code(""), "` `");
    assert_eq!(text::markdown_code("a\n# h"), r"`a\n# h`");
    assert_eq!(text::markdown_code("a|b"), "`a|b`");
    assert_eq!(text::markdown_code_cell(r"a|b\|c"), r"`a\|b\\|c`");
}

#[test]
fn markdown_is_cut_to_its_limit() {
    let cut = text::markdown_code(&"x".repeat(5000));
    assert_eq!(cut.len(), text::MARKDOWN_CODE_LIMIT + 2);
    assert!(cut.ends_with("x… 3995 more bytes`"), "{cut}");
}

#[test]
fn an_annotation_names_its_place_and_leaves_out_what_is_empty() {
    let mut annotation = Annotation {
        level: AnnotationLevel::Error,
        file: Some("baselines/a,b.json"),
        line: NonZeroU32::new(12),
        title: Some("chat: slower"),
        message: "50% slower\nsee the summary",
    };
    assert_eq!(
        text::workflow_command(&annotation),
        "::error file=baselines/a%2Cb.json,line=12,title=chat%3A slower::50%25 slower%0Asee the summary"
    );
    annotation =
        Annotation { level: AnnotationLevel::Warning, file: Some(""), line: None, title: None, ..annotation };
    assert_eq!(text::workflow_command(&annotation), "::warning::50%25 slower%0Asee the summary");
    annotation = Annotation { level: AnnotationLevel::Notice, message: "x\r::error::\u{1b}", ..annotation };
    assert_eq!(text::workflow_command(&annotation), r"::notice::x%0D::error::\u{1b}");
}

#[test]
fn annotations_are_cut_in_utf16_units_before_escaping() {
    let rockets = "🚀".repeat(3000);
    let line = text::workflow_command(&Annotation {
        level: AnnotationLevel::Error,
        file: None,
        line: None,
        title: Some(&rockets),
        message: &rockets,
    });
    let (title, message) = line.strip_prefix("::error title=").unwrap().split_once("::").unwrap();
    assert_eq!(title.encode_utf16().count(), text::ANNOTATION_TITLE_LIMIT - 1, "a rocket is two units");
    assert_eq!(message.encode_utf16().count(), text::ANNOTATION_MESSAGE_LIMIT - 1, "room for a longer count");
    assert!(message.ends_with("🚀… 3844 more bytes"), "{}", &message[message.len() - 40..]);
    let percents = "%".repeat(text::ANNOTATION_MESSAGE_LIMIT);
    assert_eq!(text::workflow_data(&percents), "%25".repeat(text::ANNOTATION_MESSAGE_LIMIT));
}

#[test]
fn a_label_escapes_backslash_quote_and_line_feed() {
    assert_eq!(text::openmetrics_label("a\\b\"c\nd\u{1b}"), r#"a\\b\"c\nd\\u{1b}"#);
}
