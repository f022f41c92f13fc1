import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import {
  createCostTable,
  createFindings,
  estimateTokens,
  estimator,
  findingsByRow,
  hashOf,
  rules,
} from '../../src/findings/index.js'

/** The function that the build puts around the script. */
declare const wiretapeScript: () => void

Object.assign(globalThis, {
  wiretapePatterns: {
    RE2JS,
    RE2JSException,
    RE2JSSyntaxException,
    findings: { createCostTable, createFindings, estimateTokens, estimator, findingsByRow, hashOf, rules },
    get text() {
      return `(${wiretapeScript.toString()})();`
    },
  },
})
