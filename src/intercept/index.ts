export {
  loadRules,
  watchRules,
  type DescribedRule,
  type LoadedRules,
  type RuleDecision,
  type RuleFrame,
  type RulePart,
  type Rules,
  type RuleVerdict,
  type StartedRules,
  type WatchedRules,
  type WatchRulesOptions,
} from './rules/index.js'
