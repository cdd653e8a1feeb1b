//! Panics of callbacks and of dropped actions are contained, and readers drop nothing.

use super::*;
use crate::support::quietly;

#[test]
fn a_panic_of_the_callback_is_contained() {
    quietly(|| {
        let live = live(Tier::Auto);
        live.replace(|set| set.rule("a", "true", 1)).unwrap();
        live.shadow(1.0, |set| set.rule("b", "true", 1), |_| std::panic::panic_any("callback")).unwrap();
        for _ in 0..3 {
            assert_eq!(matched(&live, &call("/", 1)), ["a"]);
        }
        assert_eq!(live.status().shadow.unwrap().different, 3);
    });
}

#[test]
fn a_panic_of_an_action_that_is_dropped_is_contained() {
    struct Bomb(Arc<AtomicUsize>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            std::panic::panic_any("dropped");
        }
    }
    quietly(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let live = Live::new(engine(Tier::Auto), Env::<Call<'_>>::new());
        for round in 0..5 {
            live.replace(|set| set.rule("a", "size == 1", Bomb(Arc::clone(&dropped)))).unwrap();
            live.insert(Rule::new("b", "size == 1", Bomb(Arc::clone(&dropped)))).unwrap();
            assert_eq!(live.remove("b"), 1);
            assert!(live.wait_idle(LONG), "round {round}");
            assert_eq!(live.load().count(&call("/", 1), &mut Scratch::new()), Ok(1));
        }
        while dropped.load(Ordering::SeqCst) < 9 {
            std::thread::yield_now();
        }
        let reader = live.reader();
        drop(live);
        assert_eq!(reader.load().count(&call("/", 1), &mut Scratch::new()), Ok(1));
        // The last action goes with the reader, in this thread.
        std::mem::forget(reader);
    });
}

#[test]
fn a_reader_does_not_drop_what_it_was_the_last_to_hold() {
    struct Traced(Arc<Mutex<Vec<ThreadId>>>);
    impl Drop for Traced {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(std::thread::current().id());
        }
    }
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let live = Live::new(engine(Tier::Interpret), Env::<Call<'_>>::new());
    for _ in 0..20 {
        live.replace(|set| set.rule("a", "true", Traced(Arc::clone(&dropped)))).unwrap();
        let (reader, (loaded, wait)) = (live.reader(), (Barrier::new(2), Barrier::new(2)));
        let id = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let rules = reader.load();
                loaded.wait();
                wait.wait();
                drop(rules);
                std::thread::current().id()
            });
            loaded.wait();
            live.remove("a");
            assert!(dropped.lock().unwrap().is_empty(), "it is held");
            wait.wait();
            thread.join().unwrap()
        });
        while dropped.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_ne!(std::mem::take(&mut *dropped.lock().unwrap()), [id]);
    }
}
