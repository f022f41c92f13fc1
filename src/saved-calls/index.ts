export { checkAnswer, type CheckedAnswer } from './check-answer.js'
export { parseSavedCalls, type SavedCallsReading } from './parse-saved-calls.js'
export type { Expectation, ExpectedPlace, SavedCall, SavedServer } from './saved-call.js'
export { isVariableName, type UsedVariables, type VariableSources } from './variables.js'
