//! How many requests the kernel lets a FUSE file system have in flight.

use std::fs;
use std::path::Path;

use iotax_inspect::mounts;

use crate::build_context::BuildContext;
use crate::error::Error;
use crate::mounts;

/// Where the controls of FUSE connections are usually mounted.
const CONTROLS: &str = "/sys/fs/fuse/connections";
/// More than the depth of any usual load, and little enough for a server that handles them nested
/// in each other on one stack, as qemu does.
const REQUESTS: &str = "256";

/// Lets loads of a large depth through to the FUSE file system at `at`: the kernel holds back what
/// is beyond 12 asynchronous requests unless the server asked for more.
pub(crate) fn allow_depth(at: &Path, context: &mut BuildContext<'_>) -> Result<(), Error> {
    let Some(connection) = connection(at) else { return Ok(()) };
    let usual = Path::new(CONTROLS).join(&connection);
    let raised = if usual.is_dir() {
        raise(&usual)
    } else {
        let controls = context.mount_point("fusectl")?;
        mounts::mount(Path::new("iotax"), &controls, "fusectl", "")
            .is_ok_and(|()| raise(&controls.join(&connection)))
    };
    if !raised {
        context.note(format!(
            "FUSE lets 12 requests through at once: {CONTROLS}/{connection}/max_background could \
             not be raised, so a larger queue depth waits in the kernel"
        ));
    }
    Ok(())
}

/// Both, since above the threshold the kernel counts the file system as congested.
fn raise(connection: &Path) -> bool {
    let mut controls = ["max_background", "congestion_threshold"].into_iter();
    controls.all(|control| fs::write(connection.join(control), REQUESTS).is_ok())
}

/// The number of the mount's connection, which is that of its device.
fn connection(at: &Path) -> Option<String> {
    let mount = mounts().ok()?.into_iter().rfind(|mount| mount.mount_point == at)?;
    Some(mount.device.minor.to_string())
}
