export { loadPolicy, type PolicyFault, type PolicyFiles, type PolicyInForce } from './load-policy.js'
export { parsePolicy } from './parse-policy.js'
export {
  forbids,
  matches,
  type Policy,
  type PolicyPlace,
  type RecordedSubject,
  type RecordRule,
  type Setting,
} from './policy.js'
