//! `iotax capture` for another iotax process, which started this one in a pod.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use iotax_capture::Progress;
use iotax_run::agent::{RecordingFailed, RecordingProgress, serve_recording};

use super::capture::recorded;
use crate::args::CaptureRecordArgs;
use crate::exit::{self, Context as _, Exit, Failure, Result, printable, usage};
use crate::session::stop_flag;

/// Records, and sends progress and the recording to the client.
pub(super) fn serve(args: &CaptureRecordArgs) -> Result<Exit> {
    if io::stdin().is_terminal() {
        return Err(usage(
            "--to-client is not for use by hand; leave it out, or run iotax kube capture",
        ));
    }
    let stop = stop_flag()?;
    let asked = Arc::clone(&stop);
    thread::spawn(move || listen(&asked));
    let served = serve_recording(io::stdout(), |tell| {
        record(args, &stop, tell).map_err(|failure| RecordingFailed {
            error: printable(&failure.to_string()),
            fault: failure.fault(),
        })
    });
    served.context("the connection to the iotax process that started this one was lost")?;
    Ok(Exit::Done)
}

/// A byte on the input ends the recording. The end of the input ends this process, because the client
/// is gone.
fn listen(stop: &AtomicBool) {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Ok(0) => exit::served(),
            Ok(_) => stop.store(true, Ordering::Relaxed),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => exit::served(),
        }
    }
}

fn record(
    args: &CaptureRecordArgs,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&RecordingProgress),
) -> Result<File> {
    let limits = args.limits()?;
    let output = args.out.clone().unwrap_or_default();
    let mut tell = |now: &Progress| {
        let Progress { elapsed, events, lost, bytes, overhead, whole_overhead } = *now;
        tell(&RecordingProgress { elapsed, events, lost, bytes, overhead, whole_overhead });
    };
    let done = recorded(args, limits, &output, stop, &mut tell)?;
    // A recording that was cut off is sent if any of it was saved.
    match (File::open(&output), done.failure) {
        (Ok(file), _) => Ok(file),
        (Err(_), Some(failure)) => Err(Failure::from(failure)),
        (Err(error), None) => Err(error).with_context(|| output.display().to_string()),
    }
}
