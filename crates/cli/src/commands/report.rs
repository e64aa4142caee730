use std::path::{Path, PathBuf};

use iotax_record::{Error, ExperimentHead, Location, Reader, SearchHead};
use iotax_rig::Held;
use iotax_trace::is_trace;

use crate::args::{Format, ReportArgs};
use crate::commands::capture;
use crate::commands::check::{CAPS, FITNESS};
use crate::exit::{Context as _, Exit, Result, usage};
use crate::publish::{self, Answer, CapsAnswer, Extent, Finished, Shown, publish};
use crate::resolve::{self, rules};
use crate::session::Destination;
use crate::{output, recorded};

/// `iotax report`, for one or several directories, a recording, or result files of other tools.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit> {
    let are_files = |path: &PathBuf| path.exists() && !path.is_dir();
    match args.paths.as_slice() {
        [file] if is_trace(file) => recording(file, args),
        paths if paths.iter().any(|path| is_trace(path)) => Err(usage(
            "a recording has its own report; run iotax report for one recording at a time",
        )),
        [dir] if !are_files(dir) => one(dir, args),
        paths if paths.iter().all(are_files) => {
            let page = args.out.as_deref().filter(|_| args.open);
            if args.open && page.is_none() {
                return Err(usage(
                    "--open needs a report.html, which results from other tools do not have; \
                     create one with --out DIR"
                        .to_owned(),
                ));
            }
            let results = resolve::report(args)?;
            let destination = args.out.clone().map(Destination::Asked);
            let exit = publish(results.finished(destination.as_ref())?, shown(args))?;
            page.map_or(Ok(()), open)?;
            Ok(exit)
        }
        paths => match paths.iter().find(|path| are_files(path)) {
            Some(file) => Err(usage(format!(
                "{} is a file, but other arguments are directories; report files and directories \
                 separately",
                file.display()
            ))),
            None => several(args),
        },
    }
}

/// Writes the page of a recording next to it, or into the directory of --out.
fn recording(file: &Path, args: &ReportArgs) -> Result<Exit> {
    if !args.gate.fail_if.is_empty() || args.gate.undecided.is_some() {
        return Err(usage("--fail-if and --undecided do not apply to a recording"));
    }
    match args.format {
        Format::Text | Format::Markdown | Format::Json => {}
        Format::Csv | Format::Junit | Format::Github => {
            return Err(usage("--format: a recording has no csv, junit or github format"));
        }
    }
    let destination = args.out.clone().map(Destination::Asked);
    destination.as_ref().map_or(Ok(()), Destination::refuse_unusable)?;
    let recording = capture::read(file)?;
    let name = file.display().to_string();
    let shown = recording.shown(&name);
    let document = iotax_report::recording(shown);
    let page = match &destination {
        Some(destination) => {
            let held = destination.claim()?;
            let dir = Location::from(&held);
            publish::write_page(&dir, &document)?;
            dir.shown().join(output::REPORT)
        }
        None => publish::write_page_of(file, &document)?,
    };
    let Shown { color, extent, .. } = self::shown(args);
    output::say(&match args.format {
        Format::Markdown => iotax_report::markdown(&document),
        Format::Json => iotax_report::json_text(&iotax_report::recording_json(shown)),
        _ => publish::in_text(&document, color, extent),
    })?;
    if args.format == Format::Text && extent != Extent::Answer {
        output::say(&format!("Report: {}", page.display()))?;
    }
    if args.open { open_page(&page) } else { Ok(()) }?;
    Ok(Exit::Done)
}

fn one(dir: &Path, args: &ReportArgs) -> Result<Exit> {
    if let Some(out) = &args.out {
        return Err(usage(format!(
            "the report is written to the results directory itself, not to {}; leave out --out",
            out.display()
        )));
    }
    let place = existing(dir)?;
    let answer = answer(&place, args)?;
    let finished = Finished { answer, dir: Some(place), ended: Ok(Exit::Done), hosts: None };
    let exit = publish(finished, shown(args))?;
    if args.open {
        open(dir)?;
    }
    Ok(exit)
}

/// Opens a directory with a record, so that the report goes to the same directory.
fn existing(dir: &Path) -> Result<Held> {
    if !dir.exists() {
        return Err(Error::NotARecord { dir: dir.to_owned() }.into());
    }
    Held::existing(dir).with_context(|| dir.display().to_string())
}

/// Writes one page for several records, without changing them.
fn several(args: &ReportArgs) -> Result<Exit> {
    if !args.gate.fail_if.is_empty() || args.gate.undecided.is_some() {
        let why = "--fail-if and --undecided apply to a single experiment; report each directory \
                   separately";
        return Err(usage(why.to_owned()));
    }
    match args.format {
        Format::Text | Format::Markdown => {}
        Format::Json | Format::Csv | Format::Junit | Format::Github => {
            return Err(usage(
                "several directories can only be reported as text or Markdown; for another format, \
                 report each directory separately"
                    .to_owned(),
            ));
        }
    }
    let destination = Destination::new("report", args.out.as_deref());
    destination.refuse_unusable()?;
    let mut exit = Exit::Done;
    let mut documents = Vec::new();
    for dir in &args.paths {
        let answer = answer(&existing(dir)?, args)?;
        exit = exit.or_worse(answer.judged(args.format));
        documents.push((dir.display().to_string(), answer.document()));
    }
    let document = iotax_report::several(documents);
    let held = destination.claim()?;
    let location = Location::from(&held);
    publish::write_page(&location, &document)?;
    let dir = location.shown();
    if args.format == Format::Markdown {
        output::say(&iotax_report::markdown(&document))?;
    } else {
        let Shown { color, extent, .. } = shown(args);
        output::say(&publish::in_text(&document, color, extent))?;
        if extent != Extent::Answer {
            output::say(&format!("\nReport: {}/report.html", dir.display()))?;
        }
    }
    if args.open {
        open(dir)?;
    }
    Ok(exit)
}

/// The results in a record, judged by the rules of the options.
fn answer(directory: &Held, args: &ReportArgs) -> Result<Answer> {
    let dir = Location::from(directory);
    let [caps, fitness] = [CAPS, FITNESS].map(|part| dir.join(part));
    let has_record = Reader::<SearchHead>::is_in(&dir) || Reader::<ExperimentHead>::is_in(&dir);
    if !has_record && Reader::<SearchHead>::is_in(&caps) {
        if !args.gate.fail_if.is_empty() || args.gate.undecided.is_some() {
            return Err(usage(format!(
                "--fail-if and --undecided apply to one record, but a check has two; report them \
                 separately: {} and {}",
                caps.shown().display(),
                fitness.shown().display()
            )));
        }
        let caps = caps_answer(&caps, args)?;
        let fitness = if Reader::<ExperimentHead>::is_in(&fitness) {
            recorded::read(&fitness)?.1
        } else {
            Vec::new()
        };
        return Ok(Answer::Check { caps, fitness });
    }
    if Reader::<SearchHead>::is_in(&dir) {
        return Ok(Answer::Caps(caps_answer(&dir, args)?));
    }
    let reader = rules::of_record(recorded::open(&dir)?, &args.gate, args.format)?;
    let parts = recorded::parts(&dir, &reader)?;
    Ok(Answer::Trials { name: reader.head.spec.name().to_owned(), parts })
}

fn caps_answer(dir: &Location, args: &ReportArgs) -> Result<CapsAnswer> {
    let (Reader { head, end, .. }, caps) = recorded::read_search(dir)?;
    let (head, caps) = rules::of_caps(head, caps, &args.gate, args.format)?;
    Ok(CapsAnswer { head: Box::new(head), caps, end })
}

fn shown(args: &ReportArgs) -> Shown {
    let extent = Extent::of(args.quiet, args.verbose);
    Shown { format: args.format, color: args.color, extent }
}

/// Shows the page in `dir` in a browser.
fn open(dir: &Path) -> Result<()> {
    open_page(&dir.join("report.html"))
}

fn open_page(page: &Path) -> Result<()> {
    ::open::that_detached(page).with_context(|| {
        format!("cannot open {} in a browser; open the file yourself", page.display())
    })
}
