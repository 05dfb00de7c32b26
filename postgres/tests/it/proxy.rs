//! A proxy in front of the database that cuts connections at random.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hornbook_base::random::SplitMix64;

/// Passes bytes on, and cuts a connection in a share of the cases, before or after what is passed.
pub(crate) struct Proxy {
    address: String,
    faults: Arc<Faults>,
}

struct Faults {
    /// One of so many pieces is cut. 0: none.
    one_in: AtomicU64,
    random: Mutex<SplitMix64>,
    cuts: AtomicU64,
    /// Nothing passes, and nothing is refused: as if the network was gone.
    is_silent: AtomicBool,
}

impl Proxy {
    pub(crate) fn to(server: &str, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (one_in, random, cuts) = (AtomicU64::new(0), Mutex::new(SplitMix64(seed)), AtomicU64::new(0));
        let faults = Arc::new(Faults { one_in, random, cuts, is_silent: AtomicBool::new(false) });
        let (server, shared) = (server.to_owned(), Arc::clone(&faults));
        // Ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(database) = TcpStream::connect(&server) else { continue };
                for (from, to) in [(&client, &database), (&database, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let faults = Arc::clone(&shared);
                    std::thread::spawn(move || pass(&from, &to, &faults));
                }
            }
        });
        Self { address, faults }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn cut_one_in(&self, pieces: u64) {
        self.faults.one_in.store(pieces, Ordering::Relaxed);
    }

    pub(crate) fn silence(&self, is_silent: bool) {
        self.faults.is_silent.store(is_silent, Ordering::Relaxed);
    }

    pub(crate) fn cuts(&self) -> u64 {
        self.faults.cuts.load(Ordering::Relaxed)
    }
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, faults: &Faults) {
    let mut piece = [0; 65536];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        while faults.is_silent.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let one_in = faults.one_in.load(Ordering::Relaxed);
        let (cuts, is_passed_before) = {
            let mut random = faults.random.lock().unwrap();
            (one_in > 0 && random.below(one_in) == 0, random.below(2) == 0)
        };
        if (!cuts || is_passed_before) && to.write_all(&piece[..length]).is_err() {
            break;
        }
        if cuts {
            faults.cuts.fetch_add(1, Ordering::Relaxed);
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
