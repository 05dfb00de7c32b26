//! The terms of a metered call: what it may cost at most, and whether only its price is asked. They are beside the
//! parameters of its operation, and the same for all operations.

use hornbook_accounts::ids::Credits;

use super::error::{ApiError, ErrorCode};
use super::operation::Operation;
use super::parameters::{Arguments, BoundedInteger, Param, Parameter, check};

const MAX_COST: Param<Option<BoundedInteger<0, 1_000_000>>> =
    Param::optional("maxCost", "the credits that the call may cost; if it costs more, it is refused and free");

const DRY_RUN: Param<bool> =
    Param::with_default("dryRun", "false", "true: only the price, in `X-Credits-Cost` of a 204; nothing is charged");

/// The parameters of the terms.
pub const TERMS: &[Parameter] = &[MAX_COST.rule, DRY_RUN.rule];

/// The terms of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallTerms {
    pub max_cost: Option<u32>,
    /// Whether only the price is asked.
    pub is_dry_run: bool,
}

impl CallTerms {
    /// Takes the terms out of the arguments of a call. Faults in them are added to the faults of the arguments. Only
    /// metered operations have terms.
    pub fn take(operation: &Operation, arguments: &mut Arguments) -> Self {
        let is_term = |name: &str| TERMS.iter().any(|term| term.name == name);
        if operation.metering().is_none() || !arguments.query.iter().any(|(name, _)| is_term(name)) {
            return Self::default();
        }
        let (query, rest) = std::mem::take(&mut arguments.query).into_iter().partition(|(name, _)| is_term(name));
        arguments.query = rest;
        let terms = Arguments { query, ..Arguments::default() };
        let read = check(TERMS, &terms)
            .map(|checked| Self { max_cost: checked.get(&MAX_COST), is_dry_run: checked.get(&DRY_RUN) });
        read.unwrap_or_else(|error| {
            arguments.faults.extend(error.details);
            Self::default()
        })
    }

    /// Refuses a call that costs more than it may.
    pub(super) fn check_cost(self, cost: Credits) -> Result<(), ApiError> {
        match self.max_cost {
            Some(most) if cost.0 > most => {
                let message = format!(
                    "the call costs {}, more than its maxCost of {most}; nothing was charged",
                    Credits::in_words(cost.0)
                );
                Err(ApiError::new(ErrorCode::MaxCostExceeded, message))
            }
            _ => Ok(()),
        }
    }
}
