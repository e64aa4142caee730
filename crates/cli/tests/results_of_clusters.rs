//! Results of benchmarks of a cluster's network as arms: a job for each path and protocol.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use support::Desk;

const KNB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/knb");
const K8S_NETPERF: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/k8s-netperf");

#[expect(clippy::too_many_lines, reason = "a page")]
#[test]
fn clusters_of_knb_are_compared_in_each_cell() {
    assert_snapshot!(Desk::with_results(&[KNB]).compared(&["aks=knb-1.json", "gke=knb-2.json"], &[
        "gke bandwidth undecided 0.030 [-, -] 1",
        "gke bandwidth undecided -0.158 [-, -] 1",
        "gke bandwidth undecided 0.138 [-, -] 1",
        "gke bandwidth undecided 0.208 [-, -] 1",
    ]), @"
    pod2pod tcp and 3 more: 4 jobs of 2 results from knb 1.5.0

      With only one result per arm, chance cannot be ruled out.

    By job
      job                                         gke / aks
      pod2pod tcp  17.3 Gbit/s / 17.8 Gbit/s (3.0 % slower)
      pod2pod udp   14.4 Gbit/s / 12.4 Gbit/s (16 % faster)
      pod2svc tcp   17.8 Gbit/s / 20.7 Gbit/s (14 % slower)
      pod2svc udp   11.0 Gbit/s / 13.9 Gbit/s (21 % slower)
      Each cell shows the arm's figure, the baseline's figure and, in parentheses,
      the difference, followed by a verdict if there is one.

    Jobs
      job          arm         rate
      pod2pod tcp  aks  17.8 Gbit/s
      pod2pod tcp  gke  17.3 Gbit/s
      pod2pod udp  aks  12.4 Gbit/s
      pod2pod udp  gke  14.4 Gbit/s
      pod2svc tcp  aks  20.7 Gbit/s
      pod2svc tcp  gke  17.8 Gbit/s
      pod2svc udp  aks  13.9 Gbit/s
      pod2svc udp  gke  11.0 Gbit/s
      Means over the trials used; percentiles are pooled over the same trials and
      are only descriptive.

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions, all jobs
      - Bandwidth of gke: 1 result of aks and 1 of gke are too few for an interval,
        which requires at least 2 per arm; 5 per arm give a narrow interval.
      - These results do not show whether CPU time went to other work or was stolen,
        whether the path was the same, or whether a burst ended. iotax could not
        check this.

    Job 1 of 4
    pod2pod tcp: 2 results from knb 1.5.0

      gke is 3.0 % slower than aks in bandwidth, but with only one result per arm,
      chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm  metric           effect  n  verdict
      gke  bandwidth  3.0 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm         rate  trials
      aks  17.8 Gbit/s       1
      gke  17.3 Gbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Job 2 of 4
    pod2pod udp: 2 results from knb 1.5.0

      gke is 16 % faster than aks in bandwidth, but with only one result per arm,
      chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm  metric          effect  n  verdict
      gke  bandwidth  16 % faster  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm         rate  trials
      aks  12.4 Gbit/s       1
      gke  14.4 Gbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Job 3 of 4
    pod2svc tcp: 2 results from knb 1.5.0

      gke is 14 % slower than aks in bandwidth, but with only one result per arm,
      chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm  metric          effect  n  verdict
      gke  bandwidth  14 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm         rate  trials
      aks  20.7 Gbit/s       1
      gke  17.8 Gbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Job 4 of 4
    pod2svc udp: 2 results from knb 1.5.0

      gke is 21 % slower than aks in bandwidth, but with only one result per arm,
      chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm  metric          effect  n  verdict
      gke  bandwidth  21 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm         rate  trials
      aks  13.9 Gbit/s       1
      gke  11.0 Gbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn rows_of_k8s_netperf_are_jobs() {
    let desk = Desk::with_results(&[K8S_NETPERF]);
    let rows = std::fs::read_to_string(desk.path().join("rows.json")).unwrap();
    let other = rows.replace("873.606667", "436.8").replace("17:21:04", "18:21:04");
    std::fs::write(desk.path().join("encrypted.json"), other).unwrap();
    assert_snapshot!(desk.compared(&["plain=rows.json", "encrypted.json"], &[
        "encrypted bandwidth undecided 0.500 [-, -] 1",
        "encrypted bandwidth undecided -0.000 [-, -] 1",
        "encrypted bandwidth undecided -0.000 [-, -] 1",
    ]), @"
    netperf TCP_STREAM 1024x1, netperf TCP_STREAM 8192x1, netperf UDP_STREAM 1024x1:
    3 jobs of 2 results from k8s-netperf v0.1.30

      With only one result per arm, chance cannot be ruled out.

    By job
      job                                           encrypted / plain
      netperf TCP_STREAM 1024x1   437 Mbit/s / 874 Mbit/s (2x slower)
      netperf TCP_STREAM 8192x1  744 Mbit/s / 744 Mbit/s (0 % slower)
      netperf UDP_STREAM 1024x1  789 Mbit/s / 789 Mbit/s (0 % slower)
      Each cell shows the arm's figure, the baseline's figure and, in parentheses,
      the difference, followed by a verdict if there is one.

    Jobs
      job                        arm              rate
      netperf TCP_STREAM 1024x1  plain      874 Mbit/s
      netperf TCP_STREAM 1024x1  encrypted  437 Mbit/s
      netperf TCP_STREAM 8192x1  plain      744 Mbit/s
      netperf TCP_STREAM 8192x1  encrypted  744 Mbit/s
      netperf UDP_STREAM 1024x1  plain      789 Mbit/s
      netperf UDP_STREAM 1024x1  encrypted  789 Mbit/s
      Means over the trials used; percentiles are pooled over the same trials and
      are only descriptive.

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions, all jobs
      - Bandwidth of encrypted: 1 result of plain and 1 of encrypted are too few
        for an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - These results do not show whether CPU time went to other work or was stolen,
        whether the path was the same, or whether a burst ended. iotax could not
        check this.

    Job 1 of 3
    netperf TCP_STREAM 1024x1: 2 results from k8s-netperf v0.1.30

      encrypted is 2x slower than plain in bandwidth, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm        metric        effect  n  verdict
      encrypted  bandwidth  2x slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm              rate  trials
      plain      874 Mbit/s       1
      encrypted  437 Mbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Job 2 of 3
    netperf TCP_STREAM 8192x1: 2 results from k8s-netperf v0.1.30

      encrypted is 0 % slower than plain in bandwidth, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm        metric         effect  n  verdict
      encrypted  bandwidth  0 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm              rate  trials
      plain      744 Mbit/s       1
      encrypted  744 Mbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Job 3 of 3
    netperf UDP_STREAM 1024x1: 2 results from k8s-netperf v0.1.30

      encrypted is 0 % slower than plain in bandwidth, but with only one result per
      arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Tax
      arm        metric         effect  n  verdict
      encrypted  bandwidth  0 % slower  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm              rate  trials
      plain      789 Mbit/s       1
      encrypted  789 Mbit/s       1

    Open questions
      - The open questions above apply to all jobs.

    Report: out/report.html
    Again:  iotax report out
    ");
}
