//! What came after fio 3.33: options and values, each with the release it came in.
//!
//! Taken from the tags fio-3.34 to fio-3.42 of fio's repository and its state of August 2026; what
//! that state alone has comes after [`NEWEST`].

use super::info::Kind::{Bool, Choice, Flag, Floats, OptionalText, Size, Text, Time};
use super::info::Unit::Seconds;
use super::info::{INTEGER, LONG, OptionInfo, aliased, at_least, named, within};

/// The newest release of fio 3 that is known here.
pub(super) const NEWEST: u8 = 42;
const LATER: u8 = NEWEST + 1;

/// Options that every job may have.
pub(super) static OPTIONS: &[OptionInfo] = &[
    named("fdp", Bool).since(34),
    named("fdp_pli", Text).since(34),
    aliased("steadystate_check_interval", "ss_interval", Time { bare: Seconds }).since(35),
    named("fdp_pli_select", Choice(&["random", "roundrobin", "scheme"])).since(36),
    named("priohint", within(0, 1023)).since(36),
    named("job_start_clock_id", INTEGER).since(36),
    named("num_range", at_least(1)).since(37),
    named("thinkcycles", INTEGER).since(37),
    named("log_window_value", Choice(&["avg", "max", "both", "0", "1"])).since(37),
    named("verify_write_sequence", Bool).since(38),
    aliased("dataplacement", "data_placement", Choice(&["none", "fdp", "streams"])).since(38),
    named("plid_select", Choice(&["random", "roundrobin", "scheme"])).since(38),
    named("plids", Text).since(38),
    named("dp_scheme", Text).since(38),
    named("log_issue_time", Bool).since(38),
    named("verify_pattern_interval", INTEGER).since(40),
    named("verify_header_seed", Bool).since(40),
    named("recover_zbd_write_error", Bool).since(40),
    named("filetype", Choice(&["none", "file", "block", "char"])).since(41),
    named("sprandom", Bool).since(41),
    named("spr_num_regions", INTEGER).since(41),
    named("spr_op", Floats { most: 1, min: 0.0, max: 1.0 }).since(41),
    named("spr_cs", LONG).since(42),
    named("ramp_size", Size).since(42),
    named("write_zone_remainder", Bool).since(42),
    named("comm", Text).since(42),
    named("end_syncfs", Bool).since(42),
    named("random_sequence_stride", Bool).since(LATER),
    named("verify_policy", OptionalText).since(LATER),
];

/// What engines add.
pub(super) static OF_ENGINES: &[(&[&str], &[OptionInfo])] = &[
    (
        &["libblkio"],
        &[
            named("hipri", Flag).since(34),
            named("libblkio_driver", Text).since(34),
            named("libblkio_path", Text).since(34),
            named("libblkio_pre_connect_props", Text).since(34),
            named("libblkio_num_entries", INTEGER).since(34),
            named("libblkio_queue_size", INTEGER).since(34),
            named("libblkio_pre_start_props", Text).since(34),
            named("libblkio_vectored", Flag).since(34),
            named("libblkio_write_zeroes_on_trim", Flag).since(34),
            named("libblkio_wait_mode", Choice(&["block", "eventfd", "loop"])).since(34),
            named("libblkio_force_enable_completion_eventfd", Flag).since(34),
        ],
    ),
    (
        &["xnvme"],
        &[
            named("xnvme_mem", Text).since(34),
            named("xnvme_dev_subnqn", Text).since(34),
            named("md_per_io_size", INTEGER).since(36),
            named("pi_act", Bool).since(36),
            named("pi_chk", Text).since(36),
            named("apptag", INTEGER).since(36),
            named("apptag_mask", INTEGER).since(36),
        ],
    ),
    (
        &["io_uring", "io_uring_cmd"],
        &[
            named("md_per_io_size", INTEGER).since(36),
            named("pi_act", Bool).since(36),
            named("pi_chk", Text).since(36),
            named("apptag", INTEGER).since(36),
            named("apptag_mask", INTEGER).since(36),
            named("readfua", Bool).since(38),
            named("writefua", Bool).since(38),
            named("write_mode", Text).since(38),
            named("verify_mode", Choice(&["read", "compare"])).since(38),
            named("deac", Bool).since(39),
            named("cdb_len", Choice(&["0", "10", "16", "32"])).since(LATER),
            named("verify_bytchk", Choice(&["0", "1", "3"])).since(LATER),
            named("read_mode", Choice(&["read", "prefetch"])).since(LATER),
        ],
    ),
    (&["libaio"], &[named("libaio_vectored", Bool).since(39)]),
    (
        &["http"],
        &[
            named("http_s3_security_token", Text).since(41),
            named("http_object_mode", Choice(&["block", "range"])).since(41),
        ],
    ),
    (
        &["rbd"],
        &[
            named("rbd_encryption_format", Text).since(42),
            named("rbd_encryption_passphrase", Text).since(42),
        ],
    ),
    (
        &["libhipfile"],
        &[
            named("gpu_dev_ids", Text).since(LATER),
            named("rocm_io", Choice(&["hipfile", "posix"])).since(LATER),
        ],
    ),
];

/// New values of options that are older: the option, the value, the release.
pub(super) static VALUES: &[(&str, &str, u8)] = &[
    ("ioengine", "libblkio", 34),
    ("fadvise_hint", "noreuse", 35),
    ("protocol", "vsock", 37),
    ("verify", "pattern_hdr", 40),
    ("steadystate", "lat", 42),
    ("steadystate", "lat_slope", 42),
    ("cmd_type", "bsg", LATER),
    ("random_distribution", "sequence", LATER),
    ("ioengine", "libhipfile", LATER),
    ("ioengine", "page_fault", LATER),
];

/// Options that older releases had, the first and the last of them, and what to write instead.
pub(super) static GONE: &[(&str, &str, &str, &str)] = &[
    ("use_os_rand", "1.52", "3.11", "leave it out: fio has a generator of its own"),
    ("fadvise_stream", "2.2.7", "2.21", "write write_hint"),
    ("chunck_size", "2.3", "2.13", "write chunk_size"),
    ("stream", "2.21", "2.21", "write write_hint"),
];
