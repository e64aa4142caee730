use iotax_spec::brief;

/// Why another tool's result cannot be used. The messages name the place in the text; whoever has
/// the file's name puts it before them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// More text than any result has.
    #[error("the result is {bytes} bytes long; no more than {limit} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// There is no JSON object in it.
    #[error(
        "it holds no JSON of fio{}; run fio with --output-format=json+ and keep what it prints",
        said(text)
    )]
    NoDocument {
        /// The first line of what is there instead; empty if nothing is.
        text: String,
    },
    /// The JSON stops in the middle.
    #[error(
        "line {line}: the JSON that begins here is cut off: what wrote it was ended before it was done"
    )]
    CutOff {
        /// Where it begins, from 1.
        line: usize,
    },
    /// Not JSON, or a value of another kind than fio writes.
    #[error("line {line}, column {column}: {}", brief(why))]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the JSON parser says.
        why: String,
    },
    /// JSON, but not of fio.
    #[error("line {line}: this JSON has no \"{missing}\": it is not a result of fio")]
    NotFio {
        /// Where it begins, from 1.
        line: usize,
        /// What every result of fio has.
        missing: &'static str,
    },
    /// A result without a job.
    #[error("the result has no jobs: fio ended before any of them ran")]
    NoJobs,
    /// More jobs than are read.
    #[error("the result has more than {limit} jobs")]
    TooManyJobs {
        /// The most that are read.
        limit: usize,
    },
    /// A number that cannot be.
    #[error("job {}: {} is {}, but should be {expected}", brief(job), brief(field), brief(value))]
    Number {
        /// Name of the job.
        job: String,
        /// The field, from the job down: `read.clat_ns.bins`.
        field: String,
        /// The number.
        value: String,
        /// What is possible.
        expected: &'static str,
    },
    /// Not the XML that `DiskSpd` writes.
    #[error("line {line}: {}; DiskSpd's results in XML are what diskspd -Rxml prints", brief(why))]
    Xml {
        /// From 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// `DiskSpd`'s output for people.
    #[error(
        "this is DiskSpd's text output, which rounds and leaves out; run it again with -Rxml, and \
         keep what it prints"
    )]
    DiskspdText,
    /// XML of `DiskSpd` without figures.
    #[error("it holds no measurement of DiskSpd: {}", brief(why))]
    NotMeasured {
        /// Why, if it says so.
        why: String,
    },
}

fn said(text: &str) -> String {
    if text.is_empty() {
        " (it is empty)".to_owned()
    } else {
        format!(" (its first line is {:?})", brief(text))
    }
}
