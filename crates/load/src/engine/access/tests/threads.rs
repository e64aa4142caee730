//! Threads of one job whose places depend on each other.

use super::*;

/// Offsets of the threads of a job, in units of its block, `rounds` of them in turns.
fn of_threads(pattern: Pattern, threads: u32, rounds: usize) -> Vec<Vec<u64>> {
    let job = Job { pattern, block_sizes: BlockSizes::Fixed(4096), ..job() };
    let seat = Seat::default();
    let span = Span { start: 8192, bytes: 10 * 4096 };
    let mut all: Vec<Accesses> = (0..threads)
        .map(|index| Accesses::of_thread(&job, span, 1, &Seat { index, ..seat.clone() }))
        .collect();
    let round = |_| {
        let next = |accesses: &mut Accesses| (accesses.next().unwrap().offset - 8192) / 4096;
        all.iter_mut().map(next).collect()
    };
    (0..rounds).map(round).collect()
}

/// As `DiskSpd` has it with `-T`: a thread goes on to the end, then begins where its stride allows.
#[test]
fn threads_begin_apart_and_go_through_all_of_the_span() {
    let staggered = |step: u64, apart: u64| Pattern::Staggered {
        step_bytes: step * 4096,
        apart_bytes: apart * 4096,
    };
    let rounds = of_threads(staggered(1, 4), 3, 7);
    let starts = [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1], [4, 8, 2], [5, 9, 3], [6, 0, 4]];
    assert_eq!(rounds, starts);
    let rounds = of_threads(staggered(4, 1), 3, 4);
    assert_eq!(rounds, [[0, 1, 2], [4, 5, 6], [8, 9, 2], [0, 1, 6]]);
}

#[test]
fn threads_take_turns_at_one_sequence() {
    let rounds = of_threads(Pattern::Interlocked(4096), 3, 4);
    assert_eq!(rounds, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 1]]);
    let rounds = of_threads(Pattern::Interlocked(3 * 4096), 2, 3);
    assert_eq!(rounds, [[0, 3], [6, 9], [0, 3]]);
}
