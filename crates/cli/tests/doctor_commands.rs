//! The commands that the doctor suggests are ones that this program takes.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use iotax_analyze::doctor::findings;
use iotax_record::Machine;
use iotax_spec::CloudChoice;

/// The commands that are suggested for a machine whose paths all lie in `home`.
fn suggested(file: &Path, home: &Path) -> Vec<String> {
    let mut machine: Machine =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let moved = |path: &str| home.join(path.trim_start_matches('/')).to_str().unwrap().to_owned();
    for path in &mut machine.paths {
        path.path = moved(&path.path);
        std::fs::create_dir_all(&path.path).unwrap();
    }
    for limits in &mut machine.groups.io {
        limits.path = moved(&limits.path);
    }
    let disk = match file.file_stem().unwrap().to_str().unwrap() {
        "aws-r6i-4xlarge-gp3" => Some("gp3:size=500G,iops=6000,bw=250M"),
        _ => None,
    };
    let disks = disk.into_iter().map(str::to_owned).collect();
    let findings = findings(&machine, &CloudChoice { disks, ..CloudChoice::default() });
    findings.into_iter().flat_map(|finding| finding.commands).collect()
}

/// What a shell makes of a command, if what is called is only asked what it would do.
fn asked(command: &str) -> (bool, String) {
    // The search for caps has no plan; its arguments are read before help is given.
    let ask = if command.starts_with("iotax limits ") { r#""$@" --help"# } else { r#"plan "$@""# };
    let script = format!("iotax() {{ \"$IOTAX\" {ask}; }}\n{command}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("IOTAX", env!("CARGO_BIN_EXE_iotax"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_suggested_command_can_be_planned() {
    let home = tempfile::Builder::new().prefix("it's a disk ").tempdir().unwrap();
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analyze/tests/machines");
    let files = std::fs::read_dir(machines).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let commands: BTreeSet<_> = files.flat_map(|file| suggested(&file, home.path())).collect();
    assert!(commands.len() > 40, "{commands:?}");
    for command in &commands {
        let (is_taken, says) = asked(command);
        assert!(is_taken, "{command}\n{says}");
    }
    for wrong in ["iotax run no-such-workload /tmp", "iotax limits --no-such-option /tmp"] {
        assert!(!asked(wrong).0, "{wrong}");
    }
}
