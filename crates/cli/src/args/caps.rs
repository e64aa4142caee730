use clap::Args;

/// What is done about caps above the arms.
#[derive(Debug, Args)]
pub(crate) struct CapArgs {
    /// Where arms sit on the same cap, run loads that show what it hides
    #[arg(long, conflicts_with = "no_depth_check", help_heading = "Caps")]
    pub below_cap: bool,
    /// Do not run equal arms at other depths to find a cap above them
    #[arg(long, help_heading = "Caps")]
    pub no_depth_check: bool,
}
