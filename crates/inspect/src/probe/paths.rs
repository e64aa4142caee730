//! The paths that were asked about, in the time that there is: some may be served by nobody.

use std::io::ErrorKind;
use std::path::{Path, absolute};
use std::time::{Duration, Instant};

use iotax_record::machine::PathSeen;

use super::place::{named, place};
use crate::deadline::within;
use crate::mounts::{Mount, covering};
use crate::stack::Stack;

/// After so long no further path is looked at: one that nobody serves takes a second, and those after
/// it are still seen.
const PATHS_LIMIT: Duration = Duration::from_millis(1500);
/// How long a path that answered may take to say more of itself.
const PATH_LIMIT: Duration = Duration::from_millis(200);

/// Each path, with its place in the stack if it answers.
pub(super) fn looked_at(stack: &mut Stack<'_>, mounts: &[Mount], paths: &[&Path]) -> Vec<PathSeen> {
    let started = Instant::now();
    let mut silent: Vec<u64> = Vec::new();
    let each = paths.iter().map(|path| {
        let problem = |problem: String| PathSeen { problem: Some(problem), ..named(path) };
        let remote = remote(mounts, path);
        if let Some(mount) = remote.filter(|mount| silent.contains(&mount.id)) {
            let at = mount.mount_point.display();
            return problem(format!("not looked at: what serves {at} did not answer before"));
        }
        if started.elapsed() >= PATHS_LIMIT {
            return problem("not looked at: those before it took too long to answer".to_owned());
        }
        match stack.path(path) {
            Ok(Some(top)) => {
                let asked = path.to_path_buf();
                // It answered a moment ago, and may be gone since.
                let told = within(PATH_LIMIT, move || place(&asked));
                PathSeen { top: Some(top), ..told.unwrap_or_else(|| named(path)) }
            }
            Ok(None) => problem("neither a mount nor a device is known to hold it".to_owned()),
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                silent.extend(remote.map(|mount| mount.id));
                problem("no answer within a second: what serves it may be gone".to_owned())
            }
            Err(error) => problem(error.to_string()),
        }
    });
    each.collect()
}

/// The mount that a path names, if somebody serves it who can be gone. Links may lead elsewhere,
/// most of all from the root, which is asked each time.
fn remote<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let mount = covering(mounts, None, &absolute(path).ok()?)?;
    (mount.device.major == 0 && mount.mount_point != Path::new("/")).then_some(mount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::parse_mountinfo;

    #[test]
    fn only_what_somebody_serves_can_be_silent() {
        let mounts = parse_mountinfo(
            "1 0 0:30 / / rw - overlay o rw\n2 1 8:1 / /data rw - ext4 /dev/sda1 rw\n\
             3 1 0:44 / /mnt/nfs rw - nfs4 s:/x rw\n",
        );
        let at = |path: &str| remote(&mounts, Path::new(path)).map(|mount| mount.id);
        assert_eq!(at("/mnt/nfs/a/b"), Some(3));
        assert_eq!([at("/data/x"), at("/mnt"), at("")], [None; 3]);
    }
}
