export { completeFilter, quoteValue, type Completion, type KnownNames } from './complete.js'
export type { Condition } from './condition.js'
export { describeFilter } from './describe.js'
export type { FilterFault } from './fault.js'
export { compileFindText, type FindText } from './found-text.js'
export { compileGuess } from './guess.js'
export {
  findingTests,
  isEmptyFilter,
  matchFilter,
  needsFindings,
  needsPayload,
  type Filter,
} from './filter.js'
export { filterKeys } from './keys.js'
export { needleOf, type Needle } from './needle.js'
export { nearestTo } from './nearest.js'
export { parseFilter } from './parse.js'
export { ColumnSubject } from './column-subject.js'
export { rowSubject } from './row-subject.js'
export type { FilterSubject, SubjectFinding, SubjectFlag } from './subject.js'
