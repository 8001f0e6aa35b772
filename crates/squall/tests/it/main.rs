//! The binary as a process: what only a real `squall` can show.

mod crash;
