//! From samples to columns.

use std::array;
use std::time::Instant;

use iotax_inspect::{NfsClient, NfsMount, Reading, Stall, Storage};
use iotax_record::{
    Counters, DeviceCounters, MemoryCounters, NfsClientCounters, NfsCounters, NfsGranted,
    NfsOperation, NfsTransportCounters, Pressure, Series, Stalls,
};

use crate::clock::nanos;

pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) reading: Reading,
}

/// The samples as the record keeps them. What no sample has is absent.
pub(super) fn columns(storage: &Storage, samples: &[Sample], started: Instant) -> Counters {
    let readings: Vec<&Reading> = samples.iter().map(|sample| &sample.reading).collect();
    let ticks_per_s = rustix::param::clock_ticks_per_second();
    Counters {
        at_ns: samples
            .iter()
            .map(|sample| nanos(sample.at.saturating_duration_since(started)))
            .collect(),
        window_ns: None,
        devices: devices(storage, &readings),
        cpu_ticks: readings.iter().any(|r| r.cpu_ticks.is_some()).then(|| {
            Box::new(array::from_fn(|mode| column(&readings, |r| Some(r.cpu_ticks?[mode]))))
        }),
        ticks_per_s: u32::try_from(ticks_per_s).unwrap_or(u32::MAX),
        pressure: Pressure {
            cpu: stalls(&readings, 0),
            io: stalls(&readings, 1),
            memory: stalls(&readings, 2),
        },
        memory: memory(&readings),
        nfs: nfs(&readings),
        nfs_client: nfs_client(&readings),
        sampler_cpu_ns: 0,
        throttled_us: readings
            .iter()
            .any(|reading| reading.throttled_us.is_some())
            .then(|| column(&readings, |reading| reading.throttled_us)),
        interfaces: Vec::new(),
    }
}

/// One value of each sample.
pub(super) fn column<T: Copy>(readings: &[T], value: impl Fn(T) -> Option<u64>) -> Series {
    readings.iter().map(|reading| value(*reading)).collect()
}

fn devices(storage: &Storage, readings: &[&Reading]) -> Vec<DeviceCounters> {
    let of_device = |(i, device): (usize, &iotax_inspect::UnderlyingDevice)| {
        let counters =
            |counter| column(readings, |reading| Some(reading.devices.get(i).copied()??[counter]));
        DeviceCounters {
            name: device.name.clone(),
            model: device.model.clone(),
            targets: Vec::new(),
            counters: Box::new(array::from_fn(counters)),
        }
    };
    let seen = |i: usize| readings.iter().any(|r| r.devices.get(i).is_some_and(Option::is_some));
    storage.devices.iter().enumerate().filter(|(i, _)| seen(*i)).map(of_device).collect()
}

fn stalls(readings: &[&Reading], resource: usize) -> Option<Stalls> {
    readings.iter().any(|reading| reading.pressure[resource].is_some()).then(|| {
        let of = |value: fn(Stall) -> u64| column(readings, |r| r.pressure[resource].map(value));
        Stalls { some_us: of(|stall| stall.some_us), full_us: of(|stall| stall.full_us) }
    })
}

fn memory(readings: &[&Reading]) -> Option<MemoryCounters> {
    readings.iter().any(|reading| reading.memory.is_some()).then(|| MemoryCounters {
        page_bytes: u32::try_from(rustix::param::page_size()).unwrap_or(u32::MAX),
        major_faults: column(readings, |r| Some(r.memory?.major_faults)),
        dirty_pages: column(readings, |r| Some(r.memory?.dirty_pages)),
        writeback_pages: column(readings, |r| Some(r.memory?.writeback_pages)),
        cached_pages: column(readings, |r| Some(r.memory?.cached_pages)),
        dirty_threshold_pages: column(readings, |r| Some(r.memory?.dirty_threshold_pages)),
        file_refaults: column(readings, |r| Some(r.memory?.file_refaults)),
    })
}

/// Mounts of any sample, with the operations that were ever used.
fn nfs(readings: &[&Reading]) -> Vec<NfsCounters> {
    let mut mounts: Vec<&NfsMount> = Vec::new();
    // The last sample first: it knows all operations.
    for mount in readings.iter().rev().flat_map(|reading| &reading.nfs) {
        if !mounts.iter().any(|known| known.mount_point == mount.mount_point) {
            mounts.push(mount);
        }
    }
    mounts.into_iter().map(|mount| of_mount(mount, readings)).collect()
}

fn nfs_client(readings: &[&Reading]) -> Option<NfsClientCounters> {
    let of = |value: fn(NfsClient) -> u64| column(readings, |r| r.nfs_client.map(value));
    readings.iter().any(|reading| reading.nfs_client.is_some()).then(|| NfsClientCounters {
        calls: of(|client| client.calls),
        retransmissions: of(|client| client.retransmissions),
        credentials: of(|client| client.credentials),
    })
}

/// The mount as another sample has it.
fn again<'a>(mount: &NfsMount, reading: &'a Reading) -> Option<&'a NfsMount> {
    reading.nfs.iter().find(|other| other.mount_point == mount.mount_point)
}

fn of_mount(mount: &NfsMount, readings: &[&Reading]) -> NfsCounters {
    let transports = mount.transports.iter().enumerate().map(|(place, transport)| {
        let value = |reading: &Reading, counter: usize| {
            Some(again(mount, reading)?.transports.get(place)?.counters?[counter])
        };
        let counters =
            array::from_fn(|counter| column(readings, |reading| value(reading, counter)));
        NfsTransportCounters { protocol: transport.protocol.clone(), counters: Box::new(counters) }
    });
    let used = mount.operations.iter().filter(|(_, counters)| counters[0] > 0);
    let operations = used.map(|(name, _)| {
        let value = |reading: &Reading, counter: usize| {
            let mount = again(mount, reading)?;
            // An operation that is not listed yet has not been used.
            let found = mount.operations.iter().find(|(other, _)| other == name);
            Some(found.map_or(0, |(_, counters)| counters[counter]))
        };
        let counters =
            array::from_fn(|counter| column(readings, |reading| value(reading, counter)));
        NfsOperation { name: name.clone(), counters: Box::new(counters) }
    });
    NfsCounters {
        mount_point: mount.mount_point.display().to_string(),
        source: mount.source.clone(),
        granted: NfsGranted::of(&mount.options),
        transports: transports.collect(),
        operations: operations.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_inspect::UnderlyingDevice;
    use std::time::Duration;

    fn sample(at: Instant, device: Option<u64>, reads: u64) -> Sample {
        let operations = vec![("READ".to_owned(), [reads; 9]), ("LINK".to_owned(), [0; 9])];
        let mount = NfsMount { mount_point: "/m".into(), operations, ..NfsMount::default() };
        let reading = Reading {
            devices: vec![None, device.map(|n| [n; 17])],
            pressure: [None, Some(Stall { some_us: reads, full_us: 0 }), None],
            nfs: vec![mount],
            ..Reading::default()
        };
        Sample { at, reading }
    }

    #[test]
    fn what_was_never_there_has_no_column() {
        let start = Instant::now();
        let part = |name: &str| UnderlyingDevice { name: name.to_owned(), model: None };
        let storage = Storage { devices: vec![part("gone"), part("vda")], nfs: Vec::new() };
        let second = Duration::from_secs(1);
        let samples = [
            sample(start + second, Some(5), 7),
            sample(start + 2 * second, None, 9),
            sample(start + 3 * second, Some(6), 9),
        ];
        let counters = columns(&storage, &samples, start);
        assert_eq!(counters.at_ns, [1_000_000_000, 2_000_000_000, 3_000_000_000]);
        let [vda] = counters.devices.as_slice() else { panic!("one device") };
        assert_eq!(vda.name, "vda");
        assert_eq!([0, 1, 2].map(|i| vda.counters[16].at(i)), [Some(5), None, Some(6)]);
        assert_eq!(counters.cpu_ticks, None);
        assert!(counters.memory.is_none() && counters.pressure.cpu.is_none());
        assert_eq!(counters.pressure.io.unwrap().some_us.at(1), Some(9));
        let operations = &counters.nfs[0].operations;
        assert_eq!(operations.len(), 1, "what was never used is left out");
        assert_eq!(
            (operations[0].name.as_str(), operations[0].counters[0].at(0)),
            ("READ", Some(7))
        );
    }
}
