//! LUKS as a hypervisor does it: in a separate process, outside the system that uses the disk.
//!
//! Adjacent layers are one chain in one qemu-storage-daemon. So a second layer adds its encryption
//! but no second hop between processes, like a host that encrypts an encrypted volume again. The
//! daemon serves the top of the chain through FUSE as a regular file. A LUKS node is always on top:
//! it copies data, which keeps qemu's FUSE export correct with several writes in flight. A raw node
//! would not.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use iotax_experiment::{Form, Layer};
use iotax_inspect::mounts;
use iotax_layers::QemuLuks;

use crate::disk_file::opens_directly;
use crate::layers::maker::prelude::*;

/// Space that cryptsetup reserves for the header if the payload is aligned to 4096 sectors.
const HEADER_BYTES: u64 = 2 << 20;
/// `--align-payload`, in sectors of 512 bytes.
const PAYLOAD_SECTORS: &str = "4096";
/// The minimum of LUKS1. A pass phrase of 256 random bits needs no stretching.
const ITERATIONS: &str = "1000";

const DAEMON: &str = "qemu-storage-daemon";

/// Neighbouring `luks` layers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Strengths of AES-XTS in bits, from bottom to top. Never empty.
    key_bits: Vec<u32>,
}

impl From<&QemuLuks> for Chain {
    fn from(luks: &QemuLuks) -> Self {
        Self { key_bits: vec![luks.key_bits] }
    }
}

impl Chain {
    /// The chain at the start of `layers`, and the layers above it; `None` if the first layer is
    /// another one.
    pub(crate) fn leading(layers: &[Layer]) -> Option<(Self, &[Layer])> {
        let key_bits = |layer: &Layer| match layer {
            Layer::QemuLuks(luks) => Some(luks.key_bits),
            _ => None,
        };
        let chain: Vec<u32> = layers.iter().map_while(key_bits).collect();
        let above = &layers[chain.len()..];
        (!chain.is_empty()).then_some((Self { key_bits: chain }, above))
    }
}

impl System for Chain {
    fn overhead_bytes(&self) -> u64 {
        HEADER_BYTES * self.key_bits.len() as u64
    }

    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let base = Base::of(&below, context);
        for (depth, key_bits) in self.key_bits.iter().enumerate() {
            if depth == 0 {
                format(&below.path, *key_bits, context)?;
                continue;
            }
            // The header of an inner layer is encrypted by the layers around it.
            let around = context.mount_file("luks-outer")?;
            let outer = base.serve(depth, &around, context);
            context.serve_while(
                outer,
                || mounts::is_mounted(&around),
                |context| format(&around, *key_bits, context),
            )?;
        }
        let at = context.mount_file("luks")?;
        let chain = base.serve(self.key_bits.len(), &at, context);
        context.serve(chain, || mounts::is_mounted(&at))?;
        allow_depth(&at, context)?;
        context.note(
            "the cost of the first luks layer includes qemu-storage-daemon and FUSE; each luks \
             layer directly above it adds only its own encryption",
        );
        Ok(Top::file(at))
    }
}

/// Writes a header with a new volume key.
fn format(on: &Path, key_bits: u32, context: &BuildContext<'_>) -> Result<(), Error> {
    // XTS takes two keys.
    let key_size = (2 * key_bits).to_string();
    let format = Program::new("cryptsetup")
        .args(["luksFormat", "--batch-mode", "--type", "luks1", "--uuid", &context.mark.uuid()?])
        .args(["--cipher", "aes-xts-plain64", "--key-size", &key_size, "--hash", "sha256"])
        .args(["--pbkdf-force-iterations", ITERATIONS, "--align-payload", PAYLOAD_SECTORS])
        .arg(on)
        .arg("-")
        .input(context.key.text().as_bytes());
    context.run(format).map(drop)
}

/// The base of the chain, in qemu's syntax.
struct Base {
    node: OsString,
}

impl Base {
    fn of(below: &Top, context: &mut BuildContext<'_>) -> Self {
        let is_device = below.form == Form::Block;
        let is_direct = is_device || opens_directly(&below.path);
        if !is_direct {
            context.caches(
                "qemu-storage-daemon reads the layer below luks through the page cache, because \
                 that layer does not support direct I/O",
            );
        }
        // io_uring works in the thread that handles the request, without a hand-over to a pool.
        // Single 4 KiB reads took 97 us instead of 142 us; everything else was equal.
        let aio = if io_uring::IoUring::new(2).is_ok() { "io_uring" } else { "threads" };
        if aio == "threads" {
            context.note("io_uring is not allowed here, so qemu-storage-daemon uses threads");
        }
        let driver = if is_device { "host_device" } else { "file" };
        let direct = if is_direct { "on" } else { "off" };
        // Nobody else uses the file, and the lock of a daemon that is just ending must not block
        // the next one.
        let mut node = OsString::from(format!(
            "driver={driver},node-name=n0,cache.direct={direct},aio={aio},locking=off,filename="
        ));
        node.push(escaped(&below.path));
        Self { node }
    }

    /// The daemon that serves the lowest `depth` layers of the chain at `at`.
    fn serve(&self, depth: usize, at: &Path, context: &BuildContext<'_>) -> Program {
        let mut daemon = Program::new(DAEMON)
            .args(["--object", "secret,id=key,file=/dev/stdin"])
            .input(context.key.text().as_bytes())
            .arg("--blockdev")
            .arg(&self.node);
        for above in 1..=depth {
            let below = above - 1;
            let node = format!("driver=luks,node-name=n{above},file=n{below},key-secret=key");
            daemon = daemon.args(["--blockdev", &node]);
        }
        let mut export = OsString::from(format!(
            "type=fuse,id=export,node-name=n{depth},writable=on,allow-other=off,mountpoint="
        ));
        export.push(escaped(at));
        daemon.arg("--export").arg(export)
    }
}

/// A path as the value of a qemu option, where a comma would end the value.
fn escaped(path: &Path) -> OsString {
    let double = |byte: &u8| std::iter::repeat_n(*byte, if *byte == b',' { 2 } else { 1 });
    OsString::from_vec(path.as_os_str().as_bytes().iter().flat_map(double).collect())
}

/// Where the controls of FUSE connections are usually mounted.
const CONTROLS: &str = "/sys/fs/fuse/connections";
/// More than the depth of any usual load, but few enough for a server that handles requests nested
/// on one stack, as qemu does.
const REQUESTS: &str = "256";

/// Allows large queue depths on the FUSE file system at `at`: the kernel holds back requests beyond
/// 12 asynchronous ones unless the server asked for more.
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
            "FUSE passes on at most 12 requests at a time, because \
             {CONTROLS}/{connection}/max_background could not be raised; at a larger queue depth, \
             the remaining requests wait in the kernel"
        ));
    }
    Ok(())
}

/// Raises both, because above the threshold the kernel treats the file system as congested.
fn raise(connection: &Path) -> bool {
    let mut controls = ["max_background", "congestion_threshold"].into_iter();
    controls.all(|control| fs::write(connection.join(control), REQUESTS).is_ok())
}

/// The number of the mount's connection, which is that of its device.
fn connection(at: &Path) -> Option<String> {
    let mount = mounts().ok()?.into_iter().rfind(|mount| mount.mount_point == at)?;
    Some(mount.device.minor.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_layers::Loop;

    #[test]
    fn neighbours_are_one_chain_and_what_is_between_parts_them() {
        let luks = |key_bits| Layer::QemuLuks(QemuLuks { key_bits });
        let loop_device = Layer::Loop(Loop { direct: true });
        let layers = [luks(256), luks(128), loop_device, luks(256)];
        let (first, above) = Chain::leading(&layers).unwrap();
        assert_eq!((first.key_bits, above.len()), (vec![256, 128], 2));
        assert_eq!(Chain::leading(above), None);
        assert_eq!(Chain::leading(&above[1..]).unwrap().0.key_bits, [256]);
    }

    #[test]
    fn a_comma_in_a_path_does_not_end_it() {
        assert_eq!(escaped(Path::new("/a,b/c=d,")), "/a,,b/c=d,,");
    }
}
