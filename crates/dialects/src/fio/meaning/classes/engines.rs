//! Options that engines add.

use super::row::{Row, beyond, kept, meaning, silent};

const OWN: &str = "belongs to an engine that only fio has";
const POLLED: &str = "polls the device for completions";
const PRIORITY: &str = "gives some I/Os a priority";
const UNCACHED: &str = "buffered I/O that leaves nothing in the cache";
const NO_WAIT: &str = "I/Os that fail rather than wait";

pub(super) static ROWS: &[Row] = &[
    beyond("hipri", "0", POLLED),
    beyond("hipri_percentage", "0", POLLED),
    beyond("cmdprio_percentage", "0", PRIORITY),
    beyond("cmdprio_class", "", PRIORITY),
    beyond("cmdprio", "", PRIORITY),
    beyond("cmdprio_bssplit", "", PRIORITY),
    kept("fixedbufs"),
    kept("registerfiles"),
    meaning("sqthread_poll"),
    beyond("sqthread_poll_cpu", "", "binds the kernel's polling thread to a CPU"),
    kept("nonvectored"),
    beyond("uncached", "0", UNCACHED),
    beyond("nowait", "0", NO_WAIT),
    beyond("force_async", "0", "hands I/Os to the kernel's worker threads"),
    beyond("cmd_type", "", OWN),
    silent("userspace_reap"),
    beyond("thp", "0", "maps huge pages"),
    // cpuio
    beyond("cpuload", "", OWN),
    beyond("cpumode", "", OWN),
    beyond("cpuchunks", "", OWN),
    beyond("exit_on_io_done", "", OWN),
    // dfs
    beyond("pool", "", OWN),
    beyond("cont", "", OWN),
    beyond("chunk_size", "", OWN),
    beyond("object_class", "", OWN),
    beyond("svcl", "", OWN),
    // e4defrag
    beyond("donorname", "", OWN),
    beyond("inplace", "", OWN),
    // exec
    beyond("program", "", OWN),
    beyond("arguments", "", OWN),
    beyond("grace_time", "", OWN),
    beyond("std_redirect", "", OWN),
    // filestat
    beyond("stat_type", "", OWN),
    // gfapi
    beyond("volume", "", OWN),
    beyond("brick", "", OWN),
    beyond("single-instance", "", OWN),
    // http
    beyond("https", "", OWN),
    beyond("http_host", "", OWN),
    beyond("http_user", "", OWN),
    beyond("http_pass", "", OWN),
    beyond("http_s3_key", "", OWN),
    beyond("http_s3_keyid", "", OWN),
    beyond("http_swift_auth_token", "", OWN),
    beyond("http_s3_region", "", OWN),
    beyond("http_s3_sse_customer_key", "", OWN),
    beyond("http_s3_sse_customer_algorithm", "", OWN),
    beyond("http_s3_storage_class", "", OWN),
    beyond("http_mode", "", OWN),
    beyond("http_verbose", "", OWN),
    // libcufile
    beyond("gpu_dev_ids", "", OWN),
    beyond("cuda_io", "", OWN),
    // libhdfs
    beyond("namenode", "", OWN),
    beyond("hostname", "", OWN),
    beyond("port", "", OWN),
    beyond("hdfsdirectory", "", OWN),
    beyond("single_instance", "", OWN),
    beyond("hdfs_use_direct", "", OWN),
    // libiscsi
    beyond("initiator", "", OWN),
    // librpma
    beyond("serverip", "", OWN),
    beyond("direct_write_to_pmem", "", OWN),
    beyond("busy_wait_polling", "", OWN),
    // mtd
    beyond("skip_bad", "", OWN),
    // nbd
    beyond("uri", "", OWN),
    // net
    beyond("protocol", "", OWN),
    beyond("nodelay", "", OWN),
    beyond("listen", "", OWN),
    beyond("pingpong", "", OWN),
    beyond("interface", "", OWN),
    beyond("ttl", "", OWN),
    beyond("window_size", "", OWN),
    beyond("mss", "", OWN),
    // nfs
    beyond("nfs_url", "", OWN),
    // rados and rbd
    beyond("clustername", "", OWN),
    beyond("clientname", "", OWN),
    beyond("conf", "", OWN),
    beyond("busy_poll", "", OWN),
    beyond("touch_objects", "", OWN),
    beyond("rbdname", "", OWN),
    // rdma
    beyond("bindname", "", OWN),
    beyond("verb", "", OWN),
    // sg
    beyond("readfua", "", OWN),
    beyond("writefua", "", OWN),
    beyond("sg_write_mode", "", OWN),
    beyond("stream_id", "", OWN),
    // windowsaio
    beyond("no_completion_thread", "", OWN),
    // xnvme
    beyond("xnvme_be", "", OWN),
    beyond("xnvme_async", "", OWN),
    beyond("xnvme_sync", "", OWN),
    beyond("xnvme_admin", "", OWN),
    beyond("xnvme_dev_nsid", "", OWN),
    beyond("xnvme_iovec", "", OWN),
];
