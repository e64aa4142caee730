//! What fio itself draws: places by zones, sizes by shares, jobs in proportion, data that repeats.
//!
//! Needs the program fio; says so loudly and passes where it is missing.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;

const IOS: u64 = 20_000;

/// (direction, offset, bytes) of each I/O that fio does by these options, on its engine `null`.
fn drawn(options: &[&str]) -> Vec<(String, u64, u64)> {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let ios = format!("--number_ios={IOS}");
    let log_option = format!("--write_iolog={}", log.display());
    let output = Command::new("fio")
        .current_dir(directory.path())
        .args(["--name=a", "--ioengine=null", "--filename=x", &ios, &log_option])
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&log).unwrap();
    let io = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| ["read", "write", "trim"].contains(word))?;
        let number = |at: usize| words.get(at)?.parse::<u64>().ok();
        Some((words[at].to_owned(), number(at + 1)?, number(at + 2)?))
    };
    text.lines().filter_map(io).collect()
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// The zones of fio's example `rand-zones`, with the borders at which ours change, too
/// (`native/access/zoned.rs` has the same shares).
#[test]
fn zones_begin_and_end_where_fio_has_them() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let ios = drawn(&[
        "--rw=randrw",
        "--bs=4k",
        "--size=400m",
        "--norandommap",
        "--random_distribution=zoned:50/5:30/15:20/",
    ]);
    let units = 400 * 256;
    let inside = |way: &str, from: u64, to: u64| {
        let own: Vec<_> = ios.iter().filter(|(direction, ..)| direction == way).collect();
        let within =
            |offset: u64| (units * from / 100..units * to / 100).contains(&(offset / 4096));
        share(own.iter().filter(|(_, offset, _)| within(*offset)).count(), own.len())
    };
    // Five standard deviations of 10,000 draws.
    for (from, to, expected) in [(0, 5, 0.5), (5, 20, 0.3), (20, 100, 0.2)] {
        for way in ["read", "write"] {
            let seen = inside(way, from, to);
            assert!((seen - expected).abs() < 0.025, "{way} in {from} to {to} %: {seen}");
        }
    }
}

/// Shares that add up to less than 100 leave the rest to the largest; writes have sizes of their
/// own, and places at multiples of their own smallest.
#[test]
fn sizes_that_do_not_add_up_leave_the_rest_to_the_largest_share() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let ios = drawn(&[
        "--rw=randrw",
        "--size=400m",
        "--norandommap",
        "--bssplit=4k/20:64k/40:128k/20,32k/100",
    ]);
    let reads: Vec<_> = ios.iter().filter(|(way, ..)| way == "read").collect();
    let writes: Vec<_> = ios.iter().filter(|(way, ..)| way == "write").collect();
    let large = share(reads.iter().filter(|(.., bytes)| *bytes == 65_536).count(), reads.len());
    assert!((large - 0.6).abs() < 0.025, "{large}");
    assert!(writes.iter().all(|(_, offset, bytes)| *bytes == 32_768 && offset % 32_768 == 0));
    assert!(reads.iter().any(|(_, offset, _)| offset % 32_768 != 0));
}

#[test]
fn stretches_are_fios() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let ios = drawn(&[
        "--rw=read", "--bs=64k", "--size=24m", "--zonemode=strided", "--zonesize=128k",
        "--zonerange=256k", "--zoneskip=1m",
    ]);
    let starts: Vec<u64> = ios.iter().take(6).map(|(_, offset, _)| offset / 65_536).collect();
    assert_eq!(starts, [0, 1, 20, 21, 40, 41]);
}

/// `access/tests.rs` has the same of ours: a trim, then the write of the same place, all of the
/// span once.
#[test]
fn trims_come_before_writes_of_the_same_place() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let page = |nth: u64, way: &str| (way.to_owned(), nth * 4096, 4096);
    let trims = drawn(&["--rw=trim", "--bs=4k", "--size=64k"]);
    assert_eq!(trims, (0..16).map(|nth| page(nth, "trim")).collect::<Vec<_>>());
    let both = drawn(&["--rw=trimwrite", "--bs=4k", "--size=64k"]);
    let expected = (0..16).flat_map(|nth| [page(nth, "trim"), page(nth, "write")]);
    assert_eq!(both, expected.collect::<Vec<_>>());
    // At random, the size is that of the trims, too.
    for (sizes, pairs) in [("--bs=16k", Some(16)), ("--bs=4k,8k,16k", None)] {
        let both = drawn(&["--rw=randtrimwrite", sizes, "--size=256k"]);
        let mut places = HashSet::new();
        for pair in both.chunks(2) {
            let [(trim, at, bytes), (write, same, size)] = pair else { panic!("{pair:?}") };
            assert_eq!((trim.as_str(), write.as_str(), at, bytes), ("trim", "write", same, size));
            assert_eq!(*bytes, 16_384);
            places.insert(*at);
        }
        assert_eq!((both.len(), places.len()), (2 * places.len(), pairs.unwrap_or(places.len())));
    }
}

/// By `access/skew.rs`, the first rank of Zipf's law is at the centre; the others, and all of a
/// normal distribution, are where fio's hash puts them from there.
#[test]
fn a_centre_shifts_the_ranks_as_in_fio() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let hashed =
        |rank: u64, shift: u64| rank.wrapping_mul(0x61C8_8646_80B5_83EB).wrapping_add(shift) % 400;
    let counts = |order: &str| {
        let order = format!("--random_distribution={order}");
        let ios = drawn(&["--rw=randread", "--bs=4k", "--size=1600k", "--io_size=80000k", &order]);
        assert_eq!(ios.len(), 20_000);
        let mut counts = vec![0_u32; 400];
        for (_, offset, _) in &ios {
            counts[usize::try_from(offset / 4096).unwrap()] += 1;
        }
        counts
    };
    for (centre, first) in [("0", 0_u64), ("0.25", 100), ("0.75", 300)] {
        let counts = counts(&format!("zipf:1.2:{centre}"));
        let mut places: Vec<u64> = (0..400).collect();
        places.sort_by_key(|place| std::cmp::Reverse(counts[usize::try_from(*place).unwrap()]));
        assert_eq!(places[..2], [first, hashed(1, first)], "{centre}");
    }
    for (centre, shift) in [("0.25", u64::from(100_u32.wrapping_neg())), ("0.75", 100)] {
        let counts = counts(&format!("normal:10:{centre}"));
        let middle: HashSet<u64> = (100..300).map(|rank| hashed(rank, shift)).collect();
        let inside: u32 = middle.iter().map(|place| counts[usize::try_from(*place).unwrap()]).sum();
        assert!(inside > 19_900, "{centre}: {inside}");
    }
}

fn written_by_fio(directory: &Path, options: &[&str]) -> Vec<u8> {
    let status = Command::new("fio")
        .current_dir(directory)
        .args(["--name=a", "--filename=x", "--rw=write", "--bs=4k", "--size=8m"])
        .args(options)
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    std::fs::read(directory.join("x")).unwrap()
}

/// As `verify/mod.rs` has them: a chunk begins with its random part; what repeats is whole
/// blocks, as many as were asked for.
#[test]
fn data_is_made_as_fio_makes_it() {
    if !iotax_testing::needs_program("fio") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let data = written_by_fio(directory.path(), &["--buffer_compress_percentage=75"]);
    let mut zeroes = 0;
    for chunk in data.chunks(512) {
        let (random, rest) = chunk.split_at(128);
        assert!(rest.iter().all(|byte| *byte == 0));
        zeroes += random.split(|byte| *byte == 0).count() - 1;
    }
    // fio's numbers have more zeroes than random ones: about 5 % here and there.
    assert!(share(zeroes, data.len() / 4) < 0.1, "{zeroes}");
    let data = written_by_fio(directory.path(), &["--dedupe_percentage=40"]);
    let blocks: HashSet<&[u8]> = data.chunks(4096).collect();
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for block in data.chunks(4096) {
        *counts.entry(block).or_default() += 1;
    }
    let repeated = 1.0 - share(blocks.len(), 2048);
    assert!((repeated - 0.4).abs() < 0.055, "{repeated}");
    // Where a block is repeated, it is so side by side: with the next one that is new.
    let is_run = |pair: &[&[u8]]| pair[0] == pair[1];
    let all: Vec<&[u8]> = data.chunks(4096).collect();
    let runs = all.windows(2).filter(|pair| is_run(pair)).count();
    assert!(share(runs, 2048 - blocks.len()) > 0.95, "{runs}");
}
