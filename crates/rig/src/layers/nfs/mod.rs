//! A directory of an existing file server.
//!
//! The load gets a private directory on the mount; nothing else on the server is touched.
//!
//! The client shares connections between all mounts of one server. If two mounts ask for different
//! numbers of connections (`nconnect`), the second silently gets those of the first. So an arm is
//! mounted only during its turn, and its options are checked each time. `nosharecache` keeps it
//! from sharing caches and write-back limits with other mounts.

mod daemons;
mod kerberos;

use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use iotax_experiment::Need;
use iotax_inspect::Mount;
use iotax_layers::Nfs;

use crate::entry::remote::Mounting;
use crate::layers::maker::prelude::*;
use crate::needs::{self, Missing};
use crate::read_ahead::ReadAhead;
use crate::scratch;

/// `retry=0`: a server that does not answer is an error after seconds, not after two minutes.
/// `nolock`: version 3 would start a daemon for locks, which the load does not use.
const ALWAYS: &str = "nodev,nosuid,nosharecache,nolock,retry=0";

impl System for Nfs {
    fn lacks(&self) -> Vec<Missing> {
        let is_kerberos = self.sec.as_ref().is_some_and(|sec| sec.starts_with("krb5"));
        let is_tls = self.xprtsec.as_ref().is_some_and(|xprtsec| xprtsec != "none");
        let module = Need::Module { module: "rpcsec_gss_krb5", about: "Kerberos for NFS" };
        let mut lacks = Vec::new();
        if is_kerberos {
            lacks.extend(needs::unmet(module));
            lacks.extend(kerberos::lacks(&self.server));
        }
        lacks.extend(is_tls.then(daemons::tls_lacks).flatten());
        lacks
    }

    fn make(&self, _below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let path = context.mount_point("nfs")?;
        let mounting = Mounting { source: source(self), options: options(self), path };
        let mounted = Mounted {
            asked: self.clone(),
            mounting: mounting.clone(),
            run: context.journal.name(),
            journal: context.journal.path(),
        };
        mounting.mount(&mounted.run, context.stop)?;
        context.note(verify(self, &mounting.find()?)?);
        set_read_ahead(self, &mounting)?;
        let top = scratch::make(&mounting.path, context.journal)?;
        // Last, so that it is undone first: files on the server can only be removed while it is
        // mounted.
        context.journal.announce(Entry::Remote(mounting))?;
        context.turns.push(Box::new(mounted));
        let inode = top.inode().map_err(Error::cannot("check it again", top.shown()))?;
        // Not held, because it is mounted only during its turn.
        Ok(Top { inode: Some(inode), ..Top::directory(top.shown()) })
    }
}

/// An export that is mounted during its arm's turn.
#[derive(Debug)]
struct Mounted {
    asked: Nfs,
    mounting: Mounting,
    run: String,
    journal: PathBuf,
}

impl Turn for Mounted {
    fn begin(&self) -> Result<(), Error> {
        if mounts::is_mounted(&self.mounting.path) {
            return Ok(());
        }
        self.mounting.mount(&self.run, &AtomicBool::new(false))?;
        verify(&self.asked, &self.mounting.find()?)?;
        set_read_ahead(&self.asked, &self.mounting)
    }

    fn end(&self) -> Result<(), Error> {
        mounts::undo(&self.mounting.path, &self.journal).map(drop)
    }
}

/// The read-ahead is that of this mount only (`nosharecache`), and disappears with it.
fn set_read_ahead(nfs: &Nfs, mounting: &Mounting) -> Result<(), Error> {
    match nfs.read_ahead_bytes {
        Some(bytes) => ReadAhead::of(&mounting.path, bytes)?.set("nfs"),
        None => Ok(()),
    }
}

/// The source of the mount. `spec` ensures that the server's name has no blanks, commas or leading
/// dash, and that the export begins with a slash.
fn source(nfs: &Nfs) -> String {
    match nfs.server.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]:{}", nfs.export),
        Err(_) => format!("{}:{}", nfs.server, nfs.export),
    }
}

fn options(nfs: &Nfs) -> String {
    let given =
        asked(nfs).into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    [ALWAYS.to_owned()].into_iter().chain(given).collect::<Vec<_>>().join(",")
}

/// Options by the names that the kernel shows them under.
fn asked(nfs: &Nfs) -> [(&'static str, Option<String>); 6] {
    [
        ("vers", nfs.vers.clone()),
        ("sec", nfs.sec.clone()),
        ("nconnect", nfs.nconnect.map(|n| n.to_string())),
        ("rsize", nfs.rsize_bytes.map(|n| n.to_string())),
        ("wsize", nfs.wsize_bytes.map(|n| n.to_string())),
        ("xprtsec", nfs.xprtsec.clone()),
    ]
}

/// Checks that the mount has the requested options, and returns its actual ones. The server may
/// grant smaller sizes; reports warn about that.
fn verify(nfs: &Nfs, mount: &Mount) -> Result<String, Error> {
    let shown = |name: &str| {
        let mut options = mount.super_options.split(',');
        options.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    };
    for (name, asked) in asked(nfs) {
        let made = shown(name);
        let (asked, made) = match name {
            // The kernel omits it if it was not given.
            "nconnect" => (asked.or(Some("1".to_owned())), made.or(Some("1"))),
            "xprtsec" => (asked, made.or(Some("none"))),
            "rsize" | "wsize" => continue,
            _ => (asked, made),
        };
        let Some(asked) = asked.filter(|asked| made != Some(asked)) else { continue };
        return Err(Error::NotAsAsked {
            layer: "nfs",
            asked: format!("{name}={asked}"),
            made: made.map_or(format!("no {name}"), |made| format!("{name}={made}")),
            remedy: match name {
                "nconnect" => {
                    "this mount shares its connections with an earlier mount from the same server: \
                     unmount the earlier one, or use the same nconnect value"
                }
                _ => "request a value that the server supports",
            },
        });
    }
    let has = asked(nfs).map(|(name, _)| Some(format!("{name}={}", shown(name)?)));
    let has: Vec<_> = has.into_iter().flatten().collect();
    Ok(format!("{}: mounted with {}", mount.source, has.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_inspect::parse_mountinfo;

    const MOUNTED: &str = "70 27 0:50 / /mnt/n rw,nosuid,nodev - nfs4 filer:/data \
        rw,vers=4.2,rsize=1048576,wsize=262144,namlen=255,hard,nosharecache,proto=tcp,nconnect=4,\
        timeo=600,retrans=2,sec=krb5p,clientaddr=10.0.0.2,local_lock=none,addr=10.0.0.5\n";

    fn nfs() -> Nfs {
        Nfs { server: "filer".into(), export: "/data".into(), ..Nfs::default() }
    }

    fn full() -> Nfs {
        Nfs {
            vers: Some("4.2".into()),
            sec: Some("krb5p".into()),
            nconnect: Some(4),
            rsize_bytes: Some(1 << 20),
            wsize_bytes: Some(256 << 10),
            ..nfs()
        }
    }

    fn told(nfs: &Nfs, mountinfo: &str) -> String {
        verify(nfs, &parse_mountinfo(mountinfo)[0]).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn what_was_agreed_on_is_recorded() {
        insta::assert_snapshot!(told(&full(), MOUNTED), @"filer:/data: mounted with vers=4.2, sec=krb5p, nconnect=4, rsize=1048576, wsize=262144");
        let one = MOUNTED.replace("nconnect=4,", "");
        let asked = Nfs { wsize_bytes: Some(1 << 20), ..full() };
        assert_eq!(told(&asked, MOUNTED), told(&full(), MOUNTED), "less was granted");
        insta::assert_snapshot!(told(&nfs(), &one), @"filer:/data: mounted with vers=4.2, sec=krb5p, rsize=1048576, wsize=262144");
    }

    #[test]
    fn what_differs_from_what_was_asked_is_an_error() {
        insta::assert_snapshot!(told(&nfs(), MOUNTED), @"nfs: nconnect=1 was requested, but the kernel reports nconnect=4; this mount shares its connections with an earlier mount from the same server: unmount the earlier one, or use the same nconnect value");
        insta::assert_snapshot!(told(&Nfs { nconnect: Some(8), ..full() }, MOUNTED), @"nfs: nconnect=8 was requested, but the kernel reports nconnect=4; this mount shares its connections with an earlier mount from the same server: unmount the earlier one, or use the same nconnect value");
        insta::assert_snapshot!(told(&Nfs { sec: Some("sys".into()), ..full() }, MOUNTED), @"nfs: sec=sys was requested, but the kernel reports sec=krb5p; request a value that the server supports");
        insta::assert_snapshot!(told(&Nfs { xprtsec: Some("tls".into()), ..full() }, MOUNTED), @"nfs: xprtsec=tls was requested, but the kernel reports xprtsec=none; request a value that the server supports");
        insta::assert_snapshot!(told(&Nfs { vers: Some("3".into()), ..full() }, "1 2 0:3 / /m rw - nfs x rw\n"), @"nfs: vers=3 was requested, but the kernel reports no vers; request a value that the server supports");
    }

    #[test]
    fn options_are_those_of_mount_nfs() {
        insta::assert_snapshot!(options(&full()), @"nodev,nosuid,nosharecache,nolock,retry=0,vers=4.2,sec=krb5p,nconnect=4,rsize=1048576,wsize=262144");
        assert_eq!(options(&nfs()), ALWAYS);
    }

    #[test]
    fn addresses_of_version_6_are_bracketed() {
        assert_eq!(source(&nfs()), "filer:/data");
        assert_eq!(source(&Nfs { server: "fd00::5".into(), ..nfs() }), "[fd00::5]:/data");
    }
}
