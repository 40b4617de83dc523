//! What the writer leaves undone, so that the file is valid under both schemas and no reader is lost.

use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer};

use crate::emit::text::{terminal, xml_clean};

/// The writer's XML could not be read or written again.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfinished {
    #[error("cases could not be written: {0}")]
    Cases(#[from] junit_report::Error),
    #[error("written XML could not be read: {0}")]
    Read(#[from] quick_xml::Error),
    #[error("written XML has an attribute that could not be read: {0}")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    #[error("the file could not be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Adds the properties and the number of skipped cases, takes the zone off the time stamp and the type off skipped
/// cases, and writes text as text, which is why it had to come escaped: there is no way to write `]]>` in a CDATA
/// section. One element a line, so that a person can read it.
pub(super) fn finish(
    xml: &str,
    properties: &[(String, String)],
    skipped: usize,
) -> Result<String, Unfinished> {
    let mut reader = Reader::from_str(xml);
    let mut writer = Writer::new(Vec::with_capacity(xml.len() + xml.len() / 8));
    loop {
        let event = reader.read_event()?;
        match event {
            Event::Eof => break,
            Event::CData(text) => {
                let text = String::from_utf8_lossy(&text).into_owned();
                writer.write_event(Event::Text(BytesText::from_escaped(text)))?;
            }
            Event::Start(tag) if tag.name().as_ref() == b"testsuite" => {
                new_line(&mut writer)?;
                writer.write_event(Event::Start(of_suite(&tag, skipped)?))?;
                write_properties(&mut writer, properties)?;
            }
            Event::Start(tag) => {
                new_line(&mut writer)?;
                writer.write_event(Event::Start(of_case(tag)?))?;
            }
            Event::Empty(tag) => {
                new_line(&mut writer)?;
                writer.write_event(Event::Empty(of_case(tag)?))?;
            }
            Event::End(tag) => {
                if matches!(tag.name().as_ref(), b"testsuites" | b"testsuite" | b"testcase") {
                    new_line(&mut writer)?;
                }
                writer.write_event(Event::End(tag))?;
            }
            other => writer.write_event(other)?,
        }
    }
    new_line(&mut writer)?;
    Ok(as_ascii(&String::from_utf8_lossy(&writer.into_inner())))
}

/// Everything beyond ASCII by its number: there are readers that guess the encoding, whatever the first line says, and
/// die of a wrong guess.
fn as_ascii(xml: &str) -> String {
    let mut ascii = String::with_capacity(xml.len());
    for c in xml.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            c => ascii.push_str(&format!("&#{};", u32::from(c))),
        }
    }
    ascii
}

type Xml = Writer<Vec<u8>>;

fn new_line(writer: &mut Xml) -> Result<(), std::io::Error> {
    writer.write_event(Event::Text(BytesText::from_escaped("\n")))
}

fn of_suite(tag: &BytesStart, skipped: usize) -> Result<BytesStart<'static>, Unfinished> {
    let mut suite = BytesStart::new("testsuite");
    for attribute in tag.attributes() {
        let mut attribute = attribute?;
        if attribute.key.as_ref() == b"timestamp" && attribute.value.ends_with(b"Z") {
            let stamp = attribute.value[..attribute.value.len() - 1].to_vec();
            attribute.value = stamp.into();
        }
        suite.push_attribute(attribute);
    }
    suite.push_attribute(("skipped", skipped.to_string().as_str()));
    Ok(suite)
}

fn of_case(tag: BytesStart) -> Result<BytesStart<'static>, Unfinished> {
    if tag.name().as_ref() != b"skipped" {
        return Ok(tag.into_owned());
    }
    let mut skipped = BytesStart::new("skipped");
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if attribute.key.as_ref() != b"type" {
            skipped.push_attribute(attribute);
        }
    }
    Ok(skipped)
}

fn write_properties(writer: &mut Xml, properties: &[(String, String)]) -> Result<(), std::io::Error> {
    new_line(writer)?;
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in properties {
            new_line(writer)?;
            // Line breaks too: writers and readers differ in what they make of them in an attribute.
            let value = xml_clean(&terminal(value));
            let pair = [("name", name.as_str()), ("value", value.as_str())];
            writer.create_element("property").with_attributes(pair).write_empty()?;
        }
        new_line(writer)
    })?;
    Ok(())
}
