//! Every example job of fio 3.33 is read, and either runs natively or says what keeps it from it.
#![allow(clippy::unwrap_used)]

#[path = "support/fio_jobs.rs"]
mod fio_jobs;

use std::fmt::Write as _;
use std::path::Path;

use fio_jobs::{Row, Verdict, counts, in_directory, row};

/// Debian's package `fio-examples`, or `fio` itself.
const EXAMPLES: &str = "/usr/share/doc/fio/examples";
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fio_examples.md");
const UPDATE: &str = "UPDATE_FIO_EXAMPLES";

/// The version whose examples the table lists.
const COUNT: usize = 86;
/// So many of them run natively.
const NATIVE: usize = 35;

const INTRO: &str = "\
# fio 3.33 example jobs

This table shows what `iotax run FILE TARGET` does with each of fio's own example job files
(`/usr/share/doc/fio/examples` on Debian).

| iotax | meaning |
|---|---|
| native | iotax's own engines run the file. iotax prints a note for each option that works differently in these engines. |
| with fio | The file runs only with `--engine fio`. The last column names the options that iotax's own engines do not support. |
| refused | iotax does not run the file, because fio would use the network, run a program or reach beyond the target. Or fio itself cannot read the file as it is, for example because an environment variable is not set. |

The `needs` column lists hardware, services and special engines that an ordinary machine does not have.
[docs/fio.md](../../../docs/fio.md) describes how to run job files.

To update this list, run `UPDATE_FIO_EXAMPLES=1 cargo test -p iotax-dialects --test fio_examples`.

";

/// What an example needs that an ordinary machine does not have: hardware, a library, a service, or
/// an engine that does something else than reading and writing files.
const SPECIAL: &[(&str, &str)] = &[
    ("cmdprio-bssplit", "disk with I/O priorities"),
    ("cmdprio-percentage", "disk with I/O priorities"),
    ("cpp_null", "engine loaded from a file"),
    ("cpuio", "engine without I/O"),
    ("cross-stripe-verify", "4 TB NVMe disk"),
    ("dev-dax", "persistent memory"),
    ("dfs", "DAOS"),
    ("e4defrag", "engine: defragments ext4"),
    ("e4defrag2", "engine: defragments ext4"),
    ("exec", "engine: runs programs"),
    ("falloc", "engine: allocates space"),
    ("filecreate-ioengine", "engine: creates files"),
    ("filedelete-ioengine", "engine: deletes files"),
    ("filestat-ioengine", "engine: stats files"),
    ("ftruncate", "engine: truncates files"),
    ("gfapi", "GlusterFS"),
    ("gpudirect-rdmaio-client", "RDMA, GPU"),
    ("gpudirect-rdmaio-server", "RDMA, GPU"),
    ("http-s3-crypto", "S3"),
    ("http-s3-storage-class", "S3"),
    ("http-s3", "S3"),
    ("http-swift", "Swift"),
    ("http-webdav", "WebDAV"),
    ("ime", "DDN IME"),
    ("libcufile-cufile", "GPU"),
    ("libcufile-posix", "GPU"),
    ("libhdfs", "HDFS"),
    ("libiscsi", "iSCSI"),
    ("libpmem", "persistent memory"),
    ("librpma_apm-client", "RDMA"),
    ("librpma_apm-server", "RDMA"),
    ("librpma_gpspm-client", "RDMA"),
    ("librpma_gpspm-server", "RDMA"),
    ("libzbc-rand-write", "zoned disk"),
    ("libzbc-seq-read", "zoned disk"),
    ("mtd", "raw flash"),
    ("nbd", "NBD server"),
    ("netio", "network"),
    ("netio_multicast", "network"),
    ("nfs", "libnfs"),
    ("numa", "two NUMA nodes"),
    ("pmemblk", "persistent memory"),
    ("rados", "Ceph"),
    ("rbd", "Ceph"),
    ("rdmaio-client", "RDMA"),
    ("rdmaio-server", "RDMA"),
    ("sg_verify-fail", "SCSI disk"),
    ("sg_verify", "SCSI disk"),
    ("sg_write_same_ndob", "SCSI disk"),
    ("uring-cmd-ng", "NVMe character device"),
    ("uring-cmd-zoned", "NVMe character device"),
    ("xnvme-compare", "xNVMe"),
    ("xnvme-zoned", "xNVMe, zoned disk"),
    ("zbd-rand-write", "zoned disk"),
    ("zbd-seq-read", "zoned disk"),
];

/// What an example needs, if it is something special.
fn needs(file: &str) -> &'static str {
    SPECIAL.iter().find(|(special, _)| *special == file).map_or("", |(_, needs)| needs)
}

fn table(rows: &[Row]) -> String {
    let mut text = INTRO.to_owned();
    let plain: Vec<&Row> = rows.iter().filter(|row| needs(&row.file).is_empty()).collect();
    let native = plain.iter().filter(|row| row.verdict == Verdict::Native).count();
    let _ = writeln!(
        text,
        "{}. Of the {} files with an empty `needs` column, {native} are native.\n",
        counts(&rows.iter().collect::<Vec<_>>()),
        plain.len()
    );
    text.push_str("| file | needs | iotax | why |\n|---|---|---|---|\n");
    for Row { file, verdict, why } in rows {
        let (needs, verdict) = (needs(file), verdict.name());
        let _ = writeln!(text, "| {file} | {needs} | {verdict} | {why} |");
    }
    text
}

#[test]
fn the_table_of_examples_is_current() {
    let files = in_directory(Path::new(EXAMPLES));
    if files.len() != COUNT {
        let few = files.len();
        return iotax_testing::skipped(&format!(
            "{few} of the {COUNT} examples of fio 3.33 are in {EXAMPLES}; install fio-examples"
        ));
    }
    let rows: Vec<Row> = files.iter().map(|path| row(path)).collect();
    let current = table(&rows);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(TABLE, &current).unwrap();
    }
    let checked_in = std::fs::read_to_string(TABLE).unwrap_or_default();
    assert!(
        checked_in == current,
        "crates/dialects/tests/fio_examples.md is out of date; run\n  {UPDATE}=1 cargo test -p \
         iotax-dialects --test fio_examples"
    );
    let native = rows.iter().filter(|row| row.verdict == Verdict::Native).count();
    assert_eq!(native, NATIVE, "one more or one less than before runs natively");
}
