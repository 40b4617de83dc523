//! Connections that end, or speak, at moments when nobody expects it.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pacegate::model::profile::Timeouts;
use pacegate::source::load::block::{self, Block};
use pacegate::source::load::clock::Clock;
use pacegate::source::load::control;
use pacegate::source::load::endpoint::Endpoint;
use pacegate::source::load::request::Call;
use pacegate::source::load::schedule::Schedule;
use pacegate::source::load::transcript::{Ending, Transcript};
use pacegate::source::load::url::BaseUrl;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, crypto::ring};

/// One that fires shows itself by its kind, and by a minute.
const LONG: Timeouts =
    Timeouts { connect_ms: 60_000, first_token_ms: 60_000, gap_ms: 60_000, total_ms: 60_000 };

fn call() -> Call {
    Call { path: "/v1".to_owned(), body: Some(b"{}".to_vec()), stream: false }
}

fn block(url: &str, calls: usize, schedule: Schedule) -> Block {
    Block {
        endpoint: Arc::new(Endpoint::resolve(BaseUrl::parse(url).unwrap(), None).unwrap()),
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

/// What a client records whose server, over TLS 1.2, answers with the very bytes that end the handshake.
fn answered_early(reply: &'static [u8], half_close: bool) -> Transcript {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut tls = ServerConnection::new(Arc::new(config)).unwrap();
        while tls.is_handshaking() {
            while tls.wants_write() {
                tls.write_tls(&mut socket).unwrap();
            }
            tls.read_tls(&mut socket).unwrap();
            tls.process_new_packets().unwrap();
        }
        tls.writer().write_all(reply).unwrap();
        let mut last = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut last).unwrap();
        }
        socket.write_all(&last).unwrap();
        if half_close {
            socket.shutdown(Shutdown::Write).unwrap();
        }
        while socket.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
    });
    let endpoint = Endpoint::resolve(BaseUrl::parse(&url).unwrap(), Some(&folder.join("ca.pem"))).unwrap();
    let record = control::ask(&endpoint, &call(), LONG).unwrap();
    server.join().unwrap();
    record
}

#[test]
fn an_answer_that_comes_with_the_end_of_the_tls_handshake_is_read() {
    let reply = b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\nno";
    let record = answered_early(reply, false);
    assert_eq!((record.ending, record.raw.as_slice()), (Ending::Whole, reply.as_slice()));
}

#[test]
fn a_close_that_comes_with_the_end_of_the_tls_handshake_is_seen() {
    // No length: the end of the connection is the end of the reply, and here it lacks its close_notify.
    let record = answered_early(b"HTTP/1.1 503 Busy\r\n\r\nno", true);
    assert!(
        matches!(&record.ending, Ending::Broken(why) if why.contains("close_notify")),
        "{:?}",
        record.ending
    );
    assert!(record.raw.ends_with(b"no"));
}
