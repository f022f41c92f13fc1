export { loadPolicy, type PolicyFiles, type PolicyInForce } from './load-policy.js'
export { parsePolicy, type ParsedPolicy } from './parse-policy.js'
export {
  forbids,
  matches,
  stricterOf,
  type NatsPaths,
  type Policy,
  type PolicyPlace,
  type RecordedSubject,
  type RecordRule,
  type Setting,
} from './policy.js'
