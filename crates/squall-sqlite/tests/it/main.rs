//! The engine as its users see it: on real files, through [`squall_stream::StreamStore`].

mod conformance;
