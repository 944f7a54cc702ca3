//! How long requests wait behind long ones, as a time integral over a pool.

/// Waiting tasks of a class, times the share of the pool's workers that run long tasks, integrated.
pub(super) struct Behind {
    waiting: Box<[u32]>,
    waiting_all: u32,
    long_running: u32,
    changed_ps: u64,
    workers: u32,
    /// By class, times the pool's workers. Whole numbers: the order in which spans are added does not matter.
    sum_ps: Box<[u128]>,
}

impl Behind {
    pub(super) fn new(classes: usize, workers: u32) -> Behind {
        Behind {
            waiting: vec![0; classes].into_boxed_slice(),
            waiting_all: 0,
            long_running: 0,
            changed_ps: 0,
            workers,
            sum_ps: vec![0; classes].into_boxed_slice(),
        }
    }

    #[inline(always)]
    fn settle(&mut self, now_ps: u64) {
        if self.waiting_all > 0 && self.long_running > 0 {
            let share_ps = u128::from(self.long_running) * u128::from(now_ps - self.changed_ps);
            for (sum_ps, &waiting) in self.sum_ps.iter_mut().zip(&self.waiting) {
                *sum_ps += share_ps * u128::from(waiting);
            }
        }
        self.changed_ps = now_ps;
    }

    #[inline(always)]
    pub(super) fn joined(&mut self, now_ps: u64, class: u8) {
        self.settle(now_ps);
        self.waiting[class as usize] += 1;
        self.waiting_all += 1;
    }

    #[inline(always)]
    pub(super) fn left(&mut self, now_ps: u64, class: u8) {
        self.settle(now_ps);
        self.waiting[class as usize] -= 1;
        self.waiting_all -= 1;
    }

    #[inline(always)]
    pub(super) fn began(&mut self, now_ps: u64, long: bool) {
        if long {
            self.settle(now_ps);
            self.long_running += 1;
        }
    }

    #[inline(always)]
    pub(super) fn ended(&mut self, now_ps: u64, long: bool) {
        if long {
            self.settle(now_ps);
            self.long_running -= 1;
        }
    }

    /// The sums so far, by class.
    pub(super) fn sums_ps(&mut self, now_ps: u64) -> impl Iterator<Item = f64> + '_ {
        self.settle(now_ps);
        let workers = f64::from(self.workers);
        self.sum_ps.iter().map(move |&sum_ps| sum_ps as f64 / workers)
    }
}
