import { whoInjected } from '../../model/index.js'
import type { CallAnswer, CallBlame, CallFacts, CallHttp, CallOutcome } from './call.js'
import { quoted, sidesOf } from './words.js'

/** The outcome of a call and its cause, as far as the recording proves them. */
export interface Outcome {
  readonly outcome: CallOutcome
  readonly blame: CallBlame
  readonly because: string
  readonly unproven: readonly string[]
}

/** The response that reached the requesting side, if any. */
export function answerOf(call: CallFacts): CallAnswer | undefined {
  const arrived = call.answers.filter((answer) => answer.fate === 'passed' || isForWiretape(call, answer))
  return arrived.find(({ isLate }) => !isLate) ?? arrived[0]
}

/** A response to a request that wiretape sent itself is not forwarded: its sender has it. */
export function isForWiretape({ isInjected }: CallFacts, { fate, rule }: CallAnswer): boolean {
  return isInjected && fate === 'dropped' && rule === undefined
}

/** The HTTP exchange that carried the request but no response. */
export function refusalOf({ http }: CallFacts): CallHttp | undefined {
  return http.find(({ status, why }) => (status !== undefined && status >= 400) || why !== undefined)
}

export function outcomeOf(call: CallFacts): Outcome {
  const { asker, other } = sidesOf(call)
  const answer = answerOf(call)
  if (call.fate === 'dropped') return ofDropped(call, answer)
  if (call.fate === 'waiting')
    return {
      outcome: 'waiting',
      blame: 'wiretape',
      because: `wiretape held the request until the recording ended; the ${other} never received it`,
      unproven: [`what the ${other} would have answered`],
    }
  if (call.undelivered !== undefined)
    return {
      outcome: 'undelivered',
      blame: other,
      because: `the request was not delivered: the ${other} no longer read its input`,
      unproven: [`why the ${other} was gone`],
    }
  if (call.isCancelled || call.cancels.length > 0) return ofCancelled(call, answer)
  if (answer) return ofAnswer(call, answer)
  const lost = call.answers.find(({ fate }) => fate !== 'passed')
  if (lost) return ofLostAnswer(call, lost)
  const refusal = refusalOf(call)
  if (refusal) return ofHttp(call, refusal)
  if (!call.isUnanswered && !call.isDuplicate)
    return {
      outcome: 'answered',
      blame: 'nobody',
      because: call.isStream ? 'the request opens a stream that stays open' : 'the recording shows no fault',
      unproven: [],
    }
  return ofSilence(call, { asker, other })
}

function ofDropped(call: CallFacts, answer: CallAnswer | undefined): Outcome {
  const { other } = sidesOf(call)
  const rule = call.dropped?.rule ?? call.rule
  const why = call.dropped?.why ?? ''
  const isEnd = rule === undefined && /ended|detached|left/.test(why)
  const blame: CallBlame = rule !== undefined ? 'rule' : isEnd ? 'wiretape' : 'person'
  const who = rule !== undefined ? `the rule ${quoted(rule)}` : isEnd ? 'wiretape' : 'a person'
  const unproven = [`what the ${other} would have answered`]
  return answer
    ? {
        outcome: 'answered-here',
        blame,
        because: `${who} answered in place of the ${other}, which never received the request`,
        unproven,
      }
    : {
        outcome: 'never-sent',
        blame,
        because: `${who} dropped the request; the ${other} never received it`,
        unproven,
      }
}

function ofCancelled(call: CallFacts, answer: CallAnswer | undefined): Outcome {
  const { other } = sidesOf(call)
  const [cancel] = call.cancels
  const who = cancel ? sidesOf(cancel).asker : sidesOf(call).asker
  const timedOut = /time[d ]?\s?-?out|timeout|-32001/i.test(cancel?.reason ?? '')
  const silent = (call.progress?.before ?? 0) === 0
  const because = timedOut
    ? `the ${who} cancelled the request at its time limit${silent ? `; until then, the ${other} had sent nothing for it` : `, although the ${other} had reported progress`}`
    : `the ${who} cancelled the request`
  return {
    outcome: 'cancelled',
    blame: timedOut ? (silent ? 'unknown' : who) : 'nobody',
    because,
    unproven: [
      ...(answer ? [] : [`whether the ${other} would have answered`]),
      ...(cancel?.reason === undefined ? [`why the ${who} cancelled`] : []),
      `whether the ${other} stopped working on it`,
    ],
  }
}

function ofAnswer(call: CallFacts, answer: CallAnswer): Outcome {
  const { other } = sidesOf(call)
  if (answer.isInjected) {
    const blame = whoInjected(answer.kind, answer.rule, answer.text)
    const who =
      blame === 'rule' ? `the rule ${quoted(answer.rule ?? '')}` : blame === 'person' ? 'a person' : blame
    return {
      outcome: 'answered-here',
      blame,
      because: `${who} answered, not the ${other}`,
      unproven: [`what the ${other} would have answered`],
    }
  }
  if (answer.undelivered !== undefined)
    return {
      outcome: 'undelivered',
      blame: sidesOf(call).asker,
      because: `the ${other} answered, but the ${sidesOf(call).asker} was gone before the response reached it`,
      unproven: [`why the ${sidesOf(call).asker} was gone`],
    }
  if (answer.kind === 'error') return ofError(call, answer)
  if (answer.isToolError)
    return {
      outcome: 'tool-error',
      blame: 'unknown',
      because: 'the tool ran and reported a failure',
      unproven: [
        'whether the arguments or the tool are at fault: the recording has only the text of the result',
      ],
    }
  const task = ofTask(call, answer)
  if (task) return task
  if (call.answers.some(({ isLate }) => isLate))
    return {
      outcome: 'late',
      blame: other,
      because: `the ${other} answered one request more than once`,
      unproven: ['which response was meant'],
    }
  return { outcome: 'answered', blame: 'nobody', because: 'the recording shows no fault', unproven: [] }
}

/** Undefined for a completed task, and without one. */
function ofTask(call: CallFacts, { task }: CallAnswer): Outcome | undefined {
  const { asker, other } = sidesOf(call)
  if (task === 'failed')
    return {
      outcome: 'tool-error',
      blame: 'unknown',
      because: 'the task of the call failed',
      unproven: [`whether the request or the ${other} is at fault: the recording has only its reason`],
    }
  if (task === 'cancelled')
    return {
      outcome: 'cancelled',
      blame: 'nobody',
      because: `the ${call.taskCancel ? asker : other} cancelled the task of the call`,
      unproven: [`whether the ${other} stopped working on it`],
    }
  if (task !== 'open') return undefined
  const isAsking = call.polls?.status === 'input_required'
  return {
    outcome: 'unanswered',
    blame: 'unknown',
    because: `the recording ends before the task of the call${isAsking ? ', which was waiting for input' : ''}`,
    unproven: ['how the task would have ended'],
  }
}

function ofError(call: CallFacts, { code = '' }: CallAnswer): Outcome {
  const { asker, other } = sidesOf(call)
  const blame = askersFault[code]
  if (blame !== undefined)
    return {
      outcome: 'error',
      blame: asker,
      because: `the ${other} refused the request: ${blame}`,
      unproven: [`whether the ${other} is right: only its error says so`],
    }
  if (code === '-32603')
    return {
      outcome: 'error',
      blame: other,
      because: `the ${other} reported an internal error`,
      unproven: [`what failed inside the ${other}`],
    }
  return {
    outcome: 'error',
    blame: 'unknown',
    because: `the ${other} refused the request with its own error code`,
    unproven: [`whether the request or the ${other} is at fault: the recording has only the error message`],
  }
}

/** JSON-RPC and MCP error codes by which the receiver blames the request. */
const askersFault: Readonly<Record<string, string>> = {
  '-32700': 'it is not JSON (parse error)',
  '-32600': 'it is not a valid request',
  '-32601': 'the method is unknown',
  '-32602': 'the parameters are invalid',
  '-32002': 'the resource does not exist',
  '-32042': 'a person must open a URL first',
}

function ofLostAnswer(call: CallFacts, { fate, rule }: CallAnswer): Outcome {
  const { asker, other } = sidesOf(call)
  const who = rule === undefined ? 'wiretape' : `the rule ${quoted(rule)}`
  return {
    outcome: fate === 'waiting' ? 'waiting' : 'undelivered',
    blame: rule === undefined ? 'wiretape' : 'rule',
    because:
      fate === 'waiting'
        ? `the ${other} answered, but its response was still held when the recording ended`
        : `the ${other} answered, but ${who} dropped the response; the ${asker} never received it`,
    unproven: [],
  }
}

function ofHttp(call: CallFacts, { status, why }: CallHttp): Outcome {
  const { asker, other } = sidesOf(call)
  const by = /^(upstream|client|wiretape): /.exec(why ?? '')?.[1]
  if (by === 'upstream') return ofBroken(status, why ?? '')
  if (by === 'client')
    return {
      outcome: 'cancelled',
      blame: 'client',
      because: 'the client closed the HTTP connection before the response',
      unproven: ['why the client closed it', 'whether the server would have answered'],
    }
  if (by === 'wiretape')
    return {
      outcome: 'never-sent',
      blame: 'wiretape',
      because: 'wiretape refused the HTTP request',
      unproven: [],
    }
  if (status === undefined || status < 400)
    return {
      outcome: 'unanswered',
      blame: other,
      because: 'the HTTP response contains no response to the request',
      unproven: [],
    }
  const own = httpBlame(status)
  return {
    outcome: 'http-refused',
    blame: own.isServer ? 'server' : asker,
    because: `the server refused the HTTP request: ${own.words}`,
    unproven: own.unproven,
  }
}

function ofBroken(status: number | undefined, why: string): Outcome {
  const who = 'whether the server or the network is at fault'
  if (status !== undefined)
    return {
      outcome: 'unreachable',
      blame: 'network',
      because: 'the HTTP response ended early',
      unproven: [who, 'whether the server carried out the request'],
    }
  const isRefused = /refused|no such host|not found|unreachable/.test(why)
  return {
    outcome: 'unreachable',
    blame: 'network',
    because: isRefused ? 'the server could not be reached' : 'no response came from the server',
    unproven: isRefused
      ? ['whether the server was down or the network failed']
      : [who, 'whether the server carried out the request'],
  }
}

function httpBlame(status: number): { isServer: boolean; words: string; unproven: string[] } {
  if (status === 401)
    return {
      isServer: false,
      words: 'it requires a valid token',
      unproven: [
        'whether the token was missing, expired or issued for another server: recordings contain no tokens',
      ],
    }
  if (status === 403)
    return {
      isServer: false,
      words: 'the client lacks a permission',
      unproven: ['which permission was missing, unless the response names it'],
    }
  if (status === 404)
    return {
      isServer: false,
      words: 'the session or the path is unknown',
      unproven: ['whether the session expired or the server was restarted'],
    }
  if (status === 429)
    return {
      isServer: false,
      words: 'the client sends too many requests',
      unproven: ['the limit of the server'],
    }
  if (status >= 500)
    return {
      isServer: true,
      words:
        status === 502 || status === 503 || status === 504
          ? 'a gateway or the server is down'
          : 'it reports an internal error',
      unproven: ['whether the server or a gateway in front of it refused the request'],
    }
  return {
    isServer: false,
    words: 'it does not accept the request',
    unproven: ['whether the server is right'],
  }
}

function ofSilence(
  call: CallFacts,
  { asker, other }: { readonly asker: string; readonly other: string },
): Outcome {
  const { session, gaps, noise } = call
  const unproven: string[] = []
  if (gaps) unproven.push(`whether the response is among the ${gaps.count} messages that were not recorded`)
  if (noise) unproven.push('whether the response is among the lines that are not JSON')
  if (!session?.complete) unproven.push('whether the response came after the recording was truncated')
  const base = { outcome: 'unanswered' as const }
  if (call.isDuplicate)
    return {
      ...base,
      blame: asker as CallBlame,
      because: `the ${asker} used one id for two open requests, so responses cannot be told apart`,
      unproven: ['which request a response belongs to'],
    }
  if (session?.error !== undefined)
    return { ...base, blame: 'server', because: 'the server could not be started', unproven }
  const isProcess = session?.transport === 'stdio' && session.complete && other === 'server'
  const { exitCode, signal } = session ?? {}
  if (isProcess && signal !== undefined)
    return {
      ...base,
      blame: 'unknown',
      because: `the server was ended by ${signal} before it answered`,
      unproven: [`who sent ${signal}: the client, the system or a person`, ...unproven],
    }
  if (isProcess && exitCode !== undefined && exitCode !== 0)
    return {
      ...base,
      blame: 'server',
      because: `the server exited with status ${exitCode} before it answered`,
      unproven: [...unproven],
    }
  if (isProcess)
    return {
      ...base,
      blame: 'unknown',
      because: 'the session ended before the server answered',
      unproven: [
        'whether the client closed the session first, or the server would never have answered',
        ...unproven,
      ],
    }
  return {
    ...base,
    blame: !session?.complete || gaps ? 'unknown' : (other as CallBlame),
    because: `the ${other} did not answer before the recording ended`,
    unproven: [...unproven, `whether the ${other} would have answered later`],
  }
}
