use iotax_record::DirectionRecord;
use proptest::prelude::*;

use super::{MOST_JOBS, *};

fn wrong(text: &str) -> String {
    read_fio(text).unwrap_err().to_string()
}

/// A result with one job; `members` follow its name.
fn with(members: &str) -> String {
    format!(
        "{{\"fio version\" : \"fio-3.33\",\n\"jobs\" : [\n{{\"jobname\" : \"a\",\n{members}}}]}}"
    )
}

fn read_of(members: &str) -> DirectionRecord {
    read_fio(&with(&format!("\"read\" : {{{members}}}"))).unwrap().jobs.remove(0).read
}

#[test]
fn what_is_no_result_is_refused_and_why() {
    insta::assert_snapshot!(wrong(""), @"it contains no fio JSON (it is empty); run fio with --output-format=json+ and save its output");
    insta::assert_snapshot!(wrong("fio: unable to open job.fio\nbye\n"), @r#"it contains no fio JSON (its first line is "fio: unable to open job.fio"); run fio with --output-format=json+ and save its output"#);
    insta::assert_snapshot!(wrong("note\n{\"fio version\" : \"fio-3.33\",\n \"jobs\" : ["), @"line 2: the JSON that starts here is incomplete; the program that wrote it ended too early");
    insta::assert_snapshot!(wrong("note\n{\"a\" : \n1,}"), @"line 3, column 3: trailing comma");
    insta::assert_snapshot!(wrong("{\"a\" : 1}"), @r#"line 1: this JSON has no "fio version", so it is not a fio result"#);
    insta::assert_snapshot!(wrong("{\"fio version\" : \"fio-3.33\"}"), @r#"line 1: this JSON has no "jobs", so it is not a fio result"#);
    insta::assert_snapshot!(wrong("{\"fio version\" : \"fio-3.33\", \"jobs\" : []}"), @"the result has no jobs: fio ended before any job ran");
    insta::assert_snapshot!(Error::TooLong { bytes: 70 << 20, limit: LONGEST_BYTES }, @"the result is 73400320 bytes long; the limit is 67108864 bytes");
}

#[test]
fn numbers_that_cannot_be_are_refused_with_their_place() {
    insta::assert_snapshot!(wrong(&with(r#""read" : 5"#)), @"line 4, column 10: invalid type: integer `5`, expected the results of one direction");
    insta::assert_snapshot!(wrong(&with(r#""ctx" : "many""#)), @r#"line 4, column 14: invalid type: string "many", expected a number"#);
    insta::assert_snapshot!(wrong(&with(r#""ctx" : -1"#)), @"job a: ctx is -1, but should be a count from 0 to 9 * 10^15");
    insta::assert_snapshot!(wrong(&with(r#""usr_cpu" : -2.5"#)), @"job a: usr_cpu is -2.5, but should be a number from 0 to 9 * 10^15");
    insta::assert_snapshot!(wrong(&with(r#""groupid" : 4294967296"#)), @"job a: groupid is 4294967296, but should be a small number");
    insta::assert_snapshot!(wrong(&with(r#""write" : {"runtime" : 999999999999999}"#)), @"job a: write.runtime is 999999999999999, but should be less than ten years");
    insta::assert_snapshot!(wrong(&with(r#""read" : {"total_ios" : 18446744073709551615}"#)), @"job a: read.total_ios is 18446744073709551615, but should be a count from 0 to 9 * 10^15");
    let bins = |bins: &str| {
        with(&format!(r#""read" : {{"total_ios" : 1, "clat_ns" : {{"bins" : {{{bins}}}}}}}"#))
    };
    insta::assert_snapshot!(wrong(&bins(r#""fast" : 1"#)), @r#"job a: read.clat_ns.bins is "fast", but should be a bucket of less than an hour"#);
    insta::assert_snapshot!(wrong(&bins(r#""3600000000001" : 1"#)), @r#"job a: read.clat_ns.bins is "3600000000001", but should be a bucket of less than an hour"#);
    insta::assert_snapshot!(wrong(&bins(r#""10" : 1e300"#)), @r#"job a: read.clat_ns.bins."10" is 1e300, but should be a count from 0 to 9 * 10^15"#);
    insta::assert_snapshot!(wrong(&bins(r#""10" : 9007199254740992, "20" : 1"#)), @"job a: read.clat_ns.bins is 9007199254740993, but should be at most 9 * 10^15 in all");
    let percentiles = r#""read" : {"total_ios" : 1, "clat_ns" : {"percentile" : {"101" : 1}}}"#;
    insta::assert_snapshot!(wrong(&with(percentiles)), @r#"job a: read.clat_ns.percentile is "101", but should be a percentage"#);
    let many = r#"{"jobname" : "a", "read" : {"total_ios" : 9007199254740992}},"#.repeat(2);
    let many = format!("{{\"fio version\" : \"x\", \"jobs\" : [{}]}}", many.trim_end_matches(','));
    insta::assert_snapshot!(wrong(&many), @"job a: the sum of total_ios over its clones is too large, but should be at most 9 * 10^15");
}

#[test]
fn more_jobs_than_memory_allows_are_refused() {
    let jobs: Vec<_> = (0..=MOST_JOBS).map(|i| format!("{{\"jobname\" : \"{i}\"}}")).collect();
    let text = format!("{{\"fio version\" : \"x\", \"jobs\" : [{}]}}", jobs.join(","));
    insta::assert_snapshot!(wrong(&text), @"the result has more than 512 jobs");
}

#[test]
fn a_mean_over_nothing_is_absent_not_an_error() {
    let read = read_of(r#""total_ios" : 0, "clat_ns" : {"mean" : -nan}, "bw_agg" : nan"#);
    assert_eq!(read.ios, 0);
}

#[test]
fn usec_of_version_2_become_nanoseconds() {
    let read = read_of(
        r#""io_bytes" : 4, "iops" : 2, "runtime" : 500,
           "clat" : {"min" : 3, "max" : 9, "mean" : 4.5, "stddev" : 1.5,
                     "percentile" : {"99.00" : 9, "0.00" : 0, "0.00" : 0}}"#,
    );
    assert_eq!((read.ios, read.bytes), (1, 4096));
    insta::assert_debug_snapshot!(read.summary.unwrap(), @r#"
    LatencySummary {
        mean_ns: 4500.0,
        stddev_ns: Some(
            1500.0,
        ),
        min_ns: Some(
            3000,
        ),
        max_ns: Some(
            9000,
        ),
        quantiles: [
            (
                0.99,
                9000,
            ),
        ],
        called: Some(
            Clat,
        ),
    }
    "#);
}

#[test]
fn jobs_of_one_name_in_different_groups_stay_apart() {
    let text = r#"{"fio version" : "fio-3.33", "jobs" : [
        {"jobname" : "a", "groupid" : 0}, {"jobname" : "a", "groupid" : 1}]}"#;
    let imported = read_fio(text).unwrap();
    let names: Vec<_> = imported.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "a #2"]);
}

#[test]
fn clients_are_threads_and_their_sum_is_not_counted_again() {
    let text = r#"{"fio version" : "fio-3.33", "client_stats" : [
        {"jobname" : "a", "hostname" : "x", "read" : {"total_ios" : 1}},
        {"jobname" : "a", "hostname" : "y", "read" : {"total_ios" : 2}},
        {"jobname" : "All clients", "read" : {"total_ios" : 3}}]}"#;
    let imported = read_fio(text).unwrap();
    assert_eq!(
        (imported.jobs.len(), imported.jobs[0].threads, imported.jobs[0].read.ios),
        (1, 2, 3)
    );
}

const CLIENTS: &str = include_str!("../../../tests/fixtures/fio/fio-3.41-clients.json");

/// fio since 3.39: the options of all jobs are a list with one object for each server.
#[test]
fn a_client_of_the_newest_fio_is_read() {
    let imported = read_fio(CLIENTS).unwrap();
    let [job] = imported.jobs.as_slice() else { panic!("{:?}", imported.jobs) };
    assert_eq!((job.name.as_str(), job.threads, job.read.ios), ("j", 4, 870_552));
    let iops = job.read.ios as f64 / (job.active_ns as f64 / 1e9);
    assert!((iops - 217_638.0).abs() < 1.0, "{iops}");
    let option = |name: &str| imported.options[0].0.iter().find(|(key, _)| key == name).cloned();
    assert_eq!(option("bs").unwrap().1, "4k");
    let warnings = imported.warnings.join("\n");
    assert!(
        warnings.starts_with("job j: no percentiles") && !warnings.contains('\n'),
        "{warnings}"
    );
}

/// A job of a client, on a server with options of its own.
fn client(port: u16, options: &str) -> String {
    format!(
        "{{\"jobname\": \"j\", \"hostname\": \"localhost\", \"port\": {port}, \"job options\": {{{options}}}, \
         \"read\": {{\"total_ios\": 10, \"runtime\": 1000}}}}"
    )
}

fn clients(global: &str, jobs: &[String]) -> JobRecord {
    let jobs = jobs.join(",");
    let text = format!(
        "{{\"fio version\": \"fio-3.41\", \"global options\": {global}, \"client_stats\": [{jobs}]}}"
    );
    read_fio(&text).unwrap().jobs.remove(0)
}

#[test]
fn clients_together_have_the_sum_of_their_depths_in_flight() {
    let libaio = |depth: u32| {
        format!("\"ioengine\": \"libaio\", \"iodepth\": \"{depth}\", \"numjobs\": \"2\"")
    };
    for (first, second) in [(16, 4), (4, 16), (4, 4)] {
        let job = clients("{}", &[client(1, &libaio(first)), client(2, &libaio(second))]);
        assert_eq!(job.threads, 4, "two on each of two servers");
        assert_eq!(job.threads * job.queue_depth, 2 * (first + second));
    }
    // The options of each server.
    let global = format!(
        "[{{{}, \"hostname\": \"localhost\", \"port\": 2}}, {{{}, \"hostname\": \"localhost\", \"port\": 1}}]",
        libaio(4),
        libaio(16)
    );
    let job = clients(&global, &[client(1, ""), client(2, "")]);
    assert_eq!((job.threads, job.queue_depth), (4, 10));
    // A fact that one of them lacks is not known for both.
    let job = clients("{}", &[client(1, &libaio(4)), client(2, "\"ioengine\": \"libaio\"")]);
    assert_eq!(job.queue_depth, 0);
}

#[test]
fn an_interim_snapshot_is_warned_of() {
    let warned = |options: &str, read: &str| {
        let members = format!("\"job options\" : {{{options}}}, \"read\" : {{{read}}}");
        read_fio(&with(&members)).unwrap().warnings.join("\n")
    };
    let ran = "\"total_ios\" : 10, \"io_bytes\" : 40960, \"runtime\" : 1900";
    insta::assert_snapshot!(warned("\"runtime\" : \"60\", \"size\" : \"1g\"", ran), @"job a ran for 1.90 s of 60 s (runtime): this is an interim snapshot (--status-interval), or fio ended early; use the last result of a finished run");
    for complete in [
        "\"runtime\" : \"2\", \"size\" : \"1g\"",
        "\"runtime\" : \"1900ms\", \"size\" : \"1g\"",
        "\"runtime\" : \"60\", \"size\" : \"40k\"",
        "\"runtime\" : \"60\", \"size\" : \"100%\"",
        "\"size\" : \"1g\", \"number_ios\" : \"10\"",
        "\"size\" : \"1g\", \"rw\" : \"read:8k\"",
        "",
    ] {
        assert_eq!(warned(complete, ran), "", "{complete}");
    }
    let whole = include_str!("../../../tests/fixtures/fio/fio-3.33-status-interval.json");
    let of = |text: &str| read_fio(text).unwrap().warnings.join("\n");
    assert_eq!(of(whole), "");
    let at = |n: usize| whole.match_indices("\n}\n").nth(n).unwrap().0 + 3;
    insta::assert_snapshot!(of(&whole[..at(0)]), @"job paced ran for 859 ms of 3 s (runtime): this is an interim snapshot (--status-interval), or fio ended early; use the last result of a finished run");
    insta::assert_snapshot!(of(&whole[..at(1) + 40]), @"
    the JSON that starts on line 547 is incomplete; iotax uses the interim snapshot that precedes it
    job paced ran for 1.86 s of 3 s (runtime): this is an interim snapshot (--status-interval), or fio ended early; use the last result of a finished run
    ");
}

proptest! {
    #[test]
    fn clones_together_are_what_one_report_of_both_would_be(
        a in prop::collection::vec(1u64..1_000_000, 1..50),
        b in prop::collection::vec(1u64..1_000_000, 1..50),
    ) {
        let one = |values: &[u64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<u64>() as f64 / n;
            let variance =
                values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n;
            let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            format!(
                "{{\"jobname\" : \"a\", \"read\" : {{\"total_ios\" : {n}, \"clat_ns\" : {{\"min\" : \
                 {min}, \"max\" : {max}, \"mean\" : {mean}, \"stddev\" : {}}}}}}}",
                variance.sqrt()
            )
        };
        let result = |jobs: &str| {
            let text = format!("{{\"fio version\" : \"fio-3.33\", \"jobs\" : [{jobs}]}}");
            read_fio(&text).unwrap().jobs.remove(0).read
        };
        let both: Vec<_> = a.iter().chain(&b).copied().collect();
        let merged = result(&format!("{}, {}", one(&a), one(&b)));
        let whole = result(&one(&both));
        let (merged_s, whole_s) = (merged.summary.unwrap(), whole.summary.unwrap());
        prop_assert_eq!(merged.ios, whole.ios);
        prop_assert_eq!((merged_s.min_ns, merged_s.max_ns), (whole_s.min_ns, whole_s.max_ns));
        prop_assert!((merged_s.mean_ns - whole_s.mean_ns).abs() <= 1e-6 * whole_s.mean_ns);
        let (x, y) = (merged_s.stddev_ns.unwrap(), whole_s.stddev_ns.unwrap());
        prop_assert!((x - y).abs() <= 1e-3 * (y + 1.0), "{} {}", x, y);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\":,a0-9. \n-]{0,80}") {
        let _ = read_fio(&text);
        let _ = read_fio(&with(&text));
    }
}

#[test]
fn a_run_of_less_than_a_millisecond_lasted_as_long_as_its_rate_tells() {
    let active_ns = |ios: u64, iops: f64, ms: u64| {
        let text = format!(
            "{{\"fio version\": \"iotax-0.1.0\", \"jobs\": [{{\"jobname\": \"j\", \"read\": \
             {{\"total_ios\": {ios}, \"iops\": {iops:.6}, \"runtime\": {ms}}}}}]}}"
        );
        read_fio(&text).unwrap().jobs[0].active_ns
    };
    assert_eq!(active_ns(4096, 4096.0 / 600e-6, 0), 600_000);
    assert_eq!(active_ns(4096, 4096.0 / 2.4e-3, 2), 2_400_000);
    // A rate of another time, no rate, and a run that is long enough.
    assert_eq!(active_ns(4096, 4096.0 / 2.4e-3, 5), 5_000_000);
    assert_eq!(active_ns(4096, 0.0, 5), 5_000_000);
    assert_eq!(active_ns(4096, 4096.0 / 20.4e-3, 20), 20_000_000);
}
