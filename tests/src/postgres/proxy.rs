//! A way to a server that can be cut, or that stops to pass anything on without a word.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// What the proxy does with what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Passing,
    /// Nothing is passed on; whoever sent it knows nothing of that.
    Hanging,
    /// What servers answer is held back; what they are asked is passed on.
    Deaf,
}

#[derive(Debug)]
struct State {
    mode: Mutex<Mode>,
    changed: Condvar,
    open: Mutex<Vec<TcpStream>>,
    /// It begins to hang before it passes this on, once.
    stop: Mutex<Option<&'static [u8]>>,
}

impl State {
    /// Begins to hang if that was wanted where these words come.
    fn stop_at(&self, asked: &[u8]) {
        let mut stop = self.stop.lock().unwrap();
        let has = |words: &mut &[u8]| asked.windows(words.len()).any(|part| part == *words);
        if stop.take_if(|words| has(words)).is_some() {
            *self.mode.lock().unwrap() = Mode::Hanging;
        }
    }

    /// Waits until something may be passed on.
    fn wait(&self, is_answer: bool) {
        let mut mode = self.mode.lock().unwrap();
        while *mode == Mode::Hanging || (*mode == Mode::Deaf && is_answer) {
            mode = self.changed.wait(mode).unwrap();
        }
    }
}

/// A proxy on the loopback.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, state: &State, is_answer: bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if !is_answer {
            state.stop_at(&buffer[..count]);
        }
        state.wait(is_answer);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    state.wait(is_answer);
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Passes everything on that much later than it came, in both directions: as if there were a way between.
fn pass_on_late(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    let passing = thread::spawn(move || {
        for (due, bytes) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let due = Instant::now() + delay;
        if sender.send((due, buffer[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    let _ = passing.join();
    let _ = from.shutdown(Shutdown::Both);
}

impl Proxy {
    /// Starts to pass on what comes to a port of its own, by a way that takes a time in each direction. It returns its
    /// port, and ends with the program.
    #[must_use]
    pub fn far_from(port: u16, delay: Duration) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let _ = near.set_nodelay(true);
                let _ = far.set_nodelay(true);
                let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
                thread::spawn(move || pass_on_late(near, far, delay));
                thread::spawn(move || pass_on_late(back.0, back.1, delay));
            }
        });
        own
    }

    /// Starts to pass on what comes to a port of its own.
    #[must_use]
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let state = Arc::new(State {
            mode: Mutex::new(Mode::Passing),
            changed: Condvar::new(),
            open: Mutex::default(),
            stop: Mutex::default(),
        });
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            state: Arc::clone(&state),
        };
        // Ends with the program.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let _ = near.set_nodelay(true);
                let _ = far.set_nodelay(true);
                let both = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let mut open = state.open.lock().unwrap();
                open.push(near.try_clone().unwrap());
                open.push(far.try_clone().unwrap());
                drop(open);
                let states = (Arc::clone(&state), Arc::clone(&state));
                thread::spawn(move || pass_on(near, far, &states.0, false));
                thread::spawn(move || pass_on(both.1, both.0, &states.1, true));
            }
        });
        proxy
    }

    /// Returns the port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    fn set(&self, mode: Mode) {
        *self.state.mode.lock().unwrap() = mode;
        self.state.changed.notify_all();
    }

    /// Passes nothing on any more, and says nothing.
    pub fn hang(&self) {
        self.set(Mode::Hanging);
    }

    /// Hangs as soon as somebody sends these words to the server, which does not get them.
    pub fn hang_before(&self, words: &'static [u8]) {
        *self.state.stop.lock().unwrap() = Some(words);
    }

    /// Tells whether nothing is passed on.
    #[must_use]
    pub fn is_hanging(&self) -> bool {
        *self.state.mode.lock().unwrap() == Mode::Hanging
    }

    /// Passes on what is asked, and none of the answers.
    pub fn hold_answers(&self) {
        self.set(Mode::Deaf);
    }

    /// Passes all on again, also what was held.
    pub fn go_on(&self) {
        self.set(Mode::Passing);
    }

    /// Cuts every connection there is, and passes new ones on.
    pub fn cut(&self) {
        for stream in self.state.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.set(Mode::Passing);
    }
}
