//! Values of options: what people write for sizes, durations and counts, within bounds.

mod byte_size;

mod count;

mod duration;

pub(crate) use byte_size::{ByteSize, bytes};
pub(crate) use count::count;
pub(crate) use duration::duration;
