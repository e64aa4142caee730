//! Merges several inputs that are each sorted by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::outcome::ImportError;

/// An input that gives items with their times.
pub(super) trait Timed {
    type Item;
    /// The next item and its time; `None` after the last.
    fn next(&mut self) -> Result<Option<(u64, Self::Item)>, ImportError>;
}

pub(super) struct Merge<I: Timed> {
    inputs: Vec<I>,
    heads: Vec<Option<I::Item>>,
    /// Time of each input's next item, with the input's number.
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

/// An item, and the number of its input.
pub(super) struct Merged<T> {
    pub(super) input: usize,
    pub(super) time: u64,
    pub(super) item: T,
}

impl<I: Timed> Merge<I> {
    pub(super) fn new(mut inputs: Vec<I>) -> Result<Self, ImportError> {
        let mut heads = Vec::with_capacity(inputs.len());
        let mut order = BinaryHeap::new();
        for (number, input) in inputs.iter_mut().enumerate() {
            heads.push(input.next()?.map(|(time, item)| {
                order.push(Reverse((time, number)));
                item
            }));
        }
        Ok(Self { inputs, heads, order })
    }

    /// The item with the earliest time.
    pub(super) fn next(&mut self) -> Result<Option<Merged<I::Item>>, ImportError> {
        let Some(Reverse((time, input))) = self.order.pop() else { return Ok(None) };
        let item = self.heads[input].take().expect("the order names inputs that have a head");
        if let Some((time, item)) = self.inputs[input].next()? {
            self.order.push(Reverse((time, input)));
            self.heads[input] = Some(item);
        }
        Ok(Some(Merged { input, time, item }))
    }
}
