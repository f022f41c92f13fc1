/** Entry of the recording thread. */
import module from 'node:module'
import { join } from 'node:path'
import { keepCompiledCode } from '../compiled-code/index.js'

if (!('enableCompileCache' in module)) keepCompiledCode(join(import.meta.dirname, 'code'))
void import('./record-in-thread.js').then(({ recordInThread }) => recordInThread())
