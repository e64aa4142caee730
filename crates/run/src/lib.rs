//! Walks a plan: rig up, load, record, rig down; stops when analyze says so.
#![forbid(unsafe_code)]
