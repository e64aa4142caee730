//! The embedded tables, and how to find their rows.
//!
//! A table is split into fields once per process, which takes a few milliseconds for half a
//! megabyte. Only the requested rows are converted to types.

use std::sync::OnceLock;

use csv::{Reader, StringRecord};
use serde::de::DeserializeOwned;

/// One embedded file.
pub(crate) struct Table {
    /// Its file name in `data/`.
    name: &'static str,
    text: &'static str,
    records: OnceLock<Records>,
}

/// The fields of a table.
struct Records {
    heads: StringRecord,
    rows: Vec<StringRecord>,
}

pub(crate) static AZURE_VMS: Table =
    Table::new("azure_vm_sizes.csv", include_str!("../data/azure_vm_sizes.csv"));
pub(crate) static AZURE_DISKS: Table =
    Table::new("azure_disks.csv", include_str!("../data/azure_disks.csv"));
pub(crate) static AWS_INSTANCES: Table =
    Table::new("aws_instances.csv", include_str!("../data/aws_instances.csv"));
pub(crate) static AWS_VOLUMES: Table =
    Table::new("aws_ebs.csv", include_str!("../data/aws_ebs.csv"));
pub(crate) static GCP_MACHINES: Table =
    Table::new("gcp_machine_types.csv", include_str!("../data/gcp_machine_types.csv"));
pub(crate) static GCP_DISKS: Table = Table::new("gcp_pd.csv", include_str!("../data/gcp_pd.csv"));
pub(crate) static AZURE_NETWORKS: Table =
    Table::new("azure_networks.csv", include_str!("../data/azure_networks.csv"));
pub(crate) static GCP_NETWORKS: Table =
    Table::new("gcp_networks.csv", include_str!("../data/gcp_networks.csv"));
pub(crate) static CONFLICTS: Table =
    Table::new("conflicts.csv", include_str!("../data/conflicts.csv"));
pub(crate) static SHINGLED: Table =
    Table::new("shingled_drives.csv", include_str!("../data/shingled_drives.csv"));

impl Table {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, records: OnceLock::new() }
    }

    /// The rows whose first column `wanted` accepts, in order.
    pub(crate) fn rows<Row: DeserializeOwned>(&self, wanted: impl Fn(&str) -> bool) -> Vec<Row> {
        let Records { heads, rows } = self.records();
        let wanted = rows.iter().filter(|record| record.get(0).is_some_and(&wanted));
        wanted.map(|record| self.sound(record.deserialize(Some(heads)))).collect()
    }

    /// The first column.
    pub(crate) fn names(&self) -> Vec<String> {
        let first = |record: &StringRecord| record.get(0).unwrap_or_default().to_owned();
        self.records().rows.iter().map(first).collect()
    }

    fn records(&self) -> &Records {
        self.records.get_or_init(|| {
            let mut reader = Reader::from_reader(self.text.as_bytes());
            let heads = self.sound(reader.headers()).clone();
            Records { heads, rows: reader.into_records().map(|row| self.sound(row)).collect() }
        })
    }

    /// Unwraps a result; a test reads every row of every table.
    fn sound<T>(&self, result: Result<T, csv::Error>) -> T {
        result.unwrap_or_else(|error| panic!("the embedded {} is sound: {error}", self.name))
    }
}
