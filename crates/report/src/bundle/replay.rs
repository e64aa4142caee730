//! Job files of a phase that replays a recording: one that creates its files, and one that replays
//! its log in them.

use iotax_dialects::fio_write::{self, Section};

use super::{BundleFile, Recorded, RecordedFile};

const LAYOUT_BLOCK_BYTES: u64 = 1 << 20;

/// fio looks for the log in its working directory, where the script links it.
fn log_name(phase: &str) -> String {
    format!("replay-{phase}.log")
}

/// The job that replays the log.
pub(super) fn section(phase: &str, direct: bool) -> Section {
    let mut section = Section { name: "replay".to_owned(), options: Vec::new() };
    section.set("ioengine", "psync");
    section.set("read_iolog", log_name(phase));
    section.set("direct", if direct { "1" } else { "0" });
    section.set("thread", "1");
    section
}

/// One section for each file. fio refuses blocks that are larger than the file.
fn layout(files: &[RecordedFile]) -> Vec<Section> {
    let section = |file: &RecordedFile| {
        let mut section = Section { name: file.name.clone(), options: Vec::new() };
        section.set("filename", file.name.as_str());
        // fio fills the files of a job that reads.
        section.set("rw", "read");
        section.set("bs", file.bytes.min(LAYOUT_BLOCK_BYTES).to_string());
        section.set("size", file.bytes.to_string());
        section.set("create_only", "1");
        section.set("thread", "1");
        section
    };
    files.iter().map(section).collect()
}

pub(super) fn files(
    phase: &str,
    head: &str,
    sections: &[Section],
    recorded: &Recorded,
) -> Vec<BundleFile> {
    let file = |name: &str, text: String| BundleFile {
        path: format!("jobs/{phase}{name}"),
        text,
        executable: false,
    };
    let mut files = vec![
        file("-directory.fio", format!("{head}{}", fio_write::text(sections))),
        file(".log", recorded.log.clone()),
    ];
    if !recorded.files.is_empty() {
        let layout = layout(&recorded.files);
        files.push(file("-layout.fio", format!("{head}{}", fio_write::text(&layout))));
    }
    if recorded.is_of_device {
        let mut in_file = sections.to_vec();
        for section in &mut in_file {
            section.set("replay_redirect", "target");
        }
        files.push(file("-file.fio", format!("{head}{}", fio_write::text(&in_file))));
        files.push(file(".spans", String::new()));
    }
    files
}
