//! A rate that something holds.

use iotax_diagnose::{of_arms, reasons};
use iotax_experiment::{Design, Engine, Target};
use iotax_record::LatencyHistogram;

use crate::causes::{Scene, device};
use crate::support::{Bed, SECONDS, disk_site, job};
use crate::{confidence, texts};

/// Ten seconds that vary by so many I/Os around this rate.
fn seconds(rate: u32, by: u32) -> Vec<u32> {
    (0..10).map(|second| rate - by + (second * 7 % 3) * by).collect()
}

/// 1,500 reads per second, eight in flight, most of which wait in bursts.
fn held(by: u32, at_disk_ms: f64) -> Scene {
    let mut scene = Scene::healthy();
    scene.iops = 1500.0;
    scene.seconds = Some(seconds(1500, by));
    let ios = 1500 * SECONDS;
    scene.latencies = vec![(300_000, ios / 3), (2_000_000, ios / 3), (13_700_000, ios / 3)];
    scene.counters.devices = vec![device("vda", [1500, 8], [0, 0], at_disk_ms)];
    scene
}

fn told(scene: Scene) -> Vec<String> {
    let told = |suspect: iotax_diagnose::Suspect| {
        format!("{} {}", confidence(suspect.confidence), suspect.cause)
    };
    scene.suspects().into_iter().filter(|suspect| suspect.cause != "slow-few").map(told).collect()
}

#[test]
fn a_constant_rate_of_uneven_ios_is_a_limiters() {
    assert_eq!(told(held(2, 0.3)), ["likely throttle"]);
    let suspects = held(2, 0.3).suspects();
    insta::assert_snapshot!(texts(&suspects[0].evidence), @"
    something limits the rate to 1,500 IOPS (6.14 MB/s): for 10 seconds, the rate varied by at most 0.1 %
    94 % of an I/O's time passed before the I/O reached the disk
    the rate was 17x steadier than it would be with independent I/Os
    `iotax limits /data` shows whether there is a limit and, if so, what it is
    ");
    // Below the disk that this machine sees, a busy device looks like that.
    assert_eq!(told(held(2, 5.0)), ["possible throttle"]);
}

#[test]
fn a_rate_that_varies_is_none() {
    assert_eq!(told(held(30, 0.3)), Vec::<String>::new());
    let mut even = held(2, 0.3);
    // As even as the rate: a slow path, one I/O like the other.
    even.latencies = vec![(5_330_000, 1500 * SECONDS)];
    assert_eq!(told(even), Vec::<String>::new());
    let mut paced = held(2, 0.3);
    paced.edit(|job| job.pace = iotax_experiment::Pace::Even { iops: 1500.0 });
    assert_eq!(told(paced), Vec::<String>::new(), "it was asked for");
}

/// Two mounts under one load: the second at 1,500 IOPS.
fn beside(by: u32, spread: [u64; 3]) -> (Bed, Vec<iotax_record::Trial>) {
    let mut bed = Bed::new(&[("free", &[]), ("held", &[])], Design::Compare);
    bed.experiment.sites = vec![disk_site(), disk_site()];
    bed.edit(|spec| {
        for (arm, path) in spec.arms.iter_mut().zip(["/free", "/held"]) {
            arm.target = Target::Path(path.into());
        }
        let asked = &mut spec.phases[0].jobs[0];
        (asked.engine, asked.direct, asked.queue_depth) = (Engine::IoUring, true, 4);
    });
    let mut trials = Vec::new();
    for block in 0..5_u32 {
        for arm in bed.order(block) {
            let rate = [25_000.0 * (1.0 + 0.01 * f64::from(block % 3)), 1500.0][arm];
            let mut trial = bed.trial_with(block, arm, rate, 4e9 / rate);
            if arm == 1 {
                let record = job(&mut trial);
                record.read.per_second_ios = seconds(1500, by)[..5].to_vec();
                record.read.service = LatencyHistogram::new();
                for us in spread {
                    record.read.service.record_many(1000 * us, 500 * SECONDS);
                }
            }
            trials.push(trial);
        }
    }
    (bed, trials)
}

fn apart(by: u32, spread: [u64; 3]) -> String {
    let (bed, trials) = beside(by, spread);
    let analysis = bed.analyze(&trials);
    let apart = reasons(&bed.experiment, &analysis).apart;
    let told = apart.iter().filter_map(|reason| {
        let suspect = reason.suspect.as_ref()?;
        Some(format!("{}: {} {}", reason.of, confidence(suspect.confidence), suspect.cause))
    });
    told.collect()
}

#[test]
fn beside_an_arm_without_it_a_limit_is_why_the_other_is_slower() {
    assert_eq!(apart(1, [200, 2_000, 5_800]), "held: likely throttle");
    // One I/O like the other: a longer path looks the same.
    assert_eq!(apart(1, [2_660, 2_666, 2_672]), "");
    // As calm as independent I/Os make it.
    assert_eq!(apart(7, [2_200, 2_666, 3_130]), "");
    assert_eq!(apart(60, [200, 2_000, 5_800]), "");
    let (bed, trials) = beside(1, [2_660, 2_666, 2_672]);
    let causes = of_arms(&bed.experiment, &bed.analyze(&trials));
    assert_eq!(causes[0].suspects[0].confidence, iotax_diagnose::Confidence::Possible);
    insta::assert_snapshot!(texts(&causes[0].suspects[0].evidence), @"
    something limits the rate to 1,500 IOPS (6.14 MB/s): for 25 seconds, the rate varied by at most 0.07 %
    free reached 25,200 IOPS under the same load, and each I/O was 17x faster there
    `iotax limits /held` shows whether there is a limit and, if so, what it is
    ");
}
