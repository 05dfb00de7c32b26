//! What a formation order may be for: the entity types, and the states that form them.

/// The entity types, as stored in an order.
pub const ENTITY_TYPES: [&str; 8] = [
    "llc",
    "pllc",
    "corporation",
    "professional_corporation",
    "nonprofit_corporation",
    "benefit_corporation",
    "limited_partnership",
    "limited_liability_partnership",
];

/// Postal codes of the states and the District of Columbia, under whose law companies are formed.
const STATES: [&str; 51] = [
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "DC", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA",
    "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR",
    "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY",
];

/// Parses an entity type and returns its stored spelling.
pub fn entity_type(text: &str) -> Result<String, String> {
    let wanted = text.to_ascii_lowercase().replace([' ', '-'], "_");
    match ENTITY_TYPES.contains(&wanted.as_str()) {
        true => Ok(wanted),
        false => Err(format!("'{text}' is not an entity type; the entity types are {}", ENTITY_TYPES.join(", "))),
    }
}

/// Parses a state, such as `DE`, `de` or `us-de`, and returns its postal code.
pub fn state(text: &str) -> Result<String, String> {
    let upper = text.to_ascii_uppercase();
    let code = upper.strip_prefix("US-").unwrap_or(&upper);
    match STATES.contains(&code) {
        true => Ok(code.to_owned()),
        false => Err(format!(
            "'{text}' is not a state that forms companies; give the postal code of a state or of the District of Columbia, \
             such as DE"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_kinds_are_read_in_any_case() {
        for text in ["DE", "de", "us-de", "US-DE"] {
            assert_eq!(state(text).as_deref(), Ok("DE"));
        }
        for text in ["ZZ", "PR", "", "us-", "Delaware", "us-zz"] {
            assert!(state(text).unwrap_err().contains("such as DE"), "{text}");
        }
        assert_eq!(entity_type("LLC").as_deref(), Ok("llc"));
        assert_eq!(entity_type("limited partnership").as_deref(), Ok("limited_partnership"));
        assert!(entity_type("spaceship").unwrap_err().contains("llc, pllc"));
    }
}
