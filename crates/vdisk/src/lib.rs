//! The virtual disk: composable in-process block layers.
