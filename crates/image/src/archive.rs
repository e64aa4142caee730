//! Writes an archive with an OCI image layout:
//! <https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md>.
//!
//! The archive contains one named index of architectures. Each architecture has a manifest, a
//! configuration and one layer. The same files always give the same bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Path of the program, without a leading slash.
const PROGRAM: &str = "usr/bin/iotax";

const WHAT: &str = "Shows which part of a storage stack is slow";

/// Additional directories, and their modes.
const DIRECTORIES: [(&str, u32); 2] = [("tmp", 0o1777), ("work", 0o1777)];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The image for one architecture.
#[derive(Debug)]
pub struct Platform {
    /// Architecture name as in Go and Debian.
    pub architecture: String,
    /// The program and the files that it needs.
    pub files: Vec<File>,
}

/// A file that all users can read and run.
#[derive(Debug, Clone)]
pub struct File {
    /// Path without a leading slash.
    pub path: String,
    pub content: Vec<u8>,
}

impl File {
    /// The program of the image, at its fixed path.
    pub fn program(content: Vec<u8>) -> Self {
        Self { path: PROGRAM.to_owned(), content }
    }
}

/// Blobs with their digests, in the order of addition.
#[derive(Default)]
struct Blobs(Vec<(String, Vec<u8>)>);

/// Writes the archive, with the time stamp `made` on all files. Returns the image digest in the
/// form that follows an `@` in image names.
///
/// # Errors
/// If writing fails.
pub fn write(to: impl Write, platforms: &[Platform], made: Timestamp) -> io::Result<String> {
    let seconds = u64::try_from(made.as_second()).unwrap_or_default();
    let created = made.strftime("%FT%TZ").to_string();
    let mut blobs = Blobs::default();
    let manifests = platforms
        .iter()
        .map(|platform| manifest(&mut blobs, platform, seconds, &created))
        .collect::<io::Result<Vec<_>>>()?;
    let index = json!({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": manifests,
        "annotations": annotations(&created),
    });
    let mut named = blobs.add(INDEX, index.to_string().into_bytes());
    let pinned = named["digest"].as_str().unwrap_or_default().to_owned();
    named["annotations"] = json!({
        "org.opencontainers.image.ref.name": name(),
        // The name in containerd on a node, for pods that use the short name.
        "io.containerd.image.name": format!("docker.io/library/{}", name()),
    });
    let top = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [named] });

    let mut entries = BTreeMap::new();
    entries.insert("oci-layout".to_owned(), br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec());
    entries.insert("index.json".to_owned(), top.to_string().into_bytes());
    entries.extend(blobs.0.into_iter().map(|(hex, bytes)| (format!("blobs/sha256/{hex}"), bytes)));
    let mut layout = Builder::new(to);
    for (path, bytes) in &entries {
        add(&mut layout, path, 0o644, bytes, seconds)?;
    }
    layout.into_inner()?.flush()?;
    Ok(pinned)
}

/// The name of the image in the archive, which `podman load` uses.
pub fn name() -> String {
    format!("iotax:{VERSION}")
}

/// Adds the manifest, configuration and layer of a platform. Returns the manifest's descriptor.
fn manifest(
    blobs: &mut Blobs,
    platform: &Platform,
    seconds: u64,
    created: &str,
) -> io::Result<Value> {
    let layer = layer(&platform.files, seconds)?;
    let uncompressed = digest(&layer);
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(&layer)?;
    let layer = blobs.add(LAYER, packed.finish()?);
    let config = json!({
        "created": created,
        "architecture": platform.architecture,
        "os": "linux",
        "config": {
            "Entrypoint": [format!("/{PROGRAM}")],
            "Env": ["PATH=/usr/bin"],
            "WorkingDir": "/work",
            "Labels": annotations(created),
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{uncompressed}")] },
        "history": [{ "created": created, "created_by": "iotax" }],
    });
    let config = blobs.add(CONFIG, config.to_string().into_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
    });
    let mut descriptor = blobs.add(MANIFEST, manifest.to_string().into_bytes());
    descriptor["platform"] = json!({ "architecture": platform.architecture, "os": "linux" });
    Ok(descriptor)
}

fn annotations(created: &str) -> Value {
    json!({
        "org.opencontainers.image.title": "iotax",
        "org.opencontainers.image.description": WHAT,
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
        "org.opencontainers.image.created": created,
    })
}

/// Returns the files and their parent directories, owned by root and sorted by name.
fn layer(files: &[File], seconds: u64) -> io::Result<Vec<u8>> {
    let mut entries: BTreeMap<String, (u32, Option<&[u8]>)> = BTreeMap::new();
    for (directory, mode) in DIRECTORIES {
        entries.insert(format!("{directory}/"), (mode, None));
    }
    for File { path, content } in files {
        for (slash, _) in path.match_indices('/') {
            entries.insert(path[..=slash].to_owned(), (0o755, None));
        }
        entries.insert(path.clone(), (0o755, Some(content)));
    }
    let mut archive = Builder::new(Vec::new());
    for (path, (mode, content)) in entries {
        add(&mut archive, &path, mode, content.unwrap_or_default(), seconds)?;
    }
    archive.into_inner()
}

/// Adds a file, or a directory if the path ends with a slash.
fn add(
    archive: &mut Builder<impl Write>,
    path: &str,
    mode: u32,
    content: &[u8],
    seconds: u64,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    let is_directory = path.ends_with('/');
    header.set_entry_type(if is_directory { EntryType::Directory } else { EntryType::Regular });
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(seconds);
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, path, content)
}

impl Blobs {
    /// Adds a blob and returns its descriptor.
    fn add(&mut self, media_type: &str, content: Vec<u8>) -> Value {
        let digest = digest(&content);
        let descriptor = json!({
            "mediaType": media_type,
            "digest": format!("sha256:{digest}"),
            "size": content.len(),
        });
        self.0.push((digest, content));
        descriptor
    }
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn written(seconds: i64) -> Vec<u8> {
        let platform = |architecture: &str| Platform {
            architecture: architecture.to_owned(),
            files: vec![File::program(b"#!".to_vec())],
        };
        let made = Timestamp::from_second(seconds).unwrap();
        let mut archive = Vec::new();
        write(&mut archive, &[platform("amd64"), platform("arm64")], made).unwrap();
        archive
    }

    fn entries(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(archive);
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.path().unwrap().to_string_lossy().into_owned(), bytes)
        });
        entries.collect()
    }

    /// Returns the blob of a descriptor after checking its digest and size.
    fn blob(entries: &BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Vec<u8> {
        let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        let bytes = &entries[&format!("blobs/sha256/{digest}")];
        assert_eq!(super::digest(bytes), digest);
        assert_eq!(descriptor["size"], bytes.len());
        bytes.clone()
    }

    fn parsed(entries: &BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Value {
        serde_json::from_slice(&blob(entries, descriptor)).unwrap()
    }

    #[test]
    fn every_digest_on_the_way_to_a_program_is_that_of_its_content() {
        let entries = entries(&written(1_700_000_000));
        let top: Value = serde_json::from_slice(&entries["index.json"]).unwrap();
        let index = parsed(&entries, &top["manifests"][0]);
        let architectures: Vec<_> = index["manifests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|descriptor| {
                let manifest = parsed(&entries, descriptor);
                let config = parsed(&entries, &manifest["config"]);
                assert_eq!(config["created"], "2023-11-14T22:13:20Z");
                let packed = blob(&entries, &manifest["layers"][0]);
                let mut layer = Vec::new();
                flate2::read::GzDecoder::new(&*packed).read_to_end(&mut layer).unwrap();
                let own = format!("sha256:{}", digest(&layer));
                assert_eq!(config["rootfs"]["diff_ids"], json!([own]));
                let files = self::entries(&layer);
                assert_eq!(files["usr/bin/iotax"], b"#!");
                let names: Vec<&str> =
                    files.keys().map(|name| name.trim_end_matches('/')).collect();
                assert_eq!(names, ["tmp", "usr", "usr/bin", "usr/bin/iotax", "work"]);
                assert_eq!(config["architecture"], descriptor["platform"]["architecture"]);
                config["architecture"].clone()
            })
            .collect();
        assert_eq!(architectures, ["amd64", "arm64"]);
    }

    #[test]
    fn the_same_is_written_again() {
        assert_eq!(written(1_700_000_000), written(1_700_000_000));
    }
}
