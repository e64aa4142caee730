//! The kubectl plugin and its Krew manifest:
//! <https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/>.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use iotax_image::digest;
use serde_json::{Value, json};
use tar::{Builder, Header};

use super::release::{MACHINES, Machine, VERSION, made, place};
use crate::checkout::root;

/// The name that kubectl looks for in `PATH`.
const PLUGIN: &str = "kubectl-iotax";
/// The Krew index requires these files in the archive.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// Environment variable with the download URL of the archives, for the manifest.
const URL: &str = "IOTAX_RELEASE_URL";

/// Writes an archive for each platform, and one manifest.
pub(super) fn write() -> Result<()> {
    let seconds = made()?.parse().context("git did not print a time in seconds")?;
    let url = std::env::var(URL).unwrap_or_else(|_| format!("file://{}", place().display()));
    let mut platforms = Vec::new();
    for machine in &MACHINES {
        let mut files = vec![(PLUGIN, 0o755, fs::read(machine.program())?)];
        for license in LICENSES {
            files.push((license, 0o644, fs::read(root().join(license))?));
        }
        let packed = pack(&files, seconds)?;
        fs::write(machine.plugin(), &packed)?;
        platforms.push(platform(machine, &url, &digest(&packed)));
    }
    let manifest = serde_json::to_string_pretty(&manifest(&platforms))?;
    // JSON is valid YAML.
    fs::write(place().join("iotax.yaml"), manifest + "\n")?;
    Ok(())
}

fn pack(files: &[(&str, u32, Vec<u8>)], seconds: u64) -> Result<Vec<u8>> {
    let packed = GzBuilder::new().write(Vec::new(), Compression::default());
    let mut archive = Builder::new(packed);
    for (path, mode, content) in files {
        let mut header = Header::new_ustar();
        header.set_mode(*mode);
        header.set_mtime(seconds);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn platform(machine: &Machine, url: &str, digest: &str) -> Value {
    let archive = machine.plugin();
    let file = archive.file_name().map_or(&*archive, Path::new).display();
    let names = [PLUGIN].into_iter().chain(LICENSES);
    let files: Vec<Value> = names.map(|name| json!({ "from": name, "to": "." })).collect();
    json!({
        "selector": { "matchLabels": { "os": "linux", "arch": machine.name } },
        "uri": format!("{url}/{file}"),
        "sha256": digest,
        "bin": PLUGIN,
        "files": files,
    })
}

fn manifest(platforms: &[Value]) -> Value {
    json!({
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": { "name": "iotax" },
        "spec": {
            "version": format!("v{VERSION}"),
            "shortDescription": "Compare storage classes, volumes and nodes",
            "description": "Shows which part of your storage stack is slow. Compares storage \
                classes, volumes and nodes under a load that resembles your application. The arms \
                alternate in random order until the result is statistically clear.\n",
            "caveats": "Pods need an image of the same version; see kubectl iotax image --help.\n",
            "platforms": platforms,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_each_machines_archive_and_its_digest() {
        let platforms = MACHINES.iter().map(|machine| platform(machine, "https://a.example", "01"));
        let manifest = manifest(&platforms.collect::<Vec<_>>());
        let of = |at: usize, what: &str| manifest["spec"]["platforms"][at][what].clone();
        assert_eq!(of(1, "uri"), format!("https://a.example/iotax-{VERSION}-linux-arm64.tar.gz"));
        assert_eq!([of(0, "sha256"), of(0, "bin")], ["01", PLUGIN]);
        // The Krew index accepts at most 50 characters.
        assert!(manifest["spec"]["shortDescription"].as_str().unwrap().len() <= 50);
        let packed = pack(&[(PLUGIN, 0o755, b"#!".to_vec())], 1).unwrap();
        let unpacked = flate2::read::GzDecoder::new(&*packed);
        let mut archive = tar::Archive::new(unpacked);
        let entry = archive.entries().unwrap().next().unwrap().unwrap();
        assert_eq!(entry.path().unwrap().display().to_string(), PLUGIN);
        assert_eq!(entry.header().mode().unwrap(), 0o755);
    }
}
