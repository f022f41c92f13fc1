export { canonicalJson, type Substitute } from './canonical-json.js'
export { diffJson, type Difference, type DiffOptions, type JsonDiff, type Tolerance } from './json-diff.js'
export { toJsonPath, toPointer, type Place } from './json-place.js'
export { anything, paramsKey, type RequestKeyOptions } from './request-key.js'
