export { completeFilter, quoteValue, type Completion, type Completions, type KnownNames } from './complete.js'
export type { Condition } from './condition.js'
export { describeFilter } from './describe.js'
export type { FilterFault } from './fault.js'
export { compileFindText, type FindText, type FoundText } from './found-text.js'
export { compileGuess, type Guess } from './guess.js'
export {
  findingTests,
  isEmptyFilter,
  matchFilter,
  needsFindings,
  needsPayload,
  type Filter,
} from './filter.js'
export { filterKeys, flagWords, type FilterKey } from './keys.js'
export { needleOf, type Needle } from './needle.js'
export { nearestTo } from './nearest.js'
export { parseFilter, type ParsedFilter, type ParseFilterOptions } from './parse.js'
export { ColumnSubject } from './column-subject.js'
export { rowSubject, type RecordedRow } from './row-subject.js'
export type { FilterFlag, FilterSubject, SubjectFinding, SubjectFlag, SubjectStatus } from './subject.js'
