export type { RuleDecision, RuleFrame, RulePart, Rules, RuleVerdict } from './rules/index.js'
