//! A list of the crates that a program contains (SBOM), in `CycloneDX` 1.5:
//! <https://cyclonedx.org/docs/1.5/json/>.
//!
//! `cargo tree` resolves features for one package and one machine, as a build does. `cargo metadata`
//! resolves them for the whole workspace, so it also lists crates that only tests use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use iotax_image::digest;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::commands::said;
use super::release::{VERSION, made};
use crate::cargo;

/// A crate, and what it depends on.
#[derive(Default)]
struct Crate {
    name: String,
    version: String,
    license: String,
    /// Crates of the workspace are not on crates.io.
    is_published: bool,
    dependencies: BTreeSet<String>,
}

/// Crates by reference.
type Crates = BTreeMap<String, Crate>;

/// Writes the list for `program`: built for `triple` with what a release has, or by the tests.
pub(super) fn write(file: &Path, program: &Path, triple: Option<&str>) -> Result<()> {
    let mut tree = cargo::command(&["tree", "--package", "iotax", "--locked"]);
    tree.args(["--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", "{p}|{l}"]);
    if let Some(triple) = triple {
        tree.args(["--features", "kubernetes", "--target", triple]);
    }
    let crates = read(&said(&mut tree)?)?;
    let content = fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let time = Timestamp::from_second(made()?.parse().context("a time in seconds")?)?;
    let text = serde_json::to_string_pretty(&document(&crates, &digest(&content), time)?)?;
    fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()))
}

/// Reads lines such as `1anstyle v1.0.14|MIT OR Apache-2.0`, which begin with the depth.
fn read(tree: &str) -> Result<Crates> {
    let (mut all, mut above) = (Crates::new(), Vec::<String>::new());
    for line in tree.lines() {
        let parsed = || {
            let start = line.find(|c: char| !c.is_ascii_digit())?;
            let (package, license) = line[start..].split_once('|')?;
            let (name, version) = package.split_once(" v")?;
            Some((line[..start].parse::<usize>().ok()?, name, version, license))
        };
        let (depth, name, version, license) =
            parsed().with_context(|| format!("cargo tree printed `{line}`"))?;
        let (version, path) = version.split_once(' ').unwrap_or((version, ""));
        let reference = format!("{name}@{version}");
        above.truncate(depth);
        if let Some(dependent) = above.last().and_then(|dependent| all.get_mut(dependent)) {
            dependent.dependencies.insert(reference.clone());
        }
        // The subtree of a crate that was listed before is replaced by this mark.
        let license = license.trim_end_matches(" (*)").replace('/', " OR ");
        all.entry(reference.clone()).or_insert_with(|| Crate {
            name: name.to_owned(),
            version: version.to_owned(),
            license,
            is_published: path.is_empty(),
            dependencies: BTreeSet::new(),
        });
        above.push(reference);
    }
    Ok(all)
}

fn document(crates: &Crates, digest: &str, time: Timestamp) -> Result<Value> {
    let root = format!("iotax@{VERSION}");
    let mut program = crates.get(&root).map(|root| component(root, "application"));
    let program = program.as_mut().with_context(|| format!("cargo tree does not list {root}"))?;
    program["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
    let libraries = crates.iter().filter(|(reference, _)| **reference != root);
    let libraries: Vec<Value> = libraries.map(|(_, one)| component(one, "library")).collect();
    ensure!(!libraries.is_empty(), "cargo tree lists only {root}");
    let edges = crates.iter().map(|(reference, one)| {
        let on: Vec<String> = one.dependencies.iter().map(|on| reference_of(crates, on)).collect();
        json!({ "ref": reference_of(crates, reference), "dependsOn": on })
    });
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": time.to_string(), "component": program },
        "components": libraries,
        "dependencies": edges.collect::<Vec<_>>(),
    }))
}

fn component(one: &Crate, kind: &str) -> Value {
    let mut component = json!({
        "type": kind, "bom-ref": one.reference(), "name": one.name, "version": one.version,
    });
    if one.is_published {
        component["purl"] = one.reference().into();
    }
    if !one.license.is_empty() {
        component["licenses"] = json!([{ "expression": one.license }]);
    }
    component
}

fn reference_of(crates: &Crates, reference: &str) -> String {
    crates.get(reference).map_or_else(|| reference.to_owned(), Crate::reference)
}

impl Crate {
    /// A package URL, if others can look it up: <https://github.com/package-url/purl-spec>.
    fn reference(&self) -> String {
        let Self { name, version, .. } = self;
        if self.is_published {
            format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
        } else {
            format!("{name}@{version}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_crate_once_with_its_dependencies() {
        let tree = format!(
            "0iotax v{VERSION} (/c/crates/cli)|MIT OR Apache-2.0\n1iotax-load v{VERSION} \
             (/c/crates/load)|MIT\n2libc v0.2.1|MIT/Apache-2.0\n1tool v1.0.0+git|\n\
             2libc v0.2.1|MIT/Apache-2.0 (*)\n"
        );
        let list = document(&read(&tree).unwrap(), "01", Timestamp::UNIX_EPOCH).unwrap();
        let program = &list["metadata"]["component"];
        assert_eq!([&program["name"], &program["hashes"][0]["content"]], ["iotax", "01"]);
        let names: Vec<_> = list["components"].as_array().unwrap().iter().collect();
        assert_eq!(names.len(), 3, "{list:#}");
        let (load, libc, tool) = (names[0], names[1], names[2]);
        assert!(load["purl"].is_null() && tool["licenses"].is_null(), "{list:#}");
        assert_eq!(libc["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(tool["purl"], "pkg:cargo/tool@1.0.0%2Bgit");
        let of = |at: usize| &list["dependencies"][at];
        assert_eq!([&of(0)["ref"], &of(1)["ref"]], [&load["bom-ref"], &program["bom-ref"]]);
        assert_eq!(of(0)["dependsOn"], json!([libc["bom-ref"]]), "{list:#}");
        assert_eq!(of(1)["dependsOn"], json!([load["bom-ref"], tool["bom-ref"]]), "{list:#}");
    }

    #[test]
    fn a_line_that_is_not_a_crate_is_an_error() {
        assert!(read("warning: something else\n").is_err());
    }
}
