//! The JSON and the HTTP chunks of an answer. Everything but the text itself is made once a request.

use std::fmt::Write as _;

use super::plan::{Carries, Plan};

/// Which of the two completion interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Text,
}

impl Interface {
    /// What its response ids begin with.
    pub fn id_prefix(self) -> &'static str {
        match self {
            Self::Chat => "chatcmpl",
            Self::Text => "cmpl",
        }
    }
}

/// What usage says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Of the prompt.
    pub prompt: u32,
    /// Of the prompt, from the prefix cache; None where there is none.
    pub cached: Option<u32>,
    /// Of the answer.
    pub completion: u32,
}

/// What the frames of one request have in common.
#[derive(Clone, Debug)]
pub struct Frames {
    interface: Interface,
    head: String,
    line_end: &'static str,
}

impl Frames {
    /// For one request. `model` has to be free of anything that JSON escapes.
    pub fn new(interface: Interface, id: &str, created: u64, model: &str, crlf: bool) -> Self {
        let object = match interface {
            Interface::Chat => "chat.completion.chunk",
            Interface::Text => "text_completion",
        };
        let head =
            format!(r#"data: {{"id":"{id}","object":"{object}","created":{created},"model":"{model}","#);
        Self { interface, head, line_end: if crlf { "\r\n" } else { "\n" } }
    }

    /// The event that only tells the role; none in the text interface.
    pub fn role(&self, usage: Option<Tokens>) -> Option<String> {
        (self.interface == Interface::Chat)
            .then(|| self.event(r#"{"role":"assistant","content":""}"#, "", "null", usage))
    }

    /// The event with this number, with the tokens so far if every event tells them.
    pub fn tokens(&self, plan: &Plan, event: u32, usage: Option<Tokens>) -> String {
        self.with_text(plan, event, usage, &plan.text(plan.range(event)).collect::<String>())
    }

    /// The event with this number, but with other text.
    pub fn with_text(&self, plan: &Plan, event: u32, usage: Option<Tokens>, text: &str) -> String {
        if self.interface == Interface::Text {
            return self.event("", text, "null", usage);
        }
        let delta = match plan.carries(event) {
            Carries::Reasoning => format!(r#"{{"reasoning_content":"{text}"}}"#),
            Carries::Content => format!(r#"{{"content":"{text}"}}"#),
            Carries::ToolCall => tool_call_delta(text, plan.begins(event), event + 1 == plan.events()),
        };
        self.event(&delta, "", "null", usage)
    }

    /// The event that says why the answer ends.
    pub fn finish(&self, plan: &Plan, usage: Option<Tokens>) -> String {
        let reason = format!("\"{}\"", plan.finish_reason());
        self.event(r#"{"content":""}"#, "", &reason, usage)
    }

    /// The event without choices that tells the tokens.
    pub fn usage(&self, usage: Tokens) -> String {
        format!("{}\"choices\":[],{}}}{end}{end}", self.head, usage_field(usage), end = self.line_end)
    }

    /// The last event.
    pub fn done(&self) -> String {
        format!("data: [DONE]{end}{end}", end = self.line_end)
    }

    /// An event that is an error.
    pub fn error(&self, error: &str) -> String {
        format!("data: {error}{end}{end}", end = self.line_end)
    }

    fn event(&self, delta: &str, text: &str, finish_reason: &str, usage: Option<Tokens>) -> String {
        let mut event = String::with_capacity(self.head.len() + delta.len() + text.len() + 192);
        event.push_str(&self.head);
        event.push_str(r#""choices":[{"index":0,"#);
        match self.interface {
            Interface::Chat => event.extend(["\"delta\":", delta]),
            Interface::Text => event.extend(["\"text\":\"", text, "\""]),
        }
        event.extend([r#","logprobs":null,"finish_reason":"#, finish_reason, "}]"]);
        if let Some(usage) = usage {
            event.push(',');
            event.push_str(&usage_field(usage));
        }
        event.extend(["}", self.line_end, self.line_end]);
        event
    }
}

/// Tool calls open with a name and the beginning of their arguments, which are JSON in a string once joined.
fn tool_call_delta(text: &str, first: bool, last: bool) -> String {
    let close = if last { r#"\"}"# } else { "" };
    if first {
        format!(
            r#"{{"tool_calls":[{{"index":0,"id":"call_0","type":"function","function":{{"name":"look_up","arguments":"{{\"words\":\"{text}{close}"}}}}]}}"#
        )
    } else {
        format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{text}{close}"}}}}]}}"#)
    }
}

/// The key and value in which an answer tells its tokens.
pub fn usage_field(tokens: Tokens) -> String {
    let Tokens { prompt, cached, completion } = tokens;
    let total = u64::from(prompt) + u64::from(completion);
    let mut field = format!(
        r#""usage":{{"prompt_tokens":{prompt},"total_tokens":{total},"completion_tokens":{completion}"#
    );
    if let Some(cached) = cached {
        // Writing to a String can't fail.
        let _ = write!(field, r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#);
    }
    field.push('}');
    field
}

/// The whole answer as one JSON text.
pub fn whole(
    interface: Interface,
    id: &str,
    created: u64,
    model: &str,
    plan: &Plan,
    usage: Option<Tokens>,
) -> String {
    let part = |wanted: Carries| -> String {
        (0..plan.events())
            .filter(|event| plan.carries(*event) == wanted)
            .flat_map(|event| plan.text(plan.range(event)))
            .collect()
    };
    let (object, choice) = match interface {
        Interface::Text => {
            let text: String = plan.text(0..plan.tokens).collect();
            ("text_completion", format!(r#""text":"{text}""#))
        }
        Interface::Chat => {
            let mut message = format!(r#""role":"assistant","content":"{}""#, part(Carries::Content));
            if plan.reasoning > 0 {
                message += &format!(r#","reasoning_content":"{}""#, part(Carries::Reasoning));
            }
            if plan.tool_call > 0 {
                message += &format!(
                    r#","tool_calls":[{{"id":"call_0","type":"function","function":{{"name":"look_up","arguments":"{{\"words\":\"{}\"}}"}}}}]"#,
                    part(Carries::ToolCall)
                );
            }
            ("chat.completion", format!(r#""message":{{{message}}}"#))
        }
    };
    let usage = usage.map_or_else(String::new, |tokens| format!(",{}", usage_field(tokens)));
    let finish = plan.finish_reason();
    format!(
        r#"{{"id":"{id}","object":"{object}","created":{created},"model":"{model}","choices":[{{"index":0,{choice},"logprobs":null,"finish_reason":"{finish}"}}]{usage}}}"#
    )
}

/// Puts bytes into an HTTP chunk of their own, behind what is in `out`.
pub fn chunk(out: &mut Vec<u8>, payload: &[u8]) {
    out.extend_from_slice(format!("{:x}\r\n", payload.len()).as_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

/// What ends a chunked answer.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
