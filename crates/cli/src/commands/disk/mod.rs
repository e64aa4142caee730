mod cloud;

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use iotax_experiment::{Draft, Stack, Target};
use iotax_quantity::{set_percent, size};
use iotax_rig::{Disk, Preparing, ServeOptions, Served};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::args::{DiskCommand, DiskDownArgs, DiskServeArgs, DiskStatusArgs, DiskUpArgs};
use crate::exit::{Context as _, Exit, Result, bug, usage};
use crate::output::{list, say, wrap};
use crate::resolve::results;
use crate::session;

/// Line that a server prints when its disks are mounted.
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
    results::refuse_targets(&targets, &args.dir)?;
    disks.iter().try_for_each(|disk| results::refuse_path(&disk.at))?;
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
        // The server has printed the reason.
        let code = server.wait()?.code().unwrap_or(3);
        return Ok(Exit::AsServer(u8::try_from(code).unwrap_or(3)));
    }
    let text = || {
        composed.iter().for_each(cloud::Composed::tell);
        let files = disks.iter().map(|disk| disk.file().display().to_string());
        files.collect::<Vec<_>>().join("\n")
    };
    let mounted = || json!({ "disks": disks.iter().map(mounted_as_json).collect::<Vec<_>>() });
    list(*format, text, || composed.as_ref().map_or_else(mounted, cloud::Composed::as_json))
}

fn mounted_as_json(disk: &Disk) -> Value {
    json!({ "at": disk.at, "file": disk.file(), "stack": disk.stack.to_string() })
}

/// Serves disks until it is told to stop, which is after its parent has exited.
fn serve(args: &DiskServeArgs) -> Result<Exit> {
    let disks = parse(&args.disks.disks)?;
    let stop = session::stop_flag()?;
    if !args.journalled {
        // Until the disks are mounted, only the parent knows this process.
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
        // The parent has exited, so the user would not know about the disks.
        stop.fetch_or(failed.is_some(), Ordering::Relaxed);
    };
    iotax_rig::serve(
        &disks,
        ServeOptions {
            work_dir: &args.disks.dir,
            state_dir: Some(iotax_rig::state_dir()),
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

/// Tells the parent that the disks are ready, and detaches from its terminal.
fn detach() -> Result<()> {
    rustix::process::set_parent_process_death_signal(None).map_err(io::Error::from)?;
    let mut out = io::stdout();
    writeln!(out, "{READY}").and_then(|()| out.flush())?;
    // Fails if the process already leads its group; then it is already detached.
    let _ = rustix::process::setsid();
    let nothing = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing).map_err(io::Error::from)?;
    rustix::stdio::dup2_stderr(&nothing).map_err(io::Error::from)?;
    Ok(())
}

fn status(args: &DiskStatusArgs) -> Result<Exit> {
    let disks = served()?;
    let text = || match disks.as_slice() {
        [] => "no virtual disk is mounted".to_owned(),
        disks => disks.iter().map(as_text).collect(),
    };
    list(args.format, text, || json!({ "disks": disks.iter().map(as_json).collect::<Vec<_>>() }))
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
                "{}: no virtual disk is mounted here; `iotax disk status` lists all virtual disks, \
                 and `iotax undo` removes what a killed disk server left behind",
                at.display()
            ))
        })?);
    }
    if args.all {
        chosen = known;
    } else if chosen.is_empty() {
        return Err(usage("no disk given; give the mount directory of a disk, or use --all"));
    } else {
        // All disks of a server are unmounted together.
        let servers: BTreeSet<u32> = chosen.iter().map(|disk| disk.pid).collect();
        chosen = known.into_iter().filter(|disk| servers.contains(&disk.pid)).collect();
    }
    iotax_rig::take_down(&chosen, args.force)?;
    let lines: Vec<String> =
        chosen.iter().map(|disk| format!("unmounted {}", disk.at.display())).collect();
    let none = "no virtual disk was mounted".to_owned();
    say(&if lines.is_empty() { none } else { lines.join("\n") })?;
    Ok(Exit::Done)
}

fn served() -> Result<Vec<Served>> {
    Ok(iotax_rig::served(&iotax_rig::state_dir())?)
}

/// The disk's own counters; `None` if it does not answer.
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
    let size = size.map_or_else(|| "not responding".to_owned(), self::size);
    let head = format!("{}  {size}, process {}", disk.at.join("disk").display(), disk.pid);
    wrap(&mut out, &head, "", "  ");
    wrap(&mut out, &disk.stack, "  ", "    ");
    out
}

fn parse(texts: &[String]) -> Result<Vec<Disk>> {
    texts.iter().map(|text| parse_one(text)).collect()
}

fn parse_one(text: &str) -> Result<Disk> {
    let example = "specify the mount directory and the layers, as in /mnt/disk='file(size=1G) + \
                   throttle(iops=4000)'";
    let splits = || text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
    // The name of a directory may contain anything, including `=`.
    let understood = splits().find_map(|(at, stack)| Some((at, Stack::parse(stack).ok()?)));
    let nowhere = || usage(format!("`{text}` does not name a directory; {example}"));
    let (at, mut stack) = if let Some(understood) = understood {
        understood
    } else {
        let named = splits().next().filter(|(at, _)| !at.contains('('));
        let (at, stack) = named.ok_or_else(nowhere)?;
        (at, Stack::parse(stack)?)
    };
    if at.is_empty() {
        return Err(nowhere());
    }
    if !stack.is_in_process() {
        let problem = "a virtual disk can only have in-process layers; see `iotax layers`";
        return Err(usage(format!("{stack}: {problem}")));
    }
    // The server may have another working directory.
    stack.resolve_paths(&std::env::current_dir()?, std::env::home_dir().as_deref());
    Ok(Disk { at: std::path::absolute(at)?, stack })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_directory_may_be_called_anything() {
        for at in ["/vm", "/a=b", "/a (deleted)", "/a='b, c'", "/mem(size=1G) + x"] {
            let disk = parse_one(&format!("{at}=mem(size=1M) + delay(latency=1ms)")).unwrap();
            assert_eq!(disk.at, Path::new(at));
            assert_eq!(disk.stack.layers.len(), 2);
        }
        for text in ["mem(size=1M)", "=mem(size=1M)", "", "/vm", "/vm=", "/vm=ext4"] {
            assert!(parse_one(text).is_err(), "{text}");
        }
    }
}
