//! Results of fio and DiskSpd as arms: nothing is run, and nothing is invented.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use iotax_testing::needs_program;
use serde_json::Value;
use support::Desk;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fio");
const DISKSPD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/diskspd");

fn desk() -> Desk {
    Desk::with_results(&[FIXTURES, DISKSPD])
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn one_result_each_is_a_difference_without_an_interval() {
    assert_snapshot!(desk().compared(&["before.xml", "after.xml"], &[
        "after throughput undecided 0.250 [-, -] 1", "after p50 undecided 0.333 [-, -] 1",
    ]), @"
    diskspd: 2 results from DiskSpd 2.2.0

      after is 25 % slower than before in throughput, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm    metric            effect  n  verdict
      after  throughput   25 % slower  1  undecided
      after  p50 latency  33 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm            rate  MiB/s     mean  trials
      before  12,800 IOPS   50.0  1.25 ms       1
      after    9,600 IOPS   37.5  1.67 ms       1

    Latency, pooled over all results of an arm (descriptive)
      arm         p50      p90      p99    p99.9     I/Os
      before  1.02 ms  2.23 ms  3.95 ms  5.68 ms  128,000
      after   1.36 ms  2.97 ms  5.27 ms  7.57 ms   96,000

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions
      - Throughput of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - P50 latency of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - Tails were not compared: a slower arm got less load. For a verdict on p99,
        run all arms at the same rate, 0.7 times the throughput of the slowest arm.
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn results_of_other_jobs_say_so() {
    assert_snapshot!(desk().compared(&["before=before1.json", "after=blocks8k.json"], &[
        "after throughput undecided 0.005 [-, -] 1",
        "after latency undecided 2.273 [-, -] 1",
        "after p99 insufficient tail samples - [-, -] 1", "after p50 undecided 1.000 [-, -] 1",
        "after cpu_per_io undecided 9.938 [-, -] 1",
    ]), @"
    randread: 2 results from fio 3.33

      after is 0.5 % slower than before in throughput, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files. Mean latency is
      what fio calls clat, from submission to completion.

    Warning, results of different workloads: the results are not from the same job:
      bs 4k in before, 8k in after
      Every difference below includes the difference between the jobs, and figures
      that are missing on one side are not compared. Compare results of the same
      job, or treat this as a comparison of the jobs as well.

    Tax
      arm    metric              effect  n  verdict
      after  throughput    0.5 % slower  1  undecided
      after  mean latency   3.3x slower  1  undecided
      after  p99 latency              –  1  insufficient tail samples
      after  p50 latency      2x slower  1  undecided
      after  CPU per I/O       11x more  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm         rate  MiB/s     mean   CPU/IO  trials
      before  400 IOPS   1.56   442 µs  85.0 µs       1
      after   398 IOPS   3.11  1.45 ms   930 µs       1

    Latency, pooled over all results of an arm (descriptive)
      arm        p50      p90  I/Os
      before  134 µs  1.14 ms   800
      after   268 µs  4.11 ms   797

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions
      - Throughput of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - Mean latency of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - P99 latency of after: insufficient tail samples; a p99 needs 10000 I/Os
        per run.
      - P50 latency of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - CPU per I/O of after: 1 result of before and 1 of after are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - fio and DiskSpd measure latency from submission, not from the time at which
        an I/O was due. I/Os that waited for a free slot in the queue look faster
        than they were.
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn several_results_have_an_interval() {
    let before = "before=before1.json,before2.json,before3.json";
    let after = "after=after1.json,after2.json,after3.json";
    assert_snapshot!(desk().compared(&[before, after], &[
        "after throughput slower 0.251 [0.249, 0.253] 3",
        "after latency undecided 0.895 [-0.565, 7.250] 3",
        "after p99 insufficient tail samples - [-, -] 3", "after p50 undecided 0.207 [-0.305, 1.096] 3",
        "after cpu_per_io undecided 1.186 [-0.958, 113.451] 3",
    ]), @"
    randread: 6 results from fio 3.33

      after is 25.1 % slower [24.9, 25.3] than before in throughput.
      after: 26 % of reads took 3.13 ms each and accounted for 88 % of the total
      time; the others took 138 µs each (p50 161 µs, p90 3.79 ms, p99 7.31 ms and
      max 25.8 ms).
      No measurements were made; the figures are from the files. Mean latency is
      what fio calls clat, from submission to completion.

    Warning, results of different workloads: the results are not from the same job:
      rate_iops 400 in before, 300 in after
      Every difference below includes the difference between the jobs, and figures
      that are missing on one side are not compared. Compare results of the same
      job, or treat this as a comparison of the jobs as well.

    Tax
      arm    metric                       effect [95 % CI]  n  verdict
      after  throughput         25.1 % slower [24.9, 25.3]  3  slower
      after  mean latency           90 % slower [−56, 725]  3  undecided
      after  p99 latency                                 –  3  insufficient tail
                                                               samples
      after  p50 latency            21 % slower [−30, 110]  3  undecided
      after  CPU per I/O   2.2x more [24x less, 114x more]  3  undecided
      95 % confidence intervals, each valid individually if the results are
      independent; n: number of results of the arm with fewer results; results that
      differ by less than 5 % count as equal.

    Arms
      arm         rate  MiB/s    mean  CPU/IO  spread  trials
      before  400 IOPS   1.56  478 µs  107 µs  0.07 %       3
      after   300 IOPS   1.17  985 µs  502 µs  0.06 %       3

    Latency, pooled over all results of an arm (descriptive)
      arm        p50      p90      p99   I/Os
      before  138 µs  1.06 ms        –  2,401
      after   161 µs  3.79 ms  7.31 ms  1,800

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions
      - Mean latency of after: undecided; with 3 and 3 results, the effect is known
        only as a range, 56 % faster to 725 % slower. More results for each arm
        would narrow the range.
      - P99 latency of after: insufficient tail samples; a p99 needs 10000 I/Os
        per run.
      - P50 latency of after: undecided; with 3 and 3 results, the effect is known
        only as a range, 30 % faster to 110 % slower. More results for each arm
        would narrow the range.
      - CPU per I/O of after: undecided; with 3 and 3 results, the effect is known
        only as a range, 24x less to 114x more. More results for each arm would
        narrow the range.
      - fio and DiskSpd measure latency from submission, not from the time at which
        an I/O was due. I/Os that waited for a free slot in the queue look faster
        than they were.
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn all_formats_hold_the_same_and_a_record_is_kept() {
    let desk = desk();
    let arms = ["before=before1.json,before2.json,before3.json", "after=after1.json"];
    let said = desk.run(&[&["compare", "--format", "json", "--out", "out"], &arms[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    let result = json(&said.out);
    let first = &result["comparisons"][0];
    assert_eq!((&first["metric"], &first["verdict"]), (&"throughput".into(), &"undecided".into()));
    assert!((first["tax"].as_f64().unwrap() - 0.25).abs() < 0.01, "{first}");
    assert!(first["lo"].is_null() && first["hi"].is_null() && first["p"].is_null(), "{first}");
    assert_eq!(result["hosts"].as_array().map(Vec::len), Some(0), "{result}");
    assert_eq!(result["trials"].as_array().unwrap().len(), 4);
    let again = desk.run(&["report", "out", "--format", "json"]);
    assert_eq!(json(&again.out)["comparisons"], result["comparisons"]);
    let page = fs::read_to_string(desk.path().join("out/report.html")).unwrap();
    assert!(page.contains("No measurements were made") && page.contains("before1.json"));
    assert!(!page.contains("CPUs online") && !page.contains("load generator overhead"));
    let markdown = desk.run(&["report", "out", "--format", "markdown"]).out;
    assert!(markdown.contains("4 results from fio 3.33. No measurements were made"), "{markdown}");
    let csv = desk.run(&["report", "out", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), 5, "{csv}");
}

#[test]
fn a_single_result_is_reported_without_a_directory() {
    let desk = desk();
    assert_snapshot!(desk.run(&["report", "before.xml"]), @"
    diskspd: 1 result from DiskSpd 2.2.0

      diskspd on before.xml: 12,800 IOPS, 50.0 MiB/s, mean latency 1.25 ms.
      No measurements were made; the figures are from the files.

    Arms
      arm            rate  MiB/s     mean  trials
      before  12,800 IOPS   50.0  1.25 ms       1

    Latency, pooled over all results of an arm (descriptive)
      arm         p50      p90      p99    p99.9     I/Os
      before  1.02 ms  2.23 ms  3.95 ms  5.68 ms  128,000

    Open questions
      - These results do not show whether a cache served the I/Os, whether the
        storage was the same, or whether a burst ended during the run. They also do
        not show how much CPU the load generator used, or whether CPU time went to
        other work or was stolen. iotax could not check any of this.
    [exit 0]
    ");
    assert!(!desk.names().iter().any(|name| name.starts_with("iotax")));
    let said = desk.run(&["report", "after1.json", "--format", "json", "--out", "out"]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(json(&said.out)["kind"], "run");
    assert!(desk.path().join("out/report.html").exists());
}

#[test]
fn many_results_are_all_used() {
    let desk = desk();
    let mut names = [Vec::new(), Vec::new()];
    for (arm, names) in names.iter_mut().enumerate() {
        for i in 0..10 + arm {
            let name = format!("{arm}-{i}.json");
            let of = if arm == 0 { "before1.json" } else { "after1.json" };
            // Each began at another time: a copy would be refused.
            let text = fs::read_to_string(desk.path().join(of)).unwrap();
            let text = text.replace(" : 17953323", &format!(" : 179533{i:02}"));
            fs::write(desk.path().join(&name), text).unwrap();
            names.push(name);
        }
    }
    let [before, after] = names.map(|names| names.join(","));
    let arms = [format!("before={before}"), format!("after={after}")];
    let said = desk.run(&["compare", "--format", "json", "--out", "out", &arms[0], &arms[1]]);
    let result = json(&said.out);
    assert_eq!(result["comparisons"][0]["verdict"], "slower");
    assert_eq!(result["comparisons"][0]["blocks"], 10);
    let used = result["trials"].as_array().unwrap().iter().filter(|t| t["used"] == true).count();
    assert_eq!(used, 21);
}

#[test]
fn what_makes_no_sense_says_why() {
    let desk = desk();
    let path = desk.path();
    fs::write(path.join("text.json"), "read: IOPS=12\n").unwrap();
    fs::write(path.join("broken.json"), "{ \"fio version\" : \"fio-3.33\", \"jobs\" : [").unwrap();
    fs::create_dir(path.join("dir")).unwrap();
    let run = |args: &[&str]| desk.run(args).to_string();
    let with = |more: &[&str]| run(&[&["compare", "before1.json", "after1.json"], more].concat());
    assert_snapshot!(with(&["--workload", "randread-4k"]), @"
    error: --workload has no effect on saved results, because nothing is run; leave it out
    [exit 2]
    ");
    assert_snapshot!(with(&["--time", "5s"]), @"
    error: --time has no effect on saved results, because nothing is run; leave it out
    [exit 2]
    ");
    assert_snapshot!(with(&["--max-blocks", "8"]), @"
    error: --max-blocks has no effect on saved results, because nothing is run; leave it out
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json", "./dir"]), @"
    error: before1.json is a saved result, but ./dir is not; saved results cannot be compared with new measurements: give results for all arms, or targets for all
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "a=before1.json", "b=mem(size=64M)"]), @"
    error: a is a saved result, but b is not; saved results cannot be compared with new measurements: give results for all arms, or targets for all
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json", "text.json"]), @"
    error: text.json is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `read: IOPS=12`
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "text.json", "text.json"]), @"
    error: text.json is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `read: IOPS=12`
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json", "a=after1.json,text.json"]), @"
    error: text.json is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `read: IOPS=12`
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json", "broken.json"]), @"
    error: broken.json: line 1: the JSON that starts here is incomplete; the program that wrote it ended too early
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json", "missing.json"]), @"
    error: cannot read missing.json: No such file or directory (os error 2)
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "a=before1.json", "a=after1.json"]), @"
    error: there is no other arm to compare a with; add one, or show these results alone with iotax report
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "a=before1.json,before1.json", "b=after1.json"]), @"
    error: arm a lists before1.json twice; give each file only once; a copy is not a second measurement
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "interrupted.xml", "before.xml"]), @"
    error: interrupted.xml: it contains no DiskSpd measurement: The test was interrupted before the measurements began. No results are displayed.
    [exit 2]
    ");
    assert_snapshot!(run(&["plan", "compare", "before1.json", "after1.json"]), @"
    error: these are saved results, so there is nothing to run; use iotax compare to show them
    [exit 2]
    ");
    assert_snapshot!(run(&["report", "before1.json", "dir"]), @"
    error: before1.json is a file, but other arguments are directories; report files and directories separately
    [exit 2]
    ");
    assert_snapshot!(run(&["report", "text.json"]), @"
    error: text.json is not a result file from iotax run (--format json), fio (--output-format=json or json+), DiskSpd (-Rxml), iperf3 (-J), knb (-o json) or k8s-netperf (--json): it starts with `read: IOPS=12`
    [exit 2]
    ");
    assert_snapshot!(run(&["compare", "before1.json"]), @"
    error: there is no other arm to compare before1 with; add one, or show these results alone with iotax report
    [exit 2]
    ");
}

#[test]
fn what_fio_writes_here_is_read() {
    let desk = Desk::new();
    for (name, format) in [("a.json", "json"), ("b.json", "json+"), ("c.json", "json+")] {
        if !fio(desk.path(), name, format) {
            return;
        }
    }
    let arms = ["plain=a.json", "bins=b.json,c.json"];
    let said = desk.run(&[&["compare", "--format", "json", "--out", "out"], &arms[..]].concat());
    assert_eq!(said.code, 0, "{said}");
    let arms = json(&said.out)["arms"].clone();
    for arm in arms.as_array().unwrap() {
        assert!(arm["iops"].as_f64().unwrap() > 0.0, "{arm}");
        assert!(arm["mean_latency_ns"].as_f64().unwrap() > 0.0, "{arm}");
        assert!(!arm["latency"].as_array().unwrap().is_empty(), "{arm}");
    }
}

/// Runs fio for a little; false, and loud, without it.
fn fio(dir: &Path, name: &str, format: &str) -> bool {
    if !needs_program("fio") {
        return false;
    }
    let status = Command::new("fio")
        .args(["--name=short", "--filename=t.dat", "--size=4M", "--bs=4k", "--rw=randread"])
        .args(["--ioengine=psync", "--time_based", "--runtime=1"])
        .args([format!("--output-format={format}"), format!("--output={name}")])
        .current_dir(dir)
        .status();
    assert!(status.unwrap().success());
    true
}
