//! Detects the tool of a result from the content of the file, not from its name.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::imported::Imported;
use super::{diskspd, fio, iperf3, k8s_netperf, knb};
use crate::error::Error;

/// Longer files are not read.
const LONGEST_BYTES: u64 = 256 << 20;
/// Length of the start of a file that is used for detection: fio may print warnings before its
/// JSON.
const START_BYTES: usize = 64 << 10;

/// The tool that made a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultTool {
    /// fio, in JSON or JSON+; iotax's own JSON of a run has the same format.
    Fio,
    /// `DiskSpd`, in XML; for text, [`open`] says what to do.
    Diskspd,
    /// iperf3, in JSON.
    Iperf3,
    /// knb, in JSON; for other formats, [`open`] says what to do.
    Knb,
    /// k8s-netperf, in JSON; for CSV likewise.
    K8sNetperf,
}

impl ResultTool {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Diskspd => "DiskSpd",
            Self::Iperf3 => "iperf3",
            Self::Knb => "knb",
            Self::K8sNetperf => "k8s-netperf",
        }
    }
}

/// The tool whose result begins with `start`; `None` if unknown.
pub fn sniff(start: &[u8]) -> Option<ResultTool> {
    let text = decoded(start);
    let text = text.trim_start();
    // A client of fio starts its lines with the name of the server in the same brackets.
    if text.starts_with('<') && text.contains("<Results") {
        return Some(ResultTool::Diskspd);
    }
    // It is not read, only distinguished from files that are not results.
    if diskspd::is_text(text) {
        return Some(ResultTool::Diskspd);
    }
    if iperf3::is_start(text) {
        return Some(ResultTool::Iperf3);
    }
    if knb::is_start(text) {
        return Some(ResultTool::Knb);
    }
    if k8s_netperf::is_start(text) {
        return Some(ResultTool::K8sNetperf);
    }
    (text.contains('{') && text.contains("\"fio version\"")).then_some(ResultTool::Fio)
}

/// The tool that made the file at `path`; `None` if unknown, or not a regular file.
///
/// # Errors
/// [`Error::Read`] if it exists and cannot be read.
pub fn sniff_file(path: &Path) -> Result<Option<ResultTool>, Error> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        _ => return Ok(None),
    }
    let start = read(path, START_BYTES as u64)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(sniff(&start))
}

/// Reads the result at `path`.
///
/// # Errors
/// [`Error::Read`], [`Error::TooLong`], [`Error::NotAResult`] if it is not a result, or
/// [`Error::Broken`] with the position if it is damaged.
pub fn open(path: &Path) -> Result<Imported, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(cannot(io::Error::other("it is not a regular file")));
    }
    if metadata.len() > LONGEST_BYTES {
        let (path, bytes) = (path.to_owned(), metadata.len());
        return Err(Error::TooLong { path, bytes, limit: LONGEST_BYTES });
    }
    let bytes = read(path, LONGEST_BYTES).map_err(cannot)?;
    let Some(tool) = sniff(&bytes[..bytes.len().min(START_BYTES)]) else {
        if is_report(&decoded(&bytes)) {
            return Err(Error::Report { path: path.to_owned() });
        }
        return Err(Error::NotAResult { path: path.to_owned(), begins: beginning(&bytes) });
    };
    let text = decoded(&bytes);
    let found = match tool {
        ResultTool::Fio => fio::read_fio(&text),
        ResultTool::Diskspd => diskspd::read_diskspd(&text),
        ResultTool::Iperf3 => iperf3::read_iperf3(&text),
        ResultTool::Knb => knb::read_knb(&text),
        ResultTool::K8sNetperf => k8s_netperf::read_k8s_netperf(&text),
    };
    found.map_err(|source| Error::Broken { path: path.to_owned(), source })
}

/// Whether it is output of `iotax compare --format json`.
fn is_report(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && ["\"json_format\"", "\"iotax_version\""].iter().all(|key| text.contains(key))
}

fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As text: UTF-8, or UTF-16 as written by `>` in a Windows shell. Invalid characters are replaced:
/// names of files may contain anything.
fn decoded(bytes: &[u8]) -> String {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units = bytes[2..].as_chunks::<2>().0.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The start of the first line that is not empty; for binary data, what it looks like.
fn beginning(bytes: &[u8]) -> String {
    let text = decoded(&bytes[..bytes.len().min(400)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = include_str!("../../tests/fixtures/diskspd/before.xml");

    #[test]
    fn a_result_is_known_by_what_is_in_it() {
        assert_eq!(
            sniff(b"fio: a warning\n{\n  \"fio version\" : \"fio-3.33\","),
            Some(ResultTool::Fio)
        );
        assert_eq!(
            sniff(b"<vm> j: (g=0)\n\n{\n  \"fio version\" : \"fio-3.33\","),
            Some(ResultTool::Fio)
        );
        assert_eq!(sniff(XML.as_bytes()), Some(ResultTool::Diskspd));
        assert_eq!(sniff(b"{\"start\":{\"version\":\t\"iperf 3.12\","), Some(ResultTool::Iperf3));
        for other in ["", "{}", "<html>", "\0\0\0", "{\"json_format\": 1}", "{\"version\": \"3\"}"]
        {
            assert_eq!(sniff(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn what_a_shell_of_windows_writes_is_read() {
        let little: Vec<u8> =
            [0xff, 0xfe].into_iter().chain(XML.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(sniff(&little), Some(ResultTool::Diskspd));
        assert_eq!(decoded(&little), XML);
        let marked = [&[0xef, 0xbb, 0xbf], XML.as_bytes()].concat();
        assert_eq!(decoded(&marked), XML);
        assert_eq!(decoded(&[0xff, 0xfe, 0x41]), "", "half a character is none");
    }

    #[test]
    fn what_is_nobodys_result_says_what_was_expected() {
        let dir = tempfile::tempdir().unwrap();
        let error = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            let error = open(&path).unwrap_err().to_string();
            error.replace(&dir.path().display().to_string(), "DIR")
        };
        insta::assert_snapshot!(error("a.json", "\n{\"json_format\": 1}"), @r#"DIR/a.json is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `{"json_format": 1}`"#);
        insta::assert_snapshot!(error("r.json", "{\"json_format\": 1, \"iotax_version\": \"1\"}"), @"DIR/r.json is the JSON report of an iotax comparison and contains no measurements; pass the results directory of that comparison");
        insta::assert_snapshot!(error("empty", ""), @"DIR/empty is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it is empty");
        insta::assert_snapshot!(error("b.xml", "<Results>\n<System>"), @"DIR/b.xml: line 2: it ends inside <System>: the file is incomplete; diskspd -Rxml writes XML results");
        insta::assert_snapshot!(error("d.txt", "\nCommand Line: diskspd -b4K x\n\nInput parameters:\n\n\ttimespan:   1\n"), @"DIR/d.txt: this is DiskSpd's text output, which is rounded and incomplete; run DiskSpd again with -Rxml and save its output");
        insta::assert_snapshot!(error("c.json", "{\"fio version\": \"fio-3.33\", \"jobs\": ["), @"DIR/c.json: line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
        let long = dir.path().join("long");
        File::create(&long).unwrap().set_len(LONGEST_BYTES + 1).unwrap();
        let long = open(&long).unwrap_err().to_string();
        insta::assert_snapshot!(long.replace(&dir.path().display().to_string(), "DIR"), @"DIR/long is 268435457 bytes long; the limit for a result file is 268435456 bytes");
        let missing = open(&dir.path().join("none")).unwrap_err().to_string();
        insta::assert_snapshot!(missing.replace(&dir.path().display().to_string(), "DIR"), @"cannot read DIR/none: No such file or directory (os error 2)");
    }
}
