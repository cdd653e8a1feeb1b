//! What merging relies on: a product has each state of its parts at least once, so that a product
//! which was too large stays so when its parts grow.

use super::explore::Explored;
use super::merge::program;
use super::tests::pattern;
use crate::pattern::{parse, reduce};

fn explored(pattern: &str) -> Option<Explored> {
    Explored::new(&program(&reduce(&parse(pattern)?)?.hir)?, 256, &mut u64::MAX.clone())
}

/// The product of both, with at most so many states; otherwise the number of states that it was found to exceed.
fn product(one: &Explored, other: &Explored, first: u32, most: usize) -> Result<Explored, usize> {
    let mut exceeded = 0;
    one.and(other, first, |_| most, &mut exceeded).ok_or(exceeded)
}

#[test]
fn a_product_that_is_too_large_stays_so_when_its_parts_grow() {
    let mut random = fastrand::Rng::with_seed(53);
    let mut compared = 0;
    while compared < 300 {
        let patterns: Vec<_> = (0..3).filter_map(|_| explored(&pattern(&mut random, 3))).collect();
        let [a, b, c] = patterns.as_slice() else { continue };
        let (Ok(pair), Ok(grown)) = (product(a, c, 1, 2048), product(a, b, 1, 2048)) else { continue };
        let states = pair.states.len();
        let largest = a.states.len().max(c.states.len());
        if states > largest + 1 {
            // Found while it was built, and not by the sizes of its parts.
            assert_eq!(product(a, c, 1, states - 1).err(), Some(states - 1));
        }
        assert!(product(a, c, 1, states).is_ok());
        assert!(product(&grown, c, 2, states - 1).is_err());
        assert!(product(c, &grown, 1, states - 1).is_err());
        if let Ok(all) = product(&grown, c, 2, 2048) {
            assert!(all.states.len() >= states.max(grown.states.len()));
            compared += 1;
        }
    }
}
