//! The scripted server, seen by its clients.

mod support;

mod places;

mod service;

mod steps;

mod stopping;
