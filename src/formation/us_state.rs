//! The states and the District of Columbia, under whose law companies are formed.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! states {
    ($($variant:ident, $code:literal, $name:literal;)*) => {
        /// A state or the District of Columbia, by its postal code.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "UPPERCASE")]
        pub enum UsState {
            $($variant,)*
        }

        impl UsState {
            pub const ALL: [Self; 51] = [$(Self::$variant),*];

            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

states! {
    Al, "AL", "Alabama";
    Ak, "AK", "Alaska";
    Az, "AZ", "Arizona";
    Ar, "AR", "Arkansas";
    Ca, "CA", "California";
    Co, "CO", "Colorado";
    Ct, "CT", "Connecticut";
    De, "DE", "Delaware";
    Dc, "DC", "District of Columbia";
    Fl, "FL", "Florida";
    Ga, "GA", "Georgia";
    Hi, "HI", "Hawaii";
    Id, "ID", "Idaho";
    Il, "IL", "Illinois";
    In, "IN", "Indiana";
    Ia, "IA", "Iowa";
    Ks, "KS", "Kansas";
    Ky, "KY", "Kentucky";
    La, "LA", "Louisiana";
    Me, "ME", "Maine";
    Md, "MD", "Maryland";
    Ma, "MA", "Massachusetts";
    Mi, "MI", "Michigan";
    Mn, "MN", "Minnesota";
    Ms, "MS", "Mississippi";
    Mo, "MO", "Missouri";
    Mt, "MT", "Montana";
    Ne, "NE", "Nebraska";
    Nv, "NV", "Nevada";
    Nh, "NH", "New Hampshire";
    Nj, "NJ", "New Jersey";
    Nm, "NM", "New Mexico";
    Ny, "NY", "New York";
    Nc, "NC", "North Carolina";
    Nd, "ND", "North Dakota";
    Oh, "OH", "Ohio";
    Ok, "OK", "Oklahoma";
    Or, "OR", "Oregon";
    Pa, "PA", "Pennsylvania";
    Ri, "RI", "Rhode Island";
    Sc, "SC", "South Carolina";
    Sd, "SD", "South Dakota";
    Tn, "TN", "Tennessee";
    Tx, "TX", "Texas";
    Ut, "UT", "Utah";
    Vt, "VT", "Vermont";
    Va, "VA", "Virginia";
    Wa, "WA", "Washington";
    Wv, "WV", "West Virginia";
    Wi, "WI", "Wisconsin";
    Wy, "WY", "Wyoming";
}

impl fmt::Display for UsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The text is not the postal code of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseStateError;

impl FromStr for UsState {
    type Err = ParseStateError;

    /// Parses a postal code, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, ParseStateError> {
        Self::ALL.into_iter().find(|state| state.code().eq_ignore_ascii_case(text)).ok_or(ParseStateError)
    }
}
