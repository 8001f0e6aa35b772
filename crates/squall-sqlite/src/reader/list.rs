//! Lists streams in the order of their names.

use squall_stream::request::{List, Listing, StoreError, StreamInfo};

use crate::reader::Session;
use crate::reader::session::failed;
use crate::rows::{stream_name, stream_state};

impl Session<'_> {
    /// Lists streams, passing over those that have expired.
    pub(crate) fn list(&mut self, list: &List) -> Result<Listing, StoreError> {
        let now = self.shared.now();
        let usage = &self.shared.usage;
        let after = list.after.as_deref().unwrap_or_default();
        let from = after.max(list.prefix.as_str());
        let mut rows = self.statements.streams_after.query([from]).map_err(failed)?;
        let mut listing = Listing::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let name = stream_name(row).map_err(failed)?;
            if name.as_str() == after {
                continue;
            }
            if !name.as_str().starts_with(&list.prefix) {
                break;
            }
            let mut state = stream_state(row).map_err(failed)?;
            usage.refresh(&mut state);
            if usage.is_over(&state, now) {
                continue;
            }
            if listing.streams.len() >= list.limit {
                listing.next = listing.streams.last().map(name_of);
                break;
            }
            listing.streams.push(state.info(name));
        }
        Ok(listing)
    }
}

fn name_of(info: &StreamInfo) -> String {
    info.name.as_str().to_owned()
}
