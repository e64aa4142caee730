//! What a mount over TLS needs, looked at before anything is made: kernels that do not know it only
//! say that an option is wrong.

use super::daemons::{self, KernelVersion};
use crate::needs::Missing;

/// The first kernel that has `xprtsec`.
const SINCE: KernelVersion = KernelVersion(6, 5);

/// What keeps connections from being encrypted by TLS.
pub(super) fn lacks() -> Option<Missing> {
    lacking(daemons::kernel(), daemons::may_run("tlshd"))
}

fn lacking(kernel: KernelVersion, has_tlshd: bool) -> Option<Missing> {
    if kernel < SINCE {
        return Some(Missing {
            what: format!(
                "the kernel is {kernel}, and encrypts NFS by TLS (xprtsec) from {SINCE} on"
            ),
            remedy: "use a newer kernel, sec=krb5p, or a tunnel below the mount (WireGuard)".into(),
        });
    }
    (!has_tlshd).then(|| Missing {
        what: "tlshd is not running, which does the handshakes of TLS for the kernel".into(),
        remedy: "install the package ktls-utils, and start it (systemctl start tlshd)".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn what_is_missing_comes_with_what_to_do() {
        let told = |kernel, has_tlshd| {
            let missing = lacking(kernel, has_tlshd);
            missing.map_or(String::new(), |Missing { what, remedy }| format!("{what}; {remedy}"))
        };
        assert_snapshot!(told(KernelVersion(6, 1), true), @"the kernel is 6.1, and encrypts NFS by TLS (xprtsec) from 6.5 on; use a newer kernel, sec=krb5p, or a tunnel below the mount (WireGuard)");
        assert_snapshot!(told(KernelVersion(6, 12), false), @"tlshd is not running, which does the handshakes of TLS for the kernel; install the package ktls-utils, and start it (systemctl start tlshd)");
        assert_eq!(told(KernelVersion(6, 5), true), "");
    }
}
