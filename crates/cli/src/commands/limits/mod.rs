mod asked;

use std::time::Duration;

use anyhow::{Result, bail};
use indicatif::HumanDuration;
use iotax_caps::{Caps, expected_ns};
use iotax_experiment::{Opened, OpenedTarget, Search, SearchTarget};
use iotax_record::{
    End, HostRecord, HostRole, Location, Reader, SEARCH_FORMAT, SearchHead, Writer, record_id,
};
use iotax_report::{self as report, SearchResult};
use iotax_rig::{GivenUp, Progress as Preparing};
use iotax_run::SideBySide;
use jiff::Timestamp;

use self::asked::asked;
#[cfg(feature = "kubernetes")]
pub(super) use self::asked::burst;
pub(super) use self::asked::refuse_small;
use crate::args::{Color, Format, GateArgs, LimitsArgs, OutputArgs, Undecided};
use crate::exit::Exit;
use crate::progress::SearchLine;
use crate::session::{Flags, Session};
use crate::{gate, hosts, instance, output, recorded, same_storage, stand_in};

/// `iotax limits`
pub(crate) fn limits(args: &LimitsArgs) -> Result<Exit> {
    let gate = GateArgs::from(&args.gate);
    let mut search = asked(args)?;
    gate::set_in_search(&mut search, &gate, args.output.format)?;
    same_storage::refuse_in_search(&search)?;
    let spec = search.spec();
    let targets = spec.arms.iter().map(|arm| &arm.target);
    let session = Session::start("limits", args.output.out.as_deref(), targets)?;
    search_at(search, &session, (&args.output, &gate), &mut |search, flags, making| {
        let given_up = GivenUp::by_user(&args.destroy);
        let given = (args.dir.as_path(), &given_up);
        let host = hosts::local(&search.spec(), given, flags, making)?;
        let mut here = iotax_run::here(&search.spec().arms, HostRole::Local);
        let targets = search.targets.iter().map(|target| &target.arm.target);
        let mut cloud = search.cloud.clone();
        let told = instance::complete(&mut cloud, &args.documented, targets, &args.dir);
        instance::note(&mut here, told);
        let opened = |asked: &SearchTarget| {
            let target = &asked.arm.target;
            let mut known = iotax_rig::cgroup_limits(target, args.write);
            known.extend(iotax_run::shapers(here.machine.as_deref(), target));
            OpenedTarget { known, smallest_io_bytes: None }
        };
        let seen = Opened { cloud, targets: search.targets.iter().map(opened).collect() };
        Ok((Box::new(host), vec![here], seen))
    })
}

/// Where the targets are, and what is known of each host.
pub(super) type OpenedHosts = (Box<dyn SideBySide>, Vec<HostRecord>, Opened);
/// Makes what the targets need, and adds to the search what is known of them.
pub(super) type Open<'a> =
    dyn FnMut(&Search, Flags<'_>, &mut dyn FnMut(&Preparing<'_>)) -> Result<OpenedHosts> + 'a;

/// Searches, wherever the targets are.
pub(super) fn search_at(
    search: Search,
    session: &Session,
    (output, gate): (&OutputArgs, &GateArgs),
    open: &mut Open<'_>,
) -> Result<Exit> {
    say_how_long(&search, output.quiet);
    let line = SearchLine::new(Duration::from_nanos(expected_ns(&search)), output.quiet);
    let mut making = |_: &Preparing<'_>| line.say("making what the targets need");
    let (mut host, known, seen) = open(&search, session.flags(), &mut making)?;
    refuse_small(&search)?;
    let spec = search.spec();
    stand_in::tell(&spec, &known);
    if !session.lay_out(&spec, &mut *host, &|done, total| line.laying_out(done, total))? {
        return Ok(Exit::Interrupted);
    }

    let head = head(search, &*host, known, seen);
    let dir = session.results_directory()?;
    let mut writer = Writer::create(&dir, &head)?;
    let setup = iotax_run::SearchSetup {
        search: &head.search,
        opened: &head.opened,
        environment: &head.host().environment,
        host: &mut *host,
        stop: &session.stop,
        progress: &mut |what, takes| line.step(what, takes),
    };
    let (caps, end) = iotax_run::search(setup, &mut writer)?;
    session.io_is_over();
    drop(line);

    let exit = match &end {
        End { interrupted: true, .. } => Exit::Interrupted,
        End { gave_up: true, .. } => Exit::Failed,
        End { .. } => Exit::Done,
    };
    let search = SearchResult { head: &head, caps: &caps, end: Some(&end) };
    let exit = show(&dir, search, exit, gate, (output.format, output.color))?;
    host.down()?;
    Ok(exit)
}

/// A burst may take most of an hour to run out.
fn say_how_long(search: &Search, quiet: bool) {
    if search.burst.is_some() && !quiet {
        let most = HumanDuration(Duration::from_nanos(expected_ns(search)));
        eprintln!("waiting for bursts to run out: {most} at most");
    }
}

fn head(
    search: Search,
    host: &dyn SideBySide,
    hosts: Vec<HostRecord>,
    mut opened: Opened,
) -> SearchHead {
    let started = Timestamp::now().to_string();
    for (at, target) in opened.targets.iter_mut().enumerate() {
        let site = host.site(at);
        // A disk may answer a write of less than its own block by reading, changing and writing all of it.
        let is_whole = !search.writes || site.kind == "vdisk";
        target.smallest_io_bytes = site.smallest_io_bytes.filter(|_| is_whole);
    }
    SearchHead {
        format: SEARCH_FORMAT,
        id: Some(record_id(&hosts, &started)),
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        command: std::env::args().collect(),
        hosts,
        sites: (0..search.targets.len()).map(|target| host.site(target).clone()).collect(),
        search,
        opened,
    }
}

/// `iotax report` of a search for caps.
pub(super) fn report_search(
    dir: &Location,
    gate: &GateArgs,
    shown: (Format, Color),
) -> Result<Exit> {
    let (mut reader, mut caps) = read_search(dir)?;
    gate::set_in_search(&mut reader.head.search, gate, shown.0)?;
    caps.rules = iotax_caps::judge(&reader.head.search.fail_if, &caps);
    let search = SearchResult { head: &reader.head, caps: &caps, end: reader.end.as_ref() };
    show(dir, search, Exit::Done, gate, shown)
}

/// The record of a search for caps, and what it says.
pub(super) fn read_search(dir: &Location) -> Result<(Reader<SearchHead>, Caps)> {
    let reader = Reader::<SearchHead>::open(dir)?;
    let probes = reader.lines()?.collect::<Result<Vec<_>, _>>()?;
    let mut caps = match iotax_run::replay(&reader.head, probes) {
        Some(caps) => caps,
        None => as_concluded(dir, &reader)?,
    };
    if let Some(gap) = reader.gap()? {
        caps.notes.push(format!("Beware: {}.", recorded::tell(dir, &gap)));
    }
    Ok((reader, caps))
}

/// What was concluded when the record was made.
fn as_concluded(dir: &Location, reader: &Reader<SearchHead>) -> Result<Caps> {
    let Some(mut caps) = reader.found::<Caps>()? else {
        bail!(
            "{}: these probes are not those that the search makes, so it was edited, or another \
             version of iotax made it; and it has no conclusion of its own",
            dir.shown().display()
        );
    };
    caps.notes.push(format!(
        "Shown as iotax {} concluded when it was measured: the search of this version would have \
         made other probes, or the record was edited since.",
        reader.head.iotax_version
    ));
    Ok(caps)
}

/// Prints what was found, and writes `report.html`; what becomes of the exit code with rules.
fn show(
    dir: impl Into<Location>,
    search: SearchResult<'_>,
    exit: Exit,
    gate: &GateArgs,
    (format, color): (Format, Color),
) -> Result<Exit> {
    let dir = dir.into();
    let rulings = report::search_rulings(search);
    let undecided_fails = gate.undecided == Undecided::Fail;
    let document = report::search(search);
    let written = output::write_page(&dir, &document);
    output::say(&match format {
        Format::Text => report::text(&document, output::style(color)),
        Format::Markdown => report::markdown(&document),
        Format::Json => report::search_json(search),
        Format::Csv => report::search_csv(search),
        Format::Junit => {
            let suites = [("limits".to_owned(), rulings.clone())];
            report::junit("limits", &suites, undecided_fails)
        }
        Format::Github => {
            output::add_to_summary(&report::markdown(&document))?;
            report::github(&rulings, undecided_fails)
        }
    })?;
    if format == Format::Text && written.is_ok() {
        let dir = dir.shown().display();
        output::say(&format!("\nReport: {dir}/report.html\nAgain:  iotax report {dir}"))?;
    }
    written?;
    Ok(gate::ruled(exit, &rulings, gate, format))
}
