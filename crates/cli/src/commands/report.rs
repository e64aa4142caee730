use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use iotax_record::{Error, Location, Reader, SearchHead};
use iotax_report::{Document, SearchResult};
use iotax_rig::Held;

use super::limits;
use crate::args::{Format, ReportArgs};
use crate::destination::Destination;
use crate::exit::{Exit, usage};
use crate::{gate, output, recorded, results};

/// `iotax report DIR`, several of them, or results of other tools.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit> {
    let are_files = |path: &PathBuf| path.exists() && !path.is_dir();
    match args.paths.as_slice() {
        [dir] if !are_files(dir) => one(dir, args),
        paths if paths.iter().all(are_files) => {
            let page = args.out.as_deref().filter(|_| args.open);
            if args.open && page.is_none() {
                return Err(usage(
                    "--open shows report.html, which results of other tools have with --out DIR"
                        .to_owned(),
                ));
            }
            let exit = results::report(args)?;
            page.map_or(Ok(()), open)?;
            Ok(exit)
        }
        paths => match paths.iter().find(|path| are_files(path)) {
            Some(file) => Err(usage(format!(
                "{} is a file among directories: report files of other tools alone",
                file.display()
            ))),
            None => several(args),
        },
    }
}

fn one(dir: &Path, args: &ReportArgs) -> Result<Exit> {
    if let Some(out) = &args.out {
        return Err(usage(format!(
            "the report of a record is written into it, not to {}: leave out --out",
            out.display()
        )));
    }
    let held = existing(dir)?;
    let location = Location::from(&held);
    let exit = if Reader::<SearchHead>::is_in(&location) {
        limits::report_search(&location, &args.gate, (args.format, args.color))?
    } else {
        let mut reader = recorded::open(&location)?;
        gate::set(&mut reader.head.spec, &args.gate, args.format)?;
        let parts = recorded::parts(&location, &reader)?;
        let printing = args.gate.printing(args.format, args.color);
        output::show(&location, &reader.head.spec, &parts, printing)?;
        gate::judged(Exit::Done, &parts, &args.gate, args.format)
    };
    if args.open {
        open(dir)?;
    }
    Ok(exit)
}

/// A directory with a record: what is written goes where it was read.
fn existing(dir: &Path) -> Result<Held> {
    if !dir.exists() {
        return Err(Error::NotARecord { dir: dir.to_owned() }.into());
    }
    Held::existing(dir).with_context(|| dir.display().to_string())
}

/// One page of several records, which are not changed.
fn several(args: &ReportArgs) -> Result<Exit> {
    if !args.gate.fail_if.is_empty() {
        return Err(usage("--fail-if judges one experiment: report each alone".to_owned()));
    }
    match args.format {
        Format::Text | Format::Markdown => {}
        Format::Json | Format::Csv | Format::Junit | Format::Github => {
            return Err(usage(
                "several experiments are reported as text, Markdown, and in report.html; \
                 for programs report each alone"
                    .to_owned(),
            ));
        }
    }
    let destination = Destination::new("report", args.out.as_deref());
    destination.refuse_unusable()?;
    let documents = args.paths.iter().map(|dir| Ok((dir.display().to_string(), document(dir)?)));
    let document = iotax_report::several(documents.collect::<Result<_>>()?);
    let held = destination.claim()?;
    let location = Location::from(&held);
    output::write_page(&location, &document)?;
    let dir = location.shown();
    if args.format == Format::Markdown {
        output::say(&iotax_report::markdown(&document))?;
    } else {
        output::say(&iotax_report::text(&document, output::style(args.color)))?;
        output::say(&format!("\nReport: {}/report.html", dir.display()))?;
    }
    if args.open {
        open(dir)?;
    }
    Ok(Exit::Done)
}

fn document(dir: &Path) -> Result<Document> {
    let directory = existing(dir)?;
    let location = Location::from(&directory);
    if Reader::<SearchHead>::is_in(&location) {
        let (reader, caps) = limits::read_search(&location)?;
        let (head, caps, end) = (&reader.head, &caps, reader.end.as_ref());
        return Ok(iotax_report::search(SearchResult { head, caps, end }));
    }
    let (reader, parts) = recorded::read(&location)?;
    Ok(iotax_report::experiments(reader.head.spec.name(), &parts))
}

/// Shows the page in `dir` in a browser.
fn open(dir: &Path) -> Result<()> {
    let page = dir.join("report.html");
    ::open::that_detached(&page).with_context(|| {
        format!("cannot open {} in a browser; open it there yourself", page.display())
    })
}
