//! A recording that another host makes: its progress on a stream, then the file.
//!
//! The client writes one byte to end the recording early, and closes the stream if it does not need
//! the recording any more.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use iotax_experiment::Fault;
use serde::{Deserialize, Serialize};

use super::connection::ENDED;
use super::frame::{Limit, receive, send};
use super::launch::Launched;
use super::timing::{HEARTBEAT, SILENCE};
use crate::error::{AgentError, Error};

/// Version of these messages.
const PROTOCOL: u32 = 1;
/// Bytes of the file that are read at a time.
const PIECE_BYTES: usize = 1 << 18;
/// Parts that are buffered at the client; further ones wait at the recorder.
const MOST_PARTS: usize = 8;
/// How often to check whether the user wants to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Progress of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RecordingProgress {
    pub elapsed: Duration,
    pub events: u64,
    pub lost: u64,
    pub bytes: u64,
    /// Share of the machine's CPU time that the recorder took in the last 2 s.
    pub overhead: f64,
    /// The same since the beginning.
    pub whole_overhead: f64,
}

/// Why there is no recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingFailed {
    pub error: String,
    pub fault: Fault,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    Hello {
        protocol: u32,
    },
    Alive,
    Progress(RecordingProgress),
    Failed(RecordingFailed),
    /// The file follows: this many bytes, then `End`.
    File {
        bytes: u64,
    },
    End {
        crc32c: u32,
    },
}

// The recorder.

/// Makes a recording for a client, and sends it. `record` gets a function to report its progress.
///
/// # Errors
/// If the client is gone.
pub fn serve_recording(
    output: impl Write + Send,
    record: impl FnOnce(&mut dyn FnMut(&RecordingProgress)) -> Result<File, RecordingFailed>,
) -> io::Result<()> {
    let output = Mutex::new(output);
    let tell = |message: &Message| {
        send(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), message)
    };
    tell(&Message::Hello { protocol: PROTOCOL })?;
    let recorded = thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        scope.spawn(move || {
            while is_over.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                if tell(&Message::Alive).is_err() {
                    return;
                }
            }
        });
        // If progress cannot be reported, the recording cannot be sent either.
        let recorded = record(&mut |progress| drop(tell(&Message::Progress(*progress))));
        drop(over);
        recorded
    });
    match recorded {
        Ok(file) => send_file(output.into_inner().unwrap_or_else(PoisonError::into_inner), file),
        Err(failed) => tell(&Message::Failed(failed)),
    }
}

fn send_file(mut output: impl Write, mut file: File) -> io::Result<()> {
    let bytes = file.metadata()?.len();
    send(&mut output, &Message::File { bytes })?;
    let (mut sum, mut sent) = (0, 0);
    let mut piece = vec![0; PIECE_BYTES];
    while sent < bytes {
        let read = match file.read(&mut piece)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => read,
        };
        sum = crc32c::crc32c_append(sum, &piece[..read]);
        output.write_all(&piece[..read])?;
        sent += read as u64;
    }
    send(&mut output, &Message::End { crc32c: sum })
}

// The client.

enum Part {
    Hello,
    Alive,
    Progress(RecordingProgress),
    Failed(RecordingFailed),
    Piece(Vec<u8>),
    End,
}

/// Receives the recording of a recorder that was started, and writes it to `file`. Sets `stop` to
/// end the recording early, which is still received.
///
/// # Errors
/// If the recorder fails or is lost, or if the file cannot be written.
pub fn fetch_recording(
    name: &str,
    recorder: Launched,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&RecordingProgress),
    file: &mut dyn Write,
) -> Result<(), Error> {
    let Launched { mut input, mut output, mut process } = recorder;
    let (pass, parts) = sync_channel(MOST_PARTS);
    // Not waited for: it may be at a read that never ends.
    thread::spawn(move || {
        let received = receive_parts(&mut output, &mut |part| pass.send(Ok(part)).is_ok());
        if let Err(error) = received {
            // The client may have given up.
            let _ = pass.send(Err(error));
        }
    });
    let command = || name.to_owned();
    let lost = |why: String| AgentError::Lost { command: command(), why };
    let (mut heard, mut has_begun, mut is_told) = (Instant::now(), false, false);
    loop {
        let part = parts.recv_timeout(POLL_INTERVAL);
        if part.is_ok() {
            heard = Instant::now();
        }
        match part {
            Ok(Ok(Part::Hello)) => has_begun = true,
            Ok(Ok(Part::Alive)) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Ok(Part::Progress(progress))) => tell(&progress),
            Ok(Ok(Part::Failed(RecordingFailed { error, fault }))) => {
                return Err(AgentError::Failed { error, fault }.into());
            }
            Ok(Ok(Part::Piece(bytes))) => {
                file.write_all(&bytes).map_err(|error| unwritten(&error))?;
            }
            Ok(Ok(Part::End)) => return file.flush().map_err(|error| unwritten(&error).into()),
            Ok(Err(error)) => return Err(lost(error.to_string()).into()),
            Err(RecvTimeoutError::Disconnected) => {
                let ended = process.try_wait().ok().flatten();
                let status = ended.map_or_else(|| ENDED.to_owned(), |ended| ended.status);
                return Err(if has_begun { lost(status) } else { unknown(name, &status) }.into());
            }
        }
        if heard.elapsed() > SILENCE {
            return Err(lost(format!("it sent nothing for {SILENCE:?}")).into());
        }
        if stop.load(Ordering::Relaxed) && !is_told {
            is_told = true;
            // If it is gone, nothing more comes from it.
            let _ = input.write_all(b"s").and_then(|()| input.flush());
        }
    }
}

fn unwritten(error: &io::Error) -> AgentError {
    let error = format!("cannot write the recording: {error}");
    AgentError::Failed { error, fault: Fault::Environment }
}

/// A program that ended before its first message.
fn unknown(name: &str, status: &str) -> AgentError {
    let version = env!("CARGO_PKG_VERSION");
    let why = format!("{status}\nuse a container image with iotax {version}, as this program");
    AgentError::Start { command: name.to_owned(), source: io::Error::other(why) }
}

/// Receives what a recorder sends, and hands each part to `pass`, until the recording ends or `pass`
/// returns false.
fn receive_parts(from: &mut impl Read, pass: &mut dyn FnMut(Part) -> bool) -> io::Result<()> {
    while let Some(message) = receive(from, || Limit::PLAIN)? {
        let part = match message {
            Message::Hello { protocol: PROTOCOL } => Part::Hello,
            Message::Hello { protocol } => {
                return Err(invalid(&format!(
                    "it speaks version {protocol} of the protocol, but this iotax speaks version \
                     {PROTOCOL}"
                )));
            }
            Message::Alive => Part::Alive,
            Message::Progress(progress) => Part::Progress(progress),
            Message::Failed(failed) => Part::Failed(failed),
            Message::File { bytes } => return receive_file(from, bytes, pass),
            Message::End { .. } => {
                return Err(invalid("it sent the end of a file before the file"));
            }
        };
        if !pass(part) {
            return Ok(());
        }
    }
    Ok(())
}

fn receive_file(
    from: &mut impl Read,
    bytes: u64,
    pass: &mut dyn FnMut(Part) -> bool,
) -> io::Result<()> {
    let (mut sum, mut left) = (0, bytes);
    while left > 0 {
        let mut piece = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES)];
        let read = match from.read(&mut piece) {
            Ok(0) => return Err(invalid("the connection ended before the recording")),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        piece.truncate(read);
        sum = crc32c::crc32c_append(sum, &piece);
        left -= read as u64;
        if !pass(Part::Piece(piece)) {
            return Ok(());
        }
    }
    match receive(from, || Limit::PLAIN)? {
        Some(Message::End { crc32c }) if crc32c == sum => {
            pass(Part::End);
            Ok(())
        }
        Some(Message::End { .. }) => Err(invalid("the recording was corrupted in transit")),
        _ => Err(invalid("the connection ended before the recording")),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Ended, Process};
    use proptest::prelude::*;
    use std::io::{Cursor, Seek as _};
    use std::sync::Arc;

    const PROGRESS: RecordingProgress = RecordingProgress {
        elapsed: Duration::from_millis(1500),
        events: 3,
        lost: 1,
        bytes: 99,
        overhead: 0.25,
        whole_overhead: 0.125,
    };

    struct Gone;

    impl Process for Gone {
        fn try_wait(&mut self) -> io::Result<Option<Ended>> {
            Ok(Some(Ended { success: false, status: "exit status: 2, unexpected".to_owned() }))
        }

        fn kill(self: Box<Self>) -> Option<String> {
            None
        }
    }

    /// What a recorder sends that reports once and records these bytes.
    fn sent(recording: &[u8]) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(recording).unwrap();
        file.rewind().unwrap();
        serve_recording(&mut stream, |tell| {
            tell(&PROGRESS);
            Ok(file)
        })
        .unwrap();
        stream
    }

    fn fetched(output: Box<dyn Read + Send>) -> (Result<(), String>, Vec<u8>, usize) {
        let recorder = Launched { input: Box::new(io::sink()), output, process: Box::new(Gone) };
        let (mut file, mut told) = (Vec::new(), Vec::new());
        let stop = AtomicBool::new(false);
        let mut tell = |progress: &RecordingProgress| told.push(*progress);
        let fetched = fetch_recording("recorder", recorder, &stop, &mut tell, &mut file);
        assert!(told.iter().all(|progress| *progress == PROGRESS));
        (fetched.map_err(|error| error.to_string()), file, told.len())
    }

    fn of_bytes(stream: Vec<u8>) -> (Result<(), String>, Vec<u8>, usize) {
        fetched(Box::new(Cursor::new(stream)))
    }

    #[test]
    fn a_recording_arrives_as_it_was_made() {
        let recording: Vec<u8> = (0..=250).cycle().take(3 * PIECE_BYTES + 7).collect();
        assert_eq!(of_bytes(sent(&recording)), (Ok(()), recording, 1));
        assert_eq!(of_bytes(sent(&[])), (Ok(()), Vec::new(), 1));
    }

    #[test]
    fn a_failure_arrives_with_its_fault() {
        let mut stream = Vec::new();
        let failed = RecordingFailed { error: "no BTF".to_owned(), fault: Fault::Environment };
        serve_recording(&mut stream, |_| Err(failed)).unwrap();
        assert_eq!(of_bytes(stream).0, Err("no BTF".to_owned()));
    }

    #[test]
    fn a_program_that_does_not_know_the_protocol_is_told_from_a_lost_recorder() {
        insta::assert_snapshot!(of_bytes(Vec::new()).0.unwrap_err(), @"
        cannot start the agent `recorder`: exit status: 2, unexpected
        use a container image with iotax 0.1.0, as this program
        ");
        let mut stream = Vec::new();
        send(&mut stream, &Message::Hello { protocol: PROTOCOL }).unwrap();
        insta::assert_snapshot!(of_bytes(stream).0.unwrap_err(), @"the agent `recorder` was lost: exit status: 2, unexpected");
        let mut stream = Vec::new();
        send(&mut stream, &Message::Hello { protocol: PROTOCOL + 1 }).unwrap();
        insta::assert_snapshot!(of_bytes(stream).0.unwrap_err(), @"the agent `recorder` was lost: it speaks version 2 of the protocol, but this iotax speaks version 1");
    }

    /// A client that stops the recording, and reads it when it has heard of that.
    #[test]
    fn who_stops_a_recording_gets_it() {
        struct Told(Arc<AtomicBool>);
        impl Write for Told {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.store(true, Ordering::SeqCst);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let told = Arc::new(AtomicBool::new(false));
        let (output, to_client) = io::pipe().unwrap();
        let is_told = Arc::clone(&told);
        let recorder = thread::spawn(move || {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"recorded").unwrap();
            file.rewind().unwrap();
            serve_recording(to_client, |_| {
                while !is_told.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                Ok(file)
            })
        });
        let recorder_of_client = Launched {
            input: Box::new(Told(told)),
            output: Box::new(output),
            process: Box::new(Gone),
        };
        let (stop, mut file) = (AtomicBool::new(true), Vec::new());
        fetch_recording("recorder", recorder_of_client, &stop, &mut |_| (), &mut file).unwrap();
        recorder.join().unwrap().unwrap();
        assert_eq!(file, b"recorded");
    }

    proptest! {
        #[test]
        fn a_stream_that_is_cut_or_changed_is_no_recording(
            length in 0..5000_usize, at in any::<prop::sample::Index>(), bit in 0..8_u32, cut: bool
        ) {
            let mut stream = sent(&vec![b'a'; length]);
            let at = at.index(stream.len());
            if cut {
                stream.truncate(at);
            } else {
                stream[at] ^= 1 << bit;
            }
            prop_assert!(of_bytes(stream).0.is_err());
        }
    }
}
