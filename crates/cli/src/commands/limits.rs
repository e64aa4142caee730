mod known;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotax_caps::{self as caps, Caps};
use iotax_record::{End, HostRole, LIMITS_FORMAT, LimitsHead, Location, Reader, Writer, record_id};
use iotax_report::{self as report, Search};
use iotax_rig::Progress as Preparing;
use iotax_run::{Arms as _, Host};
use iotax_spec::units::{parse_bytes, parse_duration};
use iotax_spec::{BurstWatch, Driver, Limits, LimitsTarget, parse_arms};
use jiff::Timestamp;

use crate::args::{Color, Format, LimitsArgs};
use crate::destination::Destination;
use crate::exit::{Exit, Usage};
use crate::{documented, hosts, hung, instance, output, recorded, resolve, same_storage, signals};

/// `iotax limits`
pub(crate) fn limits(args: &LimitsArgs) -> Result<Exit> {
    let mut limits = asked(args)?;
    same_storage::refuse_in_limits(&limits)?;
    let stop = signals::stop_flag()?;
    let destination = Destination::new("limits", args.output.out.as_deref());
    destination.refuse_unusable()?;
    if limits.burst.is_some() && !args.output.quiet {
        let most = Duration::from_nanos(caps::expected_ns(&limits));
        eprintln!("waiting for bursts to run out: {} at most", HumanDuration(most));
    }
    let line = Line::new(&limits, args.output.quiet)?;
    let watch = hung::Watch::over(&stop, limits.targets.iter().map(|target| &target.arm.target));
    let mut making = |_: &Preparing<'_>| line.say("making what the targets need");
    let given = (args.dir.as_path(), args.destroy.as_slice());
    let flags = (&stop, &Arc::default());
    let mut host = hosts::local(&limits.spec(), given, flags, &mut making)?;
    let mut here = iotax_run::here(&limits.spec().arms, HostRole::Local);
    refuse_small(&limits)?;
    lay_out(&limits, &mut host, &line)?;
    let targets = limits.targets.iter().map(|target| &target.arm.target);
    let told = instance::complete(&mut limits.cloud, &args.documented, targets, &args.dir);
    instance::note(&mut here, told);
    let (hosts, started) = (vec![here], Timestamp::now().to_string());
    let head = LimitsHead {
        format: LIMITS_FORMAT,
        id: Some(record_id(&hosts, &started)),
        iotax_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        command: std::env::args().collect(),
        hosts,
        sites: (0..limits.targets.len()).map(|target| host.site(target).clone()).collect(),
        limits,
    };
    let dir = destination.claim()?;
    let mut writer = Writer::create(&dir, &head)?;
    let search = iotax_run::Search {
        limits: &head.limits,
        environment: &head.host().environment,
        host: &mut host,
        stop: &stop,
        progress: &mut |what, takes| line.step(what, takes),
    };
    let (caps, end) = iotax_run::limits(search, &mut writer)?;
    drop(watch);
    line.clear();
    show(&dir, (&head, &caps, Some(&end)), args.output.format, args.output.color)?;
    Box::new(host).down()?;
    Ok(match end {
        End { interrupted: true, .. } => Exit::Interrupted,
        End { gave_up: true, .. } => Exit::Failed,
        End { .. } => Exit::Done,
    })
}

/// `iotax report` of a search for caps.
pub(super) fn report_limits(dir: &Location, format: Format, color: Color) -> Result<Exit> {
    let (reader, caps) = read_limits(dir)?;
    show(dir, (&reader.head, &caps, reader.end.as_ref()), format, color)?;
    Ok(Exit::Done)
}

/// The record of a search for caps, and what it says.
pub(super) fn read_limits(dir: &Location) -> Result<(Reader<LimitsHead>, Caps)> {
    let reader = Reader::<LimitsHead>::open(dir)?;
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
fn as_concluded(dir: &Location, reader: &Reader<LimitsHead>) -> Result<Caps> {
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

/// Prints what was found, and writes `report.html`.
fn show(
    dir: impl Into<Location>,
    (head, caps, end): (&LimitsHead, &Caps, Option<&End>),
    format: Format,
    color: Color,
) -> Result<()> {
    let (dir, search) = (dir.into(), Search { head, caps, end });
    let document = report::limits(search);
    let written = output::write_pages(&dir, &document);
    let json = || Ok(report::limits_json(search));
    let csv = || report::limits_csv(search);
    output::say(&output::printed(&document, (format, color), json, csv)?)?;
    if format == Format::Text && written.is_ok() {
        let dir = dir.shown().display();
        output::say(&format!("\nReport: {dir}/report.html\nAgain:  iotax report {dir}"))?;
    }
    written
}

/// What the arguments ask for.
fn asked(args: &LimitsArgs) -> Result<Limits> {
    let arms = parse_arms(args.targets.iter().map(String::as_str))?;
    let size = parse_bytes(&args.size).context("option --size")?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let burst = match &args.burst {
        Some(longest) => Some(BurstWatch {
            longest_ns: parse_duration(longest).context("option --burst").and_then(|ns| {
                let none = || Usage("option --burst: no time at all; leave it out".to_owned());
                (ns > 0).then_some(ns).ok_or_else(|| none().into())
            })?,
            pauses_ns: args
                .pauses
                .split(',')
                .map(|pause| parse_duration(pause.trim()))
                .collect::<Result<_, _>>()
                .context("option --pauses")?,
        }),
        None => None,
    };
    let (directory, home) = (std::env::current_dir()?, std::env::home_dir());
    let targets = arms.into_iter().map(|mut arm| {
        arm.target.resolve_paths(&directory, home.as_deref());
        let span_bytes = iotax_rig::span_bytes(&arm.target, size);
        let known = known::cgroups(&arm.target, args.write);
        LimitsTarget { arm, span_bytes, known }
    });
    Ok(Limits {
        targets: targets.collect(),
        writes: args.write,
        quick: args.quick,
        burst,
        cloud,
        seed: resolve::seed(args.seed),
    })
}

/// A few blocks would be read again and again, from whatever remembers them.
fn refuse_small(limits: &Limits) -> Result<()> {
    const LEAST_BYTES: u64 = 64 << 20;
    match limits.targets.iter().find(|target| target.span_bytes < LEAST_BYTES) {
        Some(target) => Err(Usage(format!(
            "{}: too small to find caps in; use a target of {} at least",
            target.arm.name,
            HumanBytes(LEAST_BYTES)
        ))
        .into()),
        None => Ok(()),
    }
}

/// Lays out the files of targets that are directories.
fn lay_out(limits: &Limits, host: &mut dyn Host, line: &Line) -> Result<()> {
    let spec = limits.spec();
    for (at, target) in limits.targets.iter().enumerate() {
        let show = |done: u64, total: u64| {
            let percent = (done * 100).checked_div(total).unwrap_or(100);
            line.say(&format!("writing the file to be read: {percent} %"));
        };
        host.up(at)?;
        host.prepare(at, Driver::Native, &[&spec.workload], &show)
            .with_context(|| target.arm.name.clone())?;
    }
    Ok(())
}

/// The progress line, on stderr, only on a terminal.
struct Line {
    bar: ProgressBar,
    started: Instant,
    expected: Duration,
}

impl Line {
    fn new(limits: &Limits, quiet: bool) -> Result<Self> {
        let bar = if quiet {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner()
        };
        bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").context("a constant")?);
        bar.enable_steady_tick(Duration::from_millis(200));
        let expected = Duration::from_nanos(caps::expected_ns(limits));
        Ok(Self { bar, started: Instant::now(), expected })
    }

    fn say(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    fn step(&self, what: &str, takes: Duration) {
        let left = self.expected.saturating_sub(self.started.elapsed()).max(takes).as_secs();
        let left = match left {
            seconds @ 0..100 => format!("{seconds} s"),
            seconds => format!("{} min", seconds.div_ceil(60)),
        };
        self.say(&format!("{what} · about {left} left"));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}
