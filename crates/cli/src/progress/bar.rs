//! What all progress lines have in common.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line on stderr that moves by itself; hidden if `quiet` or if stderr is no terminal.
pub(super) fn bar(quiet: bool, style: ProgressStyle) -> ProgressBar {
    let bar = if quiet {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
    } else {
        ProgressBar::new_spinner()
    };
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A style from a template that is a constant.
pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is constant")
}
