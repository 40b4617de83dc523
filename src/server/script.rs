//! What is done to the socket when a fault strikes an event. Pure.

use super::fault::Fault;
use super::frames::chunk;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Write, in one call.
    Write(Vec<u8>),
    /// Wait a millisecond or two, so that what was written is read before what follows.
    Pause,
    /// Close in good order.
    Close,
    /// Reset the connection.
    Reset,
    /// Write nothing more until the client hangs up.
    Stall,
}

/// The steps in place of writing an event's chunk. A fault that doesn't strike single events changes nothing.
pub fn struck(fault: Fault, event: &[u8]) -> Vec<Act> {
    let mut whole = Vec::with_capacity(event.len() + 8);
    chunk(&mut whole, event);
    match fault {
        Fault::SplitUtf8 => match inside_a_character(event) {
            Some(at) => {
                vec![Act::Write(chunked(&event[..at])), Act::Pause, Act::Write(chunked(&event[at..]))]
            }
            None => vec![Act::Write(whole)],
        },
        Fault::SplitCrlf => split_crlf(event, whole),
        Fault::TruncatedChunk => vec![half(whole), Act::Close],
        Fault::Reset => vec![half(whole), Act::Pause, Act::Reset],
        Fault::Stall => vec![Act::Stall],
        Fault::Drip => drip(&whole),
        Fault::Garbage => vec![Act::Write(chunked(GARBAGE)), Act::Write(whole)],
        _ => vec![Act::Write(whole)],
    }
}

/// The steps in place of writing an answer that is not streamed, head included; `None` where the fault can't be had so.
pub fn struck_whole(fault: Fault, head: &[u8], body: &[u8]) -> Option<Vec<Act>> {
    let mut whole = head.to_vec();
    whole.extend_from_slice(body);
    Some(match fault {
        Fault::SplitUtf8 => {
            let at = head.len() + inside_a_character(body)?;
            let rest = whole.split_off(at);
            vec![Act::Write(whole), Act::Pause, Act::Write(rest)]
        }
        Fault::TruncatedChunk | Fault::Reset => {
            whole.truncate(head.len() + body.len() / 2);
            let end = if fault == Fault::Reset { [Act::Pause, Act::Reset] } else { [Act::Pause, Act::Close] };
            [Act::Write(whole)].into_iter().chain(end).collect()
        }
        Fault::Stall | Fault::StallFirst => vec![Act::Write(head.to_vec()), Act::Stall],
        Fault::Drip => drip(&whole),
        _ => return None,
    })
}

/// No JSON, no UTF-8, and a NUL.
pub const GARBAGE: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\xff\xfe\0\n\n";

fn chunked(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 8);
    chunk(&mut out, payload);
    out
}

fn half(mut whole: Vec<u8>) -> Act {
    whole.truncate(whole.len() / 2);
    Act::Write(whole)
}

fn drip(bytes: &[u8]) -> Vec<Act> {
    let each = bytes.iter().map(|byte| Act::Write(vec![*byte]));
    let mut acts: Vec<Act> = each.flat_map(|write| [write, Act::Pause]).collect();
    acts.pop();
    acts
}

/// A place between two bytes of one character.
fn inside_a_character(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| *byte >= 0xc0).map(|start| start + 1)
}

/// Cuts between CR and LF: of the event's own first line end, and of the end of the chunk before the cut.
fn split_crlf(event: &[u8], whole: Vec<u8>) -> Vec<Act> {
    let Some(at) = event.windows(2).position(|pair| pair == b"\r\n") else {
        return vec![Act::Write(whole)];
    };
    let (mut first, mut second) = (chunked(&event[..=at]), chunked(&event[at + 1..]));
    second.splice(0..0, first.pop());
    vec![Act::Write(first), Act::Pause, Act::Write(second)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(acts: &[Act]) -> Vec<u8> {
        let writes = acts.iter().filter_map(|act| match act {
            Act::Write(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        writes.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_character_is_cut_between_its_bytes_and_nothing_is_lost() {
        // é is c3 a9: the first chunk ends in c3, the second begins with a9.
        let acts = struck(Fault::SplitUtf8, "data: é\n\n".as_bytes());
        let expected = [
            Act::Write(b"7\r\ndata: \xc3\r\n".to_vec()),
            Act::Pause,
            Act::Write(b"3\r\n\xa9\n\n\r\n".to_vec()),
        ];
        assert_eq!(acts, expected);
    }

    #[test]
    fn both_kinds_of_line_end_are_cut_between_cr_and_lf() {
        let acts = struck(Fault::SplitCrlf, b"data: x\r\n\r\n");
        let expected =
            [Act::Write(b"8\r\ndata: x\r\r".to_vec()), Act::Pause, Act::Write(b"\n3\r\n\n\r\n\r\n".to_vec())];
        assert_eq!(acts, expected);
    }

    #[test]
    fn a_broken_chunk_ends_half_way() {
        // "8\r\nsome...\r\n" has 13 bytes.
        let half = Act::Write(b"8\r\nsom".to_vec());
        assert_eq!(struck(Fault::TruncatedChunk, b"some...."), [half.clone(), Act::Close]);
        assert_eq!(struck(Fault::Reset, b"some...."), [half, Act::Pause, Act::Reset]);
        assert_eq!(struck(Fault::Stall, b"some...."), [Act::Stall]);
    }

    #[test]
    fn dripping_is_one_byte_a_write() {
        let acts = struck(Fault::Drip, b"ab");
        assert_eq!(written(&acts), b"2\r\nab\r\n");
        assert_eq!(acts.len(), 13, "seven writes and six pauses");
    }

    #[test]
    fn garbage_is_a_good_chunk_before_a_good_event() {
        let acts = struck(Fault::Garbage, b"data: x\n\n");
        let mut expected = b"2b\r\n".to_vec();
        expected.extend_from_slice(GARBAGE);
        expected.extend_from_slice(b"\r\n9\r\ndata: x\n\n\r\n");
        assert_eq!(written(&acts), expected);
    }

    #[test]
    fn an_answer_in_one_piece_can_break_too() {
        let acts = struck_whole(Fault::TruncatedChunk, b"HEAD", b"12345678").unwrap();
        assert_eq!(acts, [Act::Write(b"HEAD1234".to_vec()), Act::Pause, Act::Close]);
        let split = struck_whole(Fault::SplitUtf8, b"HEAD", "aé".as_bytes()).unwrap();
        assert_eq!(split, [Act::Write(b"HEADa\xc3".to_vec()), Act::Pause, Act::Write(b"\xa9".to_vec())]);
        assert_eq!(struck_whole(Fault::TwoEvents, b"HEAD", b"12"), None);
    }
}
