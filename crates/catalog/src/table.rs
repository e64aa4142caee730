//! The embedded tables, and how a row is found in them.
//!
//! A table is parsed anew for each question: half a megabyte takes a few milliseconds, and only
//! the row that is wanted becomes a typed one.

use csv::{Reader, StringRecord};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};

/// One embedded file.
pub(crate) struct Table {
    /// Its name in `data/`.
    name: &'static str,
    text: &'static str,
}

pub(crate) const AZURE_VMS: Table =
    Table { name: "azure_vm_sizes.csv", text: include_str!("../data/azure_vm_sizes.csv") };
pub(crate) const AZURE_DISKS: Table =
    Table { name: "azure_disks.csv", text: include_str!("../data/azure_disks.csv") };
pub(crate) const AWS_INSTANCES: Table =
    Table { name: "aws_instances.csv", text: include_str!("../data/aws_instances.csv") };
pub(crate) const AWS_VOLUMES: Table =
    Table { name: "aws_ebs.csv", text: include_str!("../data/aws_ebs.csv") };
pub(crate) const GCP_MACHINES: Table =
    Table { name: "gcp_machine_types.csv", text: include_str!("../data/gcp_machine_types.csv") };
pub(crate) const GCP_DISKS: Table =
    Table { name: "gcp_pd.csv", text: include_str!("../data/gcp_pd.csv") };
pub(crate) const CONFLICTS: Table =
    Table { name: "conflicts.csv", text: include_str!("../data/conflicts.csv") };

impl Table {
    /// The rows whose first column `wanted` likes, in order.
    pub(crate) fn rows<Row: DeserializeOwned>(&self, wanted: impl Fn(&str) -> bool) -> Vec<Row> {
        let mut reader = self.reader();
        let heads = self.sound(reader.headers()).clone();
        let mut record = StringRecord::new();
        let mut rows = Vec::new();
        while self.sound(reader.read_record(&mut record)) {
            if record.get(0).is_some_and(&wanted) {
                rows.push(self.sound(record.deserialize(Some(&heads))));
            }
        }
        rows
    }

    /// The first column.
    pub(crate) fn names(&self) -> Vec<String> {
        let first = |record| self.sound::<StringRecord>(record).get(0).unwrap_or("").to_owned();
        self.reader().into_records().map(first).collect()
    }

    fn reader(&self) -> Reader<&'static [u8]> {
        Reader::from_reader(self.text.as_bytes())
    }

    /// A test reads every row of every table.
    fn sound<T>(&self, result: Result<T, csv::Error>) -> T {
        result.unwrap_or_else(|error| panic!("the embedded {} is sound: {error}", self.name))
    }
}

/// `True`, `False` or nothing, as the sources of the tables write it.
pub(crate) fn truth<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    match Option::<String>::deserialize(from)?.as_deref() {
        None | Some("") => Ok(None),
        Some("True") => Ok(Some(true)),
        Some("False") => Ok(Some(false)),
        Some(other) => Err(D::Error::custom(format!("`{other}` is neither True nor False"))),
    }
}

/// Parts of a column that are separated by semicolons.
pub(crate) fn notes(text: &str) -> Vec<String> {
    text.split("; ").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
