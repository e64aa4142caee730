use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use iotax_capture::Progress;
use iotax_cluster::RecordRequest;
use iotax_run::agent::RecordingProgress;

use crate::args::KubeCaptureArgs;
use crate::commands::capture::{RecordingLine, created, default_file, limits, print};
use crate::exit::{Context as _, Exit, Result, printable};
use crate::in_cluster::{connect, of_recorder};
use crate::publish::Extent;
use crate::session::stop_flag;

/// `iotax kube capture`
pub(super) fn capture(args: &KubeCaptureArgs) -> Result<Exit> {
    let limits = limits(args.time.as_deref(), &args.max_size, Some(&args.max_overhead))?;
    let options = of_recorder(args)?;
    let mut words = vec![
        format!("--max-size={}", args.max_size),
        format!("--max-overhead={}", args.max_overhead),
    ];
    words.extend(args.time.as_ref().map(|time| format!("--for={time}")));
    let output = args.out.clone().unwrap_or_else(default_file);
    let cluster = connect(&args.cluster)?;
    let stop = stop_flag()?;
    let line = RecordingLine::new(limits.time);
    let left = created(&output, |mut file| {
        // As for recordings of this machine.
        let is_private = file.get_ref().set_permissions(Permissions::from_mode(0o600));
        is_private.with_context(|| output.display().to_string())?;
        Ok(iotax_cluster::record(
            &cluster,
            &mut RecordRequest {
                pod: &args.pod,
                container: args.container.as_deref(),
                recorder_namespace: args.recorder_namespace.as_deref(),
                time: limits.time,
                bytes: limits.bytes,
                words: &words,
                options: &options,
                stop: &stop,
                note: Arc::new(|told| eprintln!("note: {}", printable(told))),
                tell: &mut |now| line.show(&progress(now)),
                file: &mut file,
            },
        )?)
    })?;
    line.end();
    let done = print(&output, args.format, Extent::of(args.quiet, false))?;
    left?;
    Ok(done)
}

const fn progress(now: &RecordingProgress) -> Progress {
    let RecordingProgress { elapsed, events, lost, bytes, overhead, whole_overhead } = *now;
    Progress { elapsed, events, lost, bytes, overhead, whole_overhead }
}
