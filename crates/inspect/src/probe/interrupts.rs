//! Which CPUs a device's interrupts come to: `/proc/interrupts`, described in proc(5).

/// Interrupts of a device's queues for each CPU, summed over its queues; empty if there are none
/// of its own. `owner` is what the driver names them by: `nvme0` or `virtio3`.
pub(super) fn per_cpu(text: &str, owner: &str) -> Vec<u64> {
    let cpus = text.lines().next().map_or(0, |line| {
        line.split_ascii_whitespace().filter(|word| word.starts_with("CPU")).count()
    });
    let mut sums: Vec<u64> = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_ascii_whitespace();
        let (Some(_number), Some(last)) = (words.next(), line.split_ascii_whitespace().next_back())
        else {
            continue;
        };
        if !is_queue(last, owner) {
            continue;
        }
        let counts: Vec<u64> = words.take(cpus).map_while(|word| word.parse().ok()).collect();
        if counts.len() < cpus {
            continue;
        }
        sums.resize(cpus, 0);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
    }
    sums
}

/// `nvme0q1`, where queue 0 is not for I/O; `virtio3-req.0`, `virtio3-requests`.
fn is_queue(name: &str, owner: &str) -> bool {
    let Some(rest) = name.strip_prefix(owner) else { return false };
    match rest.strip_prefix('q') {
        Some(queue) => queue.parse::<u32>().is_ok_and(|queue| queue > 0),
        None => rest.starts_with("-req"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIXTURE: &str = "           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 26:          9          9 PCI-MSIX-0000:00:04.0   0-edge      nvme0q0
 27:          3          0 PCI-MSIX-0000:00:04.0   1-edge      nvme0q1
 28:          0          4 PCI-MSIX-0000:00:04.0   2-edge      nvme0q2
 29:          7          7 PCI-MSIX-0000:00:05.0   2-edge      nvme01q2
 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:          0   23421531 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 37:          8          8 PCI-MSIX-0000:00:02.0   1-edge      virtio11-req.0
LOC:    7728930    7928187   Local timer interrupts
ERR:          0
";

    #[test]
    fn queues_of_one_device_are_summed() {
        assert_eq!(per_cpu(FIXTURE, "nvme0"), [3, 4]);
        assert_eq!(per_cpu(FIXTURE, "virtio1"), [0, 23_421_531]);
        assert_eq!(per_cpu(FIXTURE, "virtio2"), [0; 0]);
        assert_eq!(per_cpu("", "nvme0"), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", line in "[0-9: ]{0,40}") {
            per_cpu(&text, "nvme0");
            per_cpu(&format!("CPU0 CPU1\n{line} nvme0q1\n{line}{line}"), "nvme0");
        }
    }
}
