//! Reads and trims of a stream of the model.

use super::stream::{ModelStream, offset};
use crate::event::{Page, PageEntry};
use crate::instant::UnixMillis;
use crate::offset::{Offset, ReadFrom};
use crate::request::ReadError;
use crate::store::StreamId;

impl ModelStream {
    pub(super) fn page(&self, from: ReadFrom, bytes_max: usize) -> Result<Page, ReadError> {
        let start = self.start(from)?;
        let mut data = Vec::new();
        let mut entries: Vec<PageEntry> = Vec::new();
        for end in self.ends.iter().copied().filter(|end| *end > start) {
            let new = &self.bytes[start + data.len()..end];
            if !entries.is_empty() && data.len() + new.len() > bytes_max {
                break;
            }
            data.extend_from_slice(new);
            entries.push(PageEntry { end: offset(end), data_end: data.len() });
        }
        Ok(Page {
            stream: StreamId(self.serial),
            content_type: self.content_type.clone(),
            start: offset(start),
            next: offset(start + data.len()),
            data: data.into(),
            entries,
            tail: self.tail(),
            closed: self.closed,
            created_at: UnixMillis(self.created),
        })
    }

    fn start(&self, from: ReadFrom) -> Result<usize, ReadError> {
        let asked = match from {
            ReadFrom::Start => return Ok(self.earliest()),
            ReadFrom::Now => return Ok(self.bytes.len()),
            ReadFrom::Last if self.trimmed == self.ends.len() => return Ok(self.bytes.len()),
            ReadFrom::Last => return Ok(self.start_of(self.ends.len() - 1)),
            ReadFrom::At(asked) => asked,
        };
        if asked > self.tail() {
            return Err(ReadError::BeyondTail { tail: self.tail() });
        }
        if asked < offset(self.earliest()) {
            return Err(ReadError::Trimmed { earliest: offset(self.earliest()) });
        }
        let position = (0..=self.bytes.len()).find(|position| offset(*position) == asked);
        let position = position.expect("an offset up to the tail is a position");
        let json = self.content_type.as_str().to_lowercase();
        let json = json.starts_with("application/json");
        let between = position == 0 || self.ends.contains(&position);
        match self.ends.iter().find(|end| **end > position) {
            Some(end) if json && !between => Err(ReadError::InsideEvent { end: offset(*end) }),
            _ => Ok(position),
        }
    }

    pub(super) fn trim(&mut self, before: Offset) -> Offset {
        while self.trimmed < self.ends.len() && offset(self.ends[self.trimmed]) <= before {
            self.trimmed += 1;
        }
        offset(self.earliest())
    }
}
