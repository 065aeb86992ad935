//! Which tickets there are, what each waits for, and how each must end. Pure: a seed gives the same
//! tickets for ever.

/// Tickets with a fate of their own are so many of a hundred.
const FAILS: usize = 10;
const HANGS: usize = 5;
const CLASHES: usize = 5;

/// A ticket waits for one of so many before it at most.
const REACH: usize = 40;

/// What a ticket's agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It adds a file.
    Lands,
    /// It ends badly.
    Fails,
    /// It never ends.
    Hangs,
    /// It changes a line that the ticket of this number changes at the same time.
    Clashes(usize),
}

/// A ticket to file.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) fate: Fate,
    /// The places of those that it waits for.
    pub(crate) parents: Vec<usize>,
}

impl Planned {
    /// The title, by which the agent knows what it is to do.
    pub(crate) fn title(&self, place: usize) -> String {
        match self.fate {
            Fate::Lands => format!("No {place} lands"),
            Fate::Fails => format!("No {place} fails"),
            Fate::Hangs => format!("No {place} hangs"),
            Fate::Clashes(other) => format!("No {place} clashes with {other}"),
        }
    }
}

/// Numbers from a seed (xorshift).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number below `below`.
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).expect("it is smaller than a usize")
    }
}

/// So many tickets. Those that clash come in pairs, side by side and free to start at once.
pub(crate) fn plan(tickets: usize, seed: u64) -> Vec<Planned> {
    let mut chance = Chance::new(seed);
    let mut fates = vec![Fate::Lands; tickets];
    let share = |of: usize| (tickets * of).div_ceil(100);
    for _ in 0..share(CLASHES).div_ceil(2) {
        let free = |at: &usize| fates[*at] == Fate::Lands && fates[at + 1] == Fate::Lands;
        let at = pick(&mut chance, &(0..tickets - 1).filter(free).collect::<Vec<_>>());
        (fates[at], fates[at + 1]) = (Fate::Clashes(at + 1), Fate::Clashes(at));
    }
    for (fate, of) in [(Fate::Fails, FAILS), (Fate::Hangs, HANGS)] {
        for _ in 0..share(of) {
            let free = |at: &usize| fates[*at] == Fate::Lands;
            let at = pick(&mut chance, &(0..tickets).filter(free).collect::<Vec<_>>());
            fates[at] = fate;
        }
    }
    let mut planned = Vec::with_capacity(tickets);
    for (at, fate) in fates.into_iter().enumerate() {
        let parents = parents(&mut chance, at, fate);
        planned.push(Planned { fate, parents });
    }
    planned
}

fn pick(chance: &mut Chance, places: &[usize]) -> usize {
    places[chance.roll(places.len())]
}

/// Half of the tickets wait for nobody, most others for one, some for several.
fn parents(chance: &mut Chance, at: usize, fate: Fate) -> Vec<usize> {
    let count = [0, 0, 0, 0, 0, 1, 1, 1, 2, 3][chance.roll(10)];
    if at == 0 || matches!(fate, Fate::Clashes(_)) {
        return Vec::new();
    }
    let reach = at.min(REACH);
    let mut parents: Vec<usize> = (0..count).map(|_| at - 1 - chance.roll(reach)).collect();
    parents.sort_unstable();
    parents.dedup();
    parents
}

/// How each ticket must end: by its own fate if all that it waits for lands, and cancelled if not.
pub(crate) fn ends(planned: &[Planned]) -> Vec<&'static str> {
    let mut ends: Vec<&str> = Vec::with_capacity(planned.len());
    for ticket in planned {
        let may_start = ticket.parents.iter().all(|parent| ends[*parent] == "succeeded");
        ends.push(match ticket.fate {
            _ if !may_start => "cancelled",
            Fate::Lands | Fate::Clashes(_) => "succeeded",
            Fate::Fails => "failed",
            Fate::Hangs => "timeout",
        });
    }
    ends
}
