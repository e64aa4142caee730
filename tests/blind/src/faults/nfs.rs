//! NFS, in a guest that is server and client.

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Guest, MakeEither, Place, Plant, Situation};

const GUEST: Guest = Guest {
    set_up: iotax_vm::NFS_SERVER,
    programs: &["rpc.nfsd", "mount.nfs", "krb5kdc", "kadmin.local"],
    memory_bytes: 512 << 20,
};

/// One CPU is client and server: without a fault, it is what bounds the load.
const fn in_guest(
    name: &'static str,
    causes: &'static [&'static str],
    plant: MakeEither,
) -> Situation {
    let of_both = &["cpu-bound"];
    Situation { name, causes, of_both, place: Place::Guest(GUEST), plant: Plant::Either(plant) }
}

const READS_AHEAD: &str = "NFS reads ahead too little";

pub(super) const ALL: [Situation; 5] = [
    in_guest("NFS with privacy", &["nfs-kerberos"], |lab, is_faulty| {
        let dir = mounted(lab, if is_faulty { "sec=krb5p" } else { "sec=sys" })?;
        let depth = format!("depth={}", lab.number(1..=4));
        let more = ["--set", "size=64M", "--set", &depth, "--time", "5s"];
        Ok(Complaint::run("seqread-1m", &dir, &more))
    }),
    in_guest("NFS with checksums", &["nfs-kerberos"], |lab, is_faulty| {
        let dir = mounted(lab, if is_faulty { "sec=krb5i" } else { "sec=sys" })?;
        let size = format!("size={}M", lab.number(32..=64));
        Ok(Complaint::run("seqwrite-1m", &dir, &["--set", &size, "--time", "5s"]))
    }),
    // Few calls at a time, where many are asked.
    in_guest("few slots for NFS calls", &["nfs-slots"], |lab, is_faulty| {
        if is_faulty {
            let slots = lab.number(2..=3).to_string();
            lab.set("/sys/module/nfs/parameters/max_session_slots", &slots)?;
        }
        let dir = mounted(lab, "sec=sys")?;
        let depth = format!("depth={}", lab.number(24..=64));
        let more = ["--set", "size=64M", "--set", &depth, "--time", "5s"];
        Ok(Complaint::run("randread-4k", &dir, &more))
    }),
    Situation {
        // Either reads more than the guest has memory, and again what was in it.
        of_both: &["cpu-bound", "page-cache-thrash"],
        ..in_guest(READS_AHEAD, &["nfs-read-ahead", "read-ahead"], |lab, is_faulty| {
            let dir = mounted(lab, "sec=sys,rsize=262144")?;
            let number = lab.run(&["stat", "--format", "%Hd:%Ld", &dir])?;
            let read_ahead = format!("/sys/class/bdi/{}/read_ahead_kb", number.trim());
            lab.set(&read_ahead, if is_faulty { "4" } else { "2048" })?;
            // More than the guest has memory.
            let size = format!("size={}M", lab.number(600..=700));
            // A large read is its own read-ahead.
            let small = ["--set", "direct=false", "--set", "block-size=4k"];
            let more = [&small[..], &["--set", &size, "--time", "5s"]].concat();
            Ok(Complaint::run("seqread-1m", &dir, &more))
        })
    },
    // Files that are looked at again and again.
    in_guest("NFS remembers no attributes", &["nfs-attribute-cache"], |lab, is_faulty| {
        let off = ["noac", "actimeo=0", "lookupcache=none,actimeo=0"][lab.pick(3)];
        let dir = mounted(lab, &format!("sec=sys,{}", if is_faulty { off } else { "ac" }))?;
        let files = format!("files={}", lab.number(200..=600));
        Ok(Complaint::run("git-status", &dir, &["--set", &files, "--time", "5s"]))
    }),
];

/// The export, mounted.
fn mounted(lab: &mut Lab, options: &str) -> Result<String> {
    let dir = lab.path("mnt");
    std::fs::create_dir(&dir)?;
    let options = format!("vers=4.1,{options}");
    lab.run(&["mount", "-t", "nfs4", "-o", &options, "127.0.0.1:/export", &dir])?;
    lab.unmount_later(&dir);
    Ok(dir)
}
