//! The program fio as a load driver: the same files, the same workload, other engines.
//!
//! Test files are laid out by iotax, so that both drivers read the same data; fio may neither make
//! nor extend files. The job file goes in by standard input and the result comes out by standard
//! output, both anonymous memory, and so are its logs, of which the series of every second is made:
//! a killed run leaves nothing behind, and fio dies with it.

mod job_file;
mod logs;
mod record;
mod refusal;
mod series;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_dialects::fio::options::Version;
use iotax_dialects::importers::fio as result;
use iotax_experiment::units::format_duration;
use iotax_experiment::{Target, Workload};
use iotax_record::LoadRecord;

use crate::child::{self, Child, Ending};
use crate::driver::{LayoutProgress, LoadDriver, Request};
use crate::error::Error;
use crate::layout;
use crate::parts::{PlacedParts, TargetPart, parts};
use crate::target::IoTarget;
use crate::watch::Watch;
use logs::Logs;

pub use refusal::refuse_with_fio;

const NAME: &str = "fio";
/// Beyond ramp and time: fio's own start, its last I/Os, and its report.
const GRACE: Duration = Duration::from_secs(30);
/// How long `fio --version` may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Drives I/O with the program fio.
#[derive(Debug, Clone)]
pub struct Fio {
    program: PathBuf,
    /// What it says of itself, if that reads.
    version: Option<Version>,
    grace: Duration,
}

impl Fio {
    /// Whether this fio can do a workload on a target, before anything is made.
    ///
    /// # Errors
    /// What it cannot do there, or only a newer one can.
    pub fn check(&self, workload: &Workload, target: &Target) -> Result<(), Error> {
        refuse_with_fio(workload, target)?;
        refusal::check_versions(workload, self.version)
    }

    /// The fio that a shell would run.
    ///
    /// # Errors
    /// [`Error::NoProgram`] if there is none, [`Error::Program`] if it cannot even tell its version.
    pub fn find() -> Result<Self, Error> {
        Self::at(&child::find_program(NAME)?)
    }

    /// The fio at this path.
    ///
    /// # Errors
    /// As [`Fio::find`].
    pub fn at(program: &Path) -> Result<Self, Error> {
        let never = AtomicBool::new(false);
        let said = Child::new(NAME, program, ["--version"]).run(PATIENCE, &never, &mut |_| ())?;
        said.succeeded("tell its version", &format_duration(nanos(PATIENCE)))?;
        if said.out.starts_with("fio") {
            let version = Version::parse(&said.out);
            Ok(Self { program: program.to_owned(), version, grace: GRACE })
        } else {
            Err(said.failed("says no version when asked for it; is it fio?"))
        }
    }

    /// Waits so much longer than ramp and time for fio to end, instead of 30 seconds.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Refuses what fio cannot do on some target, or must not.
    fn refuse<'a>(
        &self,
        workload: &'a Workload,
        target: IoTarget<'a>,
    ) -> Result<Vec<TargetPart<'a>>, Error> {
        let parts = parts(workload, target)?;
        for part in &parts {
            refusal::refuse_at(&part.workload, part.target, self.version)?;
        }
        Ok(parts)
    }

    fn grace_text(&self) -> String {
        format_duration(nanos(self.grace))
    }
}

impl LoadDriver for Fio {
    fn prepare(
        &self,
        workload: &Workload,
        target: IoTarget<'_>,
        progress: &LayoutProgress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let parts = self.refuse(workload, target)?;
        parts
            .iter()
            .try_for_each(|part| layout::prepare(&part.workload, part.target, progress, stop))
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let Request { workload, target, stop, .. } = *request;
        self.refuse(workload, target)?;
        let parts = PlacedParts::resolve(workload, target)?;
        parts.refuse_foreign_files()?;
        let logs = Logs::new();
        let (text, names) = job_file::of(request, &parts, logs.as_ref())?;
        parts.make_ready(request.stop)?;
        let child = Child {
            input: &text,
            // For a file that nobody has foreseen: into the target, or nowhere.
            directory: parts.directory().unwrap_or(Path::new("/proc/self")),
            ..Child::new(NAME, &self.program, arguments(workload))
        };
        let mut watch = Watch::new(request.ramp_ns, request.time_ns);
        let own_ns = request.ramp_ns.saturating_add(request.time_ns);
        let limit = Duration::from_nanos(own_ns).saturating_add(self.grace);
        let said = child.run(limit, stop, &mut |pid| watch.glance(pid));
        // However it ended: the next trial on these files may be iotax's own.
        parts.mark_again()?;
        let said = said?;
        if said.ending != Ending::Stopped {
            let own = format_duration(own_ns);
            let within = format!("{own} of ramp and time and {} of grace", self.grace_text());
            said.succeeded("end", &within)?;
        }
        let found = result::read_fio(&said.out)
            .map_err(|error| said.failed(&format!("gave no usable result: {error}")))?;
        let mut load = record::of(request, &names, found, &said.err, watch);
        if let Some(logs) = logs {
            record::add_series(request, &logs, &mut load);
        }
        Ok(load)
    }
}

fn arguments(workload: &Workload) -> Vec<&'static str> {
    let mut arguments = vec!["--output-format=json+", "--eta=never"];
    if !workload.jobs.iter().any(iotax_experiment::Job::writes) {
        // fio's own guard, whatever options were handed on to it.
        arguments.push("--readonly");
    }
    arguments.push("-");
    arguments
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
