use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/iperf3/", $name, ".json"))
    };
}

const TCP: &str = fixture!("tcp");
const UDP: &str = fixture!("udp");

/// The metric of a network workload: received bits per second.
fn bits_per_s(job: &JobRecord) -> f64 {
    let came = job.udp.map_or(1.0, |udp| udp.received as f64 / udp.sent as f64);
    8e9 * (job.read.bytes + job.write.bytes) as f64 * came / job.active_ns as f64
}

fn shown(text: &str) -> String {
    let result = read_iperf3(text).unwrap();
    let jobs = result.jobs.iter().zip(&result.options).map(|(job, options)| {
        let options: Vec<_> =
            options.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}: {:.2} Mbit/s; {}", job.name, bits_per_s(job) / 1e6, options.join(" "))
    });
    jobs.chain(result.warnings.clone()).collect::<Vec<_>>().join("\n")
}

/// Compares with iperf3's own rate for received data.
#[test]
fn rates_are_those_of_the_receiver() {
    let rate = |text: &str, sum: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        json["end"][sum]["bits_per_second"].as_f64().unwrap()
    };
    for text in [
        TCP,
        UDP,
        fixture!("tcp4"),
        fixture!("rev"),
        fixture!("udprev"),
        fixture!("omit"),
        fixture!("udpfast"),
        fixture!("bidir"),
    ] {
        let result = read_iperf3(text).unwrap();
        for (job, sum) in result.jobs.iter().zip(["sum_received", "sum_received_bidir_reverse"]) {
            let (own, theirs) = (bits_per_s(job), rate(text, sum));
            assert!((own / theirs - 1.0).abs() < 1e-6, "{} {own} {theirs}", job.name);
        }
    }
}

#[test]
fn a_job_for_each_direction() {
    assert_snapshot!(shown(TCP), @"tcp: 10475.04 Mbit/s; ioengine=tcp_stream rw=write bs=131072 numjobs=1 runtime=2");
    assert_snapshot!(shown(fixture!("tcp4")), @"tcp: 12722.32 Mbit/s; ioengine=tcp_stream rw=write bs=131072 numjobs=4 runtime=2");
    assert_snapshot!(shown(fixture!("rev")), @"tcp reverse: 14560.93 Mbit/s; ioengine=tcp_stream rw=read bs=131072 numjobs=1 runtime=2");
    assert_snapshot!(shown(fixture!("bidir")), @"
    tcp: 9682.14 Mbit/s; ioengine=tcp_stream rw=write bs=131072 numjobs=1 runtime=2
    tcp reverse: 3648.02 Mbit/s; ioengine=tcp_stream rw=read bs=131072 numjobs=1 runtime=2
    ");
    assert_snapshot!(shown(UDP), @"udp: 46.47 Mbit/s; ioengine=udp_stream rw=write bs=32768 numjobs=1 rate=6250000 runtime=2");
    assert_snapshot!(shown(fixture!("udpfast")), @"udp: 11791.28 Mbit/s; ioengine=udp_stream rw=write bs=32768 numjobs=1 runtime=2");
}

#[test]
fn a_stream_has_what_its_sender_tells() {
    let result = read_iperf3(TCP).unwrap();
    assert_eq!(
        (result.tool.as_str(), result.started.as_deref()),
        ("iperf3 3.12", Some("2026-11-24T12:45:14Z"))
    );
    let job = &result.jobs[0];
    let tcp = TcpRecord {
        connections: 1,
        retransmits: 32,
        rtt_ns: 96_000,
        cwnd_bytes: 2_226_422,
        mss_bytes: 32_768,
        header_bytes: 0,
        zero_copy: None,
    };
    assert_eq!((job.engine.as_str(), job.tcp), ("tcp_stream", Some(tcp)));
    assert_eq!((job.write.bytes, job.read.bytes), (2_625_765_376, 0));
    assert_eq!(
        (job.write.per_second_bytes.len(), job.write.per_second_bytes[0]),
        (2, 1_474_428_928)
    );
    assert!(job.write.summary.is_none() && job.write.service.count() == 0);
    let far_ns = result.far_end.unwrap().cpu_ns as f64;
    assert!((far_ns / job.active_ns as f64 - 0.168_489).abs() < 1e-5);
    let four = read_iperf3(fixture!("tcp4")).unwrap().jobs[0].tcp.unwrap();
    assert_eq!((four.connections, four.retransmits), (4, 49));
    // The far end sends its retransmits, but no round trip.
    let reverse = read_iperf3(fixture!("rev")).unwrap();
    assert_eq!((reverse.jobs[0].tcp, reverse.jobs[0].write.bytes), (None, 0));
    let both = read_iperf3(fixture!("bidir")).unwrap();
    assert_eq!(both.jobs[0].tcp.map(|tcp| (tcp.connections, tcp.retransmits)), Some((1, 4)));
    assert_eq!((both.jobs[1].tcp, both.far_end, both.jobs[0].cpu_user_ns), (None, None, 0));
    // Seconds that -O leaves out are not in the series.
    assert_eq!(read_iperf3(fixture!("omit")).unwrap().jobs[0].write.per_second_bytes.len(), 2);
}

#[test]
fn datagrams_are_counted_by_what_came() {
    let udp = |text: &str| read_iperf3(text).unwrap().jobs[0].udp.unwrap();
    let expected =
        UdpRecord { sent: 380, received: 375, reordered: 0, duplicates: 0, jitter_ns: 59_483 };
    assert_eq!(udp(UDP), expected);
    assert_eq!(read_iperf3(UDP).unwrap().jobs[0].offered_ios, Some(382));
    let more_than_all = UDP.replace("\"lost_packets\":\t5", "\"lost_packets\":\t400");
    assert_eq!(udp(&more_than_all), expected);
    assert_snapshot!(read_iperf3(&more_than_all).unwrap().warnings.join("\n"), @"udp: iperf3 counts 400 of 380 datagrams as lost, which is impossible; iotax counts 375 as received");
    // As before 3.7, which has no sum of received data.
    let old = |text: &str| text.replace("\"sum_received\"", "\"other\"");
    assert_eq!(udp(&old(UDP)).received, 375);
    assert_eq!(udp(&old(&more_than_all)).received, 0);
}

/// Output of 3.7: the members of both directions have the same names.
#[test]
fn both_directions_may_have_the_same_names() {
    assert_snapshot!(shown(fixture!("bidir-3.7")), @"
    tcp: 1000.00 Mbit/s; ioengine=tcp_stream rw=write bs=131072 numjobs=1 runtime=5
    tcp reverse: 500.00 Mbit/s; ioengine=tcp_stream rw=read bs=131072 numjobs=1 runtime=5
    ");
    let newer = fixture!("bidir");
    let older = newer.replace("_bidir_reverse", "");
    assert!(serde_json::from_str::<Root>(&older).is_err());
    assert_eq!(read_iperf3(&older).unwrap().jobs, read_iperf3(newer).unwrap().jobs);
    // Whichever comes first.
    let mut whole: serde_json::Value = serde_json::from_str(newer).unwrap();
    let end = whole["end"].as_object_mut().unwrap();
    let names = ["sum_sent", "sum_received"];
    let sums: Vec<_> = ["_bidir_reverse", ""]
        .iter()
        .flat_map(|way| names.map(|name| (name, end.remove(&format!("{name}{way}")).unwrap())))
        .collect();
    let members = sums.iter().map(|(name, sum)| format!("\"{name}\":{sum},"));
    let swapped = whole
        .to_string()
        .replace("\"end\":{", &format!("\"end\":{{{}", members.collect::<String>()));
    let rates =
        |text: &str| read_iperf3(text).unwrap().jobs.iter().map(bits_per_s).collect::<Vec<_>>();
    assert_eq!(rates(&swapped), rates(newer));
}

#[test]
fn figures_that_are_none_are_absent() {
    for nothing in ["nan", "-nan", "NaN", "inf", "-inf"] {
        let udp = UDP.replace("\"lost_percent\":\t0,", &format!("\"lost_percent\":\t{nothing},"));
        let udp = udp.replace("\"jitter_ms\":\t0,", &format!("\"jitter_ms\":\t{nothing},"));
        assert_ne!(udp, UDP);
        assert_eq!(read_iperf3(&udp).unwrap(), read_iperf3(UDP).unwrap(), "{nothing}");
    }
}

/// The result of `-J` as `--json-stream` prints it.
fn streamed(text: &str) -> String {
    let whole: serde_json::Value = serde_json::from_str(text).unwrap();
    let event = |name: &str, data: &serde_json::Value| {
        format!("{}\n", serde_json::json!({ "event": name, "data": data }))
    };
    let intervals = whole["intervals"].as_array().unwrap().iter();
    let intervals: String = intervals.map(|data| event("interval", data)).collect();
    format!("{}{intervals}{}", event("start", &whole["start"]), event("end", &whole["end"]))
}

#[test]
fn a_line_for_each_event_is_the_same_result() {
    for text in [TCP, UDP, fixture!("bidir"), fixture!("omit"), fixture!("rev")] {
        assert_eq!(read_iperf3(&streamed(text)).unwrap(), read_iperf3(text).unwrap());
        let noted = format!(
            "iperf3: a warning\n{}{{\"event\":\"server_output_text\",\"data\":\"x\"}}\n",
            streamed(text)
        );
        assert_eq!(read_iperf3(&noted).unwrap(), read_iperf3(text).unwrap());
    }
    let text = streamed(TCP);
    let error = |text: &str| read_iperf3(text).unwrap_err().to_string();
    let without_end = &text[..text.rfind("{\"data\"").unwrap()];
    assert_snapshot!(error(without_end), @"it contains no iperf3 measurement: it has no end.sum_received: the run ended too early");
    assert_snapshot!(error(&format!("{without_end}{{\"event\":\"error\",\"data\":\"the server has terminated\"}}")), @r#"it contains no iperf3 measurement: the run failed with "the server has terminated", so the measurement is incomplete; run it again"#);
    assert_snapshot!(error(&text[..text.len() - 20]), @"it contains no iperf3 measurement: it has no end.sum_received: the run ended too early");
}

#[test]
fn a_loss_above_all_that_was_sent_is_warned_of() {
    let warned = |text: &str| read_iperf3(text).unwrap().warnings.join("\n");
    assert_eq!(warned(UDP), "");
    let percent = UDP.replace("\"lost_percent\":\t1.3", "\"lost_percent\":\t131.3");
    assert_ne!(percent, UDP);
    assert_snapshot!(warned(&percent), @"udp: iperf3 counts 131 % of the datagrams as lost, which is impossible; iotax counts 375 as received");
    assert_snapshot!(warned(&UDP.replace("\"lost_percent\":\t1.3", "\"lost_percent\":\t-1.3")), @"udp: iperf3 counts −1.3 % of the datagrams as lost, which is impossible; iotax counts 375 as received");
}

#[test]
fn what_is_no_measurement_says_why() {
    let error = |text: &str| read_iperf3(text).unwrap_err().to_string();
    assert_snapshot!(error(fixture!("refused")), @r#"it contains no iperf3 measurement: the run failed with "unable to connect to server: Connection refused", so the measurement is incomplete; run it again"#);
    assert_snapshot!(error(fixture!("interrupted")), @r#"it contains no iperf3 measurement: the run failed with "interrupt - the client has terminated", so the measurement is incomplete; run it again"#);
    assert_snapshot!(error(&TCP[..1500]), @"line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
    assert_snapshot!(error(""), @"line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
    assert_snapshot!(error(r#"{"start": {"version": "iperf 3.12"}}"#), @"it contains no iperf3 measurement: the run ended before the test started");
    assert_snapshot!(error(r#"{"event":"start","data":{"version":"iperf 3.17"}}"#), @"it contains no iperf3 measurement: the run ended before the test started");
    assert_snapshot!(error(&TCP.replace("\"TCP\"", "\"SCTP\"")), @"it contains no iperf3 measurement: SCTP is not supported, only TCP and UDP");
    assert_snapshot!(error(&TCP.replace("sum_received", "other")), @"it contains no iperf3 measurement: it has no end.sum_received: the run ended too early");
    assert_snapshot!(error(&TCP.replace("\"seconds\":\t2.005351", "\"seconds\":\t0")), @"job tcp: seconds is 0, but should be more than 0 and less than ten years");
    assert_snapshot!(error(&TCP.replace("\"bytes\":\t2625765376", "\"bytes\":\t-1")), @"job tcp: bytes is -1, but should be a count from 0 to 9 * 10^15");
    assert_snapshot!(error(&TCP.replace("\"bytes\":\t2625765376", "\"bytes\":\t0")), @"it contains no iperf3 measurement: nothing was received");
    assert_snapshot!(error(&TCP.replace("\"TCP\"", "7")), @"line 27, column 16: invalid type: integer `7`, expected a string");
    assert_snapshot!(error(&format!("{TCP}{TCP}")), @"it contains no iperf3 measurement: it has several results; save each in a separate file");
}

proptest! {
    #[test]
    fn no_part_of_a_file_panics(start in 0..4000_usize, length in 0..500_usize, with in "[{}\\[\\]:,\" a0-9.e-]{0,12}") {
        for text in [TCP, UDP] {
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            let _ = read_iperf3(&format!("{}{with}{}", &text[..start], &text[end..]));
        }
    }
}
