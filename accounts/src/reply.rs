//! One reply from the ledger's writer to one caller, which can block for it or await it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

enum AnswerState<T> {
    Awaited(Option<Waiter>),
    Given(Option<T>),
}

enum Waiter {
    /// A thread sleeps. If none sleeps, no notification is sent, because even that costs a system call.
    Blocked,
    Task(Waker),
}

struct ReplySlot<T> {
    answer: Mutex<AnswerState<T>>,
    given: Condvar,
}

impl<T> ReplySlot<T> {
    fn lock(&self) -> MutexGuard<'_, AnswerState<T>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The caller's half. `None` means that the writer ended without a reply.
pub(crate) struct ReplyReceiver<T>(Arc<ReplySlot<T>>);

/// The writer's half. Dropping it without a reply sends `None`, so that no caller waits forever.
pub(crate) struct ReplySender<T>(Arc<ReplySlot<T>>);

pub(crate) fn reply_channel<T>() -> (ReplySender<T>, ReplyReceiver<T>) {
    let slot = Arc::new(ReplySlot { answer: Mutex::new(AnswerState::Awaited(None)), given: Condvar::new() });
    (ReplySender(Arc::clone(&slot)), ReplyReceiver(slot))
}

impl<T> ReplySender<T> {
    pub(crate) fn answer(self, value: T) {
        self.give(Some(value));
    }

    fn give(&self, value: Option<T>) {
        let mut answer = self.0.lock();
        if let AnswerState::Awaited(waiter) = &mut *answer {
            let waiter = waiter.take();
            *answer = AnswerState::Given(value);
            drop(answer);
            match waiter {
                Some(Waiter::Blocked) => self.0.given.notify_one(),
                Some(Waiter::Task(waker)) => waker.wake(),
                None => {}
            }
        }
    }
}

impl<T> Drop for ReplySender<T> {
    fn drop(&mut self) {
        self.give(None);
    }
}

impl<T> ReplyReceiver<T> {
    pub(crate) fn wait(self) -> Option<T> {
        super::blocking::assert_allowed();
        let mut answer = self.0.lock();
        loop {
            match &mut *answer {
                AnswerState::Given(value) => return value.take(),
                AnswerState::Awaited(waiter) => *waiter = Some(Waiter::Blocked),
            }
            answer = self.0.given.wait(answer).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Future for ReplyReceiver<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match &mut *self.0.lock() {
            AnswerState::Given(value) => Poll::Ready(value.take()),
            AnswerState::Awaited(waiter) => {
                *waiter = Some(Waiter::Task(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);
    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_waiting_thread_and_a_polling_task_both_get_the_answer() {
        let (promise, waiting) = reply_channel();
        let thread = std::thread::spawn(move || waiting.wait());
        promise.answer(7);
        assert_eq!(thread.join().unwrap(), Some(7));

        let wakes = Arc::new(Wakes::default());
        let waker = Arc::clone(&wakes).into();
        let mut context = Context::from_waker(&waker);
        let (promise, mut polled) = reply_channel();
        assert_eq!(Pin::new(&mut polled).poll(&mut context), Poll::Pending);
        promise.answer(8);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        assert_eq!(Pin::new(&mut polled).poll(&mut context), Poll::Ready(Some(8)));
    }

    #[test]
    fn a_dropped_promise_answers_nothing() {
        let (promise, waiting) = reply_channel::<u8>();
        drop(promise);
        assert_eq!(waiting.wait(), None);
    }
}
