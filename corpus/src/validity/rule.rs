//! The rule that the parent module describes, and a simple model of it in the tests.

use std::cmp::Reverse;

use crate::day::Day;
use crate::outline::Status;

/// When one wording is in force, as its source states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Validity {
    /// Its status while it is current: in force, or for example repealed if the wording only states the repeal.
    pub status: Status,
    /// The first day on which it is in force.
    pub from: Option<Day>,
    /// The first day on which it is no longer in force.
    pub to: Option<Day>,
    /// Its status from that day on. If the source does not state it, the status is `expired`.
    pub then: Option<Status>,
    /// Whether the source states the validity in words that the importer cannot interpret.
    pub is_uncertain: bool,
    /// Whether the source names an earlier wording, which was law before `from`. It may not print it.
    pub has_predecessor: bool,
}

impl Validity {
    /// A wording for which the source states no days.
    pub const fn undated(status: Status) -> Self {
        Self { status, from: None, to: None, then: None, is_uncertain: false, has_predecessor: false }
    }

    /// Whether it is the same on every day.
    pub fn is_constant(&self) -> bool {
        *self == Self::undated(self.status)
    }

    fn is_current(&self, day: Day) -> bool {
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day < to)
    }

    /// The status on days before it, if no other wording is known. Law that is amended or repealed from
    /// a day on was in effect before, in words that are unknown.
    fn before_its_beginning(&self) -> Status {
        match self.status {
            Status::InForce if !self.has_predecessor => Status::NotYetEffective,
            _ => Status::Uncertain,
        }
    }

    fn after_its_end(&self) -> Status {
        match self.status {
            Status::InForce => self.then.unwrap_or(Status::Expired),
            gone => gone,
        }
    }
}

/// The state of a provision on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateOnDay {
    /// The index of the wording that is shown.
    pub wording: usize,
    pub status: Status,
}

/// Decides which wording of a provision is shown on a day, and the status of the provision. Without wordings it
/// returns the first one, in force.
pub fn state_on(wordings: &[Validity], day: Day) -> StateOnDay {
    let certain = || wordings.iter().enumerate().filter(|(_, wording)| !wording.is_uncertain);
    let current = || certain().filter(|(_, wording)| wording.is_current(day));
    let days = |wording: &Validity| (wording.from, Reverse(wording.to.unwrap_or(Day::LAST)));
    // Of equal wordings, the first one in the source is taken.
    let law = current().rev().max_by_key(|(_, wording)| days(wording));
    if let Some(uncertain) = wordings.iter().position(|wording| wording.is_uncertain) {
        return StateOnDay { wording: law.map_or(uncertain, |(place, _)| place), status: Status::Uncertain };
    }
    if let Some((place, wording)) = law {
        let is_alone = current().filter(|(_, other)| days(other) == days(wording)).count() == 1;
        return StateOnDay { wording: place, status: if is_alone { wording.status } else { Status::Uncertain } };
    }
    let ended = certain().filter(|(_, wording)| wording.to.is_some_and(|to| to <= day));
    if let Some((place, wording)) = ended.rev().max_by_key(|(_, wording)| (wording.to, wording.from)) {
        return StateOnDay { wording: place, status: wording.after_its_end() };
    }
    match certain().min_by_key(|(_, wording)| wording.from) {
        Some((place, wording)) => StateOnDay { wording: place, status: wording.before_its_beginning() },
        None => StateOnDay { wording: 0, status: Status::InForce },
    }
}

/// The days on which the state of a provision may change.
pub fn change_days(wordings: &[Validity]) -> impl Iterator<Item = Day> + '_ {
    wordings.iter().flat_map(|wording| wording.from.into_iter().chain(wording.to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(number: u32) -> Day {
        Day::from_parts(2000 + number, 7, 1).unwrap()
    }

    fn dated(from: Option<u32>, to: Option<u32>) -> Validity {
        Validity { from: from.map(day), to: to.map(day), ..Validity::undated(Status::InForce) }
    }

    fn standing(wordings: &[Validity], at: u32) -> (usize, Status) {
        let StateOnDay { wording, status } = state_on(wordings, day(at));
        (wording, status)
    }

    #[test]
    fn a_pair_changes_on_its_day() {
        let pair = [dated(None, Some(22)), dated(Some(22), None)];
        assert_eq!(standing(&pair, 21), (0, Status::InForce));
        assert_eq!(standing(&pair, 22), (1, Status::InForce));
        let eve = Day::from_parts(2022, 6, 30).unwrap();
        assert_eq!(state_on(&pair, eve).wording, 0);
    }

    #[test]
    fn undated_wordings_yield_to_dated_ones() {
        // The other wording is printed without a date.
        let until = [dated(None, None), dated(None, Some(22))];
        assert_eq!((standing(&until, 21), standing(&until, 22)), ((1, Status::InForce), (0, Status::InForce)));
        let since = [dated(None, None), dated(Some(22), None)];
        assert_eq!((standing(&since, 21), standing(&since, 22)), ((0, Status::InForce), (1, Status::InForce)));
    }

    #[test]
    fn ended_and_future_wordings_have_the_right_status() {
        let repealed = [Validity { then: Some(Status::Repealed), ..dated(Some(10), Some(20)) }];
        assert_eq!(standing(&repealed, 9), (0, Status::NotYetEffective));
        assert_eq!(standing(&repealed, 10), (0, Status::InForce));
        assert_eq!(standing(&repealed, 20), (0, Status::Repealed));
        // In the gap between the two, the second wording has not begun.
        let gap = [dated(None, Some(10)), dated(Some(12), None)];
        assert_eq!(standing(&gap, 11), (0, Status::Expired));
        // A later wording states the repeal.
        let gone = [dated(None, None), Validity { status: Status::Repealed, ..dated(Some(26), None) }];
        assert_eq!((standing(&gone, 25), standing(&gone, 26)), ((0, Status::InForce), (1, Status::Repealed)));
    }

    #[test]
    fn before_amended_or_repealed_law_there_was_other_law() {
        let amended = Validity { has_predecessor: true, ..dated(Some(10), None) };
        assert_eq!((standing(&[amended], 9), standing(&[amended], 10)), ((0, Status::Uncertain), (0, Status::InForce)));
        let repealed = Validity { status: Status::Repealed, ..dated(Some(10), None) };
        assert_eq!(
            (standing(&[repealed], 9), standing(&[repealed], 10)),
            ((0, Status::Uncertain), (0, Status::Repealed))
        );
    }

    #[test]
    fn uncertain_wordings_make_the_status_uncertain() {
        let unknown = Validity { is_uncertain: true, ..Validity::undated(Status::InForce) };
        assert_eq!(standing(&[unknown], 20), (0, Status::Uncertain));
        assert_eq!(standing(&[unknown, dated(None, None)], 20), (1, Status::Uncertain));
        assert_eq!(standing(&[dated(None, None), dated(None, None)], 20), (0, Status::Uncertain));
        assert_eq!(standing(&[dated(None, None), dated(None, None), dated(Some(10), None)], 20), (2, Status::InForce));
    }

    /// Applies the rules literally, and compares the current wordings in pairs.
    fn model(wordings: &[Validity], day: Day) -> StateOnDay {
        let has_unknown = wordings.iter().any(|wording| wording.is_uncertain);
        let mut known: Vec<usize> = Vec::new();
        for (place, wording) in wordings.iter().enumerate() {
            if !wording.is_uncertain {
                known.push(place);
            }
        }
        let mut current = known.clone();
        current.retain(|&place| {
            let (from, to) = (wordings[place].from, wordings[place].to);
            !matches!(from, Some(from) if from > day) && !matches!(to, Some(to) if to <= day)
        });
        // Whether the other wording has priority over this one.
        let gives_way = |one: usize, other: usize| {
            let (one, other) = (&wordings[one], &wordings[other]);
            match (one.from, other.from) {
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (Some(a), Some(b)) if a != b => a < b,
                _ => match (one.to, other.to) {
                    (None, Some(_)) => true,
                    (Some(a), Some(b)) => b < a,
                    _ => false,
                },
            }
        };
        let best: Vec<usize> =
            current.iter().copied().filter(|&one| !current.iter().any(|&other| gives_way(one, other))).collect();
        if has_unknown {
            let first_unknown = (0..wordings.len()).find(|&place| wordings[place].is_uncertain).unwrap();
            return StateOnDay { wording: best.first().copied().unwrap_or(first_unknown), status: Status::Uncertain };
        }
        match best.as_slice() {
            [] => {}
            [one] => return StateOnDay { wording: *one, status: wordings[*one].status },
            [first, ..] => return StateOnDay { wording: *first, status: Status::Uncertain },
        }
        let mut shown: Option<usize> = None;
        for &place in &known {
            let ends = wordings[place].to.filter(|to| *to <= day);
            let is_later =
                |other: usize| (wordings[place].to, wordings[place].from) > (wordings[other].to, wordings[other].from);
            if ends.is_some() && shown.is_none_or(is_later) {
                shown = Some(place);
            }
        }
        if let Some(place) = shown {
            let Validity { status, then, .. } = wordings[place];
            let status = if status == Status::InForce { then.unwrap_or(Status::Expired) } else { status };
            return StateOnDay { wording: place, status };
        }
        let mut next = 0;
        for &place in &known {
            if wordings[place].from < wordings[next].from {
                next = place;
            }
        }
        let Validity { status, has_predecessor, .. } = wordings[next];
        let was_law = status != Status::InForce || has_predecessor;
        StateOnDay { wording: next, status: if was_law { Status::Uncertain } else { Status::NotYetEffective } }
    }

    fn any_validity() -> impl Strategy<Value = Validity> {
        let days = || proptest::option::of((0_u32..6).prop_map(day));
        let status = prop_oneof![4 => Just(Status::InForce), 1 => Just(Status::Repealed)];
        let then = proptest::option::of(Just(Status::Repealed));
        let flags = (proptest::bool::weighted(0.15), proptest::bool::ANY);
        (status, days(), days(), then, flags).prop_map(|(status, from, to, then, (is_uncertain, has_predecessor))| {
            Validity { status, from, to, then, is_uncertain, has_predecessor }
        })
    }

    proptest! {
        #[test]
        fn the_rule_equals_its_plain_model(wordings in proptest::collection::vec(any_validity(), 1..5), at in 0_u32..7) {
            prop_assert_eq!(state_on(&wordings, day(at)), model(&wordings, day(at)));
        }

        #[test]
        fn nothing_changes_between_turning_days(wordings in proptest::collection::vec(any_validity(), 1..5), at in 0_u32..6) {
            let next = Day::from_parts(2000 + at, 7, 2).unwrap();
            prop_assert!(!change_days(&wordings).any(|turn| turn == next));
            prop_assert_eq!(state_on(&wordings, day(at)), state_on(&wordings, next));
        }
    }
}
