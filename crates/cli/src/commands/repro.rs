//! A bundle of files from a record: see [`iotax_report::bundle`].

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use iotax_analyze::{Analysis, Phases};
use iotax_plan::Plan;
use iotax_record::{Experiment, Outcome, Reader};
use iotax_report::Redactor;
use iotax_report::bundle::{Bundle, Step, archive, bundle};

use crate::args::{Listing, ReproArgs};
use crate::destination::Destination;
use crate::exit::Exit;
use crate::{output, recorded};

const DIRECTORY: u32 = 0o755;
const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

/// `iotax repro DIR`
pub fn repro(args: &ReproArgs) -> Result<Exit> {
    let reader = recorded::open(&args.dir)?;
    let mut redactor = (!args.no_redact).then(|| Redactor::new(&reader.experiment));
    let gaps = recorded::gaps(&args.dir, &reader)?;
    let told = tell(&args.dir, &reader, redactor.as_mut())?;
    let mut bundle = bundle(&told.experiment, &told.analyses, &told.steps)?;
    if let Some(redactor) = &mut redactor {
        // Once more, for what came in by another way; the script and its data are not prose.
        for file in bundle.files.iter_mut().filter(|file| is_prose(&file.path)) {
            file.text = redactor.made_text(&file.text);
        }
    }
    let (dir, tar) = place(&Destination::new("repro", args.out.as_deref()))?;
    write(&bundle, &dir, &tar)?;
    let said = match args.format {
        Listing::Text => text(&bundle, &dir, &tar),
        Listing::Json => json(&bundle, (&dir, &tar), redactor.is_some(), &gaps),
    };
    output::say(&said)?;
    Ok(Exit::Done)
}

fn is_prose(path: &str) -> bool {
    ["README.md", "arms.txt", "expected.txt", "results.csv"].contains(&path)
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
    recorded::add_side_records(dir, &mut phases, redactor)?;
    let parts = phases.finish(reader.end.as_ref());
    let analyses = parts.into_iter().map(|(_, analysis)| analysis);
    Ok(Told { analyses: analyses.collect(), experiment, steps })
}

/// Where the bundle goes, made if it has a name of our own, and its archive beside it.
fn place(destination: &Destination) -> Result<(PathBuf, PathBuf)> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    // Whoever makes the directory has its archive, too: nobody else writes that.
    let dir = destination.claim_where(|dir| !is_there(&archive_of(dir)))?;
    let tar = archive_of(&dir);
    if let Destination::Asked(dir) = destination {
        ensure!(dir.file_name().is_some(), "{} is no name", dir.display());
        for path in [dir, &tar] {
            ensure!(
                !is_there(path),
                "{} exists already; a bundle is never written over anything: name another with \
                 --out",
                path.display()
            );
        }
        DirBuilder::new().mode(DIRECTORY).create(dir).with_context(|| failed(dir))?;
    }
    Ok((dir, tar))
}

fn archive_of(dir: &Path) -> PathBuf {
    let mut tar = dir.file_name().unwrap_or_default().to_owned();
    tar.push(".tar.gz");
    dir.with_file_name(tar)
}

fn failed(dir: &Path) -> String {
    format!("cannot write {}", dir.display())
}

/// Fills the directory and, beside it, the archive.
fn write(bundle: &Bundle, dir: &Path, tar: &Path) -> Result<()> {
    let top = dir.file_name().unwrap_or_default().to_string_lossy();
    let written = archive(bundle, &top)
        .and_then(|bytes| write_files(bundle, dir).and_then(|()| write_new(tar, &bytes, TEXT)));
    if written.is_err() {
        // Half a bundle misleads. The first error tells why.
        let _ = fs::remove_dir_all(dir);
    }
    written.with_context(|| failed(dir))
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

fn text(bundle: &Bundle, dir: &Path, tar: &Path) -> String {
    let mut text = format!("Bundle:  {}\nArchive: {}\n", dir.display(), tar.display());
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
    text.push_str("\nRead it before you hand it on.\n");
    text
}

fn json(bundle: &Bundle, (dir, tar): (&Path, &Path), redacted: bool, gaps: &[String]) -> String {
    let arms = bundle.arms.iter().map(|(id, name)| serde_json::json!({ "id": id, "name": name }));
    let said = serde_json::json!({
        "dir": dir.display().to_string(),
        "archive": tar.display().to_string(),
        "arms": arms.collect::<Vec<_>>(),
        "trials": bundle.trials,
        "without": bundle.without,
        "redacted": redacted,
        "gaps": gaps,
    });
    iotax_report::json_text(&said)
}
