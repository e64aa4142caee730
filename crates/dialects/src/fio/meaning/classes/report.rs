//! Options about clocks, logs and what is reported: iotax measures and reports in its own way.

use super::row::{Row, kept, noted, silent};

const SERIES: &str = "the record has a series of every second instead";
const HISTOGRAMS: &str = "the record has whole histograms of latency instead";
const MEASURED: &str = "iotax measures every latency";
const STEADY: &str = "iotax decides itself how long to measure";

pub(super) static ROWS: &[Row] = &[
    kept("clocksource"),
    noted("gtod_reduce", "0", MEASURED),
    noted("disable_lat", "0", MEASURED),
    noted("disable_clat", "0", MEASURED),
    noted("disable_slat", "0", MEASURED),
    silent("disable_bw_measurement"),
    noted("gtod_cpu", "", "each thread reads the clock itself"),
    silent("per_job_logs"),
    noted("write_bw_log", "", SERIES),
    noted("write_lat_log", "", HISTOGRAMS),
    noted("write_iops_log", "", SERIES),
    noted("write_hist_log", "", HISTOGRAMS),
    silent("log_entries"),
    silent("log_avg_msec"),
    silent("log_hist_msec"),
    silent("log_hist_coarseness"),
    silent("log_max_value"),
    silent("log_offset"),
    silent("log_prio"),
    silent("log_compression"),
    silent("log_compression_cpus"),
    silent("log_store_compressed"),
    silent("log_unix_epoch"),
    silent("log_alternate_epoch"),
    silent("log_alternate_epoch_clock_id"),
    silent("block_error_percentiles"),
    silent("bwavgtime"),
    silent("iopsavgtime"),
    silent("group_reporting"),
    noted("stats", "1", "every job is reported"),
    silent("clat_percentiles"),
    silent("lat_percentiles"),
    silent("slat_percentiles"),
    noted("percentile_list", "", HISTOGRAMS),
    silent("significant_figures"),
    silent("disk_util"),
    silent("unified_rw_reporting"),
    silent("kb_base"),
    silent("unit_base"),
    noted("steadystate", "", STEADY),
    silent("steadystate_duration"),
    silent("steadystate_ramp_time"),
];
