//! What was asked stands first: rules, the factors of a matrix, the arms outside of a fleet.

mod common;

use common::{markdown, text, troubled, up_to};
use iotax_experiment::rule::UndecidedAs;
use iotax_report::Style;

#[test]
fn rules_come_first_in_every_format() {
    let (mut experiment, analysis) = (common::compare(), troubled::ruled());
    let etcd = iotax_experiment::Workload::preset("etcd-wal").unwrap();
    experiment.spec = experiment.spec.with(|spec| spec.phases[0].requires = etcd.requires);
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nTax"), @"
    randread-4k: 12 blocks, 60 trials in 5 min 40 s

      Rule broken: `slower by 5%`: luks is 34 % slower [31, 37] in throughput after
      12 blocks.
      Rule undecided: `slower by 5%`: a|b is 4 % slower [2, 6] in throughput after
      12 blocks; about 90 blocks would be enough for a verdict. A slowdown of 8.3 %
      or more would have been detected.
      Rule undecided: `sync.p99 > 10ms`: no result for luks after 12 trials; no
      trial has a sync p99. No violation, however large, would have been detected.
      Rule passed: `latency.p99 > 10ms`: luks has a latency p99 of 4.1 ms [3.9, 4.4]
      over 12 trials.
      Fit for randread-4k (modified): base has a sync p99 of 1.2 ms [1.1, 1.3] over
      12 trials; unfit if sync.p99 > 10ms: https://etcd.io/docs/v3.5/faq/ (p99 of
      wal_fsync_duration_seconds below 10 ms)
      cap is 2.13x slower [2.11, 2.15] than base in throughput.
      luks is 23 % slower [21, 25] than base in throughput.
      Undecided: queue measured 4 % slower [−2, 9] than base in throughput.
      same and base are equivalent: throughput differs by less than 5 % (1.1 %
      faster [0.3, 1.9]).
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    Rules
      slower by 5%  luks
        outcome broken, measured 34 % slower [31, 37] in throughput, trials 12
      slower by 5%  a|b
        outcome undecided, measured 4 % slower [2, 6] in throughput, trials 12,
        trials needed 90
      latency.p99 > 10ms  luks
        outcome passed, measured a latency p99 of 4.1 ms [3.9, 4.4], trials 12
      sync.p99 > 10ms  luks
        outcome undecided, measured –, trials 12
      Each end of an interval is a separate bound and is wrong in at most 5 % of
      runs, no matter when a run stops.
    ");
    assert!(markdown(&experiment, &analysis).contains("### Rules"));
    let parts = [(experiment, analysis)];
    let rulings = iotax_report::rulings(&parts[0].1);
    let suites = [(parts[0].1.workload.clone(), rulings.clone())];
    insta::assert_snapshot!(iotax_report::junit("job", &suites, None), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="job" tests="4" skipped="0" failures="1" errors="2">
        <testsuite name="randread-4k" tests="4" skipped="0" errors="2" failures="1">
            <testcase name="luks: not slower by 5%">
                <failure message="Rule broken: `slower by 5%`: luks is 34 % slower [31, 37] in throughput after 12 blocks."/>
            </testcase>
            <testcase name="a|b: not slower by 5%">
                <error message="Rule undecided: `slower by 5%`: a|b is 4 % slower [2, 6] in throughput after 12 blocks; about 90 blocks would be enough for a verdict. A slowdown of 8.3 % or more would have been detected."/>
            </testcase>
            <testcase name="luks: not latency.p99 &gt; 10ms"/>
            <testcase name="luks: not sync.p99 &gt; 10ms">
                <error message="Rule undecided: `sync.p99 &gt; 10ms`: no result for luks after 12 trials; no trial has a sync p99. No violation, however large, would have been detected."/>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
    insta::assert_snapshot!(iotax_report::github(&rulings, None), @"
    ::error title=iotax::Rule broken: `slower by 5%25`: luks is 34 %25 slower [31, 37] in throughput after 12 blocks.
    ::warning title=iotax::Rule undecided: `slower by 5%25`: a|b is 4 %25 slower [2, 6] in throughput after 12 blocks; about 90 blocks would be enough for a verdict. A slowdown of 8.3 %25 or more would have been detected.
    ::notice title=iotax::Rule passed: `latency.p99 > 10ms`: luks has a latency p99 of 4.1 ms [3.9, 4.4] over 12 trials.
    ::warning title=iotax::Rule undecided: `sync.p99 > 10ms`: no result for luks after 12 trials; no trial has a sync p99. No violation, however large, would have been detected.
    ");
}

#[test]
fn undecided_rules_are_warnings_errors_or_skipped_by_what_they_count_as() {
    let rulings = iotax_report::rulings(&troubled::ruled());
    let suites = [("all".to_owned(), rulings.clone())];
    let shown = |undecided| {
        let (junit, github) = (
            iotax_report::junit("job", &suites, undecided),
            iotax_report::github(&rulings, undecided),
        );
        let cases = ["<error ", "<skipped ", "<failure "].map(|tag| junit.matches(tag).count());
        let warnings = github.matches("::warning title=iotax::Rule undecided").count();
        let head = junit.lines().nth(1).unwrap().to_owned();
        (cases, warnings, head)
    };
    let head = |skipped, failures, errors| {
        format!(
            "<testsuites name=\"job\" tests=\"4\" skipped=\"{skipped}\" failures=\"{failures}\" errors=\"{errors}\">"
        )
    };
    assert_eq!(shown(None), ([2, 0, 1], 2, head(0, 1, 2)));
    assert_eq!(shown(Some(UndecidedAs::Pass)), ([0, 2, 1], 2, head(2, 1, 0)));
    assert_eq!(shown(Some(UndecidedAs::Fail)), ([0, 0, 3], 0, head(0, 3, 0)));
}

#[test]
fn a_matrix_is_shown_by_its_axes_and_by_the_effect_of_each_level() {
    let (experiment, analysis) = (common::matrix::compare(), common::matrix::found());
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nTax"), @"
    randread-4k: 12 blocks, 72 trials in 5 min 40 s

      sec=krb5p is 2.8x slower [2.6, 2.9] than sec=sys in throughput.
      sec=krb5 is 18 % slower [16, 20] than sec=sys in throughput.
      nconnect=4 and nconnect=1 are equivalent: throughput differs by less than 5 %
      (1 % slower [−1, 3]).
      The cost of sec=krb5p depends on nconnect: 3.6x slower [3.2, 4.0] in
      throughput at nconnect=4 and 41 % slower [38, 44] in throughput at nconnect=1.
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    By factor
      sec                   nconnect=1                  nconnect=4
      sys                  85,300 IOPS  88,100 IOPS (3.3 % faster)
      krb5   70,000 IOPS (18 % slower)   71,300 IOPS (16 % slower)
      krb5p  41,100 IOPS (2.1x slower)   24,200 IOPS (3.5x slower)
      Each cell shows the throughput and, in parentheses, the difference from the
      first arm.

    Effects
      setting     metric            effect [95 % CI]   n  verdict
      sec=krb5    throughput    18 % slower [16, 20]  12  slower
      sec=krb5p   throughput  2.8x slower [2.6, 2.9]  12  slower
      nconnect=4  throughput      1 % slower [−1, 3]  12  equivalent
      Each level is compared with the first level of its factor. Each effect is
      the mean over all pairs of arms that differ only in this factor (sec=krb5: 2
      pairs; sec=krb5p: 2 pairs; nconnect=4: 3 pairs). All intervals for a metric
      are jointly valid, with 95 % confidence.

    Changes
      level                  IOPS        throughput           mean latency  verdict
      sec=krb5p  −60 % [−64, −56]  −60 % [−64, −56]  +1.60 ms [1.52, 1.68]  slower
      Each level is compared with the first level of its factor. Each change is
      the mean over the arms that differ only in this factor. In each phase, all
      intervals in a column are jointly valid. The verdict is on the primary metric.
      Undecided (16): 16 blocks in total would probably be enough. If no number is
      shown, the number of blocks is unknown, because blocks are correlated or the
      verdict is withheld. In a closed loop, latency is the number of I/Os in flight
      divided by the rate.
    ");
    let shown = markdown(&experiment, &analysis);
    assert!(shown.contains("The cost of sec=krb5p depends on nconnect"), "{shown}");
}

#[test]
fn a_fleet_is_of_nodes() {
    let (experiment, analysis) = common::fleet::nodes(24);
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nArms"), @"
    randread-4k: 12 blocks, 288 trials in 5 min 40 s

      2 of 23 nodes are slow outliers, compared with the median node:
      gke-eu-disks-7f3a-n2 (31 % slower in throughput) and gke-eu-disks-7f3a-n5 (22
      % slower in throughput).
      Not included: 1 node with fewer than two usable trials.
      The run put 62.0 node-minutes of load on 24 nodes.
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    Outliers
      node                       effect  adjusted effect  p-value
      gke-eu-disks-7f3a-n2  31 % slower      25 % slower  < 0.001
      gke-eu-disks-7f3a-n5  22 % slower      18 % slower  < 0.001
      Each node is compared with the median of 23 nodes: 84,700 IOPS (throughput).
      Healthy nodes vary by 2.5 % (one standard deviation). On average, at most 5 %
      of flagged nodes are false alarms.
    ");
}

#[test]
fn arms_outside_of_a_fleet_are_named_first() {
    let (experiment, analysis) = (common::fleet::compare(), common::fleet::found());
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nTax"), @"
    randread-4k: 12 blocks, 240 trials in 5 min 40 s

      2 of 20 arms are slow outliers, compared with the median arm: node-7 (34 %
      slower in throughput) and node-13 (18 % slower in throughput).
      2 of 19 arms are slower than node-1 (slowest: node-7, 34 % slower [32, 36] in
      throughput), 17 equivalent.
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    Outliers
      arm           effect  adjusted effect  p-value
      node-7   34 % slower      27 % slower  < 0.001
      node-13  18 % slower      14 % slower  < 0.001
      Each arm is compared with the median of 20 arms: 84,700 IOPS (throughput).
      Healthy arms vary by 2.5 % (one standard deviation). On average, at most 5 %
      of flagged arms are false alarms.
    ");
}
