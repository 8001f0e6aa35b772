//! One stream of the model.

use std::collections::HashMap;

use crate::content_type::ContentType;
use crate::expiry::Expiry;
use crate::instant::UnixMillis;
use crate::name::StreamName;
use crate::offset::Offset;
use crate::request::{Newest, StreamInfo};
use crate::store::StreamId;

/// Everything that was ever appended, and what is remembered beside it.
pub(super) struct ModelStream {
    pub(super) serial: u64,
    pub(super) content_type: ContentType,
    pub(super) expiry: Expiry,
    pub(super) created: u64,
    /// All bytes ever appended, trimmed ones included.
    pub(super) bytes: Vec<u8>,
    /// Where each event ends in `bytes`.
    pub(super) ends: Vec<usize>,
    /// Events at the front that were trimmed.
    pub(super) trimmed: usize,
    pub(super) closed: bool,
    pub(super) closed_by: Option<(String, u64, u64)>,
    pub(super) last_seq: Option<String>,
    /// Epoch, sequence number and time of each producer's last append.
    pub(super) producers: HashMap<String, (u64, u64, u64)>,
    /// When it was last used.
    pub(super) touched: u64,
    /// When it was last appended to, as stored: never before the time stored earlier.
    pub(super) appended: u64,
}

impl ModelStream {
    pub(super) fn new(serial: u64, content_type: ContentType, expiry: Expiry, now: u64) -> Self {
        Self {
            serial,
            content_type,
            expiry,
            created: now,
            bytes: Vec::new(),
            ends: Vec::new(),
            trimmed: 0,
            closed: false,
            closed_by: None,
            last_seq: None,
            producers: HashMap::new(),
            touched: now,
            appended: now,
        }
    }

    pub(super) fn over(&self, now: u64) -> bool {
        match self.expiry {
            Expiry::Never => false,
            Expiry::Ttl(seconds) => now >= self.touched + seconds * 1_000,
            Expiry::At(instant) => now >= instant.0,
        }
    }

    pub(super) fn touch(&mut self, now: u64) {
        if now > self.touched {
            self.touched = now;
        }
    }

    /// Type and subtype in lower case, without parameters.
    pub(super) fn same_type(&self, other: &ContentType) -> bool {
        let plain = |text: &str| {
            let end = text.find(';').unwrap_or(text.len());
            text[..end].trim().to_lowercase()
        };
        plain(self.content_type.as_str()) == plain(other.as_str())
    }

    pub(super) fn push(&mut self, payload: &[u8]) {
        self.bytes.extend_from_slice(payload);
        self.ends.push(self.bytes.len());
    }

    /// Where an event starts.
    pub(super) fn start_of(&self, event: usize) -> usize {
        if event == 0 { 0 } else { self.ends[event - 1] }
    }

    pub(super) fn earliest(&self) -> usize {
        self.start_of(self.trimmed)
    }

    pub(super) fn tail(&self) -> Offset {
        offset(self.bytes.len())
    }

    pub(super) fn newest(&self) -> Option<Newest> {
        if self.trimmed == self.ends.len() {
            return None;
        }
        let start = self.start_of(self.ends.len() - 1);
        Some(Newest {
            content_type: self.content_type.clone(),
            payload: self.bytes[start..].to_vec().into(),
        })
    }

    pub(super) fn info(&self, name: &str) -> StreamInfo {
        StreamInfo {
            stream: StreamId(self.serial),
            name: StreamName::parse(name).expect("the name was valid"),
            content_type: self.content_type.clone(),
            tail: self.tail(),
            earliest: offset(self.earliest()),
            events: (self.ends.len() - self.trimmed) as u64,
            bytes: (self.bytes.len() - self.earliest()) as u64,
            closed: self.closed,
            expiry: self.expiry,
            created_at: UnixMillis(self.created),
        }
    }
}

pub(super) fn offset(position: usize) -> Offset {
    Offset::at(position as u64)
}
