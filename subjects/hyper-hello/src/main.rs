//! The bare hyper server: every request is answered `Hello, world!`.
//!
//! What hyper itself costs, with nothing above it: no routing, no time-outs, no limits, no orderly
//! shutdown. Pipelined answers leave in one write (`pipeline_flush`), each connection is one task.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

const LISTEN_BACKLOG: u32 = 4096;
/// Pause after a failed accept: without file descriptors left it would fail again at once.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);
const USAGE: &str = "usage: hyper-hello [--listen] ADDRESS:PORT";
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(address) = listen_address(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(EXIT_USAGE);
    };
    match run(address) {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("hyper-hello: {address}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn listen_address(arguments: &[String]) -> Option<SocketAddr> {
    let text = match arguments {
        [flag, address] if flag == "--listen" => address,
        [argument] => argument.strip_prefix("--listen=").unwrap_or(argument),
        _ => return None,
    };
    text.parse().ok()
}

/// Serves until the process is killed; returns only if it cannot start.
fn run(address: SocketAddr) -> io::Result<Infallible> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(async {
            let listener = bind(address)?;
            announce(listener.local_addr()?);
            // On a worker, not on this thread, an accept needs no switch between threads.
            tokio::spawn(accept(listener)).await.map_err(io::Error::other)
        })
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(LISTEN_BACKLOG)
}

#[expect(clippy::print_stdout, reason = "whoever asked for port 0 reads the address here")]
fn announce(address: SocketAddr) {
    println!("listening on http://{address}/");
}

async fn accept(listener: TcpListener) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream))),
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}

/// Answers one connection. A failed one concerns its client alone, so its error is not reported.
async fn serve(stream: TcpStream) {
    if stream.set_nodelay(true).is_ok() {
        let connection = http1::Builder::new()
            .pipeline_flush(true)
            .serve_connection(TokioIo::new(stream), service_fn(hello));
        drop(connection.await);
    }
}

async fn hello<B>(_request: Request<B>) -> Result<Response<Hello>, Infallible> {
    let mut response = Response::new(Hello::default());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

/// The answer's body: one chunk of known length, from which hyper writes `Content-Length`.
struct Hello(Bytes);

impl Default for Hello {
    fn default() -> Self {
        Self(Bytes::from_static(b"Hello, world!\n"))
    }
}

impl Body for Hello {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = std::mem::take(&mut self.0);
        Poll::Ready((!chunk.is_empty()).then(|| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_taken_with_and_without_the_flag() {
        let check = |arguments: &[&str], expected: Option<&str>| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            let address = listen_address(&arguments).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{arguments:?}");
        };
        check(&["127.0.0.1:80"], Some("127.0.0.1:80"));
        check(&["--listen", "127.0.0.1:80"], Some("127.0.0.1:80"));
        check(&["--listen=[::1]:80"], Some("[::1]:80"));
        check(&[], None);
        check(&["--listen"], None);
        check(&["8080"], None);
        check(&["--port", "127.0.0.1:80"], None);
    }
}
