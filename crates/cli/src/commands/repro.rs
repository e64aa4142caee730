//! A bundle of files from a record: see [`iotax_report::bundle`].

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use iotax_analyze::{Analysis, Phases};
use iotax_plan::Plan;
use iotax_record::{Experiment, Outcome, Reader};
use iotax_report::Redactor;
use iotax_report::bundle::{Bundle, Step, archive, bundle};

use crate::args::{Listing, ReproArgs};
use crate::destination::Destination;
use crate::exit::Exit;
use crate::{key_file, output, recorded};

const DIRECTORY: u32 = 0o755;
const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

/// `iotax repro DIR`
pub fn repro(args: &ReproArgs) -> Result<Exit> {
    let reader = recorded::open(&args.dir)?;
    let mut redactor = (!args.no_redact).then(Redactor::default);
    let gaps = recorded::gaps(&args.dir, &reader)?;
    let told = tell(&args.dir, &reader, redactor.as_mut())?;
    let bundle = bundle(&told.experiment, &told.analyses, &told.steps)?;
    let destination = Destination::new("repro", args.out.as_deref());
    let files = Files::claim(&destination, redactor.is_some())?;
    files.write(&bundle, redactor.as_ref())?;
    let said = match args.format {
        Listing::Text => text(&bundle, &files),
        Listing::Json => json(&bundle, &files, &gaps),
    };
    output::say(&said)?;
    Ok(Exit::Done)
}

/// A record as it is to be told.
struct Told {
    experiment: Experiment,
    /// One per phase.
    analyses: Vec<Analysis>,
    steps: Vec<Step>,
}

fn tell(dir: &Path, reader: &Reader, mut redactor: Option<&mut Redactor>) -> Result<Told> {
    let recorded = &reader.experiment;
    let plan = Plan::new(&recorded.spec);
    let experiment = match &mut redactor {
        Some(redactor) => redactor.experiment(recorded),
        None => recorded.clone(),
    };
    let mut phases = Phases::new(&experiment);
    let mut steps = Vec::new();
    for trial in reader.trials()? {
        let trial = trial?;
        let trial = match &mut redactor {
            Some(redactor) => redactor.trial(trial),
            None => trial,
        };
        if trial.outcome != Outcome::Interrupted {
            steps.push(Step {
                block: trial.block,
                phase: trial.phase,
                arm: trial.arm.clone(),
                seed: plan.load_seed(trial.block),
            });
        }
        phases.add(&trial);
    }
    recorded::add_side_records(dir, &mut phases, redactor.as_deref_mut())?;
    let end = match redactor {
        Some(redactor) => reader.end.as_ref().map(|end| redactor.end(end)),
        None => reader.end.clone(),
    };
    let parts = phases.finish(end.as_ref());
    let analyses = parts.into_iter().map(|(_, analysis)| analysis);
    Ok(Told { analyses: analyses.collect(), experiment, steps })
}

/// Where a bundle goes.
struct Files {
    dir: PathBuf,
    /// The same in one file.
    archive: PathBuf,
    /// What its pseudonyms stand for, if it has any.
    key: Option<PathBuf>,
}

impl Files {
    /// Makes the directory. Whoever makes it has its archive and its key, too: nobody else writes
    /// those.
    fn claim(destination: &Destination, is_redacted: bool) -> Result<Self> {
        let dir = destination.claim_where(|dir| Self::at(dir, is_redacted).taken().is_none())?;
        let files = Self::at(&dir, is_redacted);
        if matches!(destination, Destination::Asked(_)) {
            ensure!(dir.file_name().is_some(), "{} is no name", dir.display());
            if let Some(path) = files.taken() {
                bail!(
                    "{} exists already; a bundle is never written over anything: name another \
                     with --out",
                    path.display()
                );
            }
            DirBuilder::new().mode(DIRECTORY).create(&dir).with_context(|| failed(&dir))?;
        }
        Ok(files)
    }

    fn at(dir: &Path, is_redacted: bool) -> Self {
        let mut archive = dir.file_name().unwrap_or_default().to_owned();
        archive.push(".tar.gz");
        let key = is_redacted.then(|| key_file::beside(dir));
        Self { dir: dir.to_owned(), archive: dir.with_file_name(archive), key }
    }

    /// The first of them that is there already.
    fn taken(&self) -> Option<&Path> {
        let mut all = [&self.dir, &self.archive].into_iter().chain(&self.key);
        all.find(|path| fs::symlink_metadata(path).is_ok()).map(PathBuf::as_path)
    }

    /// Fills the directory and, beside it, the archive. The key first: without it nobody could read
    /// the bundle's words in the end.
    fn write(&self, bundle: &Bundle, redactor: Option<&Redactor>) -> Result<()> {
        let top = self.dir.file_name().unwrap_or_default().to_string_lossy();
        let write = || {
            let bytes = archive(bundle, &top)?;
            if let (Some(key), Some(redactor)) = (&self.key, redactor) {
                key_file::write(key, redactor)?;
            }
            write_files(bundle, &self.dir)
                .and_then(|()| write_new(&self.archive, &bytes, TEXT))
                .with_context(|| failed(&self.dir))
        };
        write().inspect_err(|_| {
            // Half a bundle misleads. The first error tells why.
            let _ = fs::remove_dir_all(&self.dir);
            self.key.iter().for_each(|key| drop(fs::remove_file(key)));
        })
    }
}

fn failed(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

fn write_files(bundle: &Bundle, dir: &Path) -> io::Result<()> {
    let mut make = DirBuilder::new();
    make.mode(DIRECTORY).recursive(true);
    for file in &bundle.files {
        let path = dir.join(&file.path);
        if let Some(parent) = path.parent() {
            make.create(parent)?;
        }
        let mode = if file.executable { PROGRAM } else { TEXT };
        write_new(&path, file.text.as_bytes(), mode)?;
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(bytes)
}

fn text(bundle: &Bundle, files: &Files) -> String {
    let mut text =
        format!("Bundle:  {}\nArchive: {}\n", files.dir.display(), files.archive.display());
    if let Some(key) = &files.key {
        let _ =
            writeln!(text, "Key:     {}  (says what each pseudonym is; keep it)", key.display());
    }
    let _ = write!(text, "\nRun it there, with fio ({} trials):\n  ./run.sh", bundle.trials);
    for (id, _) in &bundle.arms {
        let _ = write!(text, " {id}=PATH");
    }
    text.push('\n');
    if !bundle.without.is_empty() {
        text.push_str("\nNot carried over:\n");
        for line in &bundle.without {
            output::wrap(&mut text, line, "- ", "  ");
        }
    }
    if files.key.is_none() {
        text.push_str("\nNothing was replaced: read it before you hand it on.\n");
    }
    text
}

fn json(bundle: &Bundle, files: &Files, gaps: &[String]) -> String {
    let arms = bundle.arms.iter().map(|(id, name)| serde_json::json!({ "id": id, "name": name }));
    let said = serde_json::json!({
        "dir": files.dir.display().to_string(),
        "archive": files.archive.display().to_string(),
        "key": files.key.as_ref().map(|key| key.display().to_string()),
        "arms": arms.collect::<Vec<_>>(),
        "trials": bundle.trials,
        "without": bundle.without,
        "redacted": files.key.is_some(),
        "gaps": gaps,
    });
    iotax_report::json_text(&said)
}
