use std::collections::{BTreeMap, HashMap};

use iotax_trace::{CONNECTIONS, Call};
use proptest::prelude::*;

use super::*;

const THREADS: u32 = 4;

/// An event of a thread at a time that no other has.
fn event(number: u64, op: Op, thread: Thread) -> Event {
    Event {
        thread,
        file: 0,
        offset: number,
        length: 4096,
        result: 4096,
        end_ns: 1000 * (number + 1),
        latency_ns: 300,
        cpu_ns: 100,
        ..Event::new(op)
    }
}

fn wake(number: u64, thread: Thread, other: Thread) -> Event {
    Event {
        file: NO_FILE,
        offset: Call::pair(Call::Futex as u64, Call::Futex as u64),
        length: 0,
        result: 0,
        detail: other.into(),
        ..event(number, Op::Wake, thread)
    }
}

fn nodes(roles: &Roles, events: impl IntoIterator<Item = Event>) -> Vec<Placed> {
    let mut graph = Graph::new(roles);
    events.into_iter().for_each(|event| graph.push(event));
    graph.finish();
    std::iter::from_fn(|| graph.pop()).collect()
}

/// Wakes, I/Os and uses of names by several threads, some of them in flight at the same time.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let one = (0..THREADS, 0..THREADS, 0..12_u8, 0..3_u32, 0..8000_u64);
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let event = |(number, (thread, other, what, file, latency_ns))| match what {
            0..4 => wake(number, thread, other),
            4..6 => Event { file, ..event(number, Op::Write, thread) },
            6 => Event { file, result: 0, ..event(number, Op::Fdatasync, thread) },
            7 => Event { flags: Flags::URING, latency_ns, file, ..event(number, Op::Read, thread) },
            8 => Event { file, result: 0, ..event(number, Op::Open, thread) },
            9 => Event { file, result: 0, ..event(number, Op::Unlink, thread) },
            10 => Event { detail: file.into(), ..event(number, Op::Request, thread) },
            _ => Event { detail: file.into(), ..event(number, Op::Answer, thread) },
        };
        (0..).zip(all).map(event).collect()
    })
}

/// Runs nodes as the replay does, with a reader that hands out at most `most` at a time, and with
/// tracks that give back their room when they have executed all that they took. `random` chooses
/// who goes on. Returns the I/Os in the order in which they ran; `None` if no thread can continue.
fn execute(
    nodes: &[Placed],
    most: usize,
    mut random: impl FnMut(usize) -> usize,
) -> Option<Vec<Io>> {
    #[derive(Default)]
    struct Sim {
        queue: VecDeque<Node>,
        taken: VecDeque<Node>,
        took: usize,
        count: u64,
    }
    let mut tracks: BTreeMap<Track, Sim> = BTreeMap::new();
    for placed in nodes {
        tracks.entry(placed.track).or_default();
    }
    let (mut next, mut queued, mut ran) = (0, 0, Vec::new());
    loop {
        while next < nodes.len() && queued < most {
            tracks.get_mut(&nodes[next].track)?.queue.push_back(nodes[next].node);
            (next, queued) = (next + 1, queued + 1);
        }
        for sim in tracks.values_mut().filter(|sim| sim.taken.is_empty()) {
            queued -= std::mem::take(&mut sim.took);
            sim.taken = std::mem::take(&mut sim.queue);
            sim.took = sim.taken.len();
        }
        let counts: HashMap<Track, u64> = tracks.iter().map(|(of, sim)| (*of, sim.count)).collect();
        let can_run = |sim: &Sim| match sim.taken.front().map(|node| node.step) {
            None => false,
            Some(Step::Receive { from, count, .. }) => counts[&from] >= count,
            Some(_) => true,
        };
        let able: Vec<Track> =
            tracks.iter().filter(|(_, sim)| can_run(sim)).map(|(of, _)| *of).collect();
        if able.is_empty() {
            let is_done = next == nodes.len()
                && tracks.values().all(|sim| sim.taken.is_empty() && sim.queue.is_empty());
            if is_done {
                return Some(ran);
            }
            if next < nodes.len() && queued < most {
                continue;
            }
            return None;
        }
        let sim = tracks.get_mut(&able[random(able.len())])?;
        match sim.taken.pop_front()?.step {
            Step::Send | Step::Answer(_) => sim.count += 1,
            Step::Receive { .. } | Step::Request(_) | Step::Commit(_) => {}
            Step::Io(io) => {
                sim.count += u64::from(io.sends);
                ran.push(io);
            }
        }
    }
}

/// All pairs of events of which the first must be over before the second begins.
fn must_precede(events: &[Event]) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    let is_io = |event: &&Event| is_replayed(event);
    let is_inline = |event: &Event| !event.flags.contains(Flags::URING);
    for (at, event) in events.iter().enumerate().filter(|(_, event)| is_inline(event)) {
        let before =
            || events[..at].iter().filter(is_io).filter(|other| other.thread == event.thread);
        if event.op == Op::Wake && u64::from(event.thread) != event.detail {
            let after = events[at..].iter().filter(is_io).filter(|other| {
                u64::from(other.thread) == event.detail && other.start_ns() > event.end_ns
            });
            for after in after {
                pairs.extend(before().map(|before| (before.offset, after.offset)));
            }
        } else if is_replayed(event) {
            pairs.extend(before().map(|before| (before.offset, event.offset)));
        }
    }
    // Uses of a name, before and after it goes away.
    for (at, change) in events.iter().enumerate().filter(|(_, event)| event.op == Op::Unlink) {
        let uses = |events: &[Event]| {
            let of = events.iter().filter(|event| names(event.op) && event.file == change.file);
            of.map(|event| event.offset).collect::<Vec<_>>()
        };
        pairs.extend(uses(&events[..at]).into_iter().map(|before| (before, change.offset)));
        pairs.extend(uses(&events[at + 1..]).into_iter().map(|after| (change.offset, after)));
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_node_comes_after_its_predecessors(
        events in events(), most in 1..6_usize, shares in any::<bool>(), draws in any::<u64>(),
    ) {
        let files = vec![FileRole { shares_syncs: shares, ..FileRole::default() }; 3];
        let roles = Roles { files, ..Roles::default() };
        let nodes = nodes(&roles, events.iter().copied());
        let mut draw = draws | 1;
        let ran = execute(&nodes, most, |able| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(draw >> 33).unwrap() % able
        });
        let ran = ran.expect("it does not stand still");
        let place: HashMap<u64, usize> =
            ran.iter().enumerate().map(|(at, io)| (io.offset, at)).collect();
        let expected = events.iter().filter(|event| is_replayed(event)).count();
        prop_assert_eq!((place.len(), ran.len()), (expected, expected));
        for (before, after) in must_precede(&events) {
            prop_assert!(place[&before] < place[&after], "{} before {}", before, after);
        }
    }

    #[test]
    fn waits_for_syncs_do_not_stand_still(
        events in events(), most in 1..6_usize, draws in any::<u64>(), long in 0..20_000_u64,
    ) {
        let mut events = events;
        for event in events.iter_mut().filter(|event| event.op == Op::Wake) {
            event.latency_ns = (event.end_ns * 7919 % (long + 1)).min(event.end_ns);
        }
        let nodes = nodes(&with_commits(2), events.iter().copied());
        let mut draw = draws | 1;
        let ran = execute(&nodes, most, |able| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(draw >> 33).unwrap() % able
        });
        let expected = events.iter().filter(|event| is_replayed(event)).count();
        prop_assert_eq!(ran.map(|ran| ran.len()), Some(expected));
    }

    #[test]
    fn signals_come_before_those_who_wait_for_them(events in events(), late in 0..50_u64) {
        let roles = Roles::default();
        let shuffled = {
            let mut events = events.clone();
            events.sort_by_key(|event| event.end_ns / 1000 * 7919 % (late + 1) + event.end_ns / 1000);
            events
        };
        let mut counts: HashMap<Track, u64> = HashMap::new();
        for Placed { track, node } in nodes(&roles, shuffled) {
            match node.step {
                Step::Receive { from, count, .. } => {
                    prop_assert!(counts.get(&from).copied().unwrap_or(0) >= count);
                }
                Step::Io(Io { sends: false, .. })
                | Step::Request(_)
                | Step::Commit(_) => {}
                Step::Io(_) | Step::Send | Step::Answer(_) => *counts.entry(track).or_default() += 1,
            }
        }
    }

    #[test]
    fn think_times_latencies_and_run_delays_add_up_to_the_recording(
        all in prop::collection::vec((0..3000_u64, 1..2000_u64, 0..4000_u64, 0..4000_u64), 1..50),
    ) {
        let mut now_ns = 0;
        let mut events = Vec::new();
        for (gap_ns, latency_ns, cpu_ns, run_delay_ns) in &all {
            now_ns += gap_ns + latency_ns;
            let times = Event { latency_ns: *latency_ns, cpu_ns: *cpu_ns, ..event(0, Op::Read, 0) };
            events.push(Event { end_ns: now_ns, run_delay_ns: *run_delay_ns, ..times });
        }
        let nodes = nodes(&Roles::default(), events);
        for (placed, (gap_ns, _, cpu_ns, run_delay_ns)) in nodes.iter().zip(&all) {
            let burn_ns = *cpu_ns.min(gap_ns);
            let slept_ns = gap_ns - burn_ns;
            let gap_ns = burn_ns + slept_ns.saturating_sub(*run_delay_ns);
            prop_assert_eq!(placed.node.begin, Begin::After { gap_ns });
            prop_assert_eq!(u64::from(placed.node.burn_ns), burn_ns);
        }
    }
}

/// A thread that computes before it waits does so in the replay, too.
#[test]
fn cpu_time_before_a_wait_is_used_before_the_wait() {
    let first = Event { end_ns: 1_000, latency_ns: 0, ..event(0, Op::Read, 1) };
    let wake = Event {
        end_ns: 9_000,
        latency_ns: 5_000,
        cpu_ns: 0,
        length: 2_000,
        result: 500,
        ..wake(1, 0, 1)
    };
    let after = Event { end_ns: 10_000, latency_ns: 0, cpu_ns: 300, ..event(2, Op::Read, 1) };
    let nodes = nodes(&Roles::default(), [first, wake, after]);
    let of = |step: fn(&Step) -> bool| {
        let found =
            nodes.iter().rfind(|placed| placed.track.thread == 1 && step(&placed.node.step));
        found.map(|placed| (placed.node.begin, placed.node.burn_ns)).unwrap()
    };
    // It computes for 2 us, waits for a CPU for 0.5 us, and then sleeps.
    let wait = of(|step| matches!(step, Step::Receive { .. }));
    assert_eq!(wait, (Begin::After { gap_ns: 2_500 }, 2_000));
    assert_eq!(of(|step| matches!(step, Step::Io(_))), (Begin::After { gap_ns: 1_000 }, 300));
}

/// What a client does next depends on the answer, whichever thread sends it and whichever takes the
/// next request.
#[test]
fn a_request_waits_for_the_answer_that_another_thread_has_sent() {
    let at = |op, thread, end_ns| Event {
        end_ns,
        detail: CONNECTIONS + 3,
        ..Event { thread, ..Event::new(op) }
    };
    let io = |thread, end_ns| Event { end_ns, latency_ns: 0, ..event(0, Op::Read, thread) };
    let shown = |events: &[Event], roles: &Roles| {
        let all = nodes(roles, events.iter().copied()).into_iter();
        let of_second = all.filter(|placed| placed.track.thread == 1).map(|placed| placed.node);
        of_second.map(|node| (node.begin, node.step)).collect::<Vec<_>>()
    };
    let after = |gap_ns| Begin::After { gap_ns };
    let thought = |think_ns, gap_ns| Begin::Thought { connection: 3, gap_ns, think_ns };
    let receive = Step::Receive { from: Track::of(0), count: 1, at_most_ns: None };

    // The second thread waits from 0.1 ms on; the client gets its answer at 0.9 ms, and thinks for 0.4.
    let events = [
        io(1, 100_000),
        at(Op::Request, 0, 200_000),
        at(Op::Answer, 0, 900_000),
        at(Op::Request, 1, 1_300_000),
    ];
    let found = shown(&events, &Roles::default());
    assert_eq!(found[1..], [(after(0), receive), (thought(400_000, 0), Step::Request(3))]);

    // With arrivals by the clock, it does not wait.
    let clocked = Roles { clocked: ClockedArrivals::Requests, ..Roles::default() };
    let found = shown(&events, &clocked);
    assert_eq!(found[1..], [(Begin::At { time_ns: 1_300_000 }, Step::Request(3))]);

    // It has done something while the client thought.
    let events = [
        at(Op::Request, 0, 200_000),
        at(Op::Answer, 0, 900_000),
        io(1, 1_000_000),
        at(Op::Request, 1, 1_300_000),
    ];
    let found = shown(&events, &Roles::default());
    assert_eq!(found[1..], [(after(0), receive), (thought(400_000, 0), Step::Request(3))]);

    // It was busy until soon before it read the request, so that may have arrived earlier.
    let events = [
        at(Op::Request, 0, 200_000),
        at(Op::Answer, 0, 900_000),
        io(1, 1_280_000),
        at(Op::Request, 1, 1_300_000),
        at(Op::Answer, 0, 2_000_000),
        at(Op::Request, 1, 2_100_000),
        at(Op::Answer, 0, 3_000_000),
        io(1, 4_280_000),
        at(Op::Request, 1, 4_300_000),
    ];
    let found = shown(&events, &Roles::default());
    let begins: Vec<_> = found.iter().filter(|(_, step)| *step == Step::Request(3)).collect();
    let begins: Vec<_> = begins.into_iter().map(|(begin, _)| *begin).collect();
    let expected = [thought(0, 20_000), thought(100_000, 0), thought(100_000, 20_000)];
    assert_eq!(begins, expected);
}

/// Requests of several clients on one connection, and requests of the program to itself.
#[test]
fn a_shared_connection_does_not_wait_for_the_last_answer() {
    let at = |op, end_ns, client| Event { end_ns, detail: client, ..Event::new(op) };
    let message = Call::pair(Call::Write as u64, Call::Poll as u64);
    let mut events =
        vec![[at(Op::Answer, 1_000, 0), at(Op::Answer, 2_000, 1), at(Op::Answer, 3_000, 2)]];
    for round in 1..=20 {
        let ask = |client, after_ns| at(Op::Request, round * 10_000_000 + after_ns, client);
        let answer = |client, after_ns| at(Op::Answer, round * 10_000_000 + after_ns, client);
        let offset = message;
        let end_ns = round * 10_000_000 + 4_000_000;
        let woken = Event { end_ns, offset, latency_ns: 1_000_000, ..wake(0, 3, 0) };
        events.extend([
            // One client whose requests arrive in two parts, and two others that share a connection.
            [ask(0, 100_000), ask(0, 110_000), answer(0, 900_000)],
            [ask(1, 1_000_000), ask(1, 2_000_000), answer(1, 3_000_000)],
            [woken, ask(2, 4_010_000), answer(2, 5_000_000)],
        ]);
    }
    let all = Roles::default();
    let mut graph = Graph::new(&all);
    events.iter().flatten().for_each(|event| graph.push(*event));
    graph.finish();
    while graph.pop().is_some() {}
    assert_eq!(graph.shared_connections(), [1, 2].into());

    let roles = Roles { shared_connections: [1, 2].into(), ..Roles::default() };
    let nodes = nodes(&roles, events.into_iter().flatten());
    let waits = |of| {
        let is_of = |placed: &&Placed| placed.node.step == Step::Request(of);
        let is_thought = |placed: &&Placed| matches!(placed.node.begin, Begin::Thought { .. });
        nodes.iter().filter(is_of).filter(is_thought).count()
    };
    assert_eq!([0, 1, 2].map(waits), [20, 0, 0]);
}

/// A thread that serves two clients which think at the same time.
#[test]
fn clients_of_one_thread_think_at_the_same_time() {
    let at = |op, thread, client, end_ns| Event {
        end_ns,
        detail: client,
        ..Event { thread, ..Event::new(op) }
    };
    let events = [
        at(Op::Request, 0, 0, 100_000),
        at(Op::Request, 0, 1, 300_000),
        at(Op::Answer, 1, 0, 5_000_000),
        at(Op::Answer, 2, 1, 5_500_000),
        Event { cpu_ns: 30_000, run_delay_ns: 70_000, ..at(Op::Request, 0, 0, 6_000_000) },
        Event { cpu_ns: 20_000, run_delay_ns: 10_000, ..at(Op::Request, 0, 1, 6_500_000) },
    ];
    let all = nodes(&Roles::default(), events).into_iter();
    let of_first = all.filter(|placed| placed.track.thread == 0).skip(2).map(|placed| placed.node);
    let found: Vec<_> = of_first.map(|node| (node.begin, node.burn_ns, node.step)).collect();
    let after = Begin::After { gap_ns: 0 };
    let thought = |connection, think_ns, gap_ns| Begin::Thought { connection, gap_ns, think_ns };
    let receive = |from| Step::Receive { from: Track::of(from), count: 1, at_most_ns: None };
    let expected = [
        (after, 0, receive(1)),
        (thought(0, 930_000, 30_000), 30_000, Step::Request(0)),
        (after, 0, receive(2)),
        (thought(1, 990_000, 20_000), 20_000, Step::Request(1)),
    ];
    assert_eq!(found, expected);
}

/// The thread that a request wakes first waits for the answer, and then wakes the others.
#[test]
fn the_first_wake_up_on_the_way_to_a_request_waits_for_the_answer() {
    const POLLER: Thread = 2;
    let at = |op, thread, end_ns| Event {
        end_ns,
        detail: CONNECTIONS + 3,
        ..Event { thread, ..Event::new(op) }
    };
    let woken = |thread, other, end_ns| Event { end_ns, latency_ns: 0, ..wake(0, thread, other) };
    let io = |thread, end_ns| Event { end_ns, latency_ns: 0, ..event(0, Op::Read, thread) };
    let of_poller = |between: &[Event]| {
        let first = [io(POLLER, 100_000), at(Op::Request, 0, 200_000), at(Op::Answer, 0, 900_000)];
        let events = first.iter().chain(between).copied();
        let all =
            nodes(&Roles::default(), events.chain([at(Op::Request, 1, 1_400_000)])).into_iter();
        let of_poller = all.filter(|placed| placed.track.thread == POLLER).skip(1);
        of_poller.map(|placed| (placed.node.begin, placed.node.step)).collect::<Vec<_>>()
    };
    let after = |gap_ns| Begin::After { gap_ns };
    let receive = |count| Step::Receive { from: Track::of(0), count, at_most_ns: None };
    let thought = Begin::Thought { connection: 3, gap_ns: 100, think_ns: 400_000 };
    let waits = [(after(0), receive(1)), (thought, Step::Send)];

    assert_eq!(of_poller(&[woken(POLLER, 1, 1_300_000)]), waits);
    // Through another thread.
    assert_eq!(of_poller(&[woken(POLLER, 3, 1_300_000), woken(3, 1, 1_350_000)]), waits);
    // It has slept since, and was woken by another thread, so it did not poll.
    let by_other = [(after(0), Step::Receive { from: Track::of(4), count: 1, at_most_ns: None })];
    let found = of_poller(&[woken(4, POLLER, 1_200_000), woken(POLLER, 1, 1_300_000)]);
    assert_eq!(found[0].1, by_other[0].1);
    // The wake-up is older than the answer.
    assert_eq!(of_poller(&[woken(POLLER, 1, 800_000)]), [(after(700_000), Step::Send)]);
}

/// A thread that pauses until a timer wakes it would also have been woken by the thread that it waits
/// for next, if that had been faster.
#[test]
fn a_signal_ends_a_pause() {
    const LATER_NS: u64 = 9_000_000;
    let at = |event: Event, end_ns| Event { end_ns, latency_ns: 0, cpu_ns: 2_000, ..event };
    let io = |end_ns| at(event(0, Op::Read, 1), end_ns);
    let wakes = |flags| Event { flags, ..at(wake(0, 1, 2), LATER_NS) };
    let woken = |flags, end_ns| Event { flags, length: 3_000, ..at(wake(0, 0, 1), end_ns) };
    let of_second = |only_wakes, events: &[Event]| {
        let role = ThreadRole { only_wakes, ..Roles::default().thread(0) };
        let roles = Roles { threads: vec![role; 3], ..Roles::default() };
        let all = nodes(&roles, events.iter().copied()).into_iter();
        let nodes = all.filter(|placed| placed.track.thread == 1).skip(1).map(|placed| placed.node);
        nodes.map(|node| (node.begin, node.step)).collect::<Vec<_>>()
    };
    let after = |gap_ns| Begin::After { gap_ns };
    let receive = |at_most_ns| Step::Receive { from: Track::of(0), count: 1, at_most_ns };
    let none = Flags::default();
    let slept = [Flags::WAKER_SLEPT, Flags::WOKEN_SLEPT];
    let paused_ns = LATER_NS - 1_000;

    // Before it wakes another thread.
    let events = |flags| [io(1_000), wakes(flags), woken(none, LATER_NS + 50_000)];
    let expected = [
        (after(2_000), receive(Some(paused_ns - 2_000))),
        (after(0), Step::Send),
        (after(50_000), receive(None)),
    ];
    assert_eq!(of_second(false, &events(none)), expected);
    assert_eq!(of_second(true, &events(slept[0])), expected);
    let fixed = [(after(paused_ns), Step::Send), (after(50_000), receive(None))];
    assert_eq!(of_second(false, &events(slept[0])), fixed);
    // An I/O of its own is what the timer was for.
    let events = [io(1_000), wakes(none), io(LATER_NS + 1_000), woken(none, LATER_NS + 50_000)];
    assert_eq!(of_second(false, &events)[0], (after(paused_ns), Step::Send));

    // Before the wait itself.
    let events = |flags| [io(1_000), woken(flags, LATER_NS)];
    assert_eq!(of_second(false, &events(none)), [(after(3_000), receive(None))]);
    assert_eq!(of_second(true, &events(slept[1])), [(after(3_000), receive(None))]);
    assert_eq!(of_second(false, &events(slept[1])), [(after(paused_ns), receive(None))]);
}

#[test]
fn nodes_are_kept_back_for_100_ms_to_see_what_ends_a_pause() {
    let at = |number: u64, op, thread| Event {
        end_ns: 10_000_000 * (number + 1),
        latency_ns: 0,
        ..event(number, op, thread)
    };
    let roles = Roles::default();
    let mut graph = Graph::new(&roles);
    graph.push(Event { end_ns: 10_000_000, latency_ns: 0, ..wake(0, 1, 2) });
    let mut popped = Vec::new();
    for number in 1..130 {
        graph.push(at(number, Op::Read, 0));
        let before = popped.len();
        popped.extend(std::iter::from_fn(|| graph.pop()));
        let is_due = number > 100 + 10;
        assert_eq!(popped.len() > before, is_due, "{number}");
    }
    assert_eq!(popped[0].node.step, Step::Send);
}

/// The client thinks until its request arrives, and the time to send the answer passes before the
/// next node.
#[test]
fn a_request_begins_when_it_arrives_and_ends_when_its_answer_is_sent() {
    let at = |op, end_ns, latency_ns, cpu_ns| Event {
        end_ns,
        latency_ns,
        cpu_ns,
        detail: CONNECTIONS + 3,
        ..Event::new(op)
    };
    let io = Event { file: 0, ..at(Op::Read, 60_000, 10_000, 5_000) };
    let events = [
        at(Op::Request, 20_000, 0, 0),
        io,
        at(Op::Answer, 90_000, 15_000, 4_000),
        at(Op::Request, 200_000, 0, 7_000),
    ];
    let after = |gap_ns, burn_ns| (Begin::After { gap_ns }, burn_ns);
    let shown = |roles: &Roles| {
        let all = nodes(roles, events).into_iter().map(|placed| placed.node);
        all.map(|node| ((node.begin, node.burn_ns), node.step)).collect::<Vec<_>>()
    };
    let found = shown(&Roles::default());
    assert_eq!(found[0], (after(20_000, 0), Step::Request(3)));
    assert_eq!(found[1].0, after(30_000, 5_000));
    assert_eq!(found[2], (after(15_000, 4_000), Step::Answer(3)));
    // From when the answer was sent.
    let thought = Begin::Thought { connection: 3, gap_ns: 7_000, think_ns: 125_000 };
    assert_eq!(found[3], ((thought, 7_000), Step::Request(3)));

    let roles = Roles { clocked: ClockedArrivals::Requests, ..Roles::default() };
    let by_the_clock: Vec<_> = shown(&roles).into_iter().map(|((begin, _), _)| begin).collect();
    let at = |time_ns| Begin::At { time_ns };
    assert_eq!((by_the_clock[0], by_the_clock[3]), (at(20_000), at(200_000)));
    assert_eq!(by_the_clock[1], Begin::After { gap_ns: 30_000 });
}

#[test]
fn who_lives_by_timers_waits_for_nobody_and_is_waited_for_as_long_as_recorded() {
    let hard = ThreadRole {
        is_clocked: false,
        has_work: true,
        only_wakes: false,
        lanes: 0,
        commits: false,
    };
    let clocked = ThreadRole { is_clocked: true, ..hard };
    let roles = Roles { threads: vec![hard, clocked], origin_ns: 1000, ..Roles::default() };
    let events = [
        event(1, Op::Write, 1),
        wake(2, 0, 1),
        wake(3, 1, 0),
        event(4, Op::Write, 0),
        event(5, Op::Write, 1),
    ];
    let nodes = nodes(&roles, events);
    let receives: Vec<_> = nodes
        .iter()
        .filter_map(|placed| match placed.node.step {
            Step::Receive { from, at_most_ns, .. } => Some((placed.track, from, at_most_ns)),
            _ => None,
        })
        .collect();
    assert_eq!(receives, [(Track::of(0), Track::of(1), Some(300))]);
    let starts: Vec<_> = nodes
        .iter()
        .filter(|placed| placed.track == Track::of(1) && placed.node.step != Step::Send)
        .map(|placed| placed.node.begin)
        .collect();
    let at = |time_ns| Begin::At { time_ns };
    assert_eq!(starts, [at(2000 - 300 - 1000), at(6000 - 300 - 1000)]);
}

#[test]
fn a_write_is_paired_with_the_sync_that_follows_it() {
    let files = vec![FileRole { shares_syncs: true, ..FileRole::default() }];
    let roles = Roles { files, ..Roles::default() };
    let sync = |number| Event { result: 0, ..event(number, Op::Fdatasync, 0) };
    let events = [
        event(0, Op::Write, 0),
        event(1, Op::Write, 0),
        event(2, Op::Read, 1),
        sync(3),
        sync(4),
        event(5, Op::Write, 0),
        event(6, Op::Read, 0),
    ];
    let nodes = nodes(&roles, events);
    let ios = nodes.iter().filter_map(|placed| match placed.node.step {
        Step::Io(io) => Some((io.offset, io.is_paired)),
        _ => None,
    });
    let expected =
        [(0, false), (2, false), (1, true), (3, true), (4, false), (5, false), (6, false)];
    assert_eq!(ios.collect::<Vec<_>>(), expected);
}

fn with_commits(files: usize) -> Roles {
    let role = FileRole { shares_syncs: true, commits: true, ..FileRole::default() };
    Roles { files: vec![role; files], ..Roles::default() }
}

/// Thread 0 writes and syncs, and then wakes thread 1, which began to wait at `since_ns`. Then come
/// other events. Returns the steps of thread 1 and the times before them.
fn after_a_sync(roles: &Roles, since_ns: u64, then: &[Event]) -> Vec<(Step, u64)> {
    let woken = wake(3, 0, 1);
    let mut events = vec![
        event(1, Op::Write, 0),
        Event { result: 0, ..event(2, Op::Fdatasync, 0) },
        Event { latency_ns: woken.end_ns - since_ns, ..woken },
    ];
    events.extend_from_slice(then);
    let of_one = nodes(roles, events).into_iter().filter(|placed| placed.track == Track::of(1));
    let gap_ns = |node: &Node| match node.begin {
        Begin::After { gap_ns } => gap_ns,
        Begin::At { .. } | Begin::Thought { .. } => panic!("{node:?}"),
    };
    of_one.map(|placed| (placed.node.step, gap_ns(&placed.node))).collect()
}

/// Thread 0 writes from 1700 on.
const BEFORE_THE_WRITE_NS: u64 = 1600;
const AFTER_THE_WRITE_NS: u64 = 1800;

#[test]
fn who_waited_before_the_write_waits_for_any_sync() {
    let read = event(9, Op::Read, 1);
    let steps = after_a_sync(&with_commits(1), BEFORE_THE_WRITE_NS, &[read]);
    assert!(
        matches!(steps[..], [(Step::Commit(0), BEFORE_THE_WRITE_NS), (Step::Io(_), _)]),
        "{steps:?}"
    );
    // The file is not one with group commit, or the sync was long before.
    let steps = after_a_sync(&Roles::default(), BEFORE_THE_WRITE_NS, &[read]);
    assert!(matches!(steps[..], [(Step::Receive { .. }, _), (Step::Io(_), _)]), "{steps:?}");
    let late = wake(2000, 0, 1);
    let late = Event { latency_ns: late.end_ns - BEFORE_THE_WRITE_NS, ..late };
    let events =
        [event(1, Op::Write, 0), Event { result: 0, ..event(2, Op::Fdatasync, 0) }, late, read];
    let is_commit = |placed: &Placed| matches!(placed.node.step, Step::Commit(_));
    assert!(!nodes(&with_commits(1), events).iter().any(is_commit));
}

#[test]
fn a_wait_is_kept_back_however_long_ago_its_thread_kept_another_node_back() {
    let sync = |at_us, thread| Event { result: 0, ..event(at_us, Op::Fdatasync, thread) };
    let write = event(100_500, Op::Write, 0);
    let in_vain = wake(100_502, 0, 1);
    let in_vain = Event { latency_ns: in_vain.end_ns - write.start_ns() - 1, ..in_vain };
    let again = wake(109_002, 2, 1);
    let again = Event { latency_ns: again.end_ns - in_vain.end_ns - 500, ..again };
    let events = [
        event(4000, Op::Write, 1),
        event(4001, Op::Read, 1),
        write,
        sync(100_501, 0),
        in_vain,
        // The write of thread 1 would have been kept back until then.
        event(105_000, Op::Read, 2),
        event(109_000, Op::Write, 2),
        sync(109_001, 2),
        again,
        event(109_010, Op::Read, 1),
    ];
    let all = nodes(&with_commits(1), events);
    let steps = all.iter().filter(|placed| placed.track == Track::of(1));
    let steps: Vec<_> = steps.map(|placed| placed.node.step).collect();
    let expected = matches!(steps[..], [Step::Io(_), Step::Io(_), Step::Commit(0), Step::Io(_)]);
    assert!(expected, "{steps:?}");
}

#[test]
fn who_waited_in_vain_issues_the_next_sync_or_waits_on() {
    let write = event(9, Op::Write, 1);
    let sync = Event { result: 0, ..event(10, Op::Fdatasync, 1) };
    let steps = after_a_sync(&with_commits(1), AFTER_THE_WRITE_NS, &[write, sync]);
    let [(Step::Io(first), gap_ns), (Step::Io(second), _)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert!(first.is_paired && second.is_paired);
    // Up to the wait, and after it.
    assert_eq!(*gap_ns, AFTER_THE_WRITE_NS + (write.start_ns() - 4000));
    let again = Event { latency_ns: 500, ..wake(12, 2, 1) };
    let by_another = [
        event(9, Op::Write, 2),
        Event { result: 0, ..event(10, Op::Fdatasync, 2) },
        again,
        event(20, Op::Read, 1),
    ];
    let steps = after_a_sync(&with_commits(1), AFTER_THE_WRITE_NS, &by_another);
    assert!(
        matches!(steps[..], [(Step::Commit(0), AFTER_THE_WRITE_NS), (Step::Io(_), _)]),
        "{steps:?}"
    );
    // It reads, writes without a sync, syncs something else, or goes on much later.
    let other = Event { file: 1, ..sync };
    for then in
        [event(9, Op::Read, 1), write, other, Event { offset: 9, ..event(2000, Op::Write, 1) }]
    {
        let then = [then, Event { file: 1, ..event(2001, Op::Read, 1) }];
        let steps = after_a_sync(&with_commits(2), AFTER_THE_WRITE_NS, &then);
        let [(Step::Receive { .. }, gap_ns), (Step::Io(_), next_ns), _] = steps[..] else {
            panic!("{steps:?}")
        };
        assert_eq!((gap_ns, next_ns), (AFTER_THE_WRITE_NS, then[0].start_ns() - 4000));
    }
}

#[test]
fn threads_that_take_over_and_threads_that_go_on_are_counted() {
    let sync = |number, thread| Event { result: 0, ..event(number, Op::Fdatasync, thread) };
    let roles = Roles::default();
    let mut graph = Graph::new(&roles);
    for (number, thread) in [(0, 0), (10, 1), (20, 2), (30, 0)] {
        graph.push(event(number, Op::Write, thread));
        graph.push(sync(number + 1, thread));
        if number < 20 {
            graph.push(wake(number + 2, thread, thread + 1));
        }
        let waited = wake(number + 3, thread, 3);
        graph.push(Event { latency_ns: 3900, ..waited });
        graph.push(event(number + 4, Op::Read, 3));
    }
    graph.finish();
    while graph.pop().is_some() {}
    assert_eq!(*graph.turns(), HashMap::from([(0, Turns { handed_over: 2, followed: 4 })]));
}

#[test]
fn overlapping_requests_have_lanes_and_linked_ones_share_theirs() {
    let request = |number, latency_ns, flags: Flags| Event {
        latency_ns,
        flags: Flags::URING.with(flags),
        ..event(number, Op::Read, 0)
    };
    let none = Flags::default();
    let events = [request(3, 2500, none), request(4, 3000, Flags::LINK), request(5, 2000, none)];
    let nodes = nodes(&Roles::default(), events);
    let lanes = nodes.iter().filter_map(|placed| match placed.node.step {
        Step::Io(io) => Some((io.offset, placed.track.lane)),
        _ => None,
    });
    assert_eq!(lanes.collect::<Vec<_>>(), [(3, 1), (4, 2), (5, 2)]);
}
