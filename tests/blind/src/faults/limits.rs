//! Limits of disks and VMs, bursts, caches: on virtual disks, found by a search for caps.

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};

/// What a healthy disk is: as fast as its channels allow.
const HEALTHY: &str = "mem(size=256M) + flash(channels=4, latency=150us, bw=400M)";

pub(super) const ALL: [Situation; 8] = [
    here("throttle on I/Os", &["throttle"], |lab, is_faulty| {
        let iops = lab.number(700..=2500);
        let bytes = lab.number(60..=120);
        let stack =
            format!("mem(size=256M) + delay(latency=200us) + throttle(iops={iops}, bw={bytes}M)");
        let disk = lab.disk("disk", if is_faulty { &stack } else { HEALTHY })?;
        Ok(Complaint::limits(&[&disk], &[]))
    }),
    here("throttle on bytes", &["throttle"], |lab, is_faulty| {
        let bytes = lab.number(15..=60);
        let stack = format!("mem(size=256M) + delay(latency=200us) + throttle(bw={bytes}M)");
        let disk = lab.disk("disk", if is_faulty { &stack } else { HEALTHY })?;
        Ok(Complaint::limits(&[&disk], &[]))
    }),
    // The VM's limit is lower than the disk's.
    here("VM's limit", &["azure-vm-limit"], |lab, is_faulty| {
        let vm = ["Standard_DS1_v2", "Standard_D2s_v3"][usize::try_from(lab.number(0..=1))?];
        cloud(lab, is_faulty, vm, "P30")
    }),
    // The disk's limit is lower than the VM's.
    here("disk's limit", &["azure-disk-limit"], |lab, is_faulty| {
        let disk = ["P10", "P15"][usize::try_from(lab.number(0..=1))?];
        cloud(lab, is_faulty, "Standard_D16s_v3", disk)
    }),
    // Two disks, one limit.
    here("one limit for two disks", &["shared-limit"], |lab, is_faulty| {
        let options = [
            &["--vm", "Standard_DS1_v2", "--disk", "P30", "--disk", "P30"][..],
            &["--credits", "0", "--size", "256M"],
        ];
        let disks = if is_faulty {
            lab.cloud_disks(&["a", "b"], &options.concat())?
        } else {
            vec![lab.disk("a", HEALTHY)?, lab.disk("b", HEALTHY)?]
        };
        let targets = [format!("a={}", disks[0]), format!("b={}", disks[1])];
        Ok(Complaint::limits(&[&targets[0], &targets[1]], &[]))
    }),
    here("burst of I/Os runs out", &["burst-spent"], |lab, is_faulty| {
        let base = lab.number(400..=900);
        let seconds = lab.number(6..=10);
        let burst = 4 * base;
        let stack = format!(
            "mem(size=256M) + delay(latency=200us) + \
             throttle(iops={base}, burst_iops={burst}, credits={seconds}s)"
        );
        let healthy = format!("mem(size=256M) + delay(latency=200us) + throttle(iops={burst})");
        let disk = lab.disk("disk", if is_faulty { &stack } else { &healthy })?;
        Ok(Complaint::run("randread-4k", &disk, &["--set", "depth=16", "--time", "20s"]))
    }),
    here("burst of bytes runs out", &["burst-spent"], |lab, is_faulty| {
        let base = lab.number(20..=40);
        let seconds = lab.number(6..=10);
        let burst = 3 * base;
        let stack = format!(
            "mem(size=256M) + delay(latency=200us) + \
             throttle(bw={base}M, burst_bw={burst}M, credits={seconds}s)"
        );
        let healthy = format!("mem(size=256M) + delay(latency=200us) + throttle(bw={burst}M)");
        let disk = lab.disk("disk", if is_faulty { &stack } else { &healthy })?;
        Ok(Complaint::run("seqread-1m", &disk, &["--time", "20s"]))
    }),
    // A cache above a slow disk answers what was read before.
    here("cache hides the disk", &["cache-answers"], |lab, is_faulty| {
        let latency = lab.number(600..=1500);
        let cache = if is_faulty { " + tier(size=8G)" } else { "" };
        let flash = format!("flash(channels=4, latency={latency}us, bw=200M)");
        let stack = format!("file(size=16G, thin) + {flash}{cache}");
        let disk = lab.disk("disk", &stack)?;
        Ok(Complaint::limits(&[&disk], &[]))
    }),
];

fn cloud(lab: &mut Lab, is_faulty: bool, vm: &str, disk: &str) -> Result<Complaint> {
    let named = ["--vm", vm, "--disk", disk];
    let file = if is_faulty {
        let more = ["--credits", "0", "--size", "256M"];
        lab.cloud_disks(&["disk"], &[&named[..], &more].concat())?.remove(0)
    } else {
        lab.disk("disk", HEALTHY)?
    };
    Ok(Complaint::limits(&[&file], &named))
}
