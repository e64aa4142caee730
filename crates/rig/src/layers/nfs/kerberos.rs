//! Checks what a Kerberos mount needs before anything is made. Without it the mount fails with
//! "access denied", or hangs, and gives no reason.
//!
//! Some facts only the KDC knows: its clock, whether keys are current, whether the server has a
//! principal. They are checked as rpc.gssd would: by getting a ticket with the keytab, and with it
//! one for `nfs/SERVER`.

use std::fs;
use std::net::IpAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::AtomicBool;

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

use super::daemons::{self, KernelVersion};
use crate::error::Error;
use crate::needs::Missing;
use crate::programs::{self, Program};

/// The keytab if krb5.conf does not name one.
const KEYTAB: &str = "/etc/krb5.keytab";
/// Encryption types that the NFS client of every kernel has.
const AES: [&str; 2] = ["aes256-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96"];
/// Encryption types that it has since Linux 6.3.
const SINCE_6_3: [&str; 4] = [
    "aes256-cts-hmac-sha384-192",
    "aes128-cts-hmac-sha256-128",
    "camellia256-cts-cmac",
    "camellia128-cts-cmac",
];

/// Why Kerberos cannot be used with this server.
pub(super) fn lacks(server: &str) -> Vec<Missing> {
    let gssd = (!daemons::may_run("rpc.gssd")).then_some(Lack::NoGssd);
    let credential = credential(server).err();
    gssd.into_iter().chain(credential).map(Missing::from).collect()
}

#[derive(Debug)]
enum Lack {
    NoGssd,
    NoCredential { keytab: String },
    NoPrincipal { keytab: String, has: Vec<String> },
    NoEncryption { principal: String, has: Vec<String>, kernel: KernelVersion },
    NoName { address: String },
    // The message of the KDC, or of the library.
    Said { text: String, server: String },
}

/// Finds the credential of this machine, and checks that the KDC accepts it.
fn credential(server: &str) -> Result<(), Lack> {
    let (Some(_), Some(_), Some(_)) = ["klist", "kinit", "kvno"].map(programs::find_program).into()
    else {
        let is_there = fs::exists(KEYTAB).unwrap_or(true);
        return if is_there { Ok(()) } else { Err(Lack::NoCredential { keytab: KEYTAB.into() }) };
    };
    let listed = match said(Program::new("klist").args(["-k", "-e"])) {
        Ok(listed) => listed,
        // rpc.gssd -n uses a ticket of root.
        Err(_) if said(Program::new("klist").arg("-s")).is_ok() => return Ok(()),
        Err(text) => return Err(no_keytab(&text)),
    };
    let principal = of_machine(&listed, daemons::kernel())?;
    let name = name(server)?;
    let refused = |text: String| Lack::Said { text, server: name.clone() };
    let Ok(tickets) = Tickets::new() else { return Ok(()) };
    let cache = tickets.path();
    said(Program::new("kinit").args(["-k", "-c", &cache, &principal])).map_err(refused)?;
    said(Program::new("kvno").args(["-q", "-c", &cache, "-S", "nfs", &name]))
        .map_err(refused)
        .map(drop)
}

/// The output of a program; its message if it failed.
fn said(program: Program) -> Result<String, String> {
    program.run("", &AtomicBool::new(false)).map_err(|error| match error {
        Error::Program { said, .. } => said,
        other => other.to_string(),
    })
}

/// `klist: Key table file '/etc/krb5.keytab' not found while starting keytab scan`
fn no_keytab(said: &str) -> Lack {
    let keytab = said.split('\'').nth(1).unwrap_or(KEYTAB);
    Lack::NoCredential { keytab: keytab.to_owned() }
}

/// The principal that rpc.gssd would use, from the list of `klist -k -e`.
fn of_machine(listed: &str, kernel: KernelVersion) -> Result<String, Lack> {
    let keytab =
        listed.lines().find_map(|line| line.strip_prefix("Keytab name: ")).unwrap_or(KEYTAB);
    let entry = |line: &str| {
        let (principal, rest) = line.trim().split_once(' ')?.1.trim().split_once(" (")?;
        Some((principal.to_owned(), rest.trim_end().trim_end_matches(')').to_owned()))
    };
    let entries: Vec<(String, String)> =
        listed.lines().filter(|line| line.contains('@')).filter_map(entry).collect();
    let kinds: [fn(&str) -> bool; 4] = [
        |principal| principal.contains("$@"),
        |principal| principal.starts_with("root/"),
        |principal| principal.starts_with("nfs/"),
        |principal| principal.starts_with("host/"),
    ];
    let found = kinds.iter().find_map(|kind| entries.iter().find(|(name, _)| kind(name)));
    let Some((principal, _)) = found else {
        let mut has: Vec<String> = entries.into_iter().map(|(principal, _)| principal).collect();
        has.dedup();
        return Err(Lack::NoPrincipal { keytab: keytab.to_owned(), has });
    };
    let own = entries.iter().filter(|(name, _)| name == principal);
    let has: Vec<String> = own.map(|(_, encryption)| encryption.clone()).collect();
    let is_known = |encryption: &String| {
        AES.contains(&encryption.as_str())
            || kernel >= KernelVersion(6, 3) && SINCE_6_3.contains(&encryption.as_str())
    };
    if has.iter().any(is_known) {
        return Ok(principal.clone());
    }
    Err(Lack::NoEncryption { principal: principal.clone(), has, kernel })
}

/// Kerberos identifies servers by name; rpc.gssd looks up the name of an address.
fn name(server: &str) -> Result<String, Lack> {
    if server.parse::<IpAddr>().is_err() {
        return Ok(server.to_owned());
    }
    let listed = said(Program::new("getent").args(["hosts", server])).unwrap_or_default();
    let name = listed.split_whitespace().nth(1).map(str::to_owned);
    name.ok_or_else(|| Lack::NoName { address: server.to_owned() })
}

/// A place for tickets: a file system in memory that is not mounted anywhere. Other users cannot
/// see it, and a killed run leaves nothing behind.
struct Tickets(OwnedFd);

impl Tickets {
    fn new() -> rustix::io::Result<Self> {
        let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&memory, "mode", "0700")?;
        fsconfig_create(&memory)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        fsmount(&memory, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map(Self)
    }

    fn path(&self) -> String {
        format!("FILE:/proc/{}/fd/{}/tickets", std::process::id(), self.0.as_raw_fd())
    }
}

impl From<Lack> for Missing {
    fn from(lack: Lack) -> Self {
        let (what, remedy) = match lack {
            Lack::NoGssd => (
                "rpc.gssd, which obtains the tickets for Kerberos mounts, is not running".into(),
                "install the package nfs-common, and start rpc.gssd (systemctl start rpc-gssd)"
                    .into(),
            ),
            Lack::NoCredential { keytab } => (
                format!("there is neither a keytab ({keytab}) nor a ticket for root"),
                "join the realm (realm join, ipa-client-install), or add this machine's key \
                 (kadmin: ktadd host/THIS-HOST); with rpc.gssd -n, a ticket (kinit) is enough"
                    .into(),
            ),
            Lack::NoPrincipal { keytab, has } => (
                format!(
                    "{keytab} contains no principal that rpc.gssd uses for mounts (principals \
                     found: {})",
                    if has.is_empty() { "none".to_owned() } else { has.join(", ") }
                ),
                "add one of THIS-HOST$, root/THIS-HOST, nfs/THIS-HOST or host/THIS-HOST (kadmin: \
                 ktadd host/THIS-HOST)"
                    .into(),
            ),
            Lack::NoEncryption { principal, has, kernel } => (
                format!(
                    "{principal} has only keys of type {}, which the NFS client in Linux {kernel} \
                     does not support",
                    has.join(", ")
                ),
                format!("create a key of type {} (kadmin: ktadd -e {}:normal)", AES[0], AES[0]),
            ),
            Lack::NoName { address } => (
                format!("{address} has no host name, but Kerberos identifies servers by name"),
                "use the server's NAME from its principal nfs/NAME, or add a name for the address \
                 to /etc/hosts"
                    .into(),
            ),
            Lack::Said { text, server } => return of_kdc(&text, &server),
        };
        Self { what, remedy }
    }
}

/// Messages of the KDC or a program, and what to do. `{service}` is the server's principal, `{aes}`
/// an encryption type of every kernel.
const REMEDIES: [(&str, &str); 9] = [
    (
        "Clock skew too great",
        "the clocks of this machine and the KDC are too far apart (limit: 5 minutes by default); \
         set them (chronyc makestep, timedatectl set-ntp true)",
    ),
    (
        "not found in Kerberos database while getting credentials",
        "the KDC has no principal {service}; create it (kadmin: addprinc -randkey {service}) and \
         add its key on the server (kadmin: ktadd {service}), or use the server name from an \
         existing principal",
    ),
    (
        "not found in Kerberos database",
        "the KDC has no principal for this machine; join the realm \
                                        again",
    ),
    (
        "Password incorrect",
        "the key in the keytab is older than the KDC's; get the key again (kadmin: ktadd, or realm \
         join)",
    ),
    (
        "Preauthentication failed",
        "the key in the keytab differs from the KDC's; get the key again (kadmin: ktadd)",
    ),
    (
        "no support for encryption type",
        "the KDC, the keytab and {service} have no encryption type in common; add {aes}",
    ),
    ("Cannot contact any KDC", "check that the KDC is running and that port 88 is open"),
    ("Cannot find KDC", "set the realm's KDC in /etc/krb5.conf or in DNS"),
    ("default realm", "set the default realm in /etc/krb5.conf: [libdefaults] default_realm"),
];

/// What to do about messages of kinit and kvno, in the words of MIT's krb5 library.
fn of_kdc(text: &str, server: &str) -> Missing {
    let text = text.lines().last().unwrap_or_default().trim();
    let remedy = REMEDIES.iter().find(|(said, _)| text.contains(said));
    Missing {
        what: format!("Kerberos reports an error: {text}"),
        remedy: remedy.map_or_else(
            || format!("make sure that kinit -k and kvno -S nfs {server} succeed"),
            |(_, remedy)| {
                remedy.replace("{service}", &format!("nfs/{server}")).replace("{aes}", AES[0])
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    const LISTED: &str = "\
Keytab name: FILE:/etc/krb5.keytab
KVNO Principal
---- --------------------------------------------------------------------------
   2 HTTP/client.vm.test@VM.TEST (aes256-cts-hmac-sha1-96)
   2 host/client.vm.test@VM.TEST (aes256-cts-hmac-sha384-192)
   2 nfs/client.vm.test@VM.TEST (aes256-cts-hmac-sha384-192)
   2 nfs/client.vm.test@VM.TEST (aes128-cts-hmac-sha1-96)
";

    fn told(lack: Lack) -> String {
        let Missing { what, remedy } = lack.into();
        format!("{what}; {remedy}")
    }

    fn of_kdc(text: &str) -> String {
        told(Lack::Said { text: text.to_owned(), server: "filer.vm.test".to_owned() })
    }

    #[test]
    fn the_principal_is_the_one_that_gssd_takes() {
        let principal = |listed: &str| of_machine(listed, KernelVersion(6, 1)).map_err(told);
        assert_eq!(principal(LISTED), Ok("nfs/client.vm.test@VM.TEST".to_owned()));
        let joined = LISTED.replace("HTTP/client.vm.test@", "CLIENT$@");
        assert_eq!(principal(&joined), Ok("CLIENT$@VM.TEST".to_owned()));
    }

    #[test]
    fn what_is_missing_here_comes_with_what_to_do() {
        assert_snapshot!(told(Lack::NoGssd), @"rpc.gssd, which obtains the tickets for Kerberos mounts, is not running; install the package nfs-common, and start rpc.gssd (systemctl start rpc-gssd)");
        let none = "klist: Key table file '/etc/other.keytab' not found while starting keytab scan";
        assert_snapshot!(told(no_keytab(none)), @"there is neither a keytab (/etc/other.keytab) nor a ticket for root; join the realm (realm join, ipa-client-install), or add this machine's key (kadmin: ktadd host/THIS-HOST); with rpc.gssd -n, a ticket (kinit) is enough");
        let without = LISTED.replace("nfs/", "HTTP/").replace("host/", "HTTP/");
        assert_snapshot!(told(of_machine(&without, KernelVersion(6, 1)).unwrap_err()), @"FILE:/etc/krb5.keytab contains no principal that rpc.gssd uses for mounts (principals found: HTTP/client.vm.test@VM.TEST); add one of THIS-HOST$, root/THIS-HOST, nfs/THIS-HOST or host/THIS-HOST (kadmin: ktadd host/THIS-HOST)");
        let new = LISTED.replace("aes128-cts-hmac-sha1-96", "arcfour-hmac");
        assert_snapshot!(told(of_machine(&new, KernelVersion(6, 1)).unwrap_err()), @"nfs/client.vm.test@VM.TEST has only keys of type aes256-cts-hmac-sha384-192, arcfour-hmac, which the NFS client in Linux 6.1 does not support; create a key of type aes256-cts-hmac-sha1-96 (kadmin: ktadd -e aes256-cts-hmac-sha1-96:normal)");
        assert!(of_machine(&new, KernelVersion(6, 3)).is_ok());
        assert_snapshot!(told(Lack::NoName { address: "10.0.0.5".to_owned() }), @"10.0.0.5 has no host name, but Kerberos identifies servers by name; use the server's NAME from its principal nfs/NAME, or add a name for the address to /etc/hosts");
    }

    #[test]
    fn what_the_kdc_refuses_comes_with_what_to_do() {
        assert_snapshot!(of_kdc("kinit: Clock skew too great while getting initial credentials"), @"Kerberos reports an error: kinit: Clock skew too great while getting initial credentials; the clocks of this machine and the KDC are too far apart (limit: 5 minutes by default); set them (chronyc makestep, timedatectl set-ntp true)");
        assert_snapshot!(of_kdc("kvno: Server nfs/filer.vm.test@VM.TEST not found in Kerberos database while getting credentials for nfs/filer.vm.test@VM.TEST"), @"Kerberos reports an error: kvno: Server nfs/filer.vm.test@VM.TEST not found in Kerberos database while getting credentials for nfs/filer.vm.test@VM.TEST; the KDC has no principal nfs/filer.vm.test; create it (kadmin: addprinc -randkey nfs/filer.vm.test) and add its key on the server (kadmin: ktadd nfs/filer.vm.test), or use the server name from an existing principal");
        assert_snapshot!(of_kdc("kinit: Client 'host/c@VM.TEST' not found in Kerberos database while getting initial credentials"), @"Kerberos reports an error: kinit: Client 'host/c@VM.TEST' not found in Kerberos database while getting initial credentials; the KDC has no principal for this machine; join the realm again");
        assert_snapshot!(of_kdc("kinit: Password incorrect while getting initial credentials"), @"Kerberos reports an error: kinit: Password incorrect while getting initial credentials; the key in the keytab is older than the KDC's; get the key again (kadmin: ktadd, or realm join)");
        assert_snapshot!(of_kdc("kinit: Preauthentication failed while getting initial credentials"), @"Kerberos reports an error: kinit: Preauthentication failed while getting initial credentials; the key in the keytab differs from the KDC's; get the key again (kadmin: ktadd)");
        assert_snapshot!(of_kdc("kvno: KDC has no support for encryption type while getting credentials for nfs/filer.vm.test@VM.TEST"), @"Kerberos reports an error: kvno: KDC has no support for encryption type while getting credentials for nfs/filer.vm.test@VM.TEST; the KDC, the keytab and nfs/filer.vm.test have no encryption type in common; add aes256-cts-hmac-sha1-96");
        assert_snapshot!(of_kdc("kinit: Cannot contact any KDC for realm 'VM.TEST' while getting initial credentials"), @"Kerberos reports an error: kinit: Cannot contact any KDC for realm 'VM.TEST' while getting initial credentials; check that the KDC is running and that port 88 is open");
        assert_snapshot!(of_kdc("kinit: Cannot find KDC for realm \"VM.TEST\" while getting initial credentials"), @r#"Kerberos reports an error: kinit: Cannot find KDC for realm "VM.TEST" while getting initial credentials; set the realm's KDC in /etc/krb5.conf or in DNS"#);
        assert_snapshot!(of_kdc("kinit: Configuration file does not specify default realm when parsing name host/c"), @"Kerberos reports an error: kinit: Configuration file does not specify default realm when parsing name host/c; set the default realm in /etc/krb5.conf: [libdefaults] default_realm");
        assert_snapshot!(of_kdc("kinit: Something else"), @"Kerberos reports an error: kinit: Something else; make sure that kinit -k and kvno -S nfs filer.vm.test succeed");
    }
}
