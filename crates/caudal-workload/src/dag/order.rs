//! The order in which the tasks of a graph can be done, each after the tasks that it waits for. The reader of recorded graphs calls [`in_order`]
//! once for each request, and refuses a circle. Pure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Task;

/// `tasks` in an order in which each comes after the tasks that it waits for, and otherwise in their own order. The error has the indices of
/// tasks that wait for each other in a circle, beginning with the first of them.
pub(crate) fn in_order(tasks: &[Task]) -> Result<Vec<Task>, Vec<usize>> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); tasks.len()];
    let mut waits: Vec<usize> = tasks.iter().map(|task| task.before.len()).collect();
    for (at, task) in tasks.iter().enumerate() {
        task.before.iter().for_each(|&before| after[before as usize].push(at as u32));
    }
    let ready = waits.iter().enumerate().filter(|(_, waits)| **waits == 0);
    let mut ready: BinaryHeap<Reverse<u32>> = ready.map(|(at, _)| Reverse(at as u32)).collect();
    let mut order = Vec::with_capacity(tasks.len());
    while let Some(Reverse(task)) = ready.pop() {
        order.push(task);
        for &next in &after[task as usize] {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    match waits.iter().position(|&waits| waits > 0) {
        None => Ok(moved(tasks, &order)),
        Some(stuck) => Err(circle(tasks, stuck, &waits)),
    }
}

/// `tasks` in their new order, with the indices in them changed accordingly.
fn moved(tasks: &[Task], order: &[u32]) -> Vec<Task> {
    let mut places = vec![0; tasks.len()];
    order.iter().enumerate().for_each(|(place, &task)| places[task as usize] = place as u32);
    let moved = |&task: &u32| {
        let mut task = tasks[task as usize].clone();
        task.before.iter_mut().for_each(|before| *before = places[*before as usize]);
        task
    };
    order.iter().map(moved).collect()
}

/// The circle of tasks that wait for each other. It is found by going from each task to one that it waits for, until a task comes twice.
fn circle(tasks: &[Task], stuck: usize, waits: &[usize]) -> Vec<usize> {
    let mut path = vec![stuck];
    let mut seen = vec![None; tasks.len()];
    seen[stuck] = Some(0);
    loop {
        let in_vain =
            tasks[path[path.len() - 1]].before.iter().map(|&at| at as usize).find(|&at| waits[at] > 0);
        let next = in_vain.expect("who never begins waits for one that does not either");
        if let Some(begin) = seen[next] {
            let mut circle = path.split_off(begin);
            let first = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
            circle.rotate_left(first);
            return circle;
        }
        seen[next] = Some(path.len());
        path.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(before: &[&[u32]]) -> Vec<Task> {
        let task = |(at, before): (usize, &&[u32])| Task {
            work_ps: at as u64,
            leaves: None,
            before: before.to_vec(),
        };
        before.iter().enumerate().map(task).collect()
    }

    #[test]
    fn each_comes_after_those_that_it_waits_for() {
        let found = in_order(&tasks(&[&[3], &[], &[0, 1], &[1]])).expect("no circle");
        let works: Vec<u64> = found.iter().map(|task| task.work_ps).collect();
        assert_eq!(works, [1, 3, 0, 2]);
        let before: Vec<&[u32]> = found.iter().map(|task| task.before.as_slice()).collect();
        assert_eq!(before, [&[][..], &[0], &[1], &[2, 0]]);
    }

    #[test]
    fn circles_are_found_without_those_that_wait_for_them() {
        assert_eq!(in_order(&tasks(&[&[2], &[], &[3, 1], &[4], &[2]])), Err(vec![2, 3, 4]));
        assert_eq!(in_order(&tasks(&[&[], &[1]])), Err(vec![1]));
    }
}
