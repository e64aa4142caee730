//! The known truth behind every tax: 200 us against 260 us of delay.

use iotax_experiment::Engine;
use iotax_layers::{Delay, Layer};
use iotax_load::IoTarget;

use crate::support::{MIB, MS, disk, job, mem, prepare_and_run, workload};

fn iops(latency_ns: u64) -> (f64, f64) {
    let delay = Layer::Delay(Delay { latency_ns, jitter_ns: 0 });
    let disk = disk(&[mem(64 * MIB), delay]);
    let mut workload = workload(job(Engine::Vdisk));
    workload.time_ns = 1000 * MS;
    let record = prepare_and_run(&workload, IoTarget::Disk(&disk)).unwrap();
    let job = &record.jobs[0];
    let us = |q| job.read.service.quantile_ns(q) / 1000;
    println!(
        "latency in us: mean {:.1}, p50 {}, p90 {}, p99 {}, p99.9 {}, max {}",
        job.read.service.mean_ns() / 1000.0,
        us(0.5),
        us(0.9),
        us(0.99),
        us(0.999),
        us(1.0)
    );
    let cpu = (job.cpu_user_ns + job.cpu_system_ns) as f64 / job.active_ns as f64;
    (job.read.ios as f64 * 1e9 / job.active_ns as f64, cpu)
}

#[test]
fn sixty_microseconds_more_cost_twenty_three_percent() {
    let mut taxes: Vec<f64> = (0..9)
        .map(|_| {
            let ((base, base_cpu), (slow, slow_cpu)) = (iops(200_000), iops(260_000));
            println!("{base:.0} and {slow:.0} IOPS, CPU {base_cpu:.2} and {slow_cpu:.2}");
            1.0 - slow / base
        })
        .collect();
    taxes.sort_by(f64::total_cmp);
    println!("taxes {taxes:.4?}");
    assert!((0.22..0.24).contains(&taxes[taxes.len() / 2]));
}
