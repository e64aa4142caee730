//! Text, Markdown and CSV, word for word.

mod common;

use common::{analyses, html, markdown, text, troubled, up_to};
use iotax_analyze::{Analysis, ArmSummary, FoundDepth, Metric, Verdict};
use iotax_caps::{BlockEnd, Obstacle, Unreached, Unsteady, UnsteadyLevel};
use iotax_experiment::{LatencyTarget, Rule, Subject};
use iotax_report::{CSV_COLUMNS, SearchResult, Style, csv, search, search_rulings};
use iotax_wording::verdict::verdict;

#[test]
fn a_peel_on_a_terminal() {
    insta::assert_snapshot!(text(&common::peel(), &analyses::peel(), Style::default()));
}

#[test]
fn a_comparison_on_a_terminal() {
    insta::assert_snapshot!(text(&common::compare(), &analyses::compare(), Style::default()));
}

#[test]
fn a_run_on_a_terminal() {
    insta::assert_snapshot!(text(&common::run(), &analyses::run(), Style::default()));
}

#[test]
fn failures_on_a_terminal() {
    insta::assert_snapshot!(text(&common::compare(), &troubled::warned(), Style::default()));
}

/// Stalls and changes have words and no figure that would look like one of all blocks.
#[test]
fn stalls_and_changed_effects_in_every_format() {
    let (experiment, analysis) = (common::compare(), troubled::stalled());
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nLatency"), @"
    randread-4k: 12 blocks, 60 trials in 5 min 40 s

      luks is slower than base (stalls): 7 of 7 trials completed no operation,
      against 0 of 7 for the baseline; at least 4,190x slower.
      Compared with base, queue is undecided (stalls: 3 of 3 trials completed
      no operation, against 0 of 3 for the baseline; at least 17x slower in each
      stalled block; 4 more blocks like these would allow a verdict).
      cap and base both stalled in all 3 blocks, so there is no verdict.
      The effect of same (compared with base) on throughput changed after block 9,
      from 40 % slower [38, 42] to 5 % slower [3, 7].
      Stopped: every arm has a verdict, precise enough. Switching between arms took
      2 s (0.4 %).

    Tax
      arm    metric                            effect   n  verdict
      luks   throughput               at least 4,190x   7  slower (stalls: 7 of 7 vs
                                                           0 of 7)
      queue  throughput                             –   3  undecided (stalls: 3 of 3
                                                           vs 0 of 3)
      cap    throughput                             –   3  no information (stalls: 3
                                                           of 3 vs 3 of 3)
      same   throughput  40 % slower, then 5 % slower  12  effect changed
      95 % confidence intervals, each valid individually, no matter when the run
      stopped; n: number of blocks; results that differ by less than 5 % count as
      equal.

    Arms
      arm           rate  MiB/s     mean   CPU/IO  spread        trials
      base   85,300 IOPS    333  46.9 µs  2.30 µs   2.1 %            12
      luks        0 IOPS    257  60.9 µs  2.44 µs   2.1 %  7, 7 stalled
      queue  81,900 IOPS    320  48.8 µs  2.32 µs   2.1 %            12
      cap    40,000 IOPS    156   100 µs  2.83 µs   2.1 %            12
      same   86,200 IOPS    337  46.4 µs  2.29 µs   2.1 %            12
    ");
    let shown = markdown(&experiment, &analysis);
    insta::assert_snapshot!(up_to(&shown, "\n### Arms\n"), @"
    ## iotax: randread-4k

    **luks is slower than base (stalls): 7 of 7 trials completed no operation, against 0 of 7 for the baseline; at least 4,190x slower.**
    Compared with base, queue is undecided (stalls: 3 of 3 trials completed no operation, against 0 of 3 for the baseline; at least 17x slower in each stalled block; 4 more blocks like these would allow a verdict).
    cap and base both stalled in all 3 blocks, so there is no verdict.
    The effect of same (compared with base) on throughput changed after block 9, from 40 % slower [38, 42] to 5 % slower [3, 7].

    12 blocks, 60 trials in 5 min 40 s. Stopped: every arm has a verdict, precise enough. Switching between arms took 2 s (0.4 %).

    ### Tax

    | arm | metric | effect | n | verdict |
    | --- | --- | ---: | ---: | --- |
    | luks | throughput | at least 4,190x | 7 | slower (stalls: 7 of 7 vs 0 of 7) |
    | queue | throughput | – | 3 | undecided (stalls: 3 of 3 vs 0 of 3) |
    | cap | throughput | – | 3 | no information (stalls: 3 of 3 vs 3 of 3) |
    | same | throughput | 40 % slower, then 5 % slower | 12 | effect changed |

    95 % confidence intervals, each valid individually, no matter when the run stopped; n: number of blocks; results that differ by less than 5 % count as equal.
    ");
    let page = html(&experiment, &analysis);
    for words in [
        "slower (stalls: 7 of 7 vs 0 of 7)",
        "undecided (stalls: 3 of 3 vs 0 of 3)",
        "both stalled in all",
        "effect changed",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_masked_comparison_on_a_terminal() {
    let shown = text(&common::compare(), &troubled::masked(), Style::default());
    insta::assert_snapshot!(up_to(&shown, "\nArms\n"));
}

#[test]
fn a_masked_comparison_as_markdown() {
    let shown = markdown(&common::compare(), &troubled::masked());
    insta::assert_snapshot!(up_to(&shown, "\n### Arms\n"));
}

/// One table of a report, from its heading on.
fn table<'a>(shown: &'a str, heading: &str) -> &'a str {
    let from = shown.find(heading).expect("it has such a table");
    let end =
        shown[from + heading.len() + 2..].find("\n\n").map(|at| from + heading.len() + 2 + at);
    &shown[from..end.unwrap_or(shown.len())]
}

#[test]
fn a_run_that_syncs_leads_with_its_syncs() {
    let (experiment, analysis) = (common::run(), analyses::syncing(analyses::run()));
    insta::assert_snapshot!(text(&experiment, &analysis, Style::default()));
    let page = html(&experiment, &analysis);
    let [p99, caption] = ["sync p99", "Percentiles of the primary job's syncs"]
        .map(|said| page.replace("&#39;", "'").find(said));
    assert!(p99.is_some() && caption.is_some(), "{p99:?} {caption:?}");
    assert!(!common::markup(&page).contains("mean latency"), "of writes into the page cache");
}

#[test]
fn a_comparison_of_syncs_leads_with_them() {
    let (experiment, analysis) = (common::compare(), analyses::syncing(analyses::compare()));
    insta::assert_snapshot!(text(&experiment, &analysis, Style::default()));
    assert!(csv([&analysis]).lines().next().unwrap().contains("sync_mean_ns,sync_p99_ns"));
}

#[test]
fn operations_on_files_have_a_table_of_their_own() {
    const HEADING: &str = "Operations, pooled over trials (descriptive)";
    let (experiment, analysis) = (common::compare(), analyses::on_files());
    let shown = text(&experiment, &analysis, Style::default());
    insta::assert_snapshot!(table(&shown, HEADING), @"
    Operations, pooled over trials (descriptive)
      arm   operation    count  share     mean      p99      max  failed
      base  create      12,000  5.9 %  21.5 µs  86.0 µs  4.20 ms
      base  stat       180,500   88 %  1.85 µs  7.40 µs  4.20 ms
      base  unlink      11,950  5.8 %  17.3 µs  69.2 µs  4.20 ms
      luks  create      12,000  5.9 %  43.0 µs   172 µs  4.20 ms
      luks  stat       180,500   88 %  3.70 µs  14.8 µs  4.20 ms
      luks  unlink      11,950  5.8 %  34.6 µs   138 µs  4.20 ms       3
    ");
    insta::assert_snapshot!(table(&markdown(&experiment, &analysis), HEADING), @"
    Operations, pooled over trials (descriptive)

    | arm | operation | count | share | mean | p99 | max | failed |
    | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
    | base | create | 12,000 | 5.9 % | 21.5 µs | 86.0 µs | 4.20 ms |  |
    | base | stat | 180,500 | 88 % | 1.85 µs | 7.40 µs | 4.20 ms |  |
    | base | unlink | 11,950 | 5.8 % | 17.3 µs | 69.2 µs | 4.20 ms |  |
    | luks | create | 12,000 | 5.9 % | 43.0 µs | 172 µs | 4.20 ms |  |
    | luks | stat | 180,500 | 88 % | 3.70 µs | 14.8 µs | 4.20 ms |  |
    | luks | unlink | 11,950 | 5.8 % | 34.6 µs | 138 µs | 4.20 ms | 3 |
    ");
    let page = html(&experiment, &analysis);
    for cell in ["unlink", "180,500", "88 %"] {
        assert!(page.contains(cell), "{cell}");
    }
    assert!(!text(&experiment, &analyses::compare(), Style::default()).contains(HEADING));
}

#[test]
fn what_a_cap_hides_is_offered_as_the_command_that_shows_it() {
    let mut analysis = troubled::masked();
    analysis.below_cap.clear();
    let shown = text(&common::compare(), &analysis, Style::default());
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, offer) = words.split_once("To measure").expect("an offer");
    let offer = offer.split_once(" Stopped:").map_or(offer, |(offer, _)| offer);
    insta::assert_snapshot!(offer.trim(), @"the difference that the cap hides, run: iotax compare --workload randread-4k 'base=file(size=2G)' ... --below-cap");
}

#[test]
fn many_arms_are_counted_in_one_sentence() {
    let mut analysis = analyses::compare();
    for i in 0..3 {
        let mut more = analysis.comparisons[0].clone();
        more.subject = Subject::Arm(format!("luks-{i}"));
        analysis.comparisons.push(more);
    }
    let shown = text(&common::compare(), &analysis, Style::default());
    insta::assert_snapshot!(shown.lines().skip(2).take(2).collect::<Vec<_>>().join("\n"), @"
    5 of 7 arms are slower than base (slowest: cap, 2.13x slower [2.11, 2.15] in
    throughput), 1 equivalent, 1 without a verdict.
    ");
}

#[test]
fn an_undecided_peel_claims_no_direction() {
    let mut analysis = analyses::peel();
    for comparison in &mut analysis.comparisons {
        (comparison.tax, comparison.lo, comparison.hi) = (Some(-0.04), Some(-0.12), Some(0.03));
        comparison.verdict = Verdict::Undecided;
    }
    for layer in &mut analysis.attribution.as_mut().expect("a peel").layers {
        layer.delta_p99_ns = None;
    }
    let shown = text(&common::peel(), &analysis, Style::default());
    insta::assert_snapshot!(shown.lines().skip(2).take(2).collect::<Vec<_>>().join("\n"), @"
    The cost of all layers together is undecided: 4 % faster [−3, 12] in
    throughput.
    ");
    assert!(!shown.contains("Δ p99"), "no column without a figure");
}

#[test]
fn text_keeps_within_its_width() {
    for (experiment, analysis) in [
        (common::peel(), analyses::peel()),
        (common::compare(), troubled::warned()),
        (common::run(), analyses::run()),
    ] {
        for width in [40, 60, 80, 100] {
            for line in text(&experiment, &analysis, Style { color: false, width }).lines() {
                let columns = line.chars().count();
                assert!(columns <= usize::from(width), "{columns} > {width}: {line}");
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let (experiment, analysis) = (common::compare(), troubled::warned());
    let plain = text(&experiment, &analysis, Style::default());
    let painted = text(&experiment, &analysis, Style { color: true, width: 80 });
    assert!(painted.contains("\x1b[31mslower"), "{painted}");
    assert!(!plain.contains('\x1b'));
    let mut bare = String::new();
    let mut inside = false;
    for c in painted.chars() {
        inside = inside || c == '\x1b';
        if !inside {
            bare.push(c);
        }
        inside = inside && c != 'm';
    }
    assert_eq!(bare, plain);
}

#[test]
fn names_cannot_drive_a_terminal() {
    let shown = text(&common::hostile(), &troubled::hostile(), Style::default());
    assert!(shown.contains("onerror=alert(1)"), "the names are there");
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}

#[test]
fn a_comparison_in_markdown() {
    insta::assert_snapshot!(markdown(&common::compare(), &troubled::warned()));
}

#[test]
fn a_peel_in_markdown() {
    insta::assert_snapshot!(markdown(&common::peel(), &analyses::peel()));
}

#[test]
fn names_cannot_become_html_in_markdown() {
    let shown = markdown(&common::hostile(), &troubled::hostile());
    assert!(shown.matches('<').count() > 10, "the names are there");
    assert_eq!(shown.matches('<').count(), shown.matches("\\<").count(), "{shown}");
}

#[test]
fn what_the_cloud_calls_the_vm_is_no_markup() {
    let (mut head, caps) = common::search::search(&[]);
    head.hosts = common::on_a_vm().hosts;
    head.hosts[0].instance.as_mut().unwrap().vm = "<img src=x>\u{1b}[2J".to_owned();
    let found = search(SearchResult { head: &head, caps: &caps, end: None });
    let shown = iotax_report::markdown(&found);
    assert!(shown.contains("on \\<img") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn caps_that_are_not_stated_are_told_in_every_format() {
    let (head, mut caps) = common::search::search(&[]);
    let target = &mut caps.targets[0];
    target.iops = None;
    target.unreached.push(Unreached {
        quantity: "iops".to_owned(),
        at_least: 119e3,
        block_bytes: 512,
        obstacle: Obstacle::OtherCap(BlockEnd::Smallest),
    });
    let target = &mut caps.targets[1];
    (target.iops, target.bw_bytes) = (None, None);
    let level = |(per_s, share)| UnsteadyLevel { per_s, share };
    target.unsteady.push(Unsteady {
        quantity: "iops".to_owned(),
        lo: 598.0,
        hi: 2_003.0,
        windows: 30,
        levels: [(600.0, 0.4), (2_000.0, 0.6)].map(level).to_vec(),
        period_s: Some(10.0),
        beside: None,
    });
    let found = SearchResult { head: &head, caps: &caps, end: None };
    let document = search(found);
    let in_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let formats = [
        iotax_report::text(&document, Style::default()),
        iotax_report::markdown(&document),
        iotax_report::html(&document),
    ];
    for text in formats.map(in_one_line) {
        let reach = "IOPS cap unreachable: at the smallest block size (512 B), the bandwidth cap";
        let swings = "IOPS is unsteady, so no cap is reported: it alternates between 600.0";
        for part in [reach, swings] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("no cap was found"), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&iotax_report::search_json(found)).unwrap();
    let unreached = &json["targets"][0]["unreached"][0];
    let why = "at the smallest block size (512 B), the bandwidth cap applies first";
    assert_eq!((&unreached["obstacle"], &unreached["why"]), (&"other_cap".into(), &why.into()));
    assert_eq!(json["targets"][1]["unsteady"][0]["levels"][1]["per_s"], 2_000.0);
    assert_eq!(json["targets"][1]["iops"], serde_json::Value::Null);
}

#[test]
fn rules_of_a_search_are_told_first_with_what_they_were_held_against() {
    let (mut head, mut caps) = common::search::search(&[4e9]);
    caps.targets[0].plateau.is_plateau = true;
    let of = caps.targets[0].name.clone();
    let [of_it, no_more] = ["below documented by 5%", "bandwidth < 1M"];
    let rules = [format!("{of}: {of_it}"), format!("{of}: {no_more}"), format!("{of}: iops > 1")];
    let rules = rules.iter().map(|rule| Rule::parse(rule).unwrap()).collect();
    head.search = head.search.with(|search| search.fail_if = rules);
    caps.rules = iotax_caps::judge(&head.search.fail_if, &caps);
    let found = SearchResult { head: &head, caps: &caps, end: None };
    let told: Vec<String> =
        search_rulings(found).into_iter().map(|ruling| ruling.sentence).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    Rule broken: `base: below documented by 5%`: base reaches 3,000 MB/s [2,970, 3,030], 25 % below the disk limit of P10 (4,000 MB/s).
    Rule passed: `base: bandwidth < 1MiB/s`: base reaches 3,000 MB/s [2,970, 3,030].
    Rule broken: `base: iops > 1`: base reaches 4,000 IOPS [3,960, 4,040].
    ");
    let text = iotax_report::text(&search(found), Style::default());
    assert!(text.contains("Rule broken"), "{text}");
}

#[test]
fn trials_are_csv_rows() {
    let shown = csv([&analyses::run()]);
    insta::assert_snapshot!(shown);
}

/// A column that the docs lack, or have in another place, is one that a reader of them misreads.
#[test]
fn the_docs_list_the_columns_of_csv_in_order() {
    let docs = include_str!("../../../docs/json.md").split("\n## CSV\n").nth(1).unwrap();
    let docs = docs.split("\n## ").next().unwrap();
    let cells = docs.lines().filter(|line| line.starts_with("| `"));
    let firsts = cells.filter_map(|line| line.split(" | ").next());
    let columns = firsts.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    assert_eq!(columns.collect::<Vec<_>>(), CSV_COLUMNS);
}

#[test]
fn hostile_csv_has_one_record_per_trial() {
    let analysis = troubled::hostile();
    let shown = csv([&analysis]);
    let mut reader = ::csv::Reader::from_reader(shown.as_bytes());
    assert_eq!(reader.headers().unwrap(), CSV_COLUMNS.as_slice());
    let records: Vec<_> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), analysis.trials.len());
    assert_eq!(&records[0][15], "</script><img src=x onerror=alert(1)> '\"`&|\u{fffd}[2J\u{fffd}");
}

#[test]
fn cpu_time_is_named_where_throughput_shows_nothing() {
    let mut analysis = analyses::compare();
    let named = |analysis: &Analysis| {
        let cpu = iotax_wording::name::metric(Metric::CpuPerIo);
        verdict(&common::compare(), analysis).iter().any(|sentence| sentence.contains(cpu))
    };
    let arm = analysis.comparisons[0].subject.clone();
    analysis.comparisons.retain(|c| c.subject == arm);
    analysis.comparisons[0].verdict = Verdict::Slower;
    let mut cpu = analysis.comparisons[0].clone();
    cpu.metric = Metric::CpuPerIo;
    analysis.comparisons.push(cpu);
    assert!(!named(&analysis), "throughput shows it already");
    analysis.comparisons[0].verdict = Verdict::Undecided;
    assert!(named(&analysis));
    let last = analysis.comparisons.len() - 1;
    analysis.comparisons[last].verdict = Verdict::Undecided;
    assert!(!named(&analysis), "CPU time shows nothing either");
}

#[test]
fn one_trial_has_no_spread() {
    let mut analysis = analyses::run();
    analysis.arms.truncate(1);
    let arms = |analysis: &Analysis| {
        let shown = text(&common::run(), analysis, Style { color: false, width: 80 });
        section(&shown, "\nArms\n").to_owned()
    };
    analysis.arms[0].trials = 2;
    assert!(arms(&analysis).contains("spread"), "{}", arms(&analysis));
    let one = ArmSummary { name: "one".to_owned(), trials: 1, ..analysis.arms[0].clone() };
    analysis.arms.push(one);
    let spread_of_one = |row: &str| row.split_whitespace().rev().nth(1) == Some("–");
    assert!(arms(&analysis).lines().last().is_some_and(spread_of_one), "{}", arms(&analysis));
    // A column in which no arm has a value is left out.
    analysis.arms.remove(0);
    assert!(!arms(&analysis).contains("spread"), "{}", arms(&analysis));
}

#[test]
fn depths_that_jobs_found_have_a_table() {
    let (mut experiment, mut analysis) = (common::run(), analyses::run());
    let latency_target = Some(LatencyTarget {
        target_ns: 500_000,
        window_ns: 5_000_000_000,
        percentile: 99.9,
        keeps_on: false,
    });
    experiment.spec =
        experiment.spec.with(|spec| spec.phases[0].jobs[0].latency_target = latency_target);
    let job = experiment.spec.workload().jobs[0].name.clone();
    let found = FoundDepth { job, least: 12, most: 14 };
    analysis.arms[0].found_depths = vec![found];
    let shown = text(&experiment, &analysis, Style { color: false, width: 100 });
    insta::assert_snapshot!(section(&shown, "\nChosen queue depths\n"), @"

    Chosen queue depths
      arm     job  depth per thread  latency target
      target  io   12 to 14          at most 500 µs for 99.9 % of I/Os
    ");
}

/// One section of a text report.
fn section<'a>(report: &'a str, title: &str) -> &'a str {
    let start = report.find(title).unwrap_or_else(|| panic!("{title} in {report}"));
    report[start..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn devices_have_a_table_as_of_iostat() {
    let report = text(&common::compare(), &common::machine::compare(), Style::default());
    let devices = section(&report, "\nDevices\n");
    let heads = [
        "arm", "device", "r/s", "w/s", "rMiB/s", "wMiB/s", "r_await", "w_await", "aqu-sz", "%util",
    ];
    let shown = devices.lines().nth(2).unwrap();
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), heads, "{devices}");
    assert!(devices.lines().all(|line| line.chars().count() <= 80), "{devices}");
    let base = devices.lines().nth(4).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(base, ["base", "nvme0n1", "85,300", "0", "333", "0", "0.05", "0", "3.97", "99.2"]);
    assert!(section(&report, "NFS operations").contains("READ"), "{report}");
    let report = markdown(&common::compare(), &common::machine::compare());
    assert!(report.contains("### Devices\n\n| arm | device | r/s |"));
    assert!(report.contains("### CPU and memory\n\n| arm | user | system |"));
}

#[test]
fn a_trial_without_samples_says_so() {
    let trial = common::trials::run(false).remove(0);
    insta::assert_snapshot!(iotax_report::iostat(&common::run(), &trial), @"Trial 1, block 1, arm target: no samples");
}

#[test]
fn every_format_says_which_vm_and_disk_the_cloud_told() {
    let (experiment, analysis) = (common::on_a_vm(), analyses::compare());
    let told = "on Standard_DS1_v2 with P10 (from Azure's metadata service)";
    let text = text(&experiment, &analysis, Style::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(told), "{text}");
    let markdown = markdown(&experiment, &analysis).replace('\\', "");
    assert!(markdown.contains(told), "{markdown}");
}
