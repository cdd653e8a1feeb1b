//! A candidate set that is evaluated beside the rules on a share of the requests.

use super::*;

#[test]
fn a_candidate_is_asked_on_its_share() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| set.rule("a", "true", 1)).unwrap();
        for share in [0.0, 0.25, 0.001, 1.0, 7.0, f64::NAN] {
            live.shadow(share, |set| set.rule("a", "false", 1), |_| ()).unwrap();
            let scratch = &mut Scratch::new();
            for _ in 0..2000 {
                assert_eq!(live.load().any(&call("/", 1), scratch), Ok(true));
            }
            let want = if share.is_nan() { 0 } else { (share.clamp(0.0, 1.0) * 2000.0) as u64 };
            let shadow = live.status().shadow.unwrap();
            assert_eq!((shadow.rules, shadow.compared, shadow.different), (1, want, want), "a share of {share}");
        }
        assert!(live.end_shadow() && !live.end_shadow());
        assert_eq!(live.status().shadow, None);
    }
}

#[test]
fn differences_are_told_by_name() {
    for tier in TIERS {
        let live = live(tier);
        live.replace(|set| {
            let set = set.on_error(ErrorPolicy::NoMatch).rule("same", "size > 0", 1).rule("old", "path == '/'", 2);
            set.rule("fails", "1 / (size - 1) == 1", 3)
        })
        .unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let push = move |difference: &celero::sets::Difference<'_>| log.lock().unwrap().push(difference.to_string());
        live.shadow(
            1.0,
            |set| {
                let set = set.on_error(ErrorPolicy::NoMatch);
                let set = set.rule("new", "path == '/'", 1).rule("fails", "size == 1", 2);
                set.rule("fails too", "1 % (size - 1) == 7", 3).rule("same", "0 < size", 4)
            },
            push,
        )
        .unwrap();
        for settled in [false, true] {
            assert!(!settled || live.wait_idle(LONG));
            let (rules, scratch) = (live.load(), &mut Scratch::new());
            let told = || std::mem::take(&mut *seen.lock().unwrap());
            assert_eq!(rules.count(&call("/", 1), scratch), Ok(2));
            let [difference] = <[String; 1]>::try_from(told()).unwrap();
            let parts: Vec<&str> = difference.split(", ").collect();
            assert_eq!(parts[..3], ["gained `new`", "gained `fails`", "lost `old`"], "{difference}");
            assert!(
                parts[3].starts_with("failed `fails too`: ") && parts[4].starts_with("mended `fails`: "),
                "{difference}"
            );
            assert_eq!(scratch.errors().len(), 1, "the candidate's errors are its own");
            assert_eq!(rules.first(&call("/", 2), scratch).unwrap().map(|rule| rule.name), Some("same"));
            assert_eq!(told(), ["gained `new`, lost `same`"]);
            assert_eq!(rules.first(&call("/a", 2), scratch).unwrap().map(|rule| rule.name), Some("same"));
            assert_eq!(rules.any(&call("/a", 3), scratch), Ok(true));
            assert_eq!(rules.indices(&call("/a", 3), scratch).unwrap(), [0]);
            assert!(told().is_empty());
            live.disable("new");
            live.disable("old");
            let rules = live.load();
            assert_eq!(rules.count(&call("/", 3), scratch), Ok(1));
            assert!(told().is_empty(), "what is disabled is so in both");
            live.enable("new");
            live.enable("old");
        }
        let native = live.status().shadow.unwrap().rules;
        assert!(live.promote() && !live.promote());
        assert_eq!((live.load().len(), native), (4, 4));
        assert_eq!(live.status().native_rules, if tier == Tier::Interpret { 0 } else { 4 }, "it is not compiled again");
        assert_eq!(matched(&live, &call("/", 2)), ["new", "same"]);
    }
}
