//! Reads this machine: CPU, memory, kernel, the device under a path.
