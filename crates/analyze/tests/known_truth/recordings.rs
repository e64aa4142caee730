//! Noise as disks and network paths had it: I/Os per second in windows of 50 ms, one a line. How
//! each was recorded is in `noise/README.md`.

use std::fmt;
use std::sync::LazyLock;

use rand_distr::{Distribution, StandardNormal};

use crate::noise::rng;

/// How long a window is, in nanoseconds.
pub(crate) const WINDOW_NS: u64 = 50_000_000;

/// One load, watched for a minute or more.
pub(crate) struct Recording {
    pub name: &'static str,
    /// In each window; none is left out, so that it is 0 where nothing completed.
    iops: Vec<f64>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! recorded {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("noise/", $name, ".txt")))),*]
    };
}

const FILES: [(&str, &str); 10] = recorded![
    "quiet_read_qd1", "busy_read_qd1", "busy_write_qd8", "write_qd1", "mixed_qd4", "fdatasync",
    "read_1m", "tcp_rr", "loop_write_qd1", "pod_read_qd1"
];

static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let parsed = |text: &str| text.lines().map(|line| line.parse().expect("a number")).collect();
    FILES.into_iter().map(|(name, text)| Recording { name, iops: parsed(text) }).collect()
});

/// Windows of which each depends on the one before it.
static DEPENDENT: LazyLock<Recording> = LazyLock::new(|| Recording::simulated("lag-1 0.6", 0.6));
static INDEPENDENT: LazyLock<Recording> = LazyLock::new(|| Recording::simulated("lag-1 0", 0.0));

impl Recording {
    /// All that were recorded.
    pub(crate) fn all() -> &'static [Self] {
        &RECORDINGS
    }

    /// Windows that were never recorded: independent, and with a lag-1 autocorrelation of .6.
    pub(crate) fn made() -> [&'static Self; 2] {
        [&INDEPENDENT, &DEPENDENT]
    }

    fn simulated(name: &'static str, lag: f64) -> Self {
        let mut rng = rng(5);
        let mut state = 0.0;
        let mut next = |_| {
            let z: f64 = StandardNormal.sample(&mut rng);
            state = lag * state + (1.0 - lag * lag).sqrt() * z;
            10_000.0 * (0.14 * state).exp()
        };
        Self { name, iops: (0..100_000).map(&mut next).collect() }
    }

    /// Of all windows.
    pub(crate) fn mean_iops(&self) -> f64 {
        self.iops.iter().sum::<f64>() / self.iops.len() as f64
    }

    /// Of so many windows from number `at` on. Behind the last comes the first.
    pub(crate) fn iops(&self, at: usize, windows: usize) -> f64 {
        let len = self.iops.len();
        (at..at + windows).map(|at| self.iops[at % len]).sum::<f64>() / windows as f64
    }

    pub(crate) fn windows(&self) -> usize {
        self.iops.len()
    }

    /// How long slices are by the pilot's first criterion: room for 100 I/Os.
    pub(crate) fn slice_windows(&self) -> usize {
        let room = |windows: &usize| self.mean_iops() * 0.05 * *windows as f64 >= 100.0;
        [2, 3, 4, 6, 10, 14, 20].into_iter().find(room).expect("a load that is not as slow as that")
    }
}
