//! Reads a user's table of limits, in three forms that are distinguished by their columns.

use csv::{ByteRecord, ReaderBuilder};
use serde::{Deserialize, Serialize};

use crate::error::{Error, TableProblem};
use crate::limit::{Scope, Source};
use crate::units::MB;

/// A claim about one limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Line of the table, from 1.
    pub line: u64,
    /// VM size or disk.
    pub name: String,
    /// `scsi` or `nvme`.
    pub variant: Option<String>,
    /// Which bucket; by default the usual one for the name.
    pub scope: Option<Scope>,
    /// The figures.
    pub claimed: Claimed,
    /// Their source.
    pub source: Option<Source>,
}

/// Figures of one limit; `None` if not given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Claimed {
    /// I/Os per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bw_bytes: Option<f64>,
    /// I/Os per second in bursts.
    pub burst_iops: Option<f64>,
    /// Bytes per second in bursts.
    pub burst_bw_bytes: Option<f64>,
}

impl Claim {
    /// Larger files are not tables of limits, and [`read_claims`] refuses them.
    pub const MAX_TABLE_BYTES: usize = 16 << 20;
}

/// Columns of a claim in one of the forms: the bucket, and where its figures are.
struct Columns {
    scope: Option<Scope>,
    /// Bytes per second, which take precedence over MB/s.
    bytes: Option<&'static str>,
    /// IOPS and MB/s, and those of the burst.
    figures: [&'static str; 4],
}

/// A form of table: the column with the names, and the claims in each row.
struct Form {
    name: &'static str,
    claims: &'static [Columns],
}

const OWN: Form = Form {
    name: "name",
    claims: &[Columns {
        scope: None,
        bytes: None,
        figures: ["iops", "mbps", "burst_iops", "burst_mbps"],
    }],
};

const AZURE_VMS: Form = Form {
    name: "size",
    claims: &[
        Columns {
            scope: Some(Scope::VmCached),
            bytes: Some("cached_read_bytes_per_s"),
            figures: ["cached_iops", "cached_mbps", "burst_cached_iops", "burst_cached_mbps"],
        },
        Columns {
            scope: Some(Scope::VmUncached),
            bytes: Some("uncached_bytes_per_s"),
            figures: [
                "uncached_iops",
                "uncached_mbps",
                "burst_uncached_iops",
                "burst_uncached_mbps",
            ],
        },
        Columns {
            scope: Some(Scope::VmTemporary),
            bytes: None,
            figures: ["temp_iops", "temp_mbps", "", ""],
        },
    ],
};

const AZURE_DISKS: Form = Form {
    name: "tier",
    claims: &[Columns {
        scope: Some(Scope::Disk),
        bytes: None,
        figures: ["provisioned_iops", "provisioned_mbps", "burst_iops", "burst_mbps"],
    }],
};

/// Reads a table in the form of `azure_vm_sizes.csv`, of `azure_disks.csv`, or
/// `name,scope,iops,mbps,burst_iops,burst_mbps,source,as_of`, of which only `name` is required.
/// Ignores unknown columns. `file` is named in errors.
pub fn read_claims(file: &str, table: &[u8]) -> Result<Vec<Claim>, Error> {
    let at = |line, column: Option<&str>, problem| Error::Table {
        file: file.to_owned(),
        line,
        column: column.map(str::to_owned),
        problem,
    };
    if table.len() > Claim::MAX_TABLE_BYTES {
        return Err(at(1, None, TableProblem::TooLarge));
    }
    let table = table.strip_prefix(b"\xef\xbb\xbf").unwrap_or(table);
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(table);
    let heads = reader.byte_headers().map_err(|error| of_csv(file, &error))?.clone();
    let heads: Vec<String> = heads.iter().map(text).map(|head| head.to_ascii_lowercase()).collect();
    let form = [OWN, AZURE_VMS, AZURE_DISKS]
        .into_iter()
        .find(|form| heads.iter().any(|head| head == form.name))
        .ok_or_else(|| at(1, None, TableProblem::NoNames))?;
    if let Some(twice) = heads
        .iter()
        .enumerate()
        .find_map(|(i, head)| (!head.is_empty() && heads[..i].contains(head)).then_some(head))
    {
        return Err(at(1, Some(twice), TableProblem::TwoColumns));
    }
    let mut claims = Vec::new();
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| of_csv(file, &error))? {
        let line = record.position().map_or(0, csv::Position::line);
        let row = ClaimRow { file, line, heads: &heads, record: &record };
        claims.extend(row.claims(&form)?);
    }
    if claims.is_empty() {
        return Err(at(1, None, TableProblem::NoRow));
    }
    Ok(claims)
}

/// One row, with its name for errors.
struct ClaimRow<'a> {
    file: &'a str,
    line: u64,
    heads: &'a [String],
    record: &'a ByteRecord,
}

impl ClaimRow<'_> {
    fn claims(&self, form: &Form) -> Result<Vec<Claim>, Error> {
        let Some(name) = self.get(form.name) else {
            return Err(self.error(form.name, TableProblem::NoName));
        };
        let mut claims = Vec::new();
        for columns in form.claims {
            let scope = columns.scope.map_or_else(|| self.scope(), |scope| Ok(Some(scope)))?;
            let bytes = columns.bytes.map(|column| self.figure(column)).transpose()?.flatten();
            let [iops, mb, burst_iops, burst_mb] = columns.figures;
            let (iops, mb) = (self.figure(iops)?, self.figure(mb)?);
            let claimed = Claimed {
                iops,
                // Bytes without IOPS belong to a bucket that the row does not claim.
                bw_bytes: bytes.filter(|_| iops.is_some()).or(mb.map(|mb| mb * MB)),
                burst_iops: self.figure(burst_iops)?,
                burst_bw_bytes: self.figure(burst_mb)?.map(|mb| mb * MB),
            };
            if claimed == Claimed::default() {
                continue;
            }
            claims.push(Claim {
                line: self.line,
                name: name.clone(),
                variant: self.get("variant"),
                scope,
                claimed,
                source: self.source(),
            });
        }
        if claims.is_empty() && form.name == OWN.name {
            return Err(self.error("iops", TableProblem::NoFigure));
        }
        Ok(claims)
    }

    fn get(&self, column: &str) -> Option<String> {
        let place = self.heads.iter().position(|head| !column.is_empty() && head == column)?;
        self.record.get(place).map(text).filter(|text| !text.is_empty())
    }

    fn figure(&self, column: &str) -> Result<Option<f64>, Error> {
        let Some(text) = self.get(column) else { return Ok(None) };
        let figure = text.parse().ok().filter(|figure: &f64| (0.0..1e15).contains(figure));
        figure.map(Some).ok_or_else(|| self.error(column, TableProblem::NotAFigure(text)))
    }

    fn scope(&self) -> Result<Option<Scope>, Error> {
        let Some(text) = self.get("scope") else { return Ok(None) };
        let word = text.to_ascii_lowercase().replace(['_', '-', ' '], "");
        let scope = match word.strip_prefix("vm").unwrap_or(&word) {
            "disk" => Scope::Disk,
            "cached" => Scope::VmCached,
            "uncached" => Scope::VmUncached,
            "temporary" | "temporarydisk" | "temp" => Scope::VmTemporary,
            "localnvme" => Scope::LocalNvme,
            "instance" => Scope::Instance,
            _ => return Err(self.error("scope", TableProblem::NotAScope(text))),
        };
        Ok(Some(scope))
    }

    fn source(&self) -> Option<Source> {
        let as_of = self.get("as_of").unwrap_or_else(|| "undated".to_owned());
        self.get("source").map(|text| Source { text, as_of })
    }

    fn error(&self, column: &str, problem: TableProblem) -> Error {
        Error::Table {
            file: self.file.to_owned(),
            line: self.line,
            column: Some(column.to_owned()),
            problem,
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn of_csv(file: &str, error: &csv::Error) -> Error {
    let line = error.position().map_or(1, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            TableProblem::Columns { found: *len, expected: *expected_len }
        }
        _ => TableProblem::Csv(error.to_string()),
    };
    Error::Table { file: file.to_owned(), line, column: None, problem }
}
