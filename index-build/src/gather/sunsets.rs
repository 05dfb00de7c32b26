//! Ends of containers that provisions in them state.

use std::collections::BTreeMap;

use hornbook_corpus::outline::{DEPTH_MAX, Status};

use super::Gatherer;
use crate::effect::Effect;
use crate::report::{WarningKind, Warnings};
use crate::spool::SpoolError;
use crate::sunset::ContainerSunset;

impl Gatherer {
    /// Ends the containers that provisions in them end: `This chapter shall expire on July 1, 2024.` A code may number an
    /// act's chapter as a subchapter. So unless the provision is directly in the container that it names, the law is
    /// uncertain from that day on; and if provisions end one container on several days, each means only the container that
    /// it is directly in.
    pub(super) fn end_containers(&mut self, warnings: &mut Warnings) -> Result<(), SpoolError> {
        let mut by_container: BTreeMap<u32, Vec<(u32, ContainerSunset)>> = BTreeMap::new();
        for (node, sunset) in std::mem::take(&mut self.sunsets) {
            match self.container_around(node, &sunset.level)? {
                Some(container) => by_container.entry(container).or_default().push((node, sunset)),
                None => {
                    let what = "no such container is around it, so nothing ends";
                    self.warn_of_sunset(node, &sunset.effect, what, warnings);
                }
            }
        }
        for (container, sunsets) in by_container {
            let is_one_day = sunsets.windows(2).all(|pair| pair[0].1.effect.to == pair[1].1.effect.to);
            for (node, sunset) in sunsets {
                let direct = self.parent_of(node).ok().flatten();
                let (ended, is_plain) = match direct {
                    Some(direct) if !is_one_day => (direct, direct == container),
                    direct => (container, direct == Some(container)),
                };
                let mut effect = sunset.effect.clone();
                if !is_plain {
                    effect.then = Some(Status::Uncertain);
                    let what = "how much of the law around it ends is not certain; it is uncertain from that day on";
                    self.warn_of_sunset(node, &sunset.effect, what, warnings);
                }
                self.end_node(ended, effect);
            }
        }
        Ok(())
    }

    /// Adds an end to what is stated for a node. A heading that gives the same day, or that is uncertain, stays.
    pub(super) fn end_node(&mut self, node: u32, effect: Effect) {
        let stated = &mut self.nodes[node as usize].effect;
        if stated.as_ref().is_none_or(|stated| !stated.uncertain && (effect.uncertain || stated.to != effect.to)) {
            let earlier = stated.take().map(|stated| *stated).unwrap_or_default();
            *stated = Some(Box::new(earlier.and(effect)));
            self.has_effects = true;
        }
    }

    pub(super) fn warn_of_sunset(&self, node: u32, effect: &Effect, what: &str, warnings: &mut Warnings) {
        let sentence = effect.remark.as_deref().unwrap_or_default();
        warnings.add(WarningKind::UncertainValidity, self.position(node), format!("'{sentence}': {what}"));
    }

    /// The nearest container of a level around a node. The number of steps is limited, so a cycle ends.
    fn container_around(&self, node: u32, level: &str) -> Result<Option<u32>, SpoolError> {
        let above = std::iter::successors(Some(node), |&node| self.parent_of(node).ok().flatten());
        for node in above.skip(1).take(usize::from(DEPTH_MAX)) {
            if self.spool.read(self.nodes[node as usize].content)?.level == level {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }
}
