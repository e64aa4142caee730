//! Where results go and how they look.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where results go and how they look.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Directory for the results, new [default: iotax-COMMAND-TIME]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub format: Format,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Show no progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Output formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// For a ticket or a pull request
    Markdown,
    /// One line per trial
    Csv,
    /// Rules (--fail-if) as test cases, in JUnit's XML
    Junit,
    /// Rules (--fail-if) as annotations of a workflow of GitHub; the report goes to its summary
    Github,
}

/// Output formats of listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
