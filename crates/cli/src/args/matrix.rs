//! Arms that are combinations.

use clap::Args;

/// Factors whose levels make the arms.
#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    /// Make an arm of every combination of levels; repeat for several factors
    ///
    /// The levels stand in the place of {NAME} in the one target that is given; without such a place
    /// the factor is the parameter of that name of a layer in it (LAYER.NAME if several have it). Each
    /// level is compared with the first one of its factor, over all arms that differ in nothing else.
    ///
    /// A factor that is none of the target but a key of --set, such as bs, depth or JOB.rate, is of the
    /// workload: each of its levels is a phase, and all arms take their turns in every phase.
    #[arg(long = "matrix", value_name = "NAME=LEVEL,LEVEL...", help_heading = "Matrix")]
    pub factors: Vec<String>,
    /// Leave out the arms that have all of these levels; repeat for several
    #[arg(long, value_name = "NAME=LEVEL,...", requires = "factors", help_heading = "Matrix")]
    pub exclude: Vec<String>,
}
