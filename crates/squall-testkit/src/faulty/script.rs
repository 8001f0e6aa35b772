//! What is to go wrong, when, and what that makes of one call.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use squall_stream::request::StoreError;
use squall_stream::store::BoxFuture;

use super::gate::Gate;

/// Which method of the store a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Create,
    Append,
    Delete,
    Trim,
    Read,
    Describe,
    Newest,
    List,
    ShutDown,
}

/// Which calls of a method a fault strikes, counted from when it was injected.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Always,
    /// So many calls from now on.
    Next(u64),
    /// The k-th call, the 2k-th, and so on.
    Every(u64),
    /// So many of a hundred, by the dice.
    Percent(u32),
}

/// What goes wrong. Where several strike one call, each happens, in the order in which
/// they were injected; a refusal ends the call.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The store never sees the call.
    Refuse(StoreError),
    /// The store does what it is asked for, and its answer is lost.
    LoseAnswer(StoreError),
    /// The store sees the call late, by a time from this range.
    Delay(RangeInclusive<Duration>),
    /// The answer comes late, though the observer was told.
    DelayAnswer(RangeInclusive<Duration>),
    /// The store sees the call once the gate is open.
    Stall(Gate),
}

/// The faults that stand, and the dice.
pub(super) struct Script {
    dice: StdRng,
    rules: Vec<Rule>,
    calls: HashMap<Method, u64>,
}

struct Rule {
    method: Method,
    when: When,
    fault: Fault,
    seen: u64,
}

impl Script {
    pub(super) fn new(seed: u64) -> Self {
        Self { dice: StdRng::seed_from_u64(seed), rules: Vec::new(), calls: HashMap::new() }
    }

    pub(super) fn add(&mut self, method: Method, when: When, fault: Fault) {
        self.rules.push(Rule { method, when, fault, seen: 0 });
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(super) fn calls(&self, method: Method) -> u64 {
        self.calls.get(&method).copied().unwrap_or(0)
    }

    /// What strikes this call; none if nothing does.
    pub(super) fn strike(&mut self, method: Method) -> Option<Struck> {
        let Self { dice, rules, calls } = self;
        *calls.entry(method).or_default() += 1;
        let steps: Vec<Step> = rules
            .iter_mut()
            .filter(|rule| rule.method == method)
            .filter_map(|rule| rule.strike(dice))
            .collect();
        (!steps.is_empty()).then_some(Struck(steps))
    }
}

impl Rule {
    fn strike(&mut self, dice: &mut StdRng) -> Option<Step> {
        self.seen += 1;
        let strikes = match self.when {
            When::Always => true,
            When::Next(calls) => self.seen <= calls,
            When::Every(calls) => calls > 0 && self.seen.is_multiple_of(calls),
            When::Percent(percent) => dice.random_range(0..100) < percent,
        };
        let mut pick = |range: &RangeInclusive<Duration>| dice.random_range(range.clone());
        strikes.then(|| match &self.fault {
            Fault::Refuse(error) => Step::Refuse(error.clone()),
            Fault::LoseAnswer(error) => Step::LoseAnswer(error.clone()),
            Fault::Delay(range) => Step::Wait(pick(range)),
            Fault::DelayAnswer(range) => Step::WaitBehind(pick(range)),
            Fault::Stall(gate) => Step::Stall(gate.clone()),
        })
    }
}

/// A fault with its dice thrown.
enum Step {
    Refuse(StoreError),
    LoseAnswer(StoreError),
    Wait(Duration),
    WaitBehind(Duration),
    Stall(Gate),
}

/// What strikes one call.
pub(super) struct Struck(Vec<Step>);

impl Struck {
    pub(super) async fn around<T, E: From<StoreError>>(
        self,
        asked: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut lost = None;
        let mut late = Duration::ZERO;
        for step in self.0 {
            match step {
                Step::Refuse(error) => return Err(error.into()),
                Step::LoseAnswer(error) => lost = Some(error),
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::WaitBehind(time) => late += time,
                Step::Stall(gate) => gate.opened().await,
            }
        }
        let answer = asked.await;
        tokio::time::sleep(late).await;
        lost.map_or(answer, |error| Err(error.into()))
    }

    /// Goes on even if the answer is no longer waited for.
    pub(super) fn in_task<T, E>(
        self,
        asked: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let task = tokio::spawn(self.around(asked));
        Box::pin(async move {
            let ended = task.await;
            ended.unwrap_or_else(|_panicked| Err(StoreError::OutcomeUnknown.into()))
        })
    }
}
