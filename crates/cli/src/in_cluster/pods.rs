//! Turns options into settings of pods.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use iotax_cluster::{Amounts, PodOptions, PodOverrides, Toleration};
use iotax_experiment::units::{parse_bytes, parse_duration};

use crate::args::{KubeCaptureArgs, PodArgs};
use crate::exit::{Context as _, Result, read_argument, usage};

/// All settings that do not depend on the workload.
pub(crate) fn options(args: &PodArgs) -> Result<PodOptions> {
    let user = match args.user.as_str() {
        "cluster" => None,
        id => Some(id.parse().ok().filter(|id| *id != 0).ok_or_else(|| {
            usage(format!(
                "--user {id}: use `cluster`, or the numeric ID of a user other than root"
            ))
        })?),
    };
    let mut node_selector = BTreeMap::new();
    for text in &args.node_selector {
        let Some((key, value)) = text.split_once('=') else {
            let example = "kubernetes.io/hostname=NODE";
            return Err(usage(format!(
                "--node-selector {text}: specify KEY=VALUE, as in {example}"
            )));
        };
        node_selector.insert(key.to_owned(), value.to_owned());
    }
    let memory_bytes = parse_bytes(&args.memory).context("option --memory")?;
    let amounts = Amounts { cpu: args.cpu.clone(), memory_bytes };
    let wait_ns = parse_duration(&args.wait).context("option --wait")?;
    Ok(PodOptions {
        image: args.image.clone(),
        pull_secrets: args.pull_secret.clone(),
        size_bytes: parse_bytes(&args.size).context("option --size")?,
        driver: None,
        amounts,
        node_selector,
        tolerations: args.toleration.iter().map(|text| toleration(text)).collect::<Result<_>>()?,
        overrides: args
            .pod_overrides
            .as_deref()
            .map_or_else(|| Ok(PodOverrides::default()), overrides)?,
        create_namespace: args.create_namespace,
        user,
        wait: Duration::from_nanos(wait_ns),
    })
}

/// The settings of a recorder. Its memory and node depend on what it records, it has no volume, and
/// its user is root.
pub(crate) fn of_recorder(args: &KubeCaptureArgs) -> Result<PodOptions> {
    let overrides = args.pod_overrides.as_deref().map(overrides).transpose()?;
    Ok(PodOptions {
        image: args.image.clone(),
        pull_secrets: args.pull_secret.clone(),
        size_bytes: 0,
        driver: None,
        amounts: Amounts { cpu: args.cpu.clone(), memory_bytes: 0 },
        node_selector: BTreeMap::new(),
        tolerations: Vec::new(),
        overrides: overrides.unwrap_or_default(),
        create_namespace: args.create_namespace,
        user: None,
        wait: Duration::from_nanos(parse_duration(&args.wait).context("option --wait")?),
    })
}

/// The overrides in a file.
fn overrides(path: &Path) -> Result<PodOverrides> {
    let option = || format!("--pod-overrides {}", path.display());
    let text = read_argument(fs::read_to_string(path), option)?;
    PodOverrides::parse(&text).with_context(option)
}

/// CPU and memory of the driver container.
pub(super) fn driver(args: &PodArgs, other: &Amounts) -> Result<Amounts> {
    let memory = args.driver_memory.as_deref().map(parse_bytes).transpose();
    let memory = memory.context("option --driver-memory")?;
    Ok(Amounts {
        cpu: args.driver_cpu.clone().unwrap_or_else(|| other.cpu.clone()),
        memory_bytes: memory.unwrap_or(other.memory_bytes),
    })
}

/// Effects of taints.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Reads a toleration, written like a taint for `kubectl taint` or a part of one.
fn toleration(text: &str) -> Result<Toleration> {
    let unreadable = || {
        usage(format!(
            "--toleration {text}: specify KEY or KEY=VALUE, optionally followed by :EFFECT (one of \
             {}); `all` tolerates all taints",
            EFFECTS.join(", ")
        ))
    };
    let (taint, effect) = match text.split_once(':') {
        Some((taint, effect)) if EFFECTS.contains(&effect) => (taint, Some(effect.to_owned())),
        Some(_) => return Err(unreadable()),
        None => (text, None),
    };
    let (key, value) = match taint.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (taint, None),
    };
    let is_all = key == "all";
    if key.is_empty() || is_all && value.is_some() {
        return Err(unreadable());
    }
    let key = (!is_all).then(|| key.to_owned());
    Ok(Toleration { key, value, effect })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_are_read_as_taints_are_written() {
        let read = |text: &str| {
            let Toleration { key, value, effect } = toleration(text).unwrap();
            [key, value, effect].map(|part| part.unwrap_or_else(|| "-".to_owned())).join(" ")
        };
        assert_eq!(read("dedicated=disks:NoSchedule"), "dedicated disks NoSchedule");
        assert_eq!(read("dedicated"), "dedicated - -");
        assert_eq!(read("example.org/spot:NoExecute"), "example.org/spot - NoExecute");
        assert_eq!(read("all"), "- - -");
        for text in ["", "=a", ":NoSchedule", "all=a", "a:b", "a:NoSchedule:NoExecute"] {
            assert!(toleration(text).is_err(), "{text}");
        }
        insta::assert_snapshot!(toleration("a:noschedule").unwrap_err(), @"--toleration a:noschedule: specify KEY or KEY=VALUE, optionally followed by :EFFECT (one of NoSchedule, PreferNoSchedule, NoExecute); `all` tolerates all taints");
    }
}
