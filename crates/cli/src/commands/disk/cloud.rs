//! Disks of a cloud: what was asked for, and what was made of it.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use iotax_catalog::{Caching, Setup, Source, Vm, attached_disk, expect, vm_variant};
use iotax_rig::{CloudDisk, CloudOptions, Disk, Local, Part, cloud_disks, local_disks};
use iotax_spec::units::{parse_bytes, parse_duration, parse_share};
use serde_json::{Value, json};

use super::parse::parse_one;
use crate::args::CloudArgs;
use crate::exit::Usage;
use crate::output::wrap;
use crate::resolve::option;

/// Disks of a cloud, and where they are to be.
pub(super) struct Composed {
    vm: Option<Vm>,
    /// What the figures of disks that are attached leave out.
    notes: Vec<String>,
    disks: Vec<CloudDisk>,
    at: Vec<PathBuf>,
}

/// The disks asked for, one for each directory; `None` if none is a cloud's.
pub(super) fn composed(args: &CloudArgs, directories: &[String]) -> Result<Option<Composed>> {
    if args.disk.is_empty() {
        return Ok(None);
    }
    if let Some(stack) = directories.iter().find(|text| parse_one(text).is_ok()) {
        let problem = "has its layers already, and --disk gives them; name the directory alone";
        return Err(Usage(format!("`{stack}` {problem}")).into());
    }
    let (disks, places) = (args.disk.len(), directories.len());
    if disks != places {
        let problem = format!("{disks} x --disk, but directories to mount at: {places}");
        return Err(Usage(format!("{problem}; name one for each disk, in their order")).into());
    }
    let caching = args.caching.as_deref().map_or(Ok(Caching::None), |text| {
        let wrong = || Usage(format!("option --caching: `{text}`: write none or readonly"));
        Caching::parse(text).ok_or_else(wrong)
    })?;
    let is_local = |text: &&String| Local::parse(text).is_some();
    let attached = args.disk.iter().filter(|text| !is_local(text));
    let disks = attached.map(|text| attached_disk(text, caching)).collect::<Result<Vec<_>, _>>()?;
    let at = directories.iter().map(std::path::absolute).collect::<io::Result<_>>()?;
    let options = options(args)?;
    let (vm, notes, attached) = if disks.is_empty() {
        let variant = args.variant.as_deref();
        let vm = args.vm.as_deref().map(|name| vm_variant(name, variant)).transpose()?;
        (vm, Vec::new(), Vec::new())
    } else {
        let (vm, variant) = (args.vm.clone(), args.variant.clone());
        let expectation = expect(&Setup { vm, variant, disks })?;
        let made = cloud_disks(&expectation, &options)?;
        (expectation.vm, expectation.notes, made)
    };
    let disks = in_order(args, vm.as_ref(), attached, &options)?;
    Ok(Some(Composed { vm, notes, disks, at }))
}

/// Disks that are attached and disks of the host, as they were named.
fn in_order(
    args: &CloudArgs,
    vm: Option<&Vm>,
    attached: Vec<CloudDisk>,
    options: &CloudOptions,
) -> Result<Vec<CloudDisk>> {
    let local: Vec<Local> = args.disk.iter().filter_map(|text| Local::parse(text)).collect();
    let of_host = match (vm, local.as_slice()) {
        (_, []) => Vec::new(),
        (Some(vm), local) => local_disks(vm, local, options)?,
        (None, _) => {
            let problem = "a local disk comes with a VM size: name it with --vm";
            return Err(Usage(problem.to_owned()).into());
        }
    };
    let (mut attached, mut of_host) = (attached.into_iter(), of_host.into_iter());
    let next = |text: &String| match Local::parse(text) {
        Some(_) => of_host.next(),
        None => attached.next(),
    };
    Ok(args.disk.iter().filter_map(next).collect())
}

fn options(args: &CloudArgs) -> Result<CloudOptions> {
    Ok(CloudOptions {
        size_bytes: option("--size", args.size.as_deref(), parse_bytes)?,
        credits: option("--credits", args.credits.as_deref(), parse_share)?.unwrap_or(1.0),
        latency_ns: option("--latency", args.latency.as_deref(), parse_duration)?,
        encryption_at_host: args.encryption_at_host,
        hardware_encrypted: args.hardware_encrypted,
    })
}

impl Composed {
    /// What is to be mounted.
    pub(super) fn mounts(&self) -> Vec<Disk> {
        let mount =
            |(disk, at): (&CloudDisk, &PathBuf)| Disk { stack: disk.stack.clone(), at: at.clone() };
        self.disks.iter().zip(&self.at).map(mount).collect()
    }

    /// Tells on stderr what was built: stdout is for the files' names.
    pub(super) fn tell(&self) {
        // The disks are up, whether or not anybody reads what they are.
        let _ = io::stderr().write_all(self.as_text().as_bytes());
    }

    fn as_text(&self) -> String {
        let mut out = String::new();
        let mut sources = Vec::new();
        for (disk, at) in self.disks.iter().zip(&self.at) {
            self.describe(disk, at, &mut sources, &mut out);
        }
        for note in &self.notes {
            wrap(&mut out, note, "Note: ", "  ");
        }
        for (number, source) in (1..).zip(&sources) {
            wrap(&mut out, &cited(source), &format!("[{number}] "), "    ");
        }
        out
    }

    fn describe(&self, disk: &CloudDisk, at: &Path, sources: &mut Vec<Source>, out: &mut String) {
        let vm = self.vm.as_ref().map(|vm| format!(" on {}", vm.name));
        let (vm, caching) = (vm.unwrap_or_default(), disk.caching);
        let (at, name) = (at.display(), &disk.name);
        let _ = writeln!(out, "{at}: {name}{vm}, caching {caching}; from bottom to top");
        for part in &disk.parts {
            let numbers: String = part.sources.iter().fold(String::new(), |mut text, source| {
                let known = sources.iter().position(|known| known == source);
                let place = known.unwrap_or_else(|| {
                    sources.push(source.clone());
                    sources.len() - 1
                });
                let _ = write!(text, " [{}]", place + 1);
                text
            });
            wrap(out, &part.layer.to_string(), "  ", "      ");
            wrap(out, &format!("{}{numbers}", part.what), "      ", "      ");
        }
        for note in &disk.notes {
            wrap(out, note, "  Note: ", "      ");
        }
    }

    /// What was built, with its sources.
    pub(super) fn as_json(&self) -> Value {
        let disks = self.disks.iter().zip(self.mounts()).map(|(disk, mount)| {
            json!({
                "at": mount.at,
                "file": mount.file(),
                "stack": disk.stack.to_string(),
                "disk": disk.name,
                "caching": disk.caching,
                "layers": disk.parts.iter().map(part).collect::<Vec<_>>(),
                "notes": disk.notes,
            })
        });
        json!({
            "vm": self.vm.as_ref().map(|vm| &vm.name),
            "disks": disks.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

fn part(part: &Part) -> Value {
    json!({ "layer": part.layer.to_string(), "what": part.what, "sources": part.sources })
}

fn cited(source: &Source) -> String {
    format!("{} ({})", source.text, source.as_of)
}
