//! A server of metered calls without HTTP, for drills: it is killed in the middle of its work and must not have lost a
//! debit. Calls come in as lines `NUMBER KEY COST`, each answered by `NUMBER ok` once it is durable or `NUMBER CODE`.
//! The number doubles as idempotency key, so that a caller can try again after a crash.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use super::AdminError;
use super::cli::Invocation;
use super::socket::AdminSocket;
use crate::accounts::Accounts;
use crate::accounts::admission::Reserved;
use crate::accounts::error::Refusal;
use crate::accounts::idempotency::Idempotency;
use crate::accounts::ids::Credits;
use crate::accounts::scope::ScopeSet;
use crate::clock::Clock;

const CALLERS: usize = 16;

/// Serves until the input ends.
pub fn serve(invocation: &Invocation, calls: impl BufRead, answers: impl Write + Send) -> Result<(), AdminError> {
    let clock = Arc::clone(&invocation.clock);
    let accounts = Arc::new(Accounts::open(&invocation.data, invocation.settings, clock.now())?);
    let socket = AdminSocket::bind(&invocation.data)?;
    let served = Arc::clone(&accounts);
    let admin_clock = Arc::clone(&clock);
    // Ends with the process: the listener has no other way to be told.
    std::thread::spawn(move || socket.serve(&served, &admin_clock, &|| Err("the drill serves no snapshot".to_owned())));
    let answers = Mutex::new(answers);
    let (sender, receiver) = sync_channel::<String>(CALLERS);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| answer_calls(&accounts, &*clock, &receiver, &answers));
        }
        for call in calls.lines().map_while(Result::ok) {
            if sender.send(call).is_err() {
                break;
            }
        }
        drop(sender);
    });
    accounts.close();
    Ok(())
}

fn answer_calls(
    accounts: &Accounts,
    clock: &dyn Clock,
    calls: &Mutex<Receiver<String>>,
    answers: &Mutex<impl Write + Send>,
) {
    loop {
        let received = calls.lock().ok().and_then(|calls| calls.recv().ok());
        let Some(line) = received else { return };
        let mut words = line.split_whitespace();
        let (Some(number), Some(key), Some(cost)) = (words.next(), words.next(), words.next()) else { continue };
        let result = call(accounts, clock, number, key, Credits(cost.parse().unwrap_or(1)));
        let code = result.as_ref().map_or_else(refused, |()| "ok");
        let Ok(mut answers) = answers.lock() else { return };
        if writeln!(answers, "{number} {code}").and_then(|()| answers.flush()).is_err() {
            return;
        }
    }
}

fn call(accounts: &Accounts, clock: &dyn Clock, number: &str, key: &str, cost: Credits) -> Result<(), Refusal> {
    let now = clock.now();
    let paced = accounts.authenticate(Some(key), now)?.require(ScopeSet::ALL)?.pace(now)?;
    let retry = Some(Idempotency::new(number, "drill"));
    if let Reserved::Fresh(reservation) = paced.reserve("drill", cost, retry, now)? {
        reservation.begin()?.settle_blocking()?;
    }
    Ok(())
}

fn refused(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Key(_) => "invalid_api_key",
        Refusal::SameRequestUnderWay => "overloaded",
        _ => "refused",
    }
}
