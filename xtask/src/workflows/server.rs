//! A web server on loopback that has the files of a directory, as GitHub has those of a release.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// Guards against a client that sends nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(directory: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("a port on loopback")?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (directory, end) = (directory.to_owned(), Arc::clone(&is_over));
        let serve = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                // A client that hangs up has its answer, or its own error.
                let _ = answer(&stream, &directory);
            }
        };
        Ok(Self { address, is_over, thread: Some(std::thread::spawn(serve)) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(mut stream: &TcpStream, directory: &Path) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().context("a request")??;
    while !lines.next().context("headers")??.is_empty() {}
    let path = request.strip_prefix("GET /").and_then(|rest| rest.split(' ').next());
    let path = Path::new(path.context("a request of a file")?);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let content = Some(path).filter(|_| is_inside).map(|path| fs::read(directory.join(path)));
    let (status, content) = match content {
        Some(Ok(content)) => ("200 OK", content),
        _ => ("404 Not Found", Vec::new()),
    };
    let length = content.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    Ok(stream.write_all(&content)?)
}
