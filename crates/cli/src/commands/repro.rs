//! Writes a bundle of files from a record, see [`iotax_report::bundle`].

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use iotax_analyze::Phases;
use iotax_experiment::Spec;
use iotax_experiment::plan::Plan;
use iotax_load::{LoggedFile, Recording};
use iotax_record::{ExperimentHead, Location, Outcome, Reader};
use iotax_report::Redactor;
use iotax_report::bundle::{Bundle, Recorded, RecordedFile, Step, archive, bundle};
use iotax_rig::Held;
use iotax_wording::recording::not_shown_by_fio;
use serde_json::{Value, json};

use crate::args::ReproArgs;
use crate::exit::{Context as _, Exit, Result, usage};
use crate::recorded::{self, Retold};
use crate::session::Destination;
use crate::{output, publish};

const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

/// `iotax repro DIR`
pub(crate) fn repro(args: &ReproArgs) -> Result<Exit> {
    let dir = Location::from(&args.dir);
    let reader = recorded::open(&dir)?;
    let mut retold = Retold((!args.no_redact).then(Redactor::default));
    let gaps = recorded::gaps(&dir, &reader)?;
    let bundle = retell(&dir, &reader, &mut retold)?;
    let destination = Destination::new("repro", args.out.as_deref());
    let files = Files::claim(&destination, !args.no_redact)?;
    files.write(&bundle, retold.0.as_ref())?;
    output::list(args.format, || text(&bundle, &files), || json(&bundle, &files, &gaps))
}

fn retell(dir: &Location, reader: &Reader<ExperimentHead>, retold: &mut Retold) -> Result<Bundle> {
    let plan = Plan::new(&reader.head.spec);
    let experiment = retold.experiment(&reader.head);
    let mut phases = Phases::new(&experiment);
    let mut steps = Vec::new();
    for trial in reader.lines()? {
        let trial = retold.trial(trial?);
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
    recorded::add_side_records(dir, &reader.head.spec, &mut phases, retold)?;
    let parts = phases.finish(retold.end(reader.end.as_ref()).as_ref());
    let recorded = recorded_phases(&reader.head.spec)?;
    Ok(bundle(&experiment, &parts, &steps, &recorded)?)
}

/// The recordings of all phases as logs of fio.
fn recorded_phases(spec: &Spec) -> Result<Vec<Recorded>> {
    let loads = spec.phases().enumerate().filter_map(|(at, phase)| Some((at, phase.recording()?)));
    loads
        .map(|(phase, load)| {
            let log = Recording::of(load).and_then(|recording| recording.fio_log());
            let log = log.context("a bundle contains the recording as a log of fio")?;
            let file = |LoggedFile { name, bytes }| RecordedFile { name, bytes };
            Ok(Recorded {
                phase,
                files: log.files.into_iter().map(file).collect(),
                direct: log.direct,
                is_of_device: log.device.is_some(),
                without: not_shown_by_fio(&log.exported, load.copies),
                log: log.text,
            })
        })
        .collect()
}

/// The places of a bundle's files.
struct Files {
    /// Parent of the directory.
    parent: Held,
    dir: Held,
    names: Names,
}

/// Files next to the bundle's directory.
struct Names {
    /// The bundle in one file.
    archive: Location,
    /// The key that maps pseudonyms back, if there are any.
    key: Option<Location>,
}

impl Names {
    /// The names for the bundle `name` in `parent`.
    fn of(parent: &Location, name: &Path, is_redacted: bool) -> Self {
        let mut archive = name.as_os_str().to_owned();
        archive.push(".tar.gz");
        let key = is_redacted.then(|| parent.join(publish::beside(name)));
        Self { archive: parent.join(archive), key }
    }

    /// The first of them that exists already.
    fn taken(&self) -> Option<&Path> {
        let mut all = [&self.archive].into_iter().chain(&self.key);
        all.find(|name| is_there(name.at())).map(Location::shown)
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

impl Files {
    /// Creates the directory, which also claims the names of the archive and the key.
    fn claim(destination: &Destination, is_redacted: bool) -> Result<Self> {
        let here = Location::from(Path::new(""));
        let names = |dir: &Path| Names::of(&here, dir, is_redacted);
        if let Destination::Asked(dir) = destination
            && let Some(path) = is_there(dir).then_some(dir.as_path()).or(names(dir).taken())
        {
            return Err(usage(format!(
                "{} already exists, and iotax does not overwrite it; choose another directory with \
                 --out",
                path.display()
            )));
        }
        let (parent, dir) = destination.claim_new(|dir| names(dir).taken().is_none())?;
        let name = dir.shown().file_name().unwrap_or_default();
        let names = Names::of(&Location::from(&parent), Path::new(name), is_redacted);
        Ok(Self { parent, dir, names })
    }

    /// Writes the key, the directory and the archive. The key comes first: without it, nobody could
    /// map the pseudonyms back.
    fn write(&self, bundle: &Bundle, redactor: Option<&Redactor>) -> Result<()> {
        let Names { archive: all_in_one, key } = &self.names;
        let top = self.dir.shown().file_name().unwrap_or_default().to_string_lossy();
        let write = || {
            let bytes = archive(bundle, &top)?;
            if let (Some(key), Some(redactor)) = (key, redactor) {
                publish::write(key, redactor)?;
            }
            write_files(bundle, &self.dir)
                .and_then(|()| write_new(all_in_one.at(), &bytes, TEXT))
                .with_context(|| format!("cannot write {}", self.dir.shown().display()))
        };
        write().inspect_err(|_| self.discard())
    }

    /// Removes a partial bundle, which would mislead. Ignores errors, because the first error is
    /// reported.
    fn discard(&self) {
        for entry in fs::read_dir(self.dir.path()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
        // Removes only an empty directory, if another one has this name by now.
        let name = self.dir.shown().file_name().unwrap_or_default();
        let _ = fs::remove_dir(self.parent.path().join(name));
        self.names.key.iter().for_each(|key| drop(fs::remove_file(key.at())));
    }
}

fn write_files(bundle: &Bundle, dir: &Held) -> io::Result<()> {
    for file in &bundle.files {
        let path = Path::new(&file.path);
        let name = path.file_name().unwrap_or_default();
        let mode = if file.executable { PROGRAM } else { TEXT };
        let mut parts = path.parent().unwrap_or(Path::new("")).components();
        let inner = parts.try_fold(None, |outer: Option<Held>, part| {
            outer.as_ref().unwrap_or(dir).enter(part).map(Some)
        })?;
        let at = inner.as_ref().unwrap_or(dir).path().join(name);
        write_new(&at, file.text.as_bytes(), mode)?;
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?.write_all(bytes)
}

fn text(bundle: &Bundle, files: &Files) -> String {
    let (dir, archive) = (files.dir.shown().display(), files.names.archive.shown().display());
    let mut text = format!("Bundle:  {dir}\nArchive: {archive}\n");
    if let Some(key) = &files.names.key {
        let _ = writeln!(
            text,
            "Key:     {}  (maps the pseudonyms back; keep it private)",
            key.shown().display()
        );
    }
    let trials = bundle.trials;
    let _ = write!(
        text,
        "\nRun the bundle in that directory ({trials} trials; needs fio):\n  ./run.sh"
    );
    for (id, _) in &bundle.arms {
        let _ = write!(text, " {id}=PATH");
    }
    text.push('\n');
    if !bundle.without.is_empty() {
        text.push_str("\nNot included:\n");
        for line in &bundle.without {
            output::wrap(&mut text, line, "- ", "  ");
        }
    }
    if files.names.key.is_none() {
        text.push_str(
            "\nNames and paths were not replaced: check them before you share the bundle.\n",
        );
    }
    text
}

fn json(bundle: &Bundle, files: &Files, gaps: &[String]) -> Value {
    let arms = bundle.arms.iter().map(|(id, name)| json!({ "id": id, "name": name }));
    json!({
        "dir": files.dir.shown().display().to_string(),
        "archive": files.names.archive.shown().display().to_string(),
        "key": files.names.key.as_ref().map(|key| key.shown().display().to_string()),
        "arms": arms.collect::<Vec<_>>(),
        "trials": bundle.trials,
        "without": bundle.without,
        "redacted": files.names.key.is_some(),
        "gaps": gaps,
    })
}
