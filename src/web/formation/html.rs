//! The HTML of the review pages.

use hornbook_accounts::changes::DraftContent;
use hornbook_accounts::records::{OrderRecord, OrderStage};
use hornbook_base::clock::UnixMillis;
use maud::{Markup, html};

use crate::api::order_payments::NextStep;
use crate::formation::intake::{Address, Intake, Person, ShareClass};
use crate::formation::naics;
use crate::web::formatting::{day_and_time, dollars};
use crate::web::frame::{self, SiteSection};
use crate::web::visitor::Visitor;

/// The page on which the holder of a tracking token sees the progress of an order.
pub(super) const TRACK_PATH: &str = "/formation/track";

/// A whole page.
pub(super) struct ReviewHtmlPage {
    title: &'static str,
    main: Markup,
}

impl ReviewHtmlPage {
    /// The title contains nothing personal, because browsers show it in histories and previews.
    pub(super) fn html(&self) -> String {
        let main = html! { h1 { (self.title) } div.review { (self.main) } };
        let head = html! { meta name="robots" content="noindex, nofollow"; };
        let page =
            frame::Page { head, has_search_box: false, ..frame::Page::new(self.title, SiteSection::Other, main) };
        page.html(&Visitor::Anonymous)
    }

    /// A page with a short message, such as an error.
    pub(super) fn message(title: &'static str, text: &str) -> Self {
        Self { title, main: html! { p { (text) } } }
    }
}

/// The state of the review page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReviewState {
    First,
    /// The form was sent without a tick in its checkbox.
    NotConfirmed,
}

/// An intake with a form to accept it.
pub(super) fn review(
    content: &DraftContent,
    intake: &Intake,
    expires_at: UnixMillis,
    review: ReviewState,
) -> ReviewHtmlPage {
    let main = html! {
        p {
            "This is what was prepared for you. Nothing is ordered yet. Read all of it: what you accept here will be filed "
            "with the state. If something is wrong, ask for a corrected link."
        }
        p { "The link works until " (day_and_time(expires_at)) ". If nobody has accepted by then, everything on this page is deleted." }
        @if review == ReviewState::NotConfirmed {
            p.banner role="alert" { strong { "Not ordered yet." } " Tick the box below to confirm that you have read this page." }
        }
        (company(content, intake))
        (places(intake))
        h2 { "People" }
        @for person in &intake.people { (person_of(person)) }
        h2 { "Contact for this order" }
        dl {
            dt { "Name" } dd { (intake.contact.name) }
            dt { "E-mail" } dd { (intake.contact.email) }
            @if let Some(phone) = &intake.contact.phone { dt { "Telephone" } dd { (phone) } }
        }
        @if let Some(notes) = &intake.notes { h2 { "Notes" } p { (notes) } }
        (price(content))
        form method="post" {
            label.tick {
                input type="checkbox" name="confirmed" value="yes" required;
                " I have read this page, and it is correct."
            }
            button type="submit" { "Accept and order" }
        }
    };
    ReviewHtmlPage { title: "Review your company formation", main }
}

fn company(content: &DraftContent, intake: &Intake) -> Markup {
    html! {
        h2 { "Company" }
        dl {
            dt { "State" } dd { (intake.state.name()) }
            dt { "Company type" } dd { (words(intake.entity_type.name())) }
            dt { @if intake.names.len() > 1 { "Names, in order of preference" } @else { "Name" } }
            @match intake.names.as_slice() {
                [name] => dd { (name) },
                names => dd { ol { @for name in names { li { (name) } } } },
            }
            @for (what, value) in [
                ("Purpose", &intake.purpose),
                ("Industry", &intake.naics.as_deref().map(industry)),
                ("Duration", &intake.duration),
                ("Begins on", &intake.effective_date),
                ("Kind of nonprofit", &intake.nonprofit_kind),
                ("Assets on dissolution", &intake.assets_on_dissolution),
                ("Expedited", &intake.expedite),
            ] {
                @if let Some(value) = value { dt { (what) } dd { (value) } }
            }
            @if let Some(management) = intake.management { dt { "Managed by" } dd { (management.name()) } }
            @if let Some(has_members) = intake.has_members {
                dt { "Has members" } dd { @if has_members { "yes" } @else { "no" } }
            }
            @if !intake.shares.is_empty() {
                dt { "Shares" } dd { ul { @for class in &intake.shares { li { (shares(class)) } } } }
            }
            @if intake.names.first() != Some(&content.entity_name) { dt { "Ordered as" } dd { (content.entity_name) } }
        }
    }
}

fn places(intake: &Intake) -> Markup {
    html! {
        h2 { "Registered agent and addresses" }
        dl {
            dt { "Registered agent" } dd { (intake.registered_agent.name) }
            dt { "Agent’s office" } dd { (address(&intake.registered_agent.address)) }
            @if let Some(consents) = intake.registered_agent.consents {
                dt { "Agent has agreed" } dd { @if consents { "yes" } @else { "no" } }
            }
            @for (what, place) in [
                ("Principal office", &intake.principal_office),
                ("Mailing address", &intake.mailing_address),
                ("For legal papers", &intake.process_address),
            ] {
                @if let Some(place) = place { dt { (what) } dd { (address(place)) } }
            }
            @if let Some(county) = &intake.county { dt { "County" } dd { (county) } }
        }
    }
}

fn person_of(person: &Person) -> Markup {
    let roles: Vec<String> = person.roles.iter().map(|role| words(role.name())).collect();
    html! {
        h3 { (person.name) }
        dl {
            dt { "Role" } dd { (roles.join(", ")) }
            @if let Some(title) = &person.title { dt { "Title" } dd { (title) } }
            dt { "Address" } dd { (address(&person.address)) }
            @if let Some(email) = &person.email { dt { "E-mail" } dd { (email) } }
            @if let Some(percent) = person.ownership_percent { dt { "Owns" } dd { (percent) " %" } }
        }
    }
}

fn shares(class: &ShareClass) -> String {
    let par = class.par_value.as_ref().map_or("without par value".to_owned(), |value| format!("par value ${value}"));
    format!("{} {}, {par}", class.count, class.class)
}

fn address(place: &Address) -> String {
    let Address { street, street2, city, state, zip, country } = place;
    let region = [state.as_ref(), zip.as_ref()].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    let of_city = if region.is_empty() { city.clone() } else { format!("{city}, {region}") };
    let abroad = (country != "US").then_some(country);
    let lines = [Some(street), street2.as_ref(), Some(&of_city), abroad];
    lines.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The code and name of an industry.
fn industry(code: &str) -> String {
    naics::find(code).map_or_else(|| code.to_owned(), |industry| format!("{}, NAICS {code}", industry.title))
}

fn price(content: &DraftContent) -> Markup {
    let parts = content.price_cents.zip(content.service_fee_cents);
    let parts = parts.and_then(|(all, service)| Some((all.checked_sub(service)?, service)));
    html! {
        h2 { "Price" }
        @if let Some((state, service)) = parts {
            dl {
                dt { "Fees of the state" } dd { (dollars(state)) }
                dt { "Fee of this service" } dd { (dollars(service)) }
            }
        }
        @match content.price_cents {
            Some(cents) => p { strong { (dollars(cents)) } " in all, including the filing fee of the state." },
            None => p { "The operator of this service tells you the price before you pay." },
        }
    }
}

/// An order that waits for its payment, either just accepted or opened again.
pub(super) fn accepted(
    order: &OrderRecord,
    tracking_token: Option<&str>,
    next: Option<&NextStep>,
    how_to_pay: &str,
) -> ReviewHtmlPage {
    let main = html! {
        p.banner.mild role="status" {
            strong { "Your order is received." }
            @if order.stage() <= OrderStage::Payment { " Work on it begins once it is paid." }
        }
        dl {
            dt { "Company" } dd { (order.entity_name) }
            dt { "Order number" } dd { code { (order.id) } }
            @if let Some(token) = tracking_token {
                dt { "Tracking token" }
                dd { code { (token) } }
            }
            dt { "Stage" } dd.stage { (words(order.stage().name())) }
        }
        @if tracking_token.is_some() {
            p {
                strong { "Keep the tracking token: it is not shown again later." }
                " With it and the order number, you and the program that prepared this order can "
                a href=(TRACK_PATH) { "follow its progress" } "."
            }
        }
        @if order.stage() <= OrderStage::Payment {
            h2 { "Payment" }
            @if let Some(cents) = order.price_cents { p { "Price: " strong { (dollars(cents)) } } }
            @match next {
                Some(NextStep::PayAt(url)) => p { a.button href=(url) rel="noreferrer" { "Pay now" } },
                Some(NextStep::OperatorConfirms) => p { (how_to_pay) },
                // The payment has not begun, or the payment service is not available.
                None => form method="post" {
                    input type="hidden" name="confirmed" value="yes";
                    button type="submit" { "Go on to the payment" }
                },
            }
        }
    };
    ReviewHtmlPage { title: "Your company formation", main }
}

/// A name such as `limited_partnership`, written for people.
pub(super) fn words(name: &str) -> String {
    match name {
        "llc" => "limited liability company".to_owned(),
        name => name.replace('_', " "),
    }
}
