use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

const BEFORE: &str = include_str!("../../../tests/fixtures/diskspd/before.xml");
const WITHOUT: &str = include_str!("../../../tests/fixtures/diskspd/without_latency.xml");
const TWO: &str = include_str!("../../../tests/fixtures/diskspd/two_targets_two_spans.xml");
const INTERRUPTED: &str = include_str!("../../../tests/fixtures/diskspd/interrupted.xml");

fn iops(job: &JobRecord) -> f64 {
    (job.read.ios + job.write.ios) as f64 * 1e9 / job.active_ns as f64
}

fn shown(options: &Options) -> String {
    options.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plain_run_has_rate_latency_series_and_options() {
    let result = read_diskspd(BEFORE).unwrap();
    assert_eq!(result.tool, "DiskSpd 2.2.0");
    assert_eq!(result.started.as_deref(), Some("2024-06-10T09:00:00Z"));
    assert_eq!((result.window_ns, result.jobs.len()), (10_000_000_000, 1));
    let job = &result.jobs[0];
    assert_eq!((job.name.as_str(), job.threads, job.queue_depth), ("diskspd", 2, 8));
    assert!((iops(job) - 12_800.0).abs() < 1.0);
    assert_eq!(job.read.bytes, job.read.ios * 4096);
    assert_eq!((job.write.ios, job.write.summary.is_none()), (0, true));
    let latency = job.read.summary.as_ref().unwrap();
    assert!((latency.mean_ns - 1_250_000.0).abs() < 1.0, "{}", latency.mean_ns);
    assert!((latency.stddev_ns.unwrap() - 750_000.0).abs() < 1.0, "{:?}", latency.stddev_ns);
    let p99 = latency.quantiles.iter().find(|(q, _)| (q - 0.99).abs() < 1e-9).unwrap();
    assert_eq!(p99.1, 3_954_000);
    assert_eq!((latency.min_ns, latency.max_ns), (Some(500_000), Some(12_589_000)));
    assert_eq!(latency.quantiles.len(), 106);
    assert_eq!(job.read.per_second_ios.len(), 10);
    assert_snapshot!(shown(&result.options[0]), @r"filename=E:\data\R&D io.dat rw=randread bs=4096 iodepth=8 numjobs=2 direct=1 sync=1 runtime=10 ramp_time=5");
}

#[test]
fn each_target_of_each_time_span_is_a_job() {
    let result = read_diskspd(TWO).unwrap();
    let jobs: Vec<_> = result
        .jobs
        .iter()
        .zip(&result.options)
        .map(|(job, options)| {
            let quantiles = job.read.summary.as_ref().map_or(0, |s| s.quantiles.len());
            format!(
                "{}: {:.0} IOPS, {} x {}, {quantiles} quantiles; {}",
                job.name,
                iops(job),
                job.threads,
                job.queue_depth,
                shown(options)
            )
        })
        .collect();
    assert_snapshot!(jobs.join("\n"), @r"
    time span 1, target 1: 1000 IOPS, 1 x 4, 0 quantiles; filename=E:\a.dat rw=randrw rwmixwrite=30 percentage_random=60 bs=65536 iodepth=4 numjobs=1 direct=1 sync=1 runtime=5 ramp_time=5
    time span 1, target 2: 900 IOPS, 2 x 1, 0 quantiles; filename=E:\b.dat rw=write bs=65536 iodepth=1 numjobs=2 direct=1 sync=1 rate_iops=450 runtime=5 ramp_time=5
    time span 2: 4000 IOPS, 1 x 1, 106 quantiles; filename=E:\a.dat rw=randread bs=4096 iodepth=1 numjobs=1 direct=1 sync=1 runtime=5 ramp_time=5
    ");
    assert_snapshot!(result.warnings.join("\n"), @"percentiles cover all targets together, so individual targets have none");
}

#[test]
fn without_latencies_there_is_no_summary() {
    let result = read_diskspd(WITHOUT).unwrap();
    assert_eq!(result.jobs[0].read.summary, None);
    assert!((iops(&result.jobs[0]) - 20_000.0).abs() < 1.0);
}

#[test]
fn what_is_no_result_says_what_was_expected() {
    let error = |text: &str| read_diskspd(text).unwrap_err().to_string();
    assert_snapshot!(error(INTERRUPTED), @"it contains no DiskSpd measurement: The test was interrupted before the measurements began. No results are displayed.");
    assert_snapshot!(error("<html>\n</html>"), @"line 1: the first element is <html> instead of <Results>; diskspd -Rxml writes XML results");
    assert_snapshot!(error("<Results>\n"), @"line 2: it ends inside <Results>: the file is incomplete; diskspd -Rxml writes XML results");
    assert_snapshot!(error("<Results></Results>"), @"it contains no DiskSpd measurement: no time span has a target");
    assert_snapshot!(error(&BEFORE.replace("<ReadCount>", "<ReadCount>-")), @"line 673: ReadCount is `-65280`, not a count; diskspd -Rxml writes XML results");
    assert_snapshot!(error(&BEFORE.replace("<TestTimeSeconds>", "<TestTimeSeconds>1e999")), @"line 69: TestTimeSeconds is `1e99910.00`, but should be a number that is not negative; diskspd -Rxml writes XML results");
    assert_snapshot!(error(&BEFORE.replace("TestTimeSeconds", "Other")), @"it contains no DiskSpd measurement: TestTimeSeconds is missing from a time span, or is 0");
}

#[test]
fn a_deviation_of_nothing_is_no_reason_to_refuse_a_file() {
    let text = BEFORE.replace("<ReadLatencyStdev>0.750<", "<ReadLatencyStdev>-nan(ind)<");
    assert!(read_diskspd(&text).unwrap().jobs[0].read.summary.is_some());
}

proptest! {
    #[test]
    fn no_part_of_a_file_panics(start in 0..20_000_usize, length in 0..2_000_usize, with in "[<>/&;\"= a0-9.-]{0,12}") {
        let start = start.min(BEFORE.len());
        let end = (start + length).min(BEFORE.len());
        let _ = read_diskspd(&format!("{}{with}{}", &BEFORE[..start], &BEFORE[end..]));
        let _ = read_diskspd(&BEFORE[..start]);
    }
}

/// Output of `-w50 -L`: percentiles of reads, of writes, and of both.
#[test]
fn percentiles_of_reads_and_writes_together_are_kept() {
    let bucket = |percentile: &str, read: &str, write: &str, total: &str| {
        format!(
            "<Bucket><Percentile>{percentile}</Percentile><ReadMilliseconds>{read}</ReadMilliseconds>\
             <WriteMilliseconds>{write}</WriteMilliseconds>\
             <TotalMilliseconds>{total}</TotalMilliseconds></Bucket>"
        )
    };
    let text = format!(
        "<Results><TimeSpan><TestTimeSeconds>10</TestTimeSeconds><ThreadCount>1</ThreadCount>\
         <Latency>{}{}{}</Latency><Thread><Target><Path>a</Path>\
         <ReadBytes>4096000</ReadBytes><ReadCount>1000</ReadCount>\
         <WriteBytes>12288000</WriteBytes><WriteCount>3000</WriteCount>\
         <AverageReadLatencyMilliseconds>1.0</AverageReadLatencyMilliseconds>\
         <ReadLatencyStdev>0.5</ReadLatencyStdev>\
         <AverageWriteLatencyMilliseconds>3.0</AverageWriteLatencyMilliseconds>\
         <WriteLatencyStdev>0.5</WriteLatencyStdev></Target></Thread></TimeSpan></Results>",
        bucket("0", "0.1", "0.2", "0.1"),
        bucket("99", "2.0", "9.0", "8.0"),
        bucket("100", "4.0", "20.0", "20.0"),
    );
    let result = read_diskspd(&text).unwrap();
    let both = result.jobs[0].both.as_ref().unwrap();
    assert!((both.mean_ns - 2_500_000.0).abs() < 1.0, "{}", both.mean_ns);
    assert_eq!((both.min_ns, both.max_ns), (Some(100_000), Some(20_000_000)));
    assert_eq!(both.quantiles, [(0.99, 8_000_000)]);
    // A job that only reads has nothing but reads.
    assert_eq!(read_diskspd(BEFORE).unwrap().jobs[0].both, None);
}

#[test]
fn output_for_people_is_told_from_a_result() {
    let text = "\r\nCommand Line: diskspd.exe -b4K -d10 x.dat\r\n\r\nInput parameters:\r\n\r\n\ttimespan:   1\r\n";
    assert_snapshot!(read_diskspd(text).unwrap_err(), @"this is DiskSpd's text output, which is rounded and incomplete; run DiskSpd again with -Rxml and save its output");
}
