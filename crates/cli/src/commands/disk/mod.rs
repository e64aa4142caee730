mod cloud;
mod parse;

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use iotax_experiment::{Draft, Target};
use iotax_quantity::{set_percent, size};
use iotax_rig::{Disk, Preparing, ServeOptions, Served};
use rustix::process::Signal;
use serde_json::{Value, json};

use self::parse::parse;
use crate::args::{DiskCommand, DiskDownArgs, DiskServeArgs, DiskStatusArgs, DiskUpArgs, Listing};
use crate::exit::{Context as _, Exit, Result, bug, usage};
use crate::output::{say, say_json, wrap};
use crate::resolve::saved;
use crate::session;

/// What a server says when its disks are mounted.
const READY: &str = "ready";

/// `iotax disk`
pub(crate) fn disk(command: &DiskCommand) -> Result<Exit> {
    match command {
        DiskCommand::Up(args) => up(args),
        DiskCommand::Status(args) => status(args),
        DiskCommand::Down(args) => down(args),
        DiskCommand::Serve(args) => serve(args),
    }
}

/// Starts a server and waits until its disks are mounted.
fn up(args: &DiskUpArgs) -> Result<Exit> {
    let DiskUpArgs { cloud, format, disks: args } = args;
    let composed = cloud::composed(cloud, &args.disks)?;
    let disks = match &composed {
        Some(composed) => composed.mounts(),
        None => parse(&args.disks)?,
    };
    let targets: Vec<Target> = disks.iter().map(|disk| Target::Stack(disk.stack.clone())).collect();
    saved::refuse_targets(&targets, &args.dir)?;
    disks.iter().try_for_each(|disk| saved::refuse(&disk.at))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["disk", "serve", "--dir"]).arg(std::path::absolute(&args.dir)?);
    for path in &args.write_to {
        command.arg("--write-to").arg(std::path::absolute(path)?);
    }
    command.args(args.seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
    for disk in &disks {
        command.arg(format!("{}={}", disk.at.display(), disk.stack));
    }
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    let stdout = server.stdout.take().context("the server has no output")?;
    BufReader::new(stdout).read_line(&mut said)?;
    if said.trim_end() != READY {
        // It has said why.
        let code = server.wait()?.code().unwrap_or(3);
        return Ok(Exit::AsServer(u8::try_from(code).unwrap_or(3)));
    }
    match (format, composed) {
        (Listing::Text, composed) => {
            composed.iter().for_each(cloud::Composed::tell);
            let files = disks.iter().map(|disk| disk.file().display().to_string());
            say(&files.collect::<Vec<_>>().join("\n"))?;
        }
        (Listing::Json, Some(composed)) => say_json(&composed.as_json())?,
        (Listing::Json, None) => {
            let disks: Vec<Value> = disks.iter().map(mounted_as_json).collect();
            say_json(&json!({ "disks": disks }))?;
        }
    }
    Ok(Exit::Done)
}

fn mounted_as_json(disk: &Disk) -> Value {
    json!({ "at": disk.at, "file": disk.file(), "stack": disk.stack.to_string() })
}

/// Serves disks until it is told to end. Its parent has gone by then.
fn serve(args: &DiskServeArgs) -> Result<Exit> {
    let disks = parse(&args.disks.disks)?;
    let stop = session::stop_flag()?;
    if !args.journalled {
        // Until the disks are mounted, nothing but the parent knows of this process.
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
            .map_err(io::Error::from)?;
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {wide_msg}").map_err(bug)?;
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut progress = |progress: &Preparing<'_>| {
        let Preparing::Filling { what, done_bytes, size_bytes } = *progress else { return };
        let percent = set_percent((done_bytes * 100 / size_bytes.max(1)) as f64);
        let size = size(size_bytes);
        bar.set_message(format!("filling {what} of {size}: {percent}"));
    };
    let mut failed = None;
    let mut ready = || {
        bar.finish_and_clear();
        failed = detach().err();
        // Whoever asked for the disks has gone, and would not know of them.
        stop.fetch_or(failed.is_some(), Ordering::Relaxed);
    };
    iotax_rig::serve(
        &disks,
        ServeOptions {
            work_dir: &args.disks.dir,
            state_dir: iotax_rig::state_dir(),
            writable: &args.disks.write_to,
            is_journalled: args.journalled,
            seed: args.disks.seed.unwrap_or(Draft::DEFAULT_SEED),
            progress: &mut progress,
            stop: Arc::clone(&stop),
            ready: &mut ready,
        },
    )?;
    failed.map_or(Ok(Exit::Done), Err)
}

/// Tells the parent that all is ready, and leaves its terminal.
fn detach() -> Result<()> {
    rustix::process::set_parent_process_death_signal(None).map_err(io::Error::from)?;
    let mut out = io::stdout();
    writeln!(out, "{READY}").and_then(|()| out.flush())?;
    // Fails for a process that leads its group already, which has left the terminal then.
    let _ = rustix::process::setsid();
    let nothing = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing).map_err(io::Error::from)?;
    rustix::stdio::dup2_stderr(&nothing).map_err(io::Error::from)?;
    Ok(())
}

fn status(args: &DiskStatusArgs) -> Result<Exit> {
    let disks = served()?;
    match args.format {
        Listing::Json => {
            let disks: Vec<Value> = disks.iter().map(as_json).collect();
            say_json(&json!({ "disks": disks }))?;
        }
        Listing::Text if disks.is_empty() => say("no virtual disk is up")?,
        Listing::Text => say(&disks.iter().map(as_text).collect::<String>())?,
    }
    Ok(Exit::Done)
}

fn down(args: &DiskDownArgs) -> Result<Exit> {
    let known = served()?;
    let mut chosen = Vec::new();
    for at in &args.at {
        let at = std::fs::canonicalize(at).with_context(|| at.display().to_string())?;
        let is_it = |disk: &&Served| disk.at == at || disk.at.join("disk") == at;
        let found = known.iter().find(is_it).cloned();
        chosen.push(found.ok_or_else(|| {
            usage(format!(
                "{}: no virtual disk is mounted here; `iotax disk status` lists them, and \
                 `iotax undo` removes what a killed one left",
                at.display()
            ))
        })?);
    }
    if args.all {
        chosen = known;
    } else if chosen.is_empty() {
        return Err(usage("say which disk, or --all"));
    } else {
        // Disks of one server go together.
        let servers: BTreeSet<u32> = chosen.iter().map(|disk| disk.pid).collect();
        chosen = known.into_iter().filter(|disk| servers.contains(&disk.pid)).collect();
    }
    iotax_rig::take_down(&chosen, args.force)?;
    let lines: Vec<String> =
        chosen.iter().map(|disk| format!("took down {}", disk.at.display())).collect();
    say(if lines.is_empty() { "no virtual disk was up".to_owned() } else { lines.join("\n") }
        .as_str())?;
    Ok(Exit::Done)
}

fn served() -> Result<Vec<Served>> {
    let state_dir = iotax_rig::state_dir();
    Ok(state_dir.map(|dir| iotax_rig::served(&dir)).transpose()?.unwrap_or_default())
}

/// What the disk itself counts; nothing if it does not answer.
fn counters(disk: &Served) -> Option<Value> {
    let text = std::fs::read_to_string(disk.at.join("stats.json")).ok()?;
    serde_json::from_str(&text).ok()
}

fn as_json(disk: &Served) -> Value {
    json!({
        "at": disk.at,
        "file": disk.at.join("disk"),
        "stack": disk.stack,
        "pid": disk.pid,
        "stats": counters(disk),
    })
}

fn as_text(disk: &Served) -> String {
    let mut out = String::new();
    let size = counters(disk).and_then(|stats| stats["size_bytes"].as_u64());
    let size = size.map_or_else(|| "does not answer".to_owned(), self::size);
    let head = format!("{}  {size}, process {}", disk.at.join("disk").display(), disk.pid);
    wrap(&mut out, &head, "", "  ");
    wrap(&mut out, &disk.stack, "  ", "    ");
    out
}
