//! A connection on its way: TCP to one address after the other, then TLS.

use std::io;
use std::sync::Arc;
use std::task::{Poll, ready};

use mio::Interest;
use mio::net::TcpStream;
use rustls::ClientConnection;

use super::connection::{Connection, nonblocking};
use super::request::Context;
use super::transcript::{Nanos, Opened};

/// Why there is no connection.
pub(super) enum OpenError {
    Tcp(io::Error),
    Tls(io::Error),
}

/// A connection that is being opened. The times of TCP and TLS are apart.
pub(super) struct Opening {
    began: Nanos,
    /// How many of the endpoint's addresses were tried.
    tried: usize,
    tcp: Option<TcpStream>,
    session: Option<(Nanos, Box<ClientConnection>)>,
}

impl Opening {
    pub fn begin(context: &Context<'_>) -> Opening {
        Opening { began: context.clock().now(), tried: 0, tcp: None, session: None }
    }

    /// Goes on as far as it can without waiting.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<Result<(Connection, Opened), OpenError>> {
        let clock = context.clock();
        if self.session.is_none() {
            ready!(self.poll_tcp(context)).map_err(OpenError::Tcp)?;
            let connected = clock.now();
            let Some(tls) = &context.block.endpoint.tls else {
                let opened = Opened { tcp: connected - self.began, tls: None };
                return Poll::Ready(self.finish(None, opened, context));
            };
            let session = ClientConnection::new(Arc::clone(&tls.config), tls.name.clone())
                .map_err(|error| OpenError::Tls(io::Error::other(error)))?;
            self.session = Some((connected, Box::new(session)));
        }
        let (Some((connected, session)), Some(tcp)) = (&mut self.session, &mut self.tcp) else {
            return Poll::Pending;
        };
        ready!(poll_handshake(session, tcp)).map_err(OpenError::Tls)?;
        let opened = Opened { tcp: *connected - self.began, tls: Some(clock.now() - *connected) };
        let session = self.session.take().map(|(_, session)| session);
        Poll::Ready(self.finish(session, opened, context))
    }

    fn finish(
        &mut self,
        session: Option<Box<ClientConnection>>,
        opened: Opened,
        context: &Context<'_>,
    ) -> Result<(Connection, Opened), OpenError> {
        let tcp = self.tcp.take().ok_or_else(|| OpenError::Tcp(io::ErrorKind::NotConnected.into()))?;
        Ok((Connection::new(tcp, session, context.clock()), opened))
    }

    /// Connects to the first address that takes it.
    fn poll_tcp(&mut self, context: &Context<'_>) -> Poll<io::Result<()>> {
        let addresses = &context.block.endpoint.addresses;
        let mut refused = io::Error::new(io::ErrorKind::AddrNotAvailable, "the host has no address");
        loop {
            if let Some(tcp) = &self.tcp {
                match ready!(poll_connected(tcp)) {
                    Ok(()) => return Poll::Ready(tcp.set_nodelay(true)),
                    Err(error) => refused = error,
                }
            }
            let Some(address) = addresses.get(self.tried) else { return Poll::Ready(Err(refused)) };
            self.tried += 1;
            self.tcp = None;
            match dial(*address, context) {
                Ok(tcp) => self.tcp = Some(tcp),
                Err(error) => refused = error,
            }
        }
    }
}

fn dial(address: std::net::SocketAddr, context: &Context<'_>) -> io::Result<TcpStream> {
    let mut tcp = TcpStream::connect(address)?;
    context.registry.register(&mut tcp, context.token, Interest::READABLE | Interest::WRITABLE)?;
    Ok(tcp)
}

/// Whether the socket is connected. One that is not yet has no peer, and no error.
fn poll_connected(tcp: &TcpStream) -> Poll<io::Result<()>> {
    if let Some(error) = tcp.take_error()? {
        return Poll::Ready(Err(error));
    }
    match tcp.peer_addr() {
        Ok(_) => Poll::Ready(Ok(())),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    }
}

fn poll_handshake(tls: &mut ClientConnection, tcp: &mut TcpStream) -> Poll<io::Result<()>> {
    loop {
        while tls.wants_write() {
            ready!(nonblocking(|| tls.write_tls(tcp)))?;
        }
        if !tls.is_handshaking() {
            return Poll::Ready(Ok(()));
        }
        if ready!(nonblocking(|| tls.read_tls(tcp)))? == 0 {
            let reason = "the server closed the connection within the TLS handshake";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason)));
        }
        if let Err(error) = tls.process_new_packets() {
            // The server learns why, if it can.
            let _told = tls.write_tls(tcp);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
    }
}
