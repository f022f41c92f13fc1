import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'

Object.assign(globalThis, { wiretapePatterns: { RE2JS, RE2JSException, RE2JSSyntaxException } })
