use iotax_experiment::Layer;
use iotax_experiment::layers::Nfs;
use iotax_quantity::list;

use crate::analysis::{Check, Warning};
use crate::counters::NfsMountSummary;
use crate::evidence::Evidence;

/// File servers that granted something else than was asked for: client and server agree on the least
/// of what both can, and say nothing.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let found = evidence.worst_per_arm(|trial, arm| {
        let mount = trial.counters.as_ref()?.nfs_mounts.first()?;
        let asked = evidence.layers(arm).iter().find_map(|layer| match layer {
            Layer::Nfs(nfs) => Some(nfs),
            _ => None,
        });
        let differences = differences(asked, mount);
        (!differences.is_empty()).then_some((differences.len() as f64, differences))
    });
    found
        .into_iter()
        .map(|worst| Warning {
            check: Check::NotGranted,
            message: format!(
                "{} ({})",
                list(&worst.finding.iter().map(String::as_str).collect::<Vec<_>>()),
                worst.how_often()
            ),
            advice:
                "What was measured is what was granted. Ask for that, or raise what the server \
                     allows (Linux: /proc/fs/nfsd/max_block_size, set before nfsd starts)."
                    .to_owned(),
            trials: worst.trials,
            arm: Some(worst.arm),
        })
        .collect()
}

/// `rsize: asked for 1048576 bytes, granted 65536`
fn differences(asked: Option<&Nfs>, mount: &NfsMountSummary) -> Vec<String> {
    let size = |name: &str, asked: Option<u64>, granted: Option<u64>| {
        let (asked, granted) = asked.zip(granted).filter(|(asked, granted)| asked != granted)?;
        Some(format!("{name}: asked for {asked} bytes, granted {granted}"))
    };
    let granted = &mount.granted;
    let connections = asked.and_then(|nfs| nfs.nconnect).or(granted.nconnect).unwrap_or(1);
    let made = mount.transports.len();
    let other = (made > 0 && made != connections as usize)
        .then(|| format!("connections: asked for {connections}, made {made}"));
    [
        size("rsize", asked.and_then(|nfs| nfs.rsize_bytes), granted.rsize_bytes),
        size("wsize", asked.and_then(|nfs| nfs.wsize_bytes), granted.wsize_bytes),
        other,
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::NfsTransportFigures;
    use iotax_record::NfsGranted;

    fn told(asked: Option<&Nfs>, options: &str, connections: usize) -> String {
        let mount = NfsMountSummary {
            source: "filer:/data".to_owned(),
            granted: NfsGranted::of(options),
            transports: vec![NfsTransportFigures::default(); connections],
        };
        differences(asked, &mount).join("\n")
    }

    #[test]
    fn what_was_granted_is_held_against_what_was_asked_for() {
        let asked = Nfs {
            rsize_bytes: Some(1 << 20),
            wsize_bytes: Some(64 << 10),
            nconnect: Some(4),
            ..Nfs::default()
        };
        let granted = "rw,vers=4.1,rsize=65536,wsize=65536,nconnect=4,sec=krb5p";
        insta::assert_snapshot!(told(Some(&asked), granted, 4), @"rsize: asked for 1048576 bytes, granted 65536");
        insta::assert_snapshot!(told(Some(&asked), granted, 3), @"
        rsize: asked for 1048576 bytes, granted 65536
        connections: asked for 4, made 3
        ");
        assert_eq!(told(None, granted, 4), "");
        assert_eq!(told(None, "rw,vers=4.1", 1), "");
        // Counters of other transports tell no connections.
        assert_eq!(told(None, granted, 0), "");
    }
}
