//! The program fio as a load driver: the same files, the same workload, other engines.
//!
//! Test files are laid out by iotax, so that both drivers read the same data; fio may neither make
//! nor extend files. The job file goes in by standard input and the result comes out by standard
//! output, both anonymous memory: a killed run leaves nothing behind, and fio dies with it.

mod child;
mod job_file;
mod record;
mod refusal;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use iotax_record::LoadRecord;
use iotax_record::foreign::fio as result;
use iotax_spec::Workload;

use crate::driver::{LoadDriver, Progress, Request, Target};
use crate::error::Error;
use crate::layout;
use crate::native::invalidate;
use crate::places::{Kind, Places};
use child::{Child, Ending, Said};
use record::Watch;

/// Beyond ramp and time: fio's own start, its last I/Os, and its report.
const GRACE: Duration = Duration::from_secs(30);
/// How long `fio --version` may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Drives I/O with the program fio.
#[derive(Debug, Clone)]
pub struct Fio {
    program: PathBuf,
    grace: Duration,
}

impl Fio {
    /// The fio that a shell would run.
    ///
    /// # Errors
    /// [`Error::NoFio`] if there is none, [`Error::Fio`] if it cannot even tell its version.
    pub fn find() -> Result<Self, Error> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path)
            .map(|directory| directory.join("fio"))
            .find(|program| program.is_file())
            .ok_or(Error::NoFio)?;
        Self::at(&program)
    }

    /// The fio at this path.
    ///
    /// # Errors
    /// As [`Fio::find`].
    pub fn at(program: &Path) -> Result<Self, Error> {
        let fio = Self { program: program.to_owned(), grace: GRACE };
        let arguments = [OsString::from("--version")];
        let never = AtomicBool::new(false);
        let child = Child { program, arguments: &arguments, input: "", directory: Path::new("/") };
        let said = child.run(PATIENCE, &never, &mut |_| ())?;
        succeeded(&said, PATIENCE)?;
        if said.out.starts_with("fio") {
            Ok(fio)
        } else {
            Err(said.failed("says no version when asked for it; is it fio?"))
        }
    }

    /// Waits so much longer than ramp and time for fio to end, instead of 30 seconds.
    #[must_use]
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }
}

impl LoadDriver for Fio {
    fn prepare(
        &self,
        workload: &Workload,
        target: Target<'_>,
        progress: &Progress<'_>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        refusal::check(workload, target)?;
        layout::prepare(workload, target, progress, stop)
    }

    fn run(&self, request: &Request<'_>) -> Result<LoadRecord, Error> {
        let Request { workload, target, stop, .. } = *request;
        refusal::check(workload, target)?;
        let places = Places::resolve(workload, target)?;
        layout::refuse_foreign_files(workload, target, &places)?;
        let (text, names) = job_file::of(request, &places)?;
        invalidate(target, &places)?;
        let child = Child {
            program: &self.program,
            arguments: &arguments(workload),
            input: &text,
            directory: directory(target, &places),
        };
        let mut watch = Watch::new(request.ramp_ns, request.time_ns);
        let limit = Duration::from_nanos(request.ramp_ns.saturating_add(request.time_ns));
        let limit = limit.saturating_add(self.grace);
        let said = child.run(limit, stop, &mut |pid| watch.glance(pid));
        // However it ended: the next trial on these files may be iotax's own.
        layout::mark_again(&places)?;
        let said = said?;
        if said.ending != Ending::Stopped {
            succeeded(&said, limit)?;
        }
        let found = result::read(&said.out)
            .map_err(|error| said.failed(&format!("gave no usable result: {error}")))?;
        Ok(record::of(request, &names, found, &said.err, watch))
    }
}

/// Where fio would put a file that nobody has foreseen: into the target, or nowhere.
fn directory<'a>(target: Target<'a>, places: &Places) -> &'a Path {
    match target {
        Target::Path(path) if places.kind == Kind::Directory => path,
        _ => Path::new("/proc/self"),
    }
}

fn arguments(workload: &Workload) -> Vec<OsString> {
    let mut arguments = vec!["--output-format=json+".into(), "--eta=never".into()];
    if !workload.jobs.iter().any(iotax_spec::Job::writes) {
        // fio's own guard, whatever options were handed on to it.
        arguments.push("--readonly".into());
    }
    arguments.push("-".into());
    arguments
}

fn succeeded(said: &Said, limit: Duration) -> Result<(), Error> {
    let seconds = limit.as_secs();
    match (said.ending, said.status.success()) {
        (Ending::Itself, true) => Ok(()),
        (Ending::Itself | Ending::Stopped, _) => {
            Err(said.failed(&format!("failed ({})", said.status)))
        }
        (Ending::Late, _) => {
            Err(said.failed(&format!("did not end within {seconds} seconds and was ended")))
        }
        // What it said is of no use here.
        (Ending::Flood, _) => Err(Error::Fio {
            what: "printed without end and was ended".to_owned(),
            said: String::new(),
        }),
    }
}
