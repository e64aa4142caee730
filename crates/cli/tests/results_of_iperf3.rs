//! Results of iperf3 as arms: what the receiver got is compared, and nothing is invented.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use insta::assert_snapshot;
use support::Desk;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/iperf3");
const PLAIN: &str = "plain=plain-1.json,plain-2.json,plain-3.json";
const WINDOW: &str = "window=window-1.json,window-2.json,window-3.json";

fn desk() -> Desk {
    Desk::with_results(&[FIXTURES])
}

#[test]
fn three_of_each_give_a_verdict_in_bandwidth() {
    assert_snapshot!(desk().compared(&[PLAIN, WINDOW], &[
        "window bandwidth slower 0.333 [0.142, 0.481] 3",
        "window cpu_per_mib undecided 0.418 [-0.072, 1.166] 3",
    ]), @"
    tcp: 6 results from iperf3 3.12

      window is 33 % slower [14, 48] than plain in bandwidth.
      No measurements were made; the figures are from the files.

    Tax
      arm     metric           effect [95 % CI]  n  verdict
      window  bandwidth    33 % slower [14, 48]  3  slower
      window  CPU per MiB   42 % more [−7, 117]  3  undecided
      95 % confidence intervals, each valid individually if the results are
      independent; n: number of results of the arm with fewer results; results that
      differ by less than 5 % count as equal.

    Arms
      arm            rate  CPU/MiB      RTT  retrans/GiB  spread  trials
      plain   25.2 Gbit/s   400 µs  67.0 µs         4.42   7.6 %       3
      window  16.8 Gbit/s   569 µs  32.0 µs         2.47   6.6 %       3

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions
      - CPU per MiB of window: undecided; with 3 and 3 results, the effect is known
        only as a range, 7 % less to 117 % more. More results for each arm would
        narrow the range.
      - These results do not show whether CPU time went to other work or was stolen,
        whether the path was the same, or whether a burst ended. iotax could not
        check this.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn datagrams_at_a_rate_are_compared_in_what_came() {
    assert_snapshot!(desk().compared(&["udp.json", "udprev.json"], &[
        "udprev delivered undecided 0.003 [-, -] 1",
        "udprev jitter undecided 1.944 [-, -] 1",
        "udprev cpu_per_mib undecided -0.073 [-, -] 1",
    ]), @"
    udp: 2 results from iperf3 3.12

      udprev is 0.3 % slower than udp in datagram delivery, but with only one result
      per arm, chance cannot be ruled out.
      No measurements were made; the figures are from the files.

    Warning, results of different workloads:
      job udp reverse of udprev.json is compared with udp of udp.json, because each
        result has only one job
      the results are not from the same job: rw write in udp, read in udprev
      Every difference below includes the difference between the jobs, and figures
      that are missing on one side are not compared. Compare results of the same
      job, or treat this as a comparison of the jobs as well.

    Tax
      arm     metric                   effect  n  verdict
      udprev  datagram delivery  0.3 % slower  1  undecided
      udprev  jitter              2.9x slower  1  undecided
      udprev  CPU per MiB          7.3 % less  1  undecided
      No intervals; n: number of results of the arm with fewer results.

    Arms
      arm            rate   lost  reordered   jitter  CPU/MiB  trials
      udp     46.5 Mbit/s  1.3 %        0 %  59.5 µs  2.50 ms       1
      udprev  49.3 Mbit/s  1.6 %        0 %   175 µs  2.32 ms       1

    Warning, not interleaved: the results do not show that the runs were interleaved
      in random order: the difference includes whatever changed between them
      (neighbors, credits, temperature, data on the volume); no interval covers
      these changes
      To measure only the difference between the arms, run them in a single `iotax
      compare`, which repeatedly runs them in random order and then in reverse
      order.

    Open questions
      - Datagram delivery of udprev: 1 result of udp and 1 of udprev are too few
        for an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - Jitter of udprev: 1 result of udp and 1 of udprev are too few for an
        interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - CPU per MiB of udprev: 1 result of udp and 1 of udprev are too few for
        an interval, which requires at least 2 per arm; 5 per arm give a narrow
        interval.
      - These results do not show whether CPU time went to other work or was stolen,
        whether the path was the same, or whether a burst ended. iotax could not
        check this.

    Report: out/report.html
    Again:  iotax report out
    ");
}

#[test]
fn a_failed_run_is_refused() {
    let said = desk().run(&["compare", "tcp.json", "refused.json"]);
    assert_ne!(said.code, 0, "{said}");
    assert_snapshot!(said.err, @r#"error: refused.json: it contains no iperf3 measurement: the run failed with "unable to connect to server: Connection refused", so the measurement is incomplete; run it again"#);
}
