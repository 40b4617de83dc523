//! Connections that end, or speak, at moments when nobody expects it.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pacegate::source::load::block::{self, Block};
use pacegate::source::load::clock::Clock;
use pacegate::source::load::schedule::Schedule;
use pacegate::source::load::transcript::Ending;

use crate::faults::{LONG, call, endpoint};

fn block(url: &str, calls: usize, schedule: Schedule) -> Block {
    Block {
        endpoint: Arc::new(endpoint(url)),
        calls: vec![call(); calls].into(),
        schedule,
        timeouts: LONG,
        clock: Clock::start(),
    }
}

#[test]
fn a_run_is_cancelled_while_every_connection_is_refused_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let block = block(&format!("http://127.0.0.1:{port}"), 1_000_000, Schedule::Closed(2));
    let (cancel, mut records) = (AtomicBool::new(false), 0);
    block::run(&block, &cancel, |_, _| {
        records += 1;
        cancel.store(true, Ordering::Relaxed);
    })
    .unwrap();
    assert!(records < 1_000_000, "nobody looked whether the run was cancelled");
}

/// What a server does with its nth connection: six ways to end it.
fn end(mut socket: TcpStream, number: usize) {
    let reply = |head: &str| format!("HTTP/1.1 {head}\r\n\r\nx").into_bytes();
    let half_closed = |mut socket: TcpStream, bytes: &[u8]| {
        // The client may be gone already; it is its record that is looked at.
        let _gone = socket.write_all(bytes).and_then(|()| socket.shutdown(Shutdown::Write));
        while socket.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
    };
    match number % 6 {
        0 => drop(socket),
        1 => half_closed(socket, &reply("503 Busy")),
        2 => {
            let _request = socket.read(&mut [0; 4096]);
            half_closed(socket, &reply("200 OK"));
        }
        // Unread bytes make it a reset.
        3 => drop(socket.read(&mut [0; 10])),
        4 => {
            let _request = socket.read(&mut [0; 4096]);
            let _gone = socket.write_all(&reply("200 OK\r\ncontent-length: 1").repeat(3));
        }
        _ => {
            let _request = socket.read(&mut [0; 4096]);
            let _gone = socket.write_all(&reply("200 OK\r\ncontent-length: 1"));
        }
    }
}

#[test]
fn every_request_leaves_one_record_however_its_connection_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (number, socket) in listener.incoming().enumerate() {
            let socket = socket.unwrap();
            thread::spawn(move || end(socket, number));
        }
    });
    let moments = (0..600).map(|n| n * 200_000).collect();
    for schedule in [Schedule::Closed(32), Schedule::Open(moments)] {
        let mut seen = BTreeSet::new();
        let ran = block::run(&block(&url, 600, schedule), &AtomicBool::new(false), |index, record| {
            assert!(seen.insert(index), "request {index} has two records");
            assert!(!matches!(record.ending, Ending::Timeout { .. }), "{:?}", record.ending);
        });
        assert_eq!((seen.len(), ran.unwrap().dropped), (600, 0));
    }
}
