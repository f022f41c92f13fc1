import type { CompareSettings } from '../compare/index.js'
import type { About } from './about.js'
import { javascriptTests } from './javascript.js'
import { pythonTests } from './python.js'
import type { TestPlan } from './plan.js'
import { planTests, type RecordedTalk } from './steps.js'

export type { About } from './about.js'
export type { RecordedTalk } from './steps.js'

/** Kinds of test files, with the end of their file names. */
const testKinds = { vitest: '.test.ts', 'node-test': '.test.mjs', pytest: '.py' } as const
export type TestKind = keyof typeof testKinds

/**
 * Writes a recording as a readable test.
 *
 * @param recorded `left`: parts that cannot be tested, in words
 * @param settings rules of the compare file: values at their places vary
 */
export function generateTests(
  recorded: { readonly talks: readonly RecordedTalk[]; readonly left: readonly string[] },
  about: About,
  kind: TestKind,
  settings: CompareSettings,
  client: 'mcp' | 'plain' = 'mcp',
): { readonly text: string; readonly plan: TestPlan } {
  const plan = planTests(recorded.talks, settings, recorded.left)
  const text = kind === 'pytest' ? pythonTests(plan, about, client) : javascriptTests(plan, about, kind)
  return { text, plan }
}
