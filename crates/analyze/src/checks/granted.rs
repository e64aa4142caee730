use iotax_experiment::Layer;
use iotax_experiment::layers::Nfs;

use crate::analysis::{Doubt, DoubtKind, GrantedOption, GrantedOtherwise};
use crate::counters::NfsMountSummary;
use crate::evidence::Evidence;

/// File servers that granted something else than was asked for: client and server agree on the
/// least of what both can, and say nothing.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    evidence.worst_trials(|trial, arm| {
        let mount = trial.counters.as_ref()?.nfs_mounts.first()?;
        let asked = evidence.layers(arm).iter().find_map(|layer| match layer {
            Layer::Nfs(nfs) => Some(nfs),
            _ => None,
        });
        let options = differences(asked, mount);
        let count = options.len() as f64;
        (count > 0.0).then_some((count, DoubtKind::NotGranted { options }))
    })
}

fn differences(asked: Option<&Nfs>, mount: &NfsMountSummary) -> Vec<GrantedOtherwise> {
    let size = |option, asked: Option<u64>, granted: Option<u64>| {
        let (asked, granted) = asked.zip(granted).filter(|(asked, granted)| asked != granted)?;
        Some(GrantedOtherwise { option, asked, granted })
    };
    let granted = &mount.granted;
    let own = granted.nconnect.map(u64::from);
    let connections = asked.and_then(|nfs| nfs.nconnect).or(own).unwrap_or(1);
    let made = mount.transports.len() as u64;
    let other = (made > 0 && made != connections).then_some(GrantedOtherwise {
        option: GrantedOption::Connections,
        asked: connections,
        granted: made,
    });
    [
        size(GrantedOption::ReadSize, asked.and_then(|nfs| nfs.rsize_bytes), granted.rsize_bytes),
        size(GrantedOption::WriteSize, asked.and_then(|nfs| nfs.wsize_bytes), granted.wsize_bytes),
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

    fn told(asked: Option<&Nfs>, options: &str, connections: usize) -> Vec<GrantedOtherwise> {
        let mount = NfsMountSummary {
            source: "filer:/data".to_owned(),
            granted: NfsGranted::of(options),
            transports: vec![NfsTransportFigures::default(); connections],
        };
        differences(asked, &mount)
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
        let option = GrantedOption::ReadSize;
        let reads = GrantedOtherwise { option, asked: 1 << 20, granted: 65_536 };
        let option = GrantedOption::Connections;
        let made = GrantedOtherwise { option, asked: 4, granted: 3 };
        assert_eq!(told(Some(&asked), granted, 4), [reads]);
        assert_eq!(told(Some(&asked), granted, 3), [reads, made]);
        assert_eq!(told(None, granted, 4), []);
        assert_eq!(told(None, "rw,vers=4.1", 1), []);
        // Counters of other transports tell no connections.
        assert_eq!(told(None, granted, 0), []);
    }
}
