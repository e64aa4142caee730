//! Encryption in the path.

use std::fs;

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 2] = [
    here("an encrypting file system", &["encryption-in-path"], |lab, is_faulty| {
        let dir = lab.path("plain");
        fs::create_dir(&dir)?;
        let dir = if is_faulty { encrypted(lab, &dir, "seen")? } else { dir };
        Ok(load(&dir))
    }),
    here("encrypted twice", &["encrypted-twice"], |lab, is_faulty| {
        let dir = lab.path("plain");
        fs::create_dir(&dir)?;
        let dir = if is_faulty {
            let lower = encrypted(lab, &dir, "lower")?;
            let upper = format!("{lower}/upper");
            fs::create_dir(&upper)?;
            encrypted(lab, &upper, "seen")?
        } else {
            dir
        };
        Ok(load(&dir))
    }),
];

fn load(dir: &str) -> Complaint {
    Complaint::run("seqread-1m", dir, &["--set", "size=128M", "--time", "6s"])
}

/// gocryptfs on a directory.
fn encrypted(lab: &mut Lab, dir: &str, name: &str) -> Result<String> {
    let mount = lab.path(name);
    fs::create_dir(&mount)?;
    let password = lab.path("password");
    fs::write(&password, "blind\n")?;
    lab.run(&["gocryptfs", "-q", "-init", "-scryptn", "10", "-passfile", &password, dir])?;
    lab.run(&["gocryptfs", "-q", "-passfile", &password, dir, &mount])?;
    lab.unmount_later(&mount);
    Ok(mount)
}
