export { compilePath, type CompiledPath, type PathStep } from './compile-path.js'
export { compilePattern } from './compile-pattern.js'
export { QueryFault } from './query-fault.js'
export { BudgetSpent } from './work-budget.js'
