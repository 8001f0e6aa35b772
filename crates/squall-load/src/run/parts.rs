//! How a load is divided among threads.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use super::error::RunError;
use crate::plan::{Address, Endpoint, LoadPlan};
use crate::schedule::Share;
use crate::worker::Part;

/// One part for each thread; together they are the load.
pub(super) fn divide(
    plan: &LoadPlan,
    address: &Address,
    follow_address: Option<&Address>,
    run_id: u32,
) -> Vec<Part> {
    let followers = plan.follow.as_ref().map_or(0, |follow| follow.followers);
    let slow_followers = plan.follow.as_ref().map_or(0, |follow| follow.slow_followers);
    let of = u32::try_from(plan.threads).unwrap_or(u32::MAX);
    let mut first_connection = 0;
    let part = |index| {
        let connections = share_of(plan.connections, index, plan.threads);
        let part = Part {
            share: Share { index: u32::try_from(index).unwrap_or(u32::MAX), of },
            address: address.clone(),
            follow_address: follow_address.cloned(),
            connections,
            first_connection,
            followers: share_of(followers, index, plan.threads),
            slow_followers: share_of(slow_followers, index, plan.threads),
            run_id,
        };
        first_connection += connections;
        part
    };
    (0..plan.threads).map(part).collect()
}

fn share_of(whole: usize, index: usize, of: usize) -> usize {
    whole / of + usize::from(index < whole % of)
}

/// The address that all connections go to: the only one, or the first of several that takes a
/// connection. (There is no race between them: a load goes to one server.)
pub(super) fn choose(endpoint: &Endpoint, wait_max: Duration) -> Result<Address, RunError> {
    if let [only] = endpoint.addresses.as_slice() {
        return Ok(only.clone());
    }
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in &endpoint.addresses {
        let Address::Tcp(socket) = address else {
            return Ok(address.clone());
        };
        match TcpStream::connect_timeout(socket, wait_max) {
            Ok(_) => return Ok(address.clone()),
            Err(error) => last = error,
        }
    }
    let names: Vec<String> = endpoint.addresses.iter().map(ToString::to_string).collect();
    Err(RunError::Unreachable { addresses: names.join(", "), source: last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_make_up_the_whole() {
        for (whole, of) in [(50, 1), (50, 3), (2, 4), (0, 2)] {
            let shares: Vec<usize> = (0..of).map(|index| share_of(whole, index, of)).collect();
            assert_eq!(shares.iter().sum::<usize>(), whole);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
