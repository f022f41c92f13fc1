/** Thrown, and caught, inside the folder: following a rule would take more than linear time. */
export class BudgetSpent extends Error {}

/** Steps that may still be taken. */
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
