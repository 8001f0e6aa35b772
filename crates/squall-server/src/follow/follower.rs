//! A follower: the answer to one open follow, as a sequence of byte chunks.
//!
//! Starts with stored pages and goes on with the ring; whenever the ring does not reach
//! back to its offset it reads the store again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rand::RngExt;
use squall_stream::request::{Read, ReadError, ReadTarget, StoreError};
use squall_stream::store::{BoxFuture, StreamId};
use squall_stream::{Offset, Page, ReadFrom, StreamName, StreamStore};
use squall_wire::sse::encode;

use crate::follow::chunk::Chunk;
use crate::follow::frame::{
    Border, Dialect, View, closed_message, control_message, gap_message, push_id,
};
use crate::follow::hub::{FollowerPermit, Membership};
use crate::follow::ring::{Behind, FRAME_BYTES_MAX};
use crate::follow::stored::{Framed, PAGE_GROWTH, fitting_page};
use crate::pages::{PageBudget, PageError, PagePermit, Patience};

/// Range of the `retry:` that spreads reconnecting clients, in ms.
pub(crate) const RETRY_MS: std::ops::RangeInclusive<u64> = 1_000..=10_000;

type Paged = Result<(Page, PagePermit), ReadError>;

/// How a follow begins.
pub(crate) enum FollowStart {
    /// With a page that has been read; `shows_start` sends the position first.
    Page { page: Page, permit: PagePermit, shows_start: bool },
    /// With word that what was asked for is gone, then from `earliest`.
    Gap { stream: StreamId, requested: String, earliest: Offset },
    /// When a stream of this name is made.
    Await { name: StreamName },
}

/// One open follow.
pub(crate) struct Follow {
    store: Arc<dyn StreamStore>,
    budget: Arc<PageBudget>,
    membership: Membership,
    view: View,
    at: Offset,
    /// The end of what was read and not shown: up to here, behind `at`, there are only the
    /// first bytes of a character.
    seen: Offset,
    phase: Phase,
    /// Chunks that were made but not taken, at most two.
    outbox: VecDeque<Chunk>,
    /// Payload bytes to ask for.
    page_bytes: usize,
    /// Payload bytes that the next page is likely to have.
    page_expected: usize,
}

enum Phase {
    /// No stream has the name yet.
    Await(StreamName),
    /// A page is being read.
    Reading {
        stream: StreamId,
        page: BoxFuture<'static, Paged>,
    },
    /// The first page of an awaited stream is being read.
    Opening {
        name: StreamName,
        page: BoxFuture<'static, Paged>,
    },
    /// At the ring.
    Live(StreamId),
    Done,
}

impl Follow {
    pub(crate) fn new(
        store: Arc<dyn StreamStore>,
        budget: Arc<PageBudget>,
        permit: FollowerPermit,
        view: View,
        start: FollowStart,
    ) -> Self {
        let membership = Membership::new(permit);
        let mut follow = Self {
            store,
            budget,
            membership,
            view,
            at: Offset::START,
            seen: Offset::START,
            phase: Phase::Done,
            outbox: VecDeque::new(),
            page_bytes: FRAME_BYTES_MAX,
            page_expected: FRAME_BYTES_MAX,
        };
        follow.begin(start);
        follow
    }

    fn begin(&mut self, start: FollowStart) {
        match start {
            FollowStart::Page { page, permit, shows_start } => {
                self.at = page.start;
                self.membership.join(page.stream);
                if shows_start && self.view.dialect == Dialect::Events {
                    self.show_start();
                }
                self.take_page(page, permit);
                let nothing_shown = self.outbox.is_empty() && matches!(self.phase, Phase::Live(_));
                if nothing_shown && self.view.dialect == Dialect::Sse {
                    self.show_start();
                }
            }
            FollowStart::Gap { stream, requested, earliest } => {
                self.at = earliest;
                self.membership.join(stream);
                let mut out = Vec::new();
                gap_message(&mut out, &requested, earliest);
                self.push(out);
                self.phase = self.read(stream);
            }
            FollowStart::Await { name } => self.phase = Phase::Await(name),
        }
    }

    /// Tells the client its position before the first event, so that a reconnect loses
    /// nothing that comes in between.
    fn show_start(&mut self) {
        let mut out = Vec::new();
        match self.view.dialect {
            Dialect::Events => push_id(&mut out, self.at),
            Dialect::Sse => {
                let border = Border { up_to_date: true, ends_stream: false };
                control_message(&mut out, self.at, self.view.cursor, border);
            }
        }
        self.push(out);
    }

    /// The next chunk of the answer, or its end.
    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Chunk>> {
        self.membership.cell().register(cx.waker());
        loop {
            if let Some(chunk) = self.outbox.pop_front() {
                return Poll::Ready(Some(chunk));
            }
            if let Phase::Done = self.phase {
                return Poll::Ready(None);
            }
            if self.membership.cell().has_to_leave() {
                self.push_retry();
                self.phase = Phase::Done;
                continue;
            }
            if self.membership.cell().take_heartbeat() {
                return Poll::Ready(Some(Chunk::of(encode::HEARTBEAT)));
            }
            ready!(self.step(cx));
        }
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.phase {
            Phase::Await(name) => {
                let name = name.clone();
                // Registered first: a stream made from here on wakes this follower.
                self.membership.await_name(&name);
                self.membership.cell().take_named();
                self.phase = self.open(name);
                Poll::Ready(())
            }
            Phase::Opening { page, .. } => {
                let page = ready!(page.as_mut().poll(cx));
                self.opened(page)
            }
            Phase::Reading { page, .. } => {
                let page = ready!(page.as_mut().poll(cx));
                self.paged(page);
                Poll::Ready(())
            }
            Phase::Live(stream) => {
                let stream = *stream;
                self.live(stream)
            }
            Phase::Done => Poll::Ready(()),
        }
    }

    fn live(&mut self, stream: StreamId) -> Poll<()> {
        let (at, seen, view) = (self.at, self.seen, self.view);
        let behind = self.membership.ask(|ring, member| ring.take(at, seen, view, member));
        match behind.unwrap_or(Behind::Fallen) {
            Behind::Frame { chunk, next, last } => {
                self.at = next;
                self.outbox.push_back(chunk);
                if last {
                    self.phase = Phase::Done;
                }
            }
            Behind::Nothing => return Poll::Pending,
            Behind::Fallen => self.phase = self.read(stream),
            Behind::Closed => self.end_closed(),
            Behind::Ended => self.phase = Phase::Done,
        }
        Poll::Ready(())
    }

    fn paged(&mut self, page: Paged) {
        match page {
            Ok((page, permit)) => self.take_page(page, permit),
            Err(ReadError::Trimmed { earliest }) if self.view.dialect == Dialect::Events => {
                let mut out = Vec::new();
                gap_message(&mut out, &self.at.to_string(), earliest);
                self.push(out);
                self.at = earliest;
                if let Phase::Reading { stream, .. } = self.phase {
                    self.phase = self.read(stream);
                }
            }
            // The client connects again, from its last id, and is told what is wrong then.
            Err(ReadError::Store(_) | ReadError::Trimmed { .. }) => {
                self.push_retry();
                self.phase = Phase::Done;
            }
            Err(_) => self.phase = Phase::Done,
        }
    }

    fn opened(&mut self, page: Paged) -> Poll<()> {
        match page {
            Ok((page, permit)) => {
                self.at = page.start;
                self.view.kind = page.content_type.kind();
                self.membership.join(page.stream);
                self.take_page(page, permit);
                Poll::Ready(())
            }
            Err(ReadError::NotFound) => {
                // Stay registered: `await_name` was called before the read.
                if let Phase::Opening { name, .. } = &self.phase {
                    self.phase = Phase::Await(name.clone());
                }
                // It may have been made since the read began.
                if self.membership.cell().take_named() { Poll::Ready(()) } else { Poll::Pending }
            }
            Err(error) => {
                self.paged(Err(error));
                Poll::Ready(())
            }
        }
    }

    /// Frames a page and decides how to go on.
    fn take_page(&mut self, page: Page, mut permit: PagePermit) {
        let stream = page.stream;
        let framed = Framed::of(&page, self.view);
        let Framed { events, chunk, next, whole } = framed;
        // What did not fit into the frame is read again.
        let up_to_date = whole && page.up_to_date();
        let ends_stream = whole && page.ends_stream();
        let read_to = events.last().map_or(page.next, |event| event.end);
        self.page_expected = page.data.len().max(FRAME_BYTES_MAX);
        let shown = !chunk.is_empty();
        if shown {
            // Text of many short lines is larger framed than stored.
            self.budget.extend(&mut permit, chunk.len().saturating_sub(self.page_expected));
            self.outbox.push_back(chunk.finish_with(|out| permit.hold(out)));
        }
        // Nothing shown, and more behind: a cut character must be read with the event
        // that completes it, which may be a large one.
        self.page_bytes = match shown || up_to_date {
            true => fitting_page(&events),
            false => self.page_bytes.saturating_mul(PAGE_GROWTH),
        };
        self.at = next;
        self.seen = read_to;
        self.phase = if ends_stream {
            if !shown {
                self.end_closed();
            }
            Phase::Done
        } else if up_to_date {
            // Only a read that began after joining may tell the ring its tail; for the
            // first page, which was read before, the ring asks for another if need be.
            if matches!(self.phase, Phase::Reading { .. }) {
                self.membership.observe_tail(page.tail);
            }
            Phase::Live(stream)
        } else {
            self.read(stream)
        };
    }

    fn end_closed(&mut self) {
        let mut out = Vec::new();
        match self.view.dialect {
            Dialect::Events => closed_message(&mut out, self.at),
            Dialect::Sse => {
                let border = Border { up_to_date: true, ends_stream: true };
                control_message(&mut out, self.at, self.view.cursor, border);
            }
        }
        self.push(out);
        self.phase = Phase::Done;
    }

    fn read(&self, stream: StreamId) -> Phase {
        let page = self.page(ReadTarget::Id(stream), ReadFrom::At(self.at));
        Phase::Reading { stream, page }
    }

    fn open(&self, name: StreamName) -> Phase {
        let page = self.page(ReadTarget::Name(name.clone()), ReadFrom::Start);
        Phase::Opening { name, page }
    }

    fn page(&self, target: ReadTarget, from: ReadFrom) -> BoxFuture<'static, Paged> {
        let (store, budget) = (Arc::clone(&self.store), Arc::clone(&self.budget));
        let read = Read { target, from, bytes_max: self.page_bytes };
        let expected = self.page_expected;
        Box::pin(async move {
            let patience = Patience::Endless;
            match budget.read(&*store, read, expected, patience).await {
                Ok(page) => Ok(page),
                Err(PageError::Read(error)) => Err(error),
                Err(PageError::Busy) => {
                    Err(ReadError::Store(StoreError::QueueFull { queue: "page" }))
                }
            }
        })
    }

    fn push(&mut self, out: Vec<u8>) {
        if !out.is_empty() {
            self.outbox.push_back(Chunk::of(&out));
        }
    }

    fn push_retry(&mut self) {
        let mut out = Vec::new();
        encode::retry_only(&mut out, rand::rng().random_range(RETRY_MS));
        self.push(out);
    }
}
