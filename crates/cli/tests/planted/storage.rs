//! What the trials of two arms come to, of which the second is 20 % slower in truth, but for the
//! healthy.

use super::Kind;

/// I/Os per second of the old arm, and with credits of both.
const BASE: f64 = 1000.0;
const BURST: f64 = 3000.0;
/// What the regression leaves.
const LEFT: f64 = 0.8;

/// The random choices of one gate, the same each time.
pub(super) struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
}

/// What one trial comes to.
pub(super) enum Turn {
    /// So many I/Os per second.
    Rate(f64),
    /// The agent is lost.
    Dies,
}

pub(super) struct Disk {
    kind: Kind,
    random: Random,
    /// How much trials vary.
    noise: f64,
    /// I/Os of burst that each arm has left.
    credits: [f64; 2],
}

impl Disk {
    pub(super) fn new(kind: Kind, number: u64) -> Self {
        let mut random = Random(number.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ kind as u64);
        let noise = 0.005 + 0.055 * random.uniform();
        // For none to twenty-five trials of six seconds.
        let credits = 25.0 * 6.0 * BURST * random.uniform();
        Self { kind, random, noise, credits: [credits; 2] }
    }

    /// A trial of an arm that takes so many seconds.
    pub(super) fn trial(&mut self, arm: usize, depth: u32, seconds: f64) -> Turn {
        let is_new = arm == 1;
        let sustained = if is_new { BASE * LEFT } else { BASE };
        match self.kind {
            Kind::Bursts => {
                let burst = (self.credits[arm] / (BURST * seconds)).min(1.0);
                self.credits[arm] -= burst * BURST * seconds;
                let limiter = 1.0 + 0.003 * self.random.normal();
                Turn::Rate((burst * BURST + (1.0 - burst) * sustained) * limiter)
            }
            // Faster with more in flight, so that no cap hides anything.
            Kind::Healthy => Turn::Rate(BASE * f64::from(depth).sqrt() * self.noisy() / 3.0),
            Kind::Stalls => {
                // In half of its trials the new arm does nothing for 40 % of the time.
                let stalls = if is_new { 0.5 } else { 0.03 };
                let left = match (self.random.happens(stalls), self.random.happens(0.1)) {
                    (true, true) => 0.0,
                    (true, false) => 0.6,
                    (false, _) => 1.0,
                };
                Turn::Rate(BASE * left * self.noisy())
            }
            Kind::DyingAgents | Kind::MissingResults => {
                // Slow trials are 36 % slower, and lost.
                let is_slow = is_new && self.random.happens(0.55);
                if is_slow || self.random.happens(0.02) {
                    Turn::Dies
                } else {
                    Turn::Rate(BASE * self.noisy())
                }
            }
        }
    }

    /// What one trial differs by.
    pub(super) fn noisy(&mut self) -> f64 {
        (self.noise * self.random.normal()).exp()
    }

    /// Saved results of an arm.
    pub(super) fn results(&mut self) -> usize {
        3 + (6.0 * self.random.uniform()) as usize
    }

    pub(super) fn coin(&mut self) -> bool {
        self.random.happens(0.5)
    }
}
