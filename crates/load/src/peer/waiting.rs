//! Waiting connections, and which of them is dropped if there are too many.
//!
//! Places are shared by address: the address with the most waiting connections loses one. It is
//! chosen at random among the older half, for two reasons. A client that knows the token speaks
//! within a round trip, so the newest connections are most likely honest. And nobody can predict
//! which connection is dropped, so strangers cannot time theirs to push out a particular one.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Between two looks at whose time is up.
const LOOK: Duration = Duration::from_millis(100);

/// How many may wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub all: usize,
    pub of_one_address: usize,
}

/// Those that wait, by numbers that grow with each connection.
pub(super) struct Waiting<T> {
    limits: Limits,
    all: BTreeMap<u64, Guest<T>>,
    of: HashMap<IpAddr, usize>,
    random: Xoshiro256PlusPlus,
    looked: Option<Instant>,
}

struct Guest<T> {
    from: IpAddr,
    until: Instant,
    what: T,
}

impl<T> Waiting<T> {
    /// `seed` must be one that nobody can guess.
    pub(super) fn new(limits: Limits, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { limits, all: BTreeMap::new(), of: HashMap::new(), random, looked: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Lets one in that has to be done by `until`, and sends another away where that is one too
    /// many.
    pub(super) fn arrives(&mut self, number: u64, from: IpAddr, until: Instant, what: T) {
        let from = origin(from);
        let of_it = self.of.get(&from).copied().unwrap_or(0);
        if of_it >= self.limits.of_one_address {
            self.send_away(of_it, |_, other| *other == from);
        } else if self.all.len() >= self.limits.all {
            self.make_room();
        }
        *self.of.entry(from).or_default() += 1;
        self.all.insert(number, Guest { from, until, what });
    }

    /// Sends one away of those whose address has the most; false if nobody waits.
    pub(super) fn make_room(&mut self) -> bool {
        let Some(most) = self.of.values().copied().max() else { return false };
        let addresses = self.of.values().filter(|of_it| **of_it == most).count();
        self.send_away(addresses * most, |of, from| of[from] == most)
    }

    /// Sends one away of the older half of those from certain addresses, which are `count`.
    fn send_away(
        &mut self,
        count: usize,
        is_one: impl Fn(&HashMap<IpAddr, usize>, &IpAddr) -> bool,
    ) -> bool {
        let older = count.div_ceil(2) as u64;
        #[expect(clippy::cast_possible_truncation, reason = "below `count`, which is a usize")]
        let chosen = (self.random.next_u64() % older) as usize;
        let mut old = self.all.iter().filter(|(_, guest)| is_one(&self.of, &guest.from));
        let number = old.nth(chosen).map(|(number, _)| *number);
        number.is_some_and(|number| self.leaves(number).is_some())
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.all.get_mut(&number).map(|guest| &mut guest.what)
    }

    /// When one has to be done; `None` if it does not wait.
    pub(super) fn until(&self, number: u64) -> Option<Instant> {
        self.all.get(&number).map(|guest| guest.until)
    }

    /// All of them, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.all.iter().map(|(number, guest)| (*number, &guest.what))
    }

    /// Takes one out.
    pub(super) fn leaves(&mut self, number: u64) -> Option<T> {
        let guest = self.all.remove(&number)?;
        let of_it = self.of.get_mut(&guest.from).expect("each is counted");
        *of_it -= 1;
        if *of_it == 0 {
            self.of.remove(&guest.from);
        }
        Some(guest.what)
    }

    /// Sends those away whose time is up, give or take [`LOOK`].
    pub(super) fn expire(&mut self, now: Instant) {
        if self.looked.is_some_and(|looked| now < looked + LOOK) {
            return;
        }
        self.looked = Some(now);
        let over = self.all.iter().filter(|(_, guest)| guest.until <= now);
        for number in over.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.leaves(number);
        }
    }
}

/// What counts as one address: a host has as many of IPv6 as it likes within its network of 64
/// bits.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A tenth of a peer's places, for a tenth of the strangers: only the ratio matters.
    const SCALE: u64 = 10;
    const LIMITS: Limits = Limits { all: 410, of_one_address: 205 };
    const HONEST: usize = 20;
    const PATIENCE: Duration = Duration::from_secs(10);

    fn address(number: u64) -> IpAddr {
        let [low, high, ..] = number.to_le_bytes();
        IpAddr::from([127, 1, high, low])
    }

    /// Strangers who come evenly, keep silent and never go; of those who know the token, each of
    /// whom speaks `hold` after it connected, how many are still there then.
    fn served(per_second: u64, addresses: u64, hold: Duration, own_address: bool) -> usize {
        let begin = Instant::now();
        let mut waiting = Waiting::new(LIMITS, 7);
        let mut number = 0;
        let mut at = Duration::ZERO;
        let per_second = u32::try_from(per_second / SCALE).unwrap();
        let mut strangers = |waiting: &mut Waiting<bool>, until: Duration, number: &mut u64| {
            while per_second > 0 && at < until {
                *number += 1;
                let from = address(*number % addresses);
                waiting.arrives(*number, from, begin + at + PATIENCE, false);
                waiting.expire(begin + at);
                at += Duration::from_secs(1) / per_second;
            }
        };
        (0..HONEST)
            .filter(|honest| {
                // The first comes when they have filled all that they can.
                let comes = Duration::from_secs(11) + hold * u32::try_from(*honest).unwrap();
                strangers(&mut waiting, comes, &mut number);
                number += 1;
                let own = number;
                let from = if own_address { address(60_000) } else { address(1) };
                waiting.arrives(own, from, begin + comes + PATIENCE, true);
                strangers(&mut waiting, comes + hold, &mut number);
                waiting.expire(begin + comes + hold);
                waiting.leaves(own) == Some(true)
            })
            .count()
    }

    #[test]
    fn strangers_do_not_keep_out_who_speaks_within_a_round_trip() {
        for per_second in [0, 200, 1000, 3000] {
            for rtt_ms in [20, 100, 300] {
                for addresses in [1, 2, 50, 50_000] {
                    let hold = Duration::from_millis(rtt_ms);
                    let done = served(per_second, addresses, hold, true);
                    assert_eq!(done, HONEST, "{per_second}/s, {rtt_ms} ms, {addresses} addresses");
                }
                // Behind the same address as all of the strangers.
                let done = served(per_second, 1, Duration::from_millis(rtt_ms), false);
                assert_eq!(done, HONEST, "{per_second}/s, {rtt_ms} ms, the same address");
            }
        }
    }

    #[test]
    fn no_rate_from_other_addresses_reaches_an_address_that_has_few() {
        assert_eq!(served(20_000, 3, Duration::from_secs(1), true), HONEST);
    }

    #[test]
    fn what_is_sent_away_is_not_foreseen() {
        let gone = |seed| {
            let mut waiting = Waiting::new(Limits { all: 8, ..LIMITS }, seed);
            for number in 1..=9 {
                waiting.arrives(number, address(1), Instant::now(), ());
            }
            (1..=9).find(|number| waiting.until(*number).is_none()).unwrap()
        };
        let of_seeds: std::collections::BTreeSet<u64> = (0..100).map(gone).collect();
        assert_eq!(of_seeds, (1..=4).collect(), "any of the older half");
    }

    #[test]
    fn nobody_waits_longer_than_all_may() {
        let begin = Instant::now();
        let mut waiting = Waiting::new(LIMITS, 1);
        for number in 1..=10_u64 {
            waiting.arrives(number, address(number), begin + Duration::from_secs(number), ());
        }
        waiting.expire(begin + Duration::from_secs(5));
        assert_eq!(waiting.iter().map(|(number, ())| number).collect::<Vec<_>>(), [6, 7, 8, 9, 10]);
        assert!(waiting.make_room());
        assert_eq!(waiting.iter().count(), 4);
    }

    #[test]
    fn a_network_of_a_host_is_one_address() {
        let of = |text: &str| origin(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }

    proptest! {
        /// Whatever comes and goes, no limit is passed, and the counts are those of who waits.
        #[test]
        fn limits_hold(steps in prop::collection::vec((0_u64..6, any::<bool>()), 0..300)) {
            let limits = Limits { all: 20, of_one_address: 7 };
            let mut waiting = Waiting::new(limits, 3);
            for (number, (of, goes)) in (0..).zip(steps) {
                if goes {
                    waiting.leaves(number / 2);
                } else {
                    waiting.arrives(number, address(of), Instant::now(), of);
                }
                prop_assert!(waiting.all.len() <= limits.all);
                let mut counts = HashMap::new();
                for (_, of) in waiting.iter() {
                    *counts.entry(address(*of)).or_insert(0_usize) += 1;
                }
                prop_assert_eq!(&counts, &waiting.of);
                prop_assert!(counts.values().all(|count| *count <= limits.of_one_address));
            }
        }
    }
}
