//! The snapshot that a caller pins by sending back the `X-Corpus-Snapshot` of an earlier answer, or by following a link to
//! another page, whose parameter [`SNAPSHOT_NAME`] is the same. The call is answered
//! from exactly that snapshot or refused, so that what a caller puts together, such as the pages of a list, is one
//! edition, whichever of several servers answers and whatever they switch to meanwhile.

use std::sync::Arc;

use hornbook_corpus::manifest::{SNAPSHOT_ID_LENGTH, is_snapshot_id};

use super::corpus::Corpus;
use super::edition_choice::named_day;
use super::error::{ApiError, ErrorCode, Violation};
use super::headers::CORPUS_SNAPSHOT;
use super::operation::Operation;
use super::page_links::AS_OF_NAME;
use super::parameters::Arguments;
use super::service::Service;

/// The parameter in links to other pages that names their snapshot.
pub const SNAPSHOT_NAME: &str = "snapshot";

/// The id of a snapshot, as a caller sent it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotPin<'c>(&'c str);

impl<'c> SnapshotPin<'c> {
    /// Reads the values that a caller sent for the header or the parameter.
    pub fn read(mut given: impl Iterator<Item = &'c [u8]>) -> Result<Option<Self>, Violation> {
        let Some(id) = given.next() else { return Ok(None) };
        let wrong = |what: &str| {
            let name = CORPUS_SNAPSHOT.name;
            let message =
                format!("{name}, or {SNAPSHOT_NAME}, {what}; send it as an earlier answer named it, or leave it out");
            Err(Violation::new(name, message))
        };
        if given.any(|other| other.trim_ascii() != id.trim_ascii()) {
            return wrong("is given more than once");
        }
        match str::from_utf8(id.trim_ascii()) {
            Ok(id) if is_snapshot_id(id) => Ok(Some(Self(id))),
            _ => wrong(&format!("is not {SNAPSHOT_ID_LENGTH} digits from 0 to 9 and a to f")),
        }
    }
}

impl SnapshotPin<'_> {
    pub fn is_of(self, corpus: &Corpus) -> bool {
        self.0 == corpus.id()
    }
}

/// Takes the snapshot that a link to another page names out of the parameters of a call that reads law.
pub fn take_linked(operation: &Operation, arguments: &mut Arguments) -> Vec<String> {
    if !operation.reads_law() {
        return Vec::new();
    }
    let is_pin = |(name, _): &mut (String, String)| name == SNAPSHOT_NAME;
    arguments.query.extract_if(.., is_pin).map(|(_, value)| value).collect()
}

/// The snapshot that answers a call.
#[derive(Clone, Debug)]
pub struct ChosenEdition {
    pub corpus: Arc<Corpus>,
    /// Whether the caller pinned it.
    pub(super) is_pinned: bool,
    /// Why the pinned snapshot cannot answer. Then `corpus` is the served one.
    pub(super) refusal: Option<ApiError>,
}

impl From<Arc<Corpus>> for ChosenEdition {
    /// The choice of a call that pins nothing.
    fn from(corpus: Arc<Corpus>) -> Self {
        Self { corpus, is_pinned: false, refusal: None }
    }
}

impl Service {
    /// The snapshot that answers a call: the pinned one if there is a pin and the operation reads law, or else the one of
    /// the day that the call names. Faults of the pin are added to those of the arguments.
    pub fn edition_for(
        &self,
        served: &Arc<Corpus>,
        operation: &Operation,
        pin: &Result<Option<SnapshotPin<'_>>, Violation>,
        arguments: &mut Arguments,
    ) -> ChosenEdition {
        let by_day = served.for_call(operation, arguments);
        let SnapshotPin(id) = match pin {
            Ok(Some(pin)) if operation.reads_law() => pin,
            Err(fault) if operation.reads_law() => {
                arguments.faults.push(fault.clone());
                return by_day.into();
            }
            _ => return by_day.into(),
        };
        let swapped = self.swapped(served);
        let Some(pinned) = with_id(&swapped, id) else {
            return ChosenEdition { refusal: Some(not_served(id, served)), ..Arc::clone(served).into() };
        };
        if named_day(operation, arguments).is_none() {
            return ChosenEdition { is_pinned: true, ..pinned.into() };
        }
        // The snapshot that was served before chooses for the day as it did for the answer that named the pin.
        let mut of_day = swapped.iter().map(|corpus| corpus.for_call(operation, arguments));
        match of_day.find(|corpus| corpus.id() == *id) {
            Some(corpus) => ChosenEdition { is_pinned: true, ..corpus.into() },
            None => {
                arguments.faults.push(other_day(id, &by_day));
                by_day.into()
            }
        }
    }

    /// The snapshot in which names are looked up for a call: the pinned one, if this server has it.
    pub fn pinned_or_served(&self, pin: &Result<Option<SnapshotPin<'_>>, Violation>) -> Arc<Corpus> {
        let served = self.corpus();
        let pinned = match pin {
            Ok(Some(SnapshotPin(id))) => with_id(&self.swapped(&served), id),
            Ok(None) | Err(_) => None,
        };
        pinned.unwrap_or(served)
    }

    /// The snapshot that was served when the call arrived, the one that is served now, and the one before that.
    fn swapped(&self, at_arrival: &Arc<Corpus>) -> Vec<Arc<Corpus>> {
        let (current, previous) = self.current_and_previous();
        [Some(Arc::clone(at_arrival)), Some(current), previous].into_iter().flatten().collect()
    }
}

/// The snapshot with this id, among these and those on their shelves.
fn with_id(corpora: &[Arc<Corpus>], id: &str) -> Option<Arc<Corpus>> {
    corpora.iter().flat_map(|corpus| corpus.with_shelved()).find(|corpus| corpus.id() == id).cloned()
}

fn not_served(id: &str, served: &Corpus) -> ApiError {
    let name = CORPUS_SNAPSHOT.name;
    let message = format!(
        "this server does not have the snapshot {id}; it serves {}. Nothing was charged. Leave {name} and {SNAPSHOT_NAME} out \
         to be answered from that one. While servers switch to a newer edition, another one may have yours: then ask again",
        served.id()
    );
    ApiError::new(ErrorCode::SnapshotNotServed, message)
}

fn other_day(id: &str, of_day: &Corpus) -> Violation {
    let name = CORPUS_SNAPSHOT.name;
    let message = format!(
        "{AS_OF_NAME} is answered from the snapshot {}, but {name} is {id}; leave one of them out",
        of_day.id()
    );
    Violation::new(name, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_one_id_of_a_snapshot() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(SnapshotPin::read([].into_iter()), Ok(None));
        assert_eq!(SnapshotPin::read([format!(" {id}\t").as_bytes()].into_iter()), Ok(Some(SnapshotPin(id))));
        let upper = id.to_uppercase();
        for bad in ["", "current", &id[1..], &format!("{id}0"), &upper, "schl\u{fc}ssel"] {
            let fault = SnapshotPin::read([bad.as_bytes()].into_iter()).unwrap_err();
            assert!(fault.message.contains("is not 32 digits"), "{bad}: {fault:?}");
        }
        let same = SnapshotPin::read([id.as_bytes(), id.as_bytes()].into_iter());
        assert_eq!(same, Ok(Some(SnapshotPin(id))), "a link that is followed with the header");
        let twice = SnapshotPin::read([id.as_bytes(), id.replace('0', "1").as_bytes()].into_iter()).unwrap_err();
        assert!(twice.message.contains("more than once"), "{twice:?}");
    }
}
