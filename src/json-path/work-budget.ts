/** Thrown, and caught, inside the folder: evaluating a rule would take more than linear time. */
export class BudgetSpent extends Error {}

/** Counts the remaining steps. */
export class WorkBudget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new BudgetSpent()
  }
}
