//! `iotax capture`: records the I/O of a program, and shows recordings.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotax_capture::{
    Limits, Progress, Recorded, Recorder, Request, Subject, find_container, find_unit,
    record_with_strace,
};
use iotax_experiment::units::{parse_bytes, parse_duration, parse_share};
use iotax_report::{self as report, ShownRecording};
use iotax_trace::export::{fio_log, parquet};
use iotax_trace::import;
use iotax_trace::profile::{Profile, Summary};
use iotax_trace::{End, Head, Reader, Source};
use iotax_wording::recording::{self as words, progress};
use jiff::{Timestamp, Zoned};

use super::captured_for_client;
use crate::args::{
    CaptureArgs, CaptureCommand, CaptureExportArgs, CaptureImportArgs, CaptureRecordArgs,
    CaptureShowArgs, Color, Listing,
};
use crate::exit::{Context as _, Exit, Result, failed, read_argument, usage};
use crate::output;
use crate::publish::{Extent, in_text};
use crate::resolve::option;
use crate::session::stop_flag;

/// Of `--max-overhead`, unless strace records.
const USUAL_OVERHEAD: &str = "3%";
const PROGRAM: &str = concat!("iotax ", env!("CARGO_PKG_VERSION"));

/// `iotax capture`
pub(crate) fn capture(args: &CaptureArgs) -> Result<Exit> {
    match &args.action {
        Some(CaptureCommand::Show(args)) => show(args),
        Some(CaptureCommand::Import(args)) => import(args),
        Some(CaptureCommand::Export(args)) => export(args),
        None => record(&args.record),
    }
}

fn record(args: &CaptureRecordArgs) -> Result<Exit> {
    if args.to_client {
        return captured_for_client::serve(args);
    }
    let limits = args.limits()?;
    let output = args.out.clone().unwrap_or_else(default_file);
    let stop = stop_flag()?;
    let line = RecordingLine::new(limits.time);
    let done = recorded(args, limits, &output, &stop, &mut |now| line.show(now))?;
    line.end();
    if let Some(mut child) = done.child {
        // The command belongs to the user, so iotax waits for its end.
        child.wait().context("cannot wait for the command")?;
    }
    if let Some(failure) = done.failure {
        return Err(failure.into());
    }
    let extent = Extent::of(args.quiet, false);
    print(&output, args.format, extent)
}

/// The name of a recording without `--out`.
pub(crate) fn default_file() -> PathBuf {
    PathBuf::from(format!("capture-{}.iotx", Zoned::now().strftime("%Y%m%d-%H%M%S")))
}

/// Records the program that the arguments name.
pub(crate) fn recorded(
    args: &CaptureRecordArgs,
    limits: Limits,
    output: &Path,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Recorded> {
    let subject = subject(args)?;
    let request = Request { subject: &subject, output, head: head(), limits };
    if args.strace {
        return Ok(record_with_strace(request, stop, tell)?);
    }
    let recorder = Recorder::attach()?;
    Ok(recorder.record(request, stop, tell)?)
}

/// The progress line of a recording.
pub(crate) struct RecordingLine {
    line: ProgressBar,
    limit: Option<Duration>,
}

impl RecordingLine {
    /// `limit`: length requested with --for.
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        line.set_style(ProgressStyle::with_template("{wide_msg}").expect("it is a template"));
        Self { line, limit }
    }

    pub(crate) fn show(&self, now: &Progress) {
        let told = progress::Now {
            elapsed: now.elapsed,
            limit: self.limit,
            events: now.events,
            lost: now.lost,
            bytes: now.bytes,
            overhead: now.overhead,
            whole_overhead: now.whole_overhead,
        };
        self.line.set_message(progress::line(&told));
    }

    pub(crate) fn end(&self) {
        self.line.finish_and_clear();
    }
}

fn subject(args: &CaptureRecordArgs) -> Result<Subject> {
    Ok(match (&args.cgroup, &args.unit, &args.container) {
        (Some(group), ..) => Subject::Group(group.clone()),
        (_, Some(unit), _) => Subject::Group(find_unit(unit)?),
        (.., Some(id)) => find_container(id)?,
        _ if !args.command.is_empty() => Subject::Command(args.command.clone()),
        _ if !args.pids.is_empty() => Subject::Processes(args.pids.clone()),
        _ => {
            return Err(usage(
                "name the program to record: --unit postgresql, --pid 1234, --cgroup DIR, \
                 --container ID, or a command after --",
            ));
        }
    })
}

impl CaptureRecordArgs {
    pub(crate) fn limits(&self) -> Result<Limits> {
        let usual = if self.strace { None } else { Some(USUAL_OVERHEAD) };
        limits(self.time.as_deref(), &self.max_size, self.max_overhead.as_deref().or(usual))
    }
}

/// The values of `--for`, `--max-size` and `--max-overhead`.
pub(crate) fn limits(
    time: Option<&str>,
    max_size: &str,
    max_overhead: Option<&str>,
) -> Result<Limits> {
    let time_ns = option("--for", time, parse_duration)?;
    if time_ns == Some(0) {
        return Err(usage("option --for: the time must be longer than 0"));
    }
    let bytes = option("--max-size", Some(max_size), parse_bytes)?;
    let overhead = option("--max-overhead", max_overhead, parse_share)?;
    Ok(Limits {
        time: time_ns.map(Duration::from_nanos),
        bytes: bytes.unwrap_or(u64::MAX),
        overhead: overhead.unwrap_or(f64::INFINITY),
    })
}

/// What is known of the machine before the recording begins.
fn head() -> Head {
    let size = iotax_inspect::machine_size();
    let kernel = iotax_inspect::kernel_release().unwrap_or_default();
    Head {
        started: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        kernel: format!("{kernel} {}", std::env::consts::ARCH).trim().to_owned(),
        cpus: size.map(|size| size.possible_cpus),
        memory_bytes: size.map(|size| size.memory_bytes),
        ..Head::new(PROGRAM, Source::Bpf)
    }
}

/// `iotax capture show`
fn show(args: &CaptureShowArgs) -> Result<Exit> {
    print(&args.file, args.format, Extent::of(false, args.verbose))
}

/// `iotax capture import`
fn import(args: &CaptureImportArgs) -> Result<Exit> {
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let opened = args.files.iter().map(|file| open(file)).collect::<Result<Vec<_>>>()?;
    let options = import::Options { format: None, program: PROGRAM.to_owned() };
    let imported = created(&args.out, |output| {
        import::import(opened, output, &options)
            .with_context(|| format!("cannot import {}", names.join(", ")))
    })?;
    if matches!(args.format, Listing::Text) && imported.skipped > 0 {
        output::say(&words::skipped(&imported, &names))?;
    }
    print(&args.out, args.format, Extent::of(false, false))
}

/// `iotax capture export`
fn export(args: &CaptureExportArgs) -> Result<Exit> {
    let context = || format!("cannot export {}", args.file.display());
    let mut reader = Reader::new(open(&args.file)?).with_context(context)?;
    let to = args.out.display().to_string();
    if args.out.extension().is_some_and(|extension| extension == "parquet") {
        let write = |output| parquet::export(&mut reader, output).with_context(context);
        let rows = created(&args.out, write)?;
        output::say(&words::exported_table(rows, &to))?;
        return Ok(Exit::Done);
    }
    let options = fio_log::Options { version: fio_log::Version::Three, thread: None };
    let exported = created(&args.out, |output| {
        fio_log::export(&mut reader, output, options).with_context(context)
    })?;
    output::say(&words::exported(&exported, &to))?;
    Ok(Exit::Done)
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let context = || format!("cannot read {}", path.display());
    read_argument(File::open(path), context).map(BufReader::new)
}

/// Creates a file, lets `write` fill it, and removes it on failure.
pub(crate) fn created<T>(
    path: &Path,
    write: impl FnOnce(BufWriter<File>) -> Result<T>,
) -> Result<T> {
    let file = File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => usage(format!(
            "{} already exists, and iotax never overwrites results; choose another file with --out",
            path.display()
        )),
        _ => failed(format!("cannot create {}: {error}", path.display())),
    })?;
    write(BufWriter::new(file)).inspect_err(|_| drop(fs::remove_file(path)))
}

pub(crate) fn print(path: &Path, format: Listing, extent: Extent) -> Result<Exit> {
    let read = read(path)?;
    let shown = path.display().to_string();
    let recording = read.shown(&shown);
    let text = || in_text(&report::recording(recording), Color::Auto, extent);
    output::list(format, text, || report::recording_json(recording))
}

/// What a recording contains.
pub(crate) struct Recording {
    head: Head,
    end: Option<End>,
    summary: Summary,
}

impl Recording {
    pub(crate) fn shown<'a>(&'a self, path: &'a str) -> ShownRecording<'a> {
        let Self { head, end, summary } = self;
        ShownRecording { path, head, end: end.as_ref(), summary }
    }
}

/// Reads the recording at `path`.
///
/// # Errors
/// If it cannot be read, or is damaged.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let context = || format!("cannot read {}", path.display());
    let mut reader = Reader::new(open(path)?).with_context(context)?;
    let mut profile = Profile::default();
    while let Some(events) = reader.chunk().with_context(context)? {
        for event in &events {
            profile.add(event);
        }
    }
    let summary = profile.finish(&reader.head, &reader.files, reader.end.as_ref());
    Ok(Recording { head: reader.head, end: reader.end, summary })
}
