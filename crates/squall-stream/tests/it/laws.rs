//! Laws of the state machine, held against the model over random requests and times.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::{Strategy, prop_assert_eq, prop_oneof, proptest};
use squall_stream::conformance::{Model, Operation, Outcome, any_operation, operation_limits};
use squall_stream::limits::{POSITION_MAX, StreamLimits};
use squall_stream::machine::{
    AppendDecision, AppendPlan, CreateDecision, StreamState, decide_append, decide_create,
    plan_create,
};
use squall_stream::producer::{ProducerId, ProducerState};
use squall_stream::request::{Append, AppendAck, AppendError, Create, CreateAck, CreateError};
use squall_stream::store::StreamId;
use squall_stream::{Offset, StreamName, UnixMillis};

const BEGIN: u64 = 1_800_000_000_000;

/// What may be asked of the machine, and how the clock may jump.
#[derive(Clone, Debug)]
enum Step {
    Ask(Operation),
    Clock(i64),
}

/// Creations and appends of one stream; nothing else asks the machine to decide.
fn any_step() -> impl Strategy<Value = Step> {
    let requests = any_operation().prop_filter_map("a request", |operation| match operation {
        Operation::Create(create) => Some(Operation::Create(Create { name: one_name(), ..create })),
        Operation::Append(append) => {
            Some(Operation::Append(Append { name: one_name(), create: false, ..append }))
        }
        _ => None,
    });
    prop_oneof![
        6 => requests.prop_map(Step::Ask),
        1 => (-5_000..8_000_i64).prop_map(Step::Clock),
    ]
}

fn one_name() -> StreamName {
    StreamName::parse("s").expect("a name")
}

/// Nobody is ever idle: to forget producers is an engine's part.
fn limits() -> StreamLimits {
    StreamLimits { producer_idle_max_ms: u64::MAX, ..operation_limits() }
}

/// The least that an engine does around the machine, for one stream.
#[derive(Default)]
struct Driver {
    created: u64,
    state: Option<StreamState>,
    producers: HashMap<ProducerId, ProducerState>,
}

impl Driver {
    fn create(&mut self, create: &Create, now: UnixMillis) -> Result<CreateAck, CreateError> {
        let decision = decide_create(self.state.as_ref(), create, now)?;
        let created = decision == CreateDecision::Make;
        if created {
            self.created += 1;
            let (mut state, plan) = plan_create(create, StreamId(self.created), now)?;
            plan.iter().for_each(|plan| state.apply(plan));
            self.state = Some(state);
            self.producers.clear();
        }
        let state = self.state.as_mut().expect("the decision says so");
        state.renew(now);
        let info = state.info(one_name());
        Ok(CreateAck { created, info })
    }

    fn append(&mut self, append: &Append, now: UnixMillis) -> Result<AppendAck, AppendError> {
        let claim = append.producer.as_ref();
        let known = claim.and_then(|claim| self.producers.get(&claim.id));
        let decision = decide_append(self.state.as_ref(), known, append, now, &limits())?;
        let state = self.state.as_mut().expect("the decision says so");
        let plan = match decision {
            AppendDecision::Stands(ack) => {
                assert_eq!(ack.tail, state.tail_offset());
                state.renew(now);
                return Ok(ack);
            }
            AppendDecision::Store(plan) => plan,
        };
        check_plan(state, append, &plan, now);
        let before = state.clone();
        state.apply(&plan);
        check_applied(&before, state, &plan);
        if let (Some(claim), Some(producer)) = (claim, plan.producer) {
            let replaced = self.producers.insert(claim.id.clone(), producer);
            assert_eq!(replaced.is_none(), plan.new_producer);
        }
        assert_eq!(state.producers as usize, self.producers.len());
        Ok(plan.ack)
    }

    /// Forgets a stream that was seen to have expired, as an engine does.
    fn bury(&mut self, now: UnixMillis) {
        if self.state.as_ref().is_some_and(|state| state.is_expired(now)) {
            self.state = None;
            self.producers.clear();
        }
    }
}

/// A plan stores exactly what was asked for, directly behind the tail.
fn check_plan(state: &StreamState, append: &Append, plan: &AppendPlan, now: UnixMillis) {
    let payloads: Vec<_> = plan.events.iter().map(|event| &event.payload).collect();
    assert_eq!(payloads, append.events.iter().collect::<Vec<_>>());
    let mut tail = state.tail_offset();
    for event in &plan.events {
        assert_eq!(event.start, tail);
        assert!(event.start < event.end, "offsets strictly increase");
        assert!(event.start.to_string() < event.end.to_string(), "in print too");
        tail = event.end;
    }
    assert_eq!(tail, Offset::at(plan.tail));
    assert!(plan.appended_at >= now && plan.appended_at >= state.appended_at);
    assert_eq!(plan.closing.is_some(), append.close);
}

/// A plan that was carried out leads to the state that its ack speaks of.
fn check_applied(before: &StreamState, after: &StreamState, plan: &AppendPlan) {
    assert_eq!(after.tail_offset(), plan.ack.tail);
    assert_eq!(after.closing.is_some(), plan.ack.closed);
    assert_eq!(after.events, before.events + plan.events.len() as u64);
    assert_eq!(after.appended_at, plan.appended_at);
    assert!(after.used_at >= before.used_at);
    assert!(!plan.ack.duplicate);
    let untouched = |state: &StreamState| {
        let StreamState { stream, content_type, earliest, expiry, created_at, .. } = state.clone();
        (stream, content_type, earliest, expiry, created_at)
    };
    assert_eq!(untouched(before), untouched(after));
}

proptest! {
    /// Whatever is asked and however the clock jumps, the machine decides as the rules
    /// say, and its plans hold together.
    #[test]
    fn the_machine_decides_as_the_rules_do(steps in vec(any_step(), 1..80)) {
        let mut driver = Driver::default();
        let mut model = Model::new(limits(), BEGIN);
        for step in steps {
            let operation = match step {
                Step::Clock(jump) => {
                    model.set_now(model.now().saturating_add_signed(jump));
                    continue;
                }
                Step::Ask(operation) => operation,
            };
            let now = UnixMillis(model.now());
            driver.bury(now);
            let found = match &operation {
                Operation::Create(create) => Outcome::Create(driver.create(create, now)),
                Operation::Append(append) => Outcome::Append(driver.append(append, now)),
                other => unreachable!("{other:?} is no request"),
            };
            prop_assert_eq!(found, model.apply(&operation), "{:?}", operation);
        }
    }

    /// Clients compare offsets as text.
    #[test]
    fn the_order_in_print_is_the_order_of_offsets(a in 0..=POSITION_MAX, b in 0..=POSITION_MAX) {
        let (first, second) = (Offset::at(a), Offset::at(b));
        prop_assert_eq!(first.cmp(&second), a.cmp(&b));
        prop_assert_eq!(first.to_string().cmp(&second.to_string()), a.cmp(&b));
        prop_assert_eq!(first.to_string().parse(), Ok(first));
    }
}
