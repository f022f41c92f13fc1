import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'

/** The function that the build puts around the script. */
declare const wiretapeScript: () => void

Object.assign(globalThis, {
  wiretapePatterns: {
    RE2JS,
    RE2JSException,
    RE2JSSyntaxException,
    get text() {
      return `(${wiretapeScript.toString()})();`
    },
  },
})
