//! Secrets of a program do not reach its recording.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use iotax_capture::Subject;
use iotax_testing::needs_bpf;

use crate::support::{Trace, record};

const SECRETS: usize = 1000;
const LONG: usize = 16;

/// Random, so that none is in the recording by chance, and all of one length.
fn secrets() -> Vec<String> {
    let mut seed = 88_172_645_463_325_252_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        format!("{seed:016x}")
    };
    (0..SECRETS).map(|_| next()).collect()
}

/// Inflates whatever can be inflated from each byte of the recording.
fn inflated(bytes: &[u8]) -> Vec<Vec<u8>> {
    let from = |at: usize| {
        let mut out = Vec::new();
        // A stream that ends in garbage still gave what came before.
        let _ = flate2::read::DeflateDecoder::new(&bytes[at..]).take(1 << 20).read_to_end(&mut out);
        out
    };
    (0..bytes.len()).map(from).filter(|out| out.len() >= LONG).collect()
}

fn found<'a>(haystack: &[u8], secrets: &HashSet<&'a [u8]>) -> Option<&'a [u8]> {
    haystack.windows(LONG).find_map(|window| secrets.get(window).copied())
}

#[test]
fn no_secret_of_a_thousand_is_in_a_recording() {
    if !needs_bpf() {
        return;
    }
    let secrets = secrets();
    let place = tempfile::tempdir().unwrap();
    let output = tempfile::tempdir().unwrap();
    // Names, contents, links, directories, arguments of a command, variables of the environment.
    let mut script = String::from("set -e; cd \"$1\"\n");
    for (number, secret) in secrets.iter().enumerate() {
        match number % 5 {
            0 => writeln!(script, "echo {number} > {secret}; mv {secret} x{number}; rm x{number}"),
            1 => writeln!(script, "echo {secret} > file{number}"),
            2 => writeln!(script, "mkdir -p {secret}/below; echo a > {secret}/below/file"),
            3 => writeln!(script, "export V{number}={secret}; test -e {secret} || :"),
            _ => writeln!(script, "/bin/true {secret}; ln -s {secret} link{number}"),
        }
        .unwrap();
    }
    let program = place.path().join("script");
    fs::write(&program, script).unwrap();
    let command = ["sh".into(), program.into_os_string(), place.path().as_os_str().to_owned()];
    let trace = output.path().join("x.iotx");
    let done = record(&Subject::Command(command.to_vec()), &trace, &mut || ());
    assert!(done.failure.is_none());
    assert!(Trace::read(&trace).events.len() > SECRETS, "the script ran");
    let sought: HashSet<&[u8]> = secrets.iter().map(String::as_bytes).collect();
    // The search finds what is there.
    assert_eq!(found(secrets[3].as_bytes(), &sought), Some(secrets[3].as_bytes()));
    let name = place.path().file_name().unwrap().as_bytes();
    assert!(!contains(&trace, name));
    let bytes = fs::read(&trace).unwrap();
    assert_eq!(found(&bytes, &sought), None);
    let parts = inflated(&bytes);
    assert!(parts.iter().any(|part| part.windows(8).any(|it| it == b"\"kernel\"")), "the head");
    for part in parts {
        assert_eq!(found(&part, &sought), None);
    }
}

fn contains(path: &Path, name: &[u8]) -> bool {
    fs::read(path).unwrap().windows(name.len()).any(|window| window == name)
}
