use clap::Args;

/// How caps are searched for, wherever the targets are.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Fewer points, shorter windows, wider intervals
    #[arg(long, help_heading = "Search")]
    pub quick: bool,
    /// Load each target until a burst has run out, at most so long [default:
    /// 10m]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10m", help_heading = "Search")]
    pub burst: Option<String>,
    /// With --burst: pauses after which to look what has come back
    #[arg(
        long,
        value_name = "TIME,TIME",
        default_value = "30s,2m",
        requires = "burst",
        help_heading = "Search"
    )]
    pub pauses: String,
    /// Seed of every random choice [default: drawn, and recorded]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub seed: Option<u64>,
}
