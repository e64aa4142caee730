//! Each model holds in every order, and fails as soon as what it relies on is taken away.

#![cfg(not(miri))]

use std::panic::catch_unwind;

use iotax_models::{Fault, models, models::run};

/// The model holds, and with each of these faults it does not.
fn holds_but_for(model: fn(), faults: &[Fault]) {
    run(model, Fault::None);
    for &fault in faults {
        assert!(catch_unwind(|| run(model, fault)).is_err(), "the model does not need {fault:?}");
    }
}

#[test]
fn handoff() {
    let both = [Fault::NotifyOne, Fault::NotifyAll];
    holds_but_for(models::an_io_goes_to_a_layers_thread_and_comes_back, &both);
    holds_but_for(models::two_threads_of_a_layer_share_a_queue, &both[1..]);
    holds_but_for(models::a_submitter_that_waits_for_a_while_is_woken, &both[..1]);
}

#[test]
fn grouped_buckets() {
    holds_but_for(models::disks_of_a_group_share_a_bucket, &[]);
    let too_early = models::a_clock_that_is_read_too_early;
    assert!(catch_unwind(|| run(too_early, Fault::None)).is_err());
}

#[test]
fn common_start() {
    holds_but_for(models::threads_start_together, &[Fault::NotifyAll]);
    holds_but_for(models::nobody_waits_for_a_thread_that_failed, &[Fault::NotifyAll]);
}

#[test]
fn stop_flag() {
    let orders = [Fault::Release, Fault::Acquire];
    holds_but_for(models::who_sees_that_all_are_through_sees_what_they_did, &orders);
    holds_but_for(models::who_sees_that_all_are_through_sees_whether_one_broke_down, &orders);
    holds_but_for(models::who_stops_a_load_ends_its_threads, &[]);
}
