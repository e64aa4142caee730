//! Options that came after fio 3.33.

use super::row::{Row, beyond, kept, noted, silent};

const PLACED: &str = "places its writes by NVMe's data placement";
const VERIFY: &str = "verifies in a way of its own";
const ZONES: &str = "I/O in zones";
const OWN: &str = "belongs to an engine that only fio has";
const PROTECTED: &str = "adds protection information to its I/Os";

pub(super) static ROWS: &[Row] = &[
    beyond("fdp", "0", PLACED),
    beyond("fdp_pli", "", PLACED),
    beyond("fdp_pli_select", "", PLACED),
    beyond("dataplacement", "none", PLACED),
    beyond("plids", "", PLACED),
    beyond("plid_select", "", PLACED),
    beyond("dp_scheme", "", PLACED),
    silent("steadystate_check_interval"),
    beyond("priohint", "0", "gives its I/Os a priority"),
    silent("job_start_clock_id"),
    beyond("num_range", "1", "trims"),
    beyond("thinkcycles", "0", "spins between its I/Os"),
    silent("log_window_value"),
    silent("log_issue_time"),
    beyond("verify_write_sequence", "1", VERIFY),
    beyond("verify_pattern_interval", "0", VERIFY),
    beyond("verify_header_seed", "1", VERIFY),
    beyond("verify_policy", "completed", VERIFY),
    beyond("recover_zbd_write_error", "0", ZONES),
    beyond("write_zone_remainder", "0", ZONES),
    noted("filetype", "none", "the target is taken for what it is"),
    beyond("sprandom", "0", "preconditions a disk in a way of its own"),
    silent("spr_num_regions"),
    silent("spr_op"),
    silent("spr_cs"),
    beyond("ramp_size", "0", "ends its ramp after a number of bytes"),
    silent("comm"),
    beyond("end_syncfs", "0", "syncs the whole file system when it ends"),
    beyond("random_sequence_stride", "0", "strides through random places"),
    // io_uring and io_uring_cmd
    beyond("md_per_io_size", "0", PROTECTED),
    beyond("pi_act", "", PROTECTED),
    beyond("pi_chk", "", PROTECTED),
    beyond("apptag", "", PROTECTED),
    beyond("apptag_mask", "", PROTECTED),
    beyond("write_mode", "write", "writes by other commands of the device"),
    beyond("verify_mode", "read", VERIFY),
    beyond("deac", "0", "deallocates what it writes zeroes to"),
    beyond("cdb_len", "0", "sends SCSI commands of its own"),
    beyond("verify_bytchk", "0", "sends SCSI commands of its own"),
    beyond("read_mode", "read", "sends SCSI commands of its own"),
    // libaio
    kept("libaio_vectored"),
    // libblkio
    beyond("libblkio_driver", "", OWN),
    beyond("libblkio_path", "", OWN),
    beyond("libblkio_pre_connect_props", "", OWN),
    beyond("libblkio_num_entries", "", OWN),
    beyond("libblkio_queue_size", "", OWN),
    beyond("libblkio_pre_start_props", "", OWN),
    beyond("libblkio_vectored", "", OWN),
    beyond("libblkio_write_zeroes_on_trim", "", OWN),
    beyond("libblkio_wait_mode", "", OWN),
    beyond("libblkio_force_enable_completion_eventfd", "", OWN),
    // xnvme
    beyond("xnvme_mem", "", OWN),
    beyond("xnvme_dev_subnqn", "", OWN),
    // http
    beyond("http_s3_security_token", "", OWN),
    beyond("http_object_mode", "", OWN),
    // rbd
    beyond("rbd_encryption_format", "", OWN),
    beyond("rbd_encryption_passphrase", "", OWN),
    // libhipfile
    beyond("rocm_io", "", OWN),
];
