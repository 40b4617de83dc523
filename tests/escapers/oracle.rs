//! What the readers of each place do, written from their rules and not from our escapers.

use std::sync::LazyLock;

use regex::Regex;

/// Hidden by Unicode's own property tables: controls, separators of lines, format characters that draw nothing,
/// default-ignorable characters, non-characters.
pub static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"[\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}[\p{Cf}--\p{Prepended_Concatenation_Mark}]]",
    )
    .unwrap()
});

/// What JUnit readers refuse or pass on to terminals: controls but tab and line breaks, U+2028/9, bidi controls, the
/// two non-characters that XML 1.0 forbids.
pub static NOT_FOR_XML: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{fffe}\x{ffff}\p{Bidi_Control}]")
        .unwrap()
});

/// `text` with what `hidden` finds in visible form, but for the characters of `keep`.
pub fn visible(text: &str, hidden: &Regex, keep: &str) -> String {
    let form = |found: &regex::Captures<'_>| match &found[0] {
        kept if keep.contains(kept) => kept.to_owned(),
        "\n" => "\\n".to_owned(),
        "\r" => "\\r".to_owned(),
        "\t" => "\\t".to_owned(),
        other => other.escape_unicode().to_string(),
    };
    hidden.replace_all(text, form).into_owned()
}

/// `text` with the hashes of every old-style command parted.
pub fn parted(text: &str) -> String {
    Regex::new(r"##([A-Za-z]*\[)").unwrap().replace_all(text, "# #$1").into_owned()
}

/// Commands that GitHub's runner knows.
const NAMES: &str = "error warning notice debug group endgroup add-mask add-path set-env set-output save-state \
                     stop-commands echo add-matcher remove-matcher internal-set-repo-path";

/// A command as the runner takes it: name, properties, data.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub properties: Vec<(String, String)>,
    pub data: String,
}

/// Every command in `log`, by the rules of ActionCommand.cs and ProcessInvoker.cs of actions/runner: lines end at LF,
/// CR or CRLF; `::name k=v,k=v::data` counts after any white space, `##[name k=v;k=v]data` anywhere.
pub fn commands(log: &str) -> Vec<Command> {
    log.split(['\n', '\r']).filter_map(|line| new_style(line).or_else(|| old_style(line))).collect()
}

fn new_style(line: &str) -> Option<Command> {
    let (head, data) = line.trim_start().strip_prefix("::")?.split_once("::")?;
    let decode = |text: &str| text.replace("%0D", "\r").replace("%0A", "\n");
    command(head, ',', decode(data).replace("%25", "%"), |value| {
        decode(value).replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    })
}

fn old_style(line: &str) -> Option<Command> {
    let (head, data) = line[line.find("##[")? + 3..].split_once(']')?;
    command(head, ';', data.to_owned(), str::to_owned)
}

fn command(head: &str, between: char, data: String, decode: impl Fn(&str) -> String) -> Option<Command> {
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let known = NAMES.split(' ').any(|known| known.eq_ignore_ascii_case(name));
    let pairs = properties.trim().split(between).filter_map(|pair| pair.split_once('='));
    let properties = pairs.map(|(key, value)| (key.to_owned(), decode(value))).collect();
    known.then(|| Command { name: name.to_lowercase(), properties, data })
}

/// The value of the only label in `name{label="value"} 1` and nothing else, by the OpenMetrics grammar.
pub fn label(sample: &str) -> Option<String> {
    let mut rest = sample.strip_prefix("name{label=\"")?.chars();
    let mut value = String::new();
    loop {
        match rest.next()? {
            '"' => break,
            '\n' => return None,
            '\\' => value.push(match rest.next()? {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    (rest.as_str() == "} 1\n").then_some(value)
}
