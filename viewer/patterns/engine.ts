import parsePath from 'jsonpath-rfc9535/parser'
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import {
  compareOfferVersions,
  RecordingComparison,
  createOffers,
  createRecordingIndex,
  plainSettings,
} from '../../src/compare/index.js'
import {
  costKey,
  createCallCollector,
  createCostTable,
  createFindings,
  estimateTokens,
  estimator,
  findingsByRow,
  hashOf,
  rules,
  tellCall,
} from '../../src/findings/index.js'
import { detectFormat, formats, htmlReport } from '../../src/formats/index.js'

/** The function that the build wraps around the script. */
declare const wiretapeScript: () => void

Object.assign(globalThis, {
  wiretapePatterns: {
    RE2JS,
    RE2JSException,
    RE2JSSyntaxException,
    parsePath,
    findings: {
      costKey,
      createCallCollector,
      createCostTable,
      createFindings,
      estimateTokens,
      estimator,
      findingsByRow,
      hashOf,
      rules,
      tellCall,
    },
    formats: { detectFormat, formats, htmlReport },
    comparing: {
      compareOfferVersions,
      RecordingComparison,
      createOffers,
      createRecordingIndex,
      plainSettings,
    },
    get text() {
      return `(${wiretapeScript.toString()})();`
    },
  },
})
