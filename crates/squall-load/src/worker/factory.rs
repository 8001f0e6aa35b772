//! Requests, made to order.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use squall_wire::http::request::{FieldValues, RequestTemplate};
use squall_wire::http::response::RequestKind;

use crate::plan::{LoadPlan, PlannedRequest};
use crate::schedule::Share;

/// Makes the bytes of requests, in the mix that was asked for.
#[derive(Debug)]
pub(super) struct Factory {
    requests: Vec<Mixed>,
    weights: i64,
    random: SmallRng,
    /// The number that the next request carries; all threads together count every number once.
    sequence: u64,
    stride: u64,
    /// Where every request is the same: as many of them as go out at once.
    repeated: Option<Repeated>,
    scratch: Vec<u8>,
}

#[derive(Debug)]
struct Mixed {
    templates: Vec<RequestTemplate>,
    next_template: usize,
    weight: i64,
    /// Smooth weighted round robin: what this one is ahead of or behind its share.
    credit: i64,
}

#[derive(Debug)]
struct Repeated {
    bytes: Vec<u8>,
    request_bytes: usize,
    kind: RequestKind,
}

/// What a request is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) intended_ns: u64,
    pub(super) publisher: u64,
    /// The sequence number of the first stamp.
    pub(super) sequence: u32,
}

/// A request that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) kind: RequestKind,
    pub(super) bytes: usize,
    /// The sequence number of its stamp, if it carries one.
    pub(super) stamp: Option<u32>,
}

impl Factory {
    pub(super) fn new(plan: &LoadPlan, share: Share) -> Self {
        let requests: Vec<Mixed> = plan.requests.iter().map(Mixed::new).collect();
        let seed = plan.seed ^ u64::from(share.index).wrapping_mul(0xD134_2543_DE82_EF95);
        Self {
            weights: requests.iter().map(|request| request.weight).sum(),
            repeated: Repeated::of(&requests, plan.pipeline),
            requests,
            random: SmallRng::seed_from_u64(seed),
            sequence: u64::from(share.index),
            stride: u64::from(share.of),
            scratch: Vec::new(),
        }
    }

    /// The bytes of `count` requests; `each` hears of every one of them, in order.
    pub(super) fn make(&mut self, count: usize, order: Order, mut each: impl FnMut(Made)) -> &[u8] {
        match &self.repeated {
            Some(repeated) => {
                let (kind, bytes) = (repeated.kind, repeated.request_bytes);
                (0..count).for_each(|_| each(Made { kind, bytes, stamp: None }));
            }
            None => self.write(count, order, each),
        }
        match &self.repeated {
            Some(repeated) => {
                repeated.bytes.get(..count * repeated.request_bytes).unwrap_or_default()
            }
            None => &self.scratch,
        }
    }

    /// Writes requests that differ.
    fn write(&mut self, count: usize, order: Order, mut each: impl FnMut(Made)) {
        self.scratch.clear();
        let mut sequence = order.sequence;
        for _ in 0..count {
            let before = self.scratch.len();
            let (kind, has_stamp) = self.write_one(order, sequence);
            let bytes = self.scratch.len() - before;
            each(Made { kind, bytes, stamp: has_stamp.then_some(sequence) });
            sequence = sequence.wrapping_add(u32::from(has_stamp));
        }
    }

    /// Writes the next request; `true` if it carries a stamp.
    fn write_one(&mut self, order: Order, stamp_sequence: u32) -> (RequestKind, bool) {
        let random = &mut self.random;
        let mut values = FieldValues {
            sequence: self.sequence,
            time_ns: order.intended_ns,
            publisher: order.publisher,
            publisher_sequence: u64::from(stamp_sequence),
            random: &mut || random.next_u64(),
        };
        self.sequence += self.stride;
        let chosen = choose(&mut self.requests, self.weights);
        let Some(template) = chosen.and_then(Mixed::next) else {
            return (RequestKind::Other, false);
        };
        template.write(&mut self.scratch, &mut values);
        (template.kind(), template.has_stamp())
    }
}

impl Mixed {
    fn new(request: &PlannedRequest) -> Self {
        Self {
            templates: request.templates.clone(),
            next_template: 0,
            weight: i64::from(request.weight),
            credit: 0,
        }
    }

    fn next(&mut self) -> Option<&RequestTemplate> {
        let at = self.next_template;
        self.next_template = if at + 1 < self.templates.len() { at + 1 } else { 0 };
        self.templates.get(at)
    }
}

impl Repeated {
    fn of(requests: &[Mixed], pipeline: usize) -> Option<Self> {
        let [Mixed { templates, .. }] = requests else {
            return None;
        };
        let [template] = templates.as_slice() else {
            return None;
        };
        template.is_static().then(|| Self {
            bytes: template.bytes().repeat(pipeline),
            request_bytes: template.bytes().len(),
            kind: template.kind(),
        })
    }
}

/// Whose turn it is: of any run of requests each kind has its share, to within one.
fn choose(requests: &mut [Mixed], weights: i64) -> Option<&mut Mixed> {
    requests.iter_mut().for_each(|request| request.credit += request.weight);
    let chosen = requests.iter_mut().max_by_key(|request| request.credit)?;
    chosen.credit -= weights;
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(weight: i64) -> Mixed {
        Mixed { templates: Vec::new(), next_template: 0, weight, credit: 0 }
    }

    #[test]
    fn every_request_has_its_share_at_any_time() {
        let mut requests = [mixed(9), mixed(1), mixed(5)];
        let mut counts = [0_i64; 3];
        for turn in 1..=150 {
            let chosen = choose(&mut requests, 15).unwrap().weight;
            counts[match chosen {
                9 => 0,
                1 => 1,
                _ => 2,
            }] += 1;
            for (count, weight) in counts.iter().zip([9, 1, 5]) {
                assert!((count * 15 - turn * weight).abs() <= 15, "{counts:?} after {turn}");
            }
        }
        assert_eq!(counts, [90, 10, 50]);
    }
}
