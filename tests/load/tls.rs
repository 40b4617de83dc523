//! Requests over TLS.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use pacegate::model::profile::Timeouts;
use pacegate::model::report::FailureKind;
use pacegate::source::load::control;
use pacegate::source::load::endpoint::Endpoint;
use pacegate::source::load::timeline::Timeline;
use pacegate::source::load::transcript::{Ending, Transcript};
use pacegate::source::load::url::BaseUrl;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS12;
use rustls::{
    ALL_VERSIONS, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion, crypto::ring,
};

use crate::faults::{LONG, call, failure, whole};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls")
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::resolve(BaseUrl::parse(url).unwrap(), Some(&folder().join("ca.pem"))).unwrap()
}

/// A server's side of one connection.
fn session(versions: &[&'static SupportedProtocolVersion]) -> ServerConnection {
    let certificate = CertificateDer::from_pem_file(folder().join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder().join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    ServerConnection::new(Arc::new(config)).unwrap()
}

#[test]
fn a_silent_tls_server_meets_the_limit_of_connecting() {
    // The system takes the connection; nobody answers the first message of TLS.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let limits = Timeouts { connect_ms: 30, ..LONG };
    let failed = failure(&control::ask(&endpoint(&url), &call(), limits).unwrap()).unwrap();
    assert_eq!(
        (failed.kind, failed.text.as_str()),
        (FailureKind::TimeoutConnect, "no connection within 30 ms")
    );
}

#[test]
fn tls_works_with_the_given_authority_and_its_handshake_is_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let mut tls = StreamOwned::new(session(ALL_VERSIONS), socket);
        let mut head = [0; 4096];
        let read = tls.read(&mut head).unwrap();
        tls.write_all(&whole()).unwrap();
        tls.conn.send_close_notify();
        tls.flush().unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let record = control::ask(&endpoint(&url), &call(), Timeouts::default()).unwrap();
    assert_eq!(failure(&record), None);
    assert_eq!(Timeline::read(&record).text, "ab");
    assert!(record.opened.unwrap().tls.is_some_and(|handshake| handshake > 0));
    assert!(server.join().unwrap().starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
}

#[test]
fn a_server_without_tls_is_a_tls_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let plain = thread::spawn(move || {
        listener.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap()
    });
    let record = control::ask(&endpoint(&url), &call(), Timeouts::default()).unwrap();
    assert_eq!(failure(&record).unwrap().kind, FailureKind::Tls);
    plain.join().unwrap();
}

/// What a client records whose server, over TLS 1.2, answers with the very bytes that end the handshake.
fn answered_early(reply: &'static [u8], half_close: bool) -> Transcript {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut tls = session(&[&TLS12]);
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
    let record = control::ask(&endpoint(&url), &call(), LONG).unwrap();
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
