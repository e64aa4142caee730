//! The files of a bundle, and all of them in one: the same bundle always gives the same bytes.

use std::io::{self, Write as _};

use flate2::{Compression, GzBuilder};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Where, relative to the bundle.
    pub path: String,
    /// What stands in it.
    pub text: String,
    /// Whether it is a program.
    pub executable: bool,
}

/// The files of a bundle, and what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// In the order of their paths.
    pub files: Vec<BundleFile>,
    /// What `run.sh` calls each arm, and the arm's name.
    pub arms: Vec<(String, String)>,
    /// Trials that it will make.
    pub trials: usize,
    /// What fio cannot do of it, for people.
    pub without: Vec<String>,
}

const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

/// The bundle as `.tar.gz`, everything below `top`: no times, no owners, in the order of paths.
///
/// # Errors
/// If `top` and a path are too long for the format together.
pub fn archive(bundle: &Bundle, top: &str) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for file in &bundle.files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.text.len() as u64);
        header.set_mode(if file.executable { PROGRAM } else { TEXT });
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, format!("{top}/{}", file.path), file.text.as_bytes())?;
    }
    let tar = builder.into_inner()?;
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    gzip.write_all(&tar)?;
    gzip.finish()
}
