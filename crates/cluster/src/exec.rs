//! An agent in a pod, as a pair of blocking streams.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iotax_run::agent::{Ended, Launched, Process};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{AttachParams, AttachedProcess};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use crate::connect::Cluster;
use crate::error::{Call, Error};

/// Maximum number of bytes that are buffered, or read and written at a time.
const BUFFER_BYTES: usize = 1 << 18;
/// Pieces of an agent's output that are buffered here; the rest waits at the agent.
const MOST_PIECES: usize = 4;
/// Bytes of an agent's error output that are kept.
const COMPLAINT_BYTES: usize = 4 << 10;

/// Starts a program in a container.
pub(crate) fn exec(
    cluster: &Cluster,
    pod: &str,
    container: &str,
    words: &[&str],
) -> Result<Launched, Error> {
    let pods = cluster.api::<Pod>();
    let how = AttachParams::default()
        .container(container)
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .max_stdin_buf_size(BUFFER_BYTES)
        .max_stdout_buf_size(BUFFER_BYTES);
    let started = pods.exec(pod, words.iter().copied(), &how);
    let mut attached = cluster.ask(Call::new("create", "pods/exec"), started)?;
    let stdin = attached.stdin().expect("it was asked for");
    let stdout = attached.stdout().expect("it was asked for");
    let stderr = attached.stderr().expect("it was asked for");
    let status = attached.take_status().expect("nobody has taken it");
    let (tell, ended) = watch::channel(None);
    let closed = Arc::new(AtomicBool::new(false));
    let is_closed = Arc::clone(&closed);
    let (pieces, output) = mpsc::channel(MOST_PIECES);
    cluster.runtime().spawn(async move {
        let (complaint, status) = relay(stdout, stderr, status, &pieces).await;
        // With API servers before 1.30, the end of the input ends the connection.
        let is_meant = is_closed.load(Ordering::Relaxed);
        // Before the output ends, so that the status is available at its end.
        tell.send_replace(Some(how_it_ended(status, is_meant, &complaint)));
        drop(pieces);
    });
    let handle = cluster.runtime().clone();
    let input = Input { writer: Box::new(stdin), handle, ended: ended.clone(), closed };
    Ok(Launched {
        input: Box::new(input),
        output: Box::new(Output { pieces: output, rest: Vec::new() }),
        process: Box::new(PodProcess { attached, ended }),
    })
}

/// Starts a program that ends at once, and waits for its end. This is needed because API servers
/// answer before they ask the kubelet.
///
/// # Errors
/// [`Error::Unreachable`] with the reason.
pub(crate) fn can_exec(cluster: &Cluster, pod: &str, container: &str) -> Result<(), Error> {
    let pods = cluster.api::<Pod>();
    let call = Call::new("create", "pods/exec");
    let how = AttachParams::default().container(container).stdout(true).stderr(false);
    let status = cluster.ask(call, async {
        let mut attached = pods.exec(pod, ["iotax", "--version"], &how).await?;
        Ok(attached.take_status().expect("nobody has taken it").await)
    })?;
    let Ended { success, status: why } = how_it_ended(status, false, b"");
    if success { Ok(()) } else { Err(Error::Unreachable { doing: call.to_string(), why }) }
}

/// Passes on an agent's output until its end, as fast as it is read. A cut connection does not end
/// the streams, but has no status.
async fn relay(
    mut stdout: impl AsyncRead + Unpin,
    mut stderr: impl AsyncRead + Unpin,
    status: impl Future<Output = Option<Status>>,
    pieces: &mpsc::Sender<Vec<u8>>,
) -> (Vec<u8>, Option<Status>) {
    let mut status = std::pin::pin!(status);
    let mut complaint = Vec::new();
    let (mut said, mut complained) = (vec![0; BUFFER_BYTES], vec![0; COMPLAINT_BYTES]);
    let (mut is_out, mut is_err) = (true, true);
    let mut waiting = None;
    let ended = loop {
        tokio::select! {
            room = pieces.reserve(), if waiting.is_some() => match (room, waiting.take()) {
                (Ok(room), Some(piece)) => room.send(piece),
                // Nobody listens any more.
                _ => is_out = false,
            },
            read = stdout.read(&mut said), if is_out && waiting.is_none() => match read {
                Ok(count) if count > 0 => waiting = Some(said[..count].to_vec()),
                _ => is_out = false,
            },
            read = stderr.read(&mut complained), if is_err => match read {
                Ok(count) if count > 0 => keep_end(&mut complaint, &complained[..count]),
                _ => is_err = false,
            },
            ended = &mut status => break ended,
        }
    };
    if let Some(piece) = waiting {
        let _ = pieces.send(piece).await;
    }
    if ended.is_some() {
        while let Some(count) = stdout.read(&mut said).await.ok().filter(|count| *count > 0) {
            let _ = pieces.send(said[..count].to_vec()).await;
        }
        while let Some(count) = stderr.read(&mut complained).await.ok().filter(|count| *count > 0) {
            keep_end(&mut complaint, &complained[..count]);
        }
    }
    (complaint, ended)
}

fn keep_end(complaint: &mut Vec<u8>, more: &[u8]) {
    complaint.extend(more);
    complaint.drain(..complaint.len().saturating_sub(COMPLAINT_BYTES));
}

/// `is_meant`: whether its end was requested.
fn how_it_ended(status: Option<Status>, is_meant: bool, complaint: &[u8]) -> Ended {
    let Some(status) = status else {
        return Ended { success: is_meant, status: "its connection was cut".to_owned() };
    };
    let success = status.status.as_deref() == Some("Success");
    let code = status.details.and_then(|details| details.causes).and_then(|causes| {
        let cause = causes.into_iter().find(|cause| cause.reason.as_deref() == Some("ExitCode"));
        cause?.message.map(|code| exit_status(&code))
    });
    let complaint = String::from_utf8_lossy(complaint);
    let parts = [code.or(status.message), Some(complaint.trim().to_owned())];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    Ended { success, status: parts.join(", ") }
}

/// An exit status, for people.
fn exit_status(code: &str) -> String {
    const KILLED: &str = "137";
    let why =
        if code == KILLED { " (killed: its pod was stopped or ran out of memory)" } else { "" };
    format!("exit status: {code}{why}")
}

/// The input of an agent.
struct Input {
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    handle: Handle,
    ended: watch::Receiver<Option<Ended>>,
    /// Whether it is closed.
    closed: Arc<AtomicBool>,
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { writer, handle, ended, .. } = self;
        handle.block_on(async {
            tokio::select! {
                written = writer.write(bytes) => written,
                _ = ended.wait_for(Option::is_some) => Err(ErrorKind::BrokenPipe.into()),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // It may have ended.
        let _ = self.handle.block_on(self.writer.shutdown());
    }
}

/// The output of an agent.
struct Output {
    pieces: mpsc::Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.pieces.blocking_recv().unwrap_or_default();
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

/// An agent's process; the connection ends with it, and the agent with the connection.
struct PodProcess {
    attached: AttachedProcess,
    ended: watch::Receiver<Option<Ended>>,
}

impl Process for PodProcess {
    fn try_wait(&mut self) -> io::Result<Option<Ended>> {
        Ok(self.ended.borrow().clone())
    }

    fn kill(self: Box<Self>) -> Option<String> {
        let ended = self.ended.borrow().clone();
        self.attached.abort();
        ended.map(|ended| ended.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ended(status: &Value, is_meant: bool) -> (bool, String) {
        let status = serde_json::from_value(status.clone()).unwrap();
        let Ended { success, status } = how_it_ended(status, is_meant, b"error: no space\n");
        (success, status)
    }

    #[test]
    fn an_agent_that_failed_says_how_and_why() {
        let status = json!({
            "status": "Failure", "reason": "NonZeroExitCode", "message": "command terminated",
            "details": { "causes": [{ "reason": "ExitCode", "message": "3" }] },
        });
        assert_eq!(ended(&status, true), (false, "exit status: 3, error: no space".to_owned()));
        assert!(exit_status("137").ends_with("(killed: its pod was stopped or ran out of memory)"));
        let status = json!({ "status": "Failure", "message": "container not found" });
        let said = "container not found, error: no space".to_owned();
        assert_eq!(ended(&status, true), (false, said));
    }

    #[test]
    fn a_cut_connection_is_a_success_only_if_the_agent_was_told_to_end() {
        assert!(ended(&json!({ "status": "Success" }), true).0);
        assert_eq!(ended(&Value::Null, false), (false, "its connection was cut".to_owned()));
        assert!(ended(&Value::Null, true).0);
    }

    #[test]
    fn of_many_complaints_the_end_is_kept() {
        let mut complaint = Vec::new();
        keep_end(&mut complaint, &[b'a'; COMPLAINT_BYTES]);
        keep_end(&mut complaint, b"the end");
        assert_eq!(complaint.len(), COMPLAINT_BYTES);
        assert!(complaint.ends_with(b"athe end"));
    }

    /// Streams of an agent whose status never comes, and those that do not end.
    #[test]
    fn all_that_an_agent_said_is_handed_on_and_a_cut_ends_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (pieces, output) = mpsc::channel(MOST_PIECES);
        let said = vec![7; 3 * BUFFER_BYTES];
        let status = async { Some(Status::default()) };
        let (complaint, _) = runtime.block_on(relay(said.as_slice(), &b"oh"[..], status, &pieces));
        let (silent, _open) = tokio::io::simplex(1);
        let (_, status) = runtime.block_on(relay(silent, &b""[..], async { None }, &pieces));
        drop(pieces);
        let mut heard = Vec::new();
        Output { pieces: output, rest: Vec::new() }.read_to_end(&mut heard).unwrap();
        assert_eq!((heard, complaint), (said, b"oh".to_vec()));
        assert!(status.is_none());
    }

    /// Says something for ever, and counts it.
    struct Endless(usize);

    impl AsyncRead for Endless {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            self.0 += buffer.remaining();
            let room = buffer.remaining();
            buffer.put_slice(&vec![7; room]);
            std::task::Poll::Ready(Ok(()))
        }
    }

    /// An agent that says more than anybody reads.
    #[test]
    fn what_nobody_reads_waits_where_the_agent_is() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (pieces, output) = mpsc::channel(MOST_PIECES);
        let mut endless = Endless(0);
        // It ends long after the pieces that may wait were read.
        let status = async {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            None
        };
        let relayed = async {
            let relay = relay(&mut endless, &b""[..], status, &pieces);
            let mut relay = std::pin::pin!(relay);
            for _ in 0..1000 {
                tokio::select! {
                    biased;
                    _ = &mut relay => return,
                    () = tokio::task::yield_now() => {}
                }
            }
        };
        runtime.block_on(relayed);
        assert!(output.len() <= MOST_PIECES);
        assert!(endless.0 <= (MOST_PIECES + 2) * BUFFER_BYTES, "{} bytes were read", endless.0);
    }
}
