//! How a job shares machine and span, in words.

use crate::job_options::{
    format_flow, format_latency_target, format_numa, format_priorities, format_stretches,
};
use crate::workload::Job;
use crate::writes::Content;

impl Job {
    /// How it shares machine and span, in words: one part for each.
    pub fn explain_shares(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(stretches) = self.stretches {
            parts.push(format!("in stretches with gaps ({})", format_stretches(stretches)));
        }
        parts.extend(self.content.as_ref().and_then(explain_content));
        if let Some(target) = self.latency_target {
            let target = format_latency_target(target);
            parts.push(format!("at the depth that keeps a latency ({target})"));
        }
        if let Some(flow) = self.flow {
            parts.push(format!("in proportion to other jobs (weight {})", format_flow(flow)));
        }
        if self.priority.is_some() || !self.priorities.is_empty() {
            let priorities = format_priorities(self.priority, &self.priorities);
            parts.push(format!("priority {priorities}"));
        }
        if let Some(numa) = &self.numa {
            parts.push(format!("on NUMA nodes {}", format_numa(numa)));
        }
        parts
    }
}

fn explain_content(content: &Content) -> Option<String> {
    let mut parts = Vec::new();
    match (content.compress_percent, content.pattern.as_slice()) {
        (0, _) => {}
        (percent, []) => parts.push(format!("{percent} % zeroes")),
        (percent, _) => parts.push(format!("{percent} % {}", content.pattern_digits())),
    }
    match (content.dedupe_percent, content.working_set_percent) {
        (0, _) => {}
        (percent, None) => parts.push(format!("{percent} % of writes repeated")),
        (percent, Some(set)) => {
            let whose = if content.shared_set { "all threads" } else { "the thread" };
            parts.push(format!("{percent} % of writes repeating {set} % of the data of {whose}"));
        }
    }
    (!parts.is_empty()).then(|| format!("data with {}", parts.join(" and ")))
}
