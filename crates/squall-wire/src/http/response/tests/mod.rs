//! Tables of replies and what they are taken for, at every cut.

mod support;

mod chunked;

mod connection;

mod head;

mod length;

mod limits;
