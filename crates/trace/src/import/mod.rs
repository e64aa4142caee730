//! Converts traces of other programs to iotax traces.

mod blktrace;
mod block_csv;
mod builder;
mod errno;
mod fio_log;
mod lines;
mod merge;
mod outcome;
mod ranges;
mod strace;

use std::io::{BufReader, Cursor, Read, Write};

use crate::head::Head;
use builder::Builder;

pub use outcome::{Format, ImportError, Imported, Place, Reason, Skipped};

/// Bytes of an input that are used to detect its format.
const SAMPLE: usize = 64 << 10;

/// The format of an input that begins with these bytes.
pub fn sniff(sample: &[u8]) -> Option<Format> {
    if blktrace::is_blktrace(sample) {
        return Some(Format::Blktrace);
    }
    if fio_log::version(sample).is_some() {
        return Some(Format::FioLog);
    }
    block_csv::sniff(sample).or_else(|| strace::sniff(sample).then_some(Format::Strace))
}

/// How to import.
#[derive(Debug, Clone)]
pub struct Options {
    /// `None`: told from the first bytes.
    pub format: Option<Format>,
    /// The program that imports: `iotax 0.1.0`.
    pub program: String,
}

/// Writes what the inputs contain to `output`. Several inputs, such as one per CPU or one per job,
/// are merged by time.
pub fn import<R: Read, W: Write>(
    inputs: Vec<R>,
    output: W,
    options: &Options,
) -> Result<Imported, ImportError> {
    let count = inputs.len();
    let mut sample = Vec::new();
    let mut opened = Vec::with_capacity(count);
    for mut input in inputs {
        let mut first = Vec::new();
        input.by_ref().take(SAMPLE as u64).read_to_end(&mut first)?;
        // The file of an idle CPU may be empty.
        if sample.is_empty() {
            sample.clone_from(&first);
        }
        opened.push(BufReader::with_capacity(SAMPLE, Cursor::new(first).chain(input)));
    }
    let format = match options.format {
        Some(format) => format,
        None if count == 0 => return Err(ImportError::NoInput),
        None => sniff(&sample).ok_or(ImportError::UnknownFormat)?,
    };
    if count > 1 && !format.takes_many() {
        return Err(ImportError::TooManyInputs { format, inputs: count });
    }
    let (started, unseen) = match format {
        Format::Strace => strace::preview(&sample),
        Format::FioLog => (None, fio_log::unseen(&sample)),
        Format::Blktrace => (blktrace::started(&sample), blktrace::UNSEEN.to_vec()),
        Format::Alibaba | Format::Tencent => block_csv::preview(format, &sample),
    };
    let head = Head {
        started: started.map(|time| time.to_string()).unwrap_or_default(),
        unseen: unseen.clone(),
        ..Head::new(options.program.clone(), format.source())
    };
    let mut builder = Builder::new(output, &head)?;
    match format {
        Format::Blktrace => blktrace::read(opened, &mut builder)?,
        Format::FioLog => fio_log::read(opened, &mut builder)?,
        _ => {
            let input = opened.pop().ok_or(ImportError::NoInput)?;
            match format {
                Format::Strace => strace::read(input, &mut builder)?,
                _ => block_csv::read(input, format, &mut builder)?,
            }
        }
    }
    builder.finish(format, unseen)
}
