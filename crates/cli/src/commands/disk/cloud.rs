//! Builds simulated cloud disks from options, and describes them.

use std::io::{self, Write as _};
use std::path::PathBuf;

use iotax_catalog::Caching;
use iotax_experiment::Layer;
use iotax_experiment::layers::{CloudDisk, CloudDisks, CloudOptions, CloudPart, MadeDisks};
use iotax_experiment::units::{parse_bytes, parse_duration, parse_share};
use iotax_rig::Disk;
use iotax_wording::catalog;
use serde_json::{Value, json};

use super::parse_one;
use crate::args::CloudArgs;
use crate::cloud_disks::Told;
use crate::exit::{Result, usage};
use crate::resolve::option;

/// Cloud disks, and their mount directories.
pub(super) struct Composed {
    made: MadeDisks,
    at: Vec<PathBuf>,
}

/// The disks of `--disk`, one for each directory; `None` without the option.
pub(super) fn composed(args: &CloudArgs, directories: &[String]) -> Result<Option<Composed>> {
    if args.disk.is_empty() {
        return Ok(None);
    }
    if let Some(stack) = directories.iter().find(|text| parse_one(text).is_ok()) {
        let problem = "contains layers, but --disk already defines them; give only the directory";
        return Err(usage(format!("`{stack}` {problem}")));
    }
    let (disks, places) = (args.disk.len(), directories.len());
    if disks != places {
        let problem = format!(
            "the number of disks (--disk: {disks}) differs from the number of mount directories \
             ({places})"
        );
        return Err(usage(format!("{problem}; give one directory for each disk, in order")));
    }
    let caching = args.caching.as_deref().map_or(Ok(Caching::None), |text| {
        let wrong =
            || usage(format!("option --caching: `{text}` is not supported; use none or readonly"));
        Caching::parse(text).ok_or_else(wrong)
    })?;
    let asked = CloudDisks {
        vm: args.vm.clone(),
        variant: args.variant.clone(),
        disks: args.disk.clone(),
        caching,
        options: CloudOptions {
            size_bytes: option("--size", args.size.as_deref(), parse_bytes)?,
            credits: option("--credits", args.credits.as_deref(), parse_share)?.unwrap_or(1.0),
            latency_ns: option("--latency", args.latency.as_deref(), parse_duration)?,
            encryption_at_host: args.encryption_at_host,
            hardware_encrypted: args.hardware_encrypted,
        },
    };
    let at = directories.iter().map(std::path::absolute).collect::<io::Result<_>>()?;
    Ok(Some(Composed { made: asked.made()?, at }))
}

impl Composed {
    pub(super) fn mounts(&self) -> Vec<Disk> {
        let mount =
            |(disk, at): (&CloudDisk, &PathBuf)| Disk { stack: disk.stack(), at: at.clone() };
        self.made.disks.iter().zip(&self.at).map(mount).collect()
    }

    /// Describes the disks on stderr; stdout is for the paths of the files.
    pub(super) fn tell(&self) {
        let mut told = Told::indented("");
        let vm = self.made.vm.as_ref().map(|vm| format!(" on {vm}")).unwrap_or_default();
        for (disk, at) in self.made.disks.iter().zip(&self.at) {
            let (at, name, caching) = (at.display(), &disk.name, catalog::caching(disk.caching));
            told.disk(&format!("{at}: {name}{vm}, caching {caching}"), disk);
        }
        // The disks are mounted even if the description cannot be printed.
        let _ = io::stderr().write_all(told.with_notes(&self.made.notes).as_bytes());
    }

    /// The disks, with sources.
    pub(super) fn as_json(&self) -> Value {
        let disks = self.made.disks.iter().zip(self.mounts()).map(|(disk, mount)| {
            json!({
                "at": mount.at,
                "file": mount.file(),
                "stack": mount.stack.to_string(),
                "disk": disk.name,
                "caching": disk.caching,
                "layers": disk.parts.iter().map(part).collect::<Vec<_>>(),
                "notes": disk.notes,
            })
        });
        json!({
            "vm": self.made.vm,
            "disks": disks.collect::<Vec<_>>(),
            "notes": self.made.notes.iter().map(catalog::note).collect::<Vec<_>>(),
        })
    }
}

fn part(part: &CloudPart) -> Value {
    let layer = Layer::from(&part.layer).to_string();
    json!({ "layer": layer, "what": part.what, "sources": part.sources })
}
