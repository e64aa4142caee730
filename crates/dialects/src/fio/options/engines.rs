//! What each engine adds to the options of a job, for all engines in fio's source.

use super::info::Kind::{Bool, Choice, Flag, Text};
use super::info::{INTEGER, LONG, OptionInfo, aliased, at_least, named, within};

/// Engines that share a list of options, and the list.
pub(super) static OPTIONS: &[(&[&str], &[OptionInfo])] = &[
    (
        &["cpuio"],
        &[
            named("cpuload", INTEGER),
            named("cpumode", Choice(&["noop", "qsort"])),
            named("cpuchunks", INTEGER),
            named("exit_on_io_done", Bool),
        ],
    ),
    (
        &["dfs"],
        &[
            named("pool", Text),
            named("cont", Text),
            named("chunk_size", LONG),
            named("object_class", Text),
            named("svcl", Text),
        ],
    ),
    (&["e4defrag"], &[named("donorname", Text), named("inplace", within(0, 1))]),
    (
        &["exec"],
        &[
            named("program", Text),
            named("arguments", Text),
            named("grace_time", at_least(0)),
            named("std_redirect", Bool),
        ],
    ),
    (&["filestat"], &[named("stat_type", Choice(&["stat", "lstat", "statx"]))]),
    (
        &["gfapi", "gfapi_async"],
        &[named("volume", Text), named("brick", Text), named("single-instance", Bool)],
    ),
    (
        &["http"],
        &[
            named("https", Choice(&["off", "on", "insecure"])),
            named("http_host", Text),
            named("http_user", Text),
            named("http_pass", Text),
            named("http_s3_key", Text),
            named("http_s3_keyid", Text),
            named("http_swift_auth_token", Text),
            named("http_s3_region", Text),
            named("http_s3_sse_customer_key", Text),
            named("http_s3_sse_customer_algorithm", Text),
            named("http_s3_storage_class", Text),
            named("http_mode", Choice(&["webdav", "s3", "swift"])),
            named("http_verbose", INTEGER),
        ],
    ),
    (
        &["io_uring", "io_uring_cmd"],
        &[
            named("hipri", Flag),
            named("cmdprio_percentage", within(0, 100)),
            named("cmdprio_class", within(1, 3)),
            named("cmdprio", within(0, 7)),
            named("cmdprio_bssplit", Text),
            named("fixedbufs", Flag),
            named("registerfiles", Flag),
            named("sqthread_poll", Flag),
            named("sqthread_poll_cpu", INTEGER),
            named("nonvectored", INTEGER),
            named("uncached", INTEGER),
            named("nowait", Bool),
            named("force_async", INTEGER),
            named("cmd_type", Choice(&["nvme", "bsg"])),
        ],
    ),
    (
        &["libaio"],
        &[
            named("userspace_reap", Flag),
            named("cmdprio_percentage", within(0, 100)),
            named("cmdprio_class", within(1, 3)),
            named("cmdprio", within(0, 7)),
            named("cmdprio_bssplit", Text),
            named("nowait", Bool),
        ],
    ),
    (&["libcufile"], &[named("gpu_dev_ids", Text), named("cuda_io", Choice(&["cufile", "posix"]))]),
    (
        &["libhdfs"],
        &[
            named("namenode", Text),
            named("hostname", Text),
            named("port", within(1, 65_535)),
            named("hdfsdirectory", Text),
            aliased("chunk_size", "chunck_size", INTEGER),
            named("single_instance", Bool),
            named("hdfs_use_direct", Bool),
        ],
    ),
    (&["libiscsi"], &[named("initiator", Text)]),
    (
        &[
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        &[
            named("serverip", Text),
            named("port", Text),
            named("direct_write_to_pmem", Bool),
            named("busy_wait_polling", Bool),
        ],
    ),
    (&["mmap"], &[named("thp", INTEGER)]),
    (&["mtd"], &[named("skip_bad", Bool)]),
    (&["nbd"], &[named("uri", Text)]),
    (
        &["net", "netsplice"],
        &[
            named("hostname", Text),
            named("port", within(1, 65_535)),
            aliased(
                "protocol",
                "proto",
                Choice(&["tcp", "tcpv6", "udp", "udpv6", "unix", "vsock"]),
            ),
            named("nodelay", Bool),
            named("listen", Flag),
            named("pingpong", Flag),
            named("interface", Text),
            named("ttl", at_least(0)),
            named("window_size", at_least(0)),
            named("mss", at_least(0)),
        ],
    ),
    (&["nfs"], &[named("nfs_url", Text)]),
    (
        &["rados"],
        &[
            named("clustername", Text),
            named("pool", Text),
            named("clientname", Text),
            named("conf", Text),
            named("busy_poll", Bool),
            named("touch_objects", Bool),
        ],
    ),
    (
        &["rbd"],
        &[
            named("clustername", Text),
            named("rbdname", Text),
            named("pool", Text),
            named("clientname", Text),
            named("busy_poll", Bool),
        ],
    ),
    (
        &["rdma"],
        &[
            named("hostname", Text),
            named("bindname", Text),
            named("port", within(1, 65_535)),
            aliased("verb", "proto", Choice(&["write", "read", "send", "recv"])),
        ],
    ),
    (
        &["sg"],
        &[
            named("hipri", Flag),
            named("readfua", Bool),
            named("writefua", Bool),
            named(
                "sg_write_mode",
                Choice(&[
                    "write",
                    "write_and_verify",
                    "verify",
                    "write_same",
                    "same",
                    "write_same_ndob",
                    "verify_bytchk_00",
                    "verify_bytchk_01",
                    "verify_bytchk_11",
                    "write_stream",
                ]),
            ),
            named("stream_id", INTEGER),
        ],
    ),
    (
        &["pvsync2"],
        &[
            named("hipri", Flag),
            named("hipri_percentage", within(0, 100)),
            named("uncached", INTEGER),
            named("nowait", Bool),
        ],
    ),
    (&["windowsaio"], &[named("no_completion_thread", Flag)]),
    (
        &["xnvme"],
        &[
            named("hipri", Flag),
            named("sqthread_poll", Flag),
            named("xnvme_be", Text),
            named("xnvme_async", Text),
            named("xnvme_sync", Text),
            named("xnvme_admin", Text),
            named("xnvme_dev_nsid", INTEGER),
            named("xnvme_iovec", Flag),
        ],
    ),
];
