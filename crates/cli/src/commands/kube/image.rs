use std::fs::File;
use std::io;
use std::path::Path;

use iotax_image::{Platform, name, of_file, this_program, write};
use jiff::Timestamp;
use serde_json::json;

use crate::args::KubeImageArgs;
use crate::exit::{Context as _, Exit, Result, usage};
use crate::output::list;

/// `iotax kube image`
pub(super) fn image(args: &KubeImageArgs) -> Result<Exit> {
    let KubeImageArgs { save, program, format } = args;
    let mut platforms = vec![this_program().context("cannot read the iotax program")?];
    for path in program {
        let other = of_file(path)
            .with_context(|| format!("--program {}: cannot be used", path.display()))?;
        if platforms.iter().any(|platform| platform.architecture == other.architecture) {
            return Err(usage(format!(
                "--program {}: the image already has a program for {}; give one for another \
                 architecture",
                path.display(),
                other.architecture
            )));
        }
        platforms.push(other);
    }
    let made = built().context("cannot read the iotax program")?;
    let cannot = || format!("cannot write {}", save.display());
    let file = File::create(save).with_context(cannot)?;
    let digest = write(io::BufWriter::new(&file), &platforms, made).with_context(cannot)?;
    file.sync_all().with_context(cannot)?;
    let bytes = file.metadata()?.len();
    let value = || {
        json!({
            "file": save,
            "bytes": bytes,
            "image": name(),
            "digest": digest,
            "architectures": architectures(&platforms),
        })
    };
    list(*format, || text(save, &platforms, &digest, bytes), value)
}

/// When the program was built, so that its image is always the same.
fn built() -> io::Result<Timestamp> {
    let modified = std::env::current_exe()?.metadata()?.modified()?;
    Timestamp::try_from(modified).map_err(io::Error::other)
}

fn architectures(platforms: &[Platform]) -> Vec<&str> {
    platforms.iter().map(|platform| platform.architecture.as_str()).collect()
}

fn text(save: &Path, platforms: &[Platform], digest: &str, bytes: u64) -> String {
    let (file, name) = (save.display(), name());
    let machines = architectures(platforms).join(" and ");
    let size = iotax_quantity::size(bytes);
    format!(
        "{file}: {name} for {machines}, {size}
digest {digest}

On each node:          ctr --namespace k8s.io images import {file}
Or push to a registry: skopeo copy oci-archive:{file} docker://REGISTRY/{name}
And with each command: --image REGISTRY/{name}, or pinned:
                       --image REGISTRY/iotax@{digest}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_with_the_image_is_told() {
        let platform = |name: &str| Platform { architecture: name.to_owned(), files: Vec::new() };
        let platforms = [platform("amd64"), platform("arm64")];
        let told = text(Path::new("iotax.tar"), &platforms, "sha256:0123", 10 << 20);
        insta::assert_snapshot!(told, @"
        iotax.tar: iotax:0.1.0 for amd64 and arm64, 10 MiB
        digest sha256:0123

        On each node:          ctr --namespace k8s.io images import iotax.tar
        Or push to a registry: skopeo copy oci-archive:iotax.tar docker://REGISTRY/iotax:0.1.0
        And with each command: --image REGISTRY/iotax:0.1.0, or pinned:
                               --image REGISTRY/iotax@sha256:0123
        ");
    }
}
