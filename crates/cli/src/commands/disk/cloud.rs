//! Disks of a cloud: what was asked for, and what was made of it.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use iotax_catalog::{Caching, Expectation, Setup, Source, attached_disk, expect};
use iotax_rig::{CloudDisk, CloudOptions, Disk, Part, cloud_disks};
use iotax_spec::units::{parse_bytes, parse_duration, parse_share};
use serde_json::{Value, json};

use super::parse::parse_one;
use crate::args::CloudArgs;
use crate::exit::Usage;
use crate::output::wrap;
use crate::resolve::option;

/// Disks of a cloud, and where they are to be.
pub(super) struct Composed {
    expectation: Expectation,
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
    let disks = args.disk.iter().map(|text| attached_disk(text, caching));
    let disks = disks.collect::<Result<_, _>>()?;
    let expectation = expect(&Setup { vm: args.vm.clone(), variant: args.variant.clone(), disks })?;
    let at = directories.iter().map(std::path::absolute).collect::<io::Result<_>>()?;
    let disks = cloud_disks(&expectation, &options(args)?)?;
    Ok(Some(Composed { expectation, disks, at }))
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
        for note in &self.expectation.notes {
            wrap(&mut out, note, "Note: ", "  ");
        }
        for (number, source) in (1..).zip(&sources) {
            wrap(&mut out, &cited(source), &format!("[{number}] "), "    ");
        }
        out
    }

    fn describe(&self, disk: &CloudDisk, at: &Path, sources: &mut Vec<Source>, out: &mut String) {
        let vm = self.expectation.vm.as_ref().map(|vm| format!(" on {}", vm.name));
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
            "vm": self.expectation.vm.as_ref().map(|vm| &vm.name),
            "disks": disks.collect::<Vec<_>>(),
            "notes": self.expectation.notes,
        })
    }
}

fn part(part: &Part) -> Value {
    json!({ "layer": part.layer.to_string(), "what": part.what, "sources": part.sources })
}

fn cited(source: &Source) -> String {
    format!("{} ({})", source.text, source.as_of)
}
