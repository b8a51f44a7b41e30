//! Step numbers that run on over all runs of a job, and the tokens used up to each.
//!
//! Our steps count from 1 in each run. Perstack's run on: a child's steps follow the step that
//! called it, and the parent goes on after them. `--continue` takes the checkpoint with the
//! highest number of the job, which must be the last one of the last root run; so what was called
//! in that run's last step comes before it.

use std::collections::BTreeMap;

use runtape_core::TokenCounts;

/// What numbering needs to know of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct RunShape {
    /// How many steps the run has.
    pub(super) steps: u64,
    /// The position of the run that called this one, and the step in which it did.
    pub(super) called_by: Option<(usize, u64)>,
}

/// What is still to be numbered.
enum Task {
    Run(usize),
    Step(usize),
}

/// The numbers of a job's steps.
#[derive(Clone, Debug, Default)]
pub(super) struct StepNumbers {
    /// The numbers of each run's steps.
    runs: Vec<Vec<u64>>,
    last: u64,
}

impl StepNumbers {
    /// Numbers the steps of a job: the root runs in their order, parents before their children.
    pub(super) fn of(runs: &[RunShape]) -> Self {
        let mut children: Vec<BTreeMap<u64, Vec<usize>>> = vec![BTreeMap::new(); runs.len()];
        let mut tasks = Vec::new();
        for (run, shape) in runs.iter().enumerate() {
            // A parent stands before its child, so that this ends.
            let parent = shape.called_by.filter(|(parent, _)| *parent < run);
            match parent.and_then(|(parent, step)| Some((children.get_mut(parent)?, step))) {
                Some((by_step, step)) => by_step.entry(step).or_default().push(run),
                None => tasks.push(Task::Run(run)),
            }
        }
        tasks.reverse();
        let mut numbers = Self {
            runs: vec![Vec::new(); runs.len()],
            last: 0,
        };
        // A stack of its own: how deep sub-agents call one another is not ours to decide.
        while let Some(task) = tasks.pop() {
            match task {
                Task::Step(run) => numbers.give(run),
                Task::Run(run) => {
                    let shape = runs.get(run).cloned().unwrap_or_default();
                    let by_step = children.get_mut(run).map(std::mem::take);
                    let mut by_step = by_step.unwrap_or_default();
                    // What names a step that is none was called in the last one.
                    let strays = by_step.split_off(&shape.steps);
                    let mut last = strays.into_values().flatten().collect::<Vec<_>>();
                    let mut order: Vec<Task> = Vec::new();
                    order.extend(by_step.remove(&0).into_iter().flatten().map(Task::Run));
                    for step in 1..shape.steps {
                        order.push(Task::Step(run));
                        let called = by_step.remove(&step).unwrap_or_default();
                        order.extend(called.into_iter().map(Task::Run));
                    }
                    let end = (shape.steps > 0).then_some(Task::Step(run));
                    let last = last.drain(..).map(Task::Run);
                    if shape.called_by.is_none() {
                        order.extend(last);
                        order.extend(end);
                    } else {
                        order.extend(end);
                        order.extend(last);
                    }
                    tasks.extend(order.into_iter().rev());
                }
            }
        }
        numbers
    }

    fn give(&mut self, run: usize) {
        self.last += 1;
        if let Some(numbers) = self.runs.get_mut(run) {
            numbers.push(self.last);
        }
    }

    /// Returns the number of a run's step.
    pub(super) fn number(&self, run: usize, step: u64) -> u64 {
        let steps = self.runs.get(run).map_or(&[][..], Vec::as_slice);
        let index = usize::try_from(step.saturating_sub(1)).unwrap_or(usize::MAX);
        let number = steps.get(index).or_else(|| steps.last());
        number.copied().unwrap_or(step)
    }

    /// Returns the highest number.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Adds up what a job used to the end of each of its steps, by number.
    ///
    /// `used` tells what a run had used at the end of each of its steps.
    pub(super) fn cumulate(&self, used: &[Vec<TokenCounts>]) -> Vec<TokenCounts> {
        let mut added = BTreeMap::new();
        for (numbers, used) in self.runs.iter().zip(used) {
            let mut before = TokenCounts::default();
            for (number, used) in numbers.iter().zip(used) {
                added.insert(*number, used.beyond(before));
                before = used.or(before);
            }
        }
        let mut total = TokenCounts::default();
        let sums = (1..=self.last).map(|number| {
            total = total.plus(added.remove(&number).unwrap_or_default());
            total
        });
        sums.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(steps: u64, called_by: Option<(usize, u64)>) -> RunShape {
        RunShape { steps, called_by }
    }

    #[test]
    fn children_follow_the_step_that_called_them_and_the_root_ends_last() {
        let runs = [
            shape(3, None),
            shape(2, Some((0, 1))),
            shape(1, Some((1, 2))),
            shape(1, Some((0, 3))),
            shape(2, None),
            shape(1, Some((4, 99))),
        ];
        let numbers = StepNumbers::of(&runs);
        assert_eq!(
            numbers.runs,
            [
                vec![1, 5, 7],
                vec![2, 3],
                vec![4],
                vec![6],
                vec![8, 10],
                vec![9]
            ]
        );
        assert_eq!((numbers.last(), numbers.number(4, 2)), (10, 10));
    }

    #[test]
    fn a_root_without_steps_and_a_child_that_names_a_later_parent_are_no_trouble() {
        let runs = [
            shape(0, None),
            shape(2, Some((0, 1))),
            shape(1, Some((2, 1))),
        ];
        assert_eq!(StepNumbers::of(&runs).runs, [vec![], vec![1, 2], vec![3]]);
    }

    #[test]
    fn sub_agents_of_sub_agents_are_numbered_however_deep() {
        let chain = (0..100_000_usize).map(|run| shape(1, run.checked_sub(1).map(|up| (up, 1))));
        assert_eq!(StepNumbers::of(&chain.collect::<Vec<_>>()).last(), 100_000);
    }

    #[test]
    fn usage_adds_up_over_the_runs_of_a_job() {
        let used = |input, output| TokenCounts {
            input_tokens: Some(input),
            output_tokens: output,
            ..TokenCounts::default()
        };
        let numbers = StepNumbers::of(&[shape(2, None), shape(1, Some((0, 1)))]);
        let sums = numbers.cumulate(&[
            vec![used(10, None), used(25, Some(3))],
            vec![used(100, Some(1))],
        ]);
        assert_eq!(
            sums,
            [used(10, None), used(110, Some(1)), used(125, Some(4))]
        );
    }
}
