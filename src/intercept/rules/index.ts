export type { RuleDecision, RuleFrame, RulePart, Rules, RuleVerdict } from './decision.js'
