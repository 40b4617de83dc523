//! A TLS connection against a server that speaks and goes at chosen moments, in one thread.

use std::net::{TcpListener, TcpStream as Socket};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, crypto::ring};

use super::*;

/// The server's side.
struct Server {
    socket: Socket,
    tls: ServerConnection,
}

impl Server {
    fn say(&mut self, text: &[u8]) {
        self.tls.writer().write_all(text).unwrap();
        self.flush();
    }

    fn flush(&mut self) {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.socket).unwrap();
        }
    }
}

fn client_session() -> ClientConnection {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), ServerName::try_from("127.0.0.1").unwrap()).unwrap()
}

fn server_session() -> ServerConnection {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    ServerConnection::new(Arc::new(config)).unwrap()
}

/// A connection after its handshake. The server's session tickets are under way and not read yet.
fn connected() -> (Connection, Server) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut socket = Socket::connect(listener.local_addr().unwrap()).unwrap();
    let mut server = Server { socket: listener.accept().unwrap().0, tls: server_session() };
    let mut tls = client_session();
    while tls.is_handshaking() || server.tls.is_handshaking() {
        while tls.wants_write() {
            tls.write_tls(&mut socket).unwrap();
        }
        if server.tls.is_handshaking() {
            server.tls.read_tls(&mut server.socket).unwrap();
            server.tls.process_new_packets().unwrap();
        }
        if tls.is_handshaking() {
            server.flush();
            tls.read_tls(&mut socket).unwrap();
            tls.process_new_packets().unwrap();
        }
    }
    server.flush();
    socket.set_nonblocking(true).unwrap();
    let tcp = TcpStream::from_std(socket);
    (Connection::new(tcp, Some(Box::new(tls)), Clock::start()), server)
}

/// Reads until text comes or the stream ends. On loopback, what was written is there.
fn read(connection: &mut Connection) -> io::Result<Option<Vec<u8>>> {
    let mut raw = Vec::new();
    loop {
        if let Poll::Ready(read) = connection.poll_read(&mut raw) {
            return read.map(|read| read.map(|_| raw));
        }
        std::thread::yield_now();
    }
}

#[test]
fn session_tickets_are_no_news_and_a_close_behind_them_is() {
    let (mut connection, server) = connected();
    assert!(connection.is_silent());
    drop(server);
    while connection.is_silent() {
        std::thread::yield_now();
    }
    let (mut connection, server) = connected();
    // The tickets and the end are there at once.
    drop(server);
    while connection.is_silent() {
        std::thread::yield_now();
    }
}

#[test]
fn the_end_of_a_refusal_is_seen_though_the_prompt_can_not_be_written_any_more() {
    let (mut connection, mut server) = connected();
    server.say(b"too long");
    assert_eq!(read(&mut connection).unwrap().unwrap(), b"too long");
    // Until no buffer takes more.
    while let Poll::Ready(written) = connection.poll_write(&[b' '; 1 << 16]) {
        written.unwrap();
    }
    server.tls.send_close_notify();
    server.flush();
    // With unread bytes a close is a reset, so what is left of the prompt has nowhere to go.
    drop(server);
    assert_eq!(read(&mut connection).unwrap(), None);
}

#[test]
fn what_comes_behind_text_in_one_read_is_not_left_behind() {
    let (mut connection, mut server) = connected();
    assert!(connection.is_silent());
    server.tls.writer().write_all(b"bye").unwrap();
    server.tls.send_close_notify();
    let mut both = Vec::new();
    while server.tls.wants_write() {
        server.tls.write_tls(&mut both).unwrap();
    }
    server.socket.write_all(&both).unwrap();
    assert_eq!(read(&mut connection).unwrap().unwrap(), b"bye");
    assert!(!connection.has_taken_all(), "no event tells of the end that was read already");
    assert_eq!(read(&mut connection).unwrap(), None);
}
