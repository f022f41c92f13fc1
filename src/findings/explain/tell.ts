import { whoInjected } from '../../model/index.js'
import { countOf, escapeText, formatDuration } from '../../render/index.js'
import type { CallAnswer, CallFacts, CallStory, Sentence } from './call.js'
import { answerOf, isForWiretape, outcomeOf, refusalOf } from './outcome.js'
import {
  after,
  callName,
  capital,
  httpReason,
  joined,
  later,
  numberOf,
  numbersIn,
  quoted,
  sidesOf,
} from './words.js'

/** Describes a call from its request to its end. */
export function tellCall(call: CallFacts): CallStory {
  const { outcome, blame, because, unproven } = outcomeOf(call)
  const answer = answerOf(call)
  const sentences = [
    ...requestTold(call),
    ...heldTold(call),
    ...progressTold(call),
    ...cancelTold(call),
    ...answersTold(call),
    ...httpTold(call),
    ...taskTold(call),
    ...retryTold(call),
    ...connectionTold(call),
  ]
  return {
    message: call.seq,
    ...(answer && answer.seq >= 0 && { answer: answer.seq }),
    method: call.method,
    ...(call.subject !== undefined && { subject: call.subject }),
    direction: call.direction,
    outcome,
    blame,
    because: `${capital(because)}.`,
    sentences,
    unproven: unproven.map((text) => capital(text)),
  }
}

/** Describes a failed call in one or two sentences. */
export function tellBriefly(story: CallStory): string {
  const { method, subject, because, sentences } = story
  const main = sentences.find(({ about }) => about === 'refused' || about === 'cancelled')
  const more = main && !story.because.includes(main.text) ? ` ${main.text}` : ''
  return `${callName({ method, ...(subject !== undefined && { subject }) })}: ${because}${more}`
}

function sentence(about: Sentence['about'], text: string, messages: readonly number[] = []): Sentence {
  return { about, text: `${text}.`, messages }
}

function requestTold(call: CallFacts): Sentence[] {
  const { asker, other } = sidesOf(call)
  const who = call.isInjected ? 'A person or a rule' : `The ${asker}`
  const told = [sentence('request', `${who} sent ${callName(call)}`, numbersIn(call))]
  if (call.isModified) {
    const by = call.rule === undefined ? 'A person' : `The rule ${quoted(call.rule)}`
    told.push(sentence('changed', `${by} changed the request before it reached the ${other}`))
  }
  if (call.isDuplicate) told.push(sentence('request', `Another open request of the ${asker} had the same id`))
  return told
}

function heldTold(call: CallFacts): Sentence[] {
  const { other } = sidesOf(call)
  const rule = call.dropped?.rule ?? call.rule
  const byRule = rule === undefined ? '' : ` The rule ${quoted(rule)} decided`
  if (call.fate === 'waiting') return [sentence('held', 'wiretape held it until the recording ended')]
  if (call.fate === 'dropped') {
    const wait = call.dropped?.us === undefined || call.us === undefined ? 0 : call.dropped.us - call.us
    const held = wait >= 1000 ? `wiretape held it for ${formatDuration(wait)} and then ` : 'wiretape '
    const why = call.dropped && rule === undefined ? ` (${escapeText(call.dropped.why)})` : ''
    return [
      sentence(
        'held',
        joined([`${held}did not forward it to the ${other}${why}${byRule === '' ? '' : '.'}`, byRule.trim()]),
      ),
    ]
  }
  if (call.heldUs <= 0) return []
  const decided =
    rule === undefined
      ? ' until a person, a time limit or the end of the hold released it'
      : `. The rule ${quoted(rule)} decided`
  return [sentence('held', `wiretape held it for ${formatDuration(call.heldUs)}${decided}`)]
}

function progressTold({ progress, us }: CallFacts): Sentence[] {
  if (!progress) return []
  const { count, last, before, text } = progress
  const latest = text === undefined ? '' : `: ${escapeText(text)}`
  const told = [
    sentence(
      'progress',
      `Progress was reported ${count === 1 ? 'once' : `${count} times`}, last${after(us, last.us)}${latest}`,
      numbersIn(last),
    ),
  ]
  if (count > before)
    told.push(sentence('progress', `${countOf(count - before, 'report')} came after the response`))
  return told
}

function cancelTold(call: CallFacts): Sentence[] {
  const told = call.cancels.map((cancel) => {
    const { asker } = sidesOf(cancel)
    const why = cancel.reason === undefined ? ' and gave no reason' : `: ${quoted(cancel.reason)}`
    return sentence(
      'cancelled',
      `The ${asker} cancelled it${after(call.us, cancel.us)}${why}`,
      numbersIn(cancel),
    )
  })
  if (call.isCancelled && told.length === 0)
    told.push(sentence('cancelled', 'The client closed the response stream, which cancels the request'))
  return told
}

function answersTold(call: CallFacts): Sentence[] {
  const [cancel] = call.cancels
  return call.answers.flatMap((answer) => {
    const told = [answerTold(call, answer)]
    if (cancel?.us !== undefined && answer.us !== undefined && answer.us > cancel.us)
      told.push(
        sentence(
          'answer',
          `The response came ${formatDuration(answer.us - cancel.us)} after the cancellation`,
        ),
      )
    if (answer.heldUs > 0) {
      const by = answer.rule === undefined ? '' : ` by the rule ${quoted(answer.rule)}`
      told.push(sentence('held', `wiretape held the response for ${formatDuration(answer.heldUs)}${by}`))
    }
    if (answer.isModified) {
      const by = answer.rule === undefined ? 'A person' : `The rule ${quoted(answer.rule)}`
      told.push(sentence('changed', `${by} changed the response`, numbersIn(answer)))
    }
    if (answer.undelivered !== undefined)
      told.push(sentence('answer', `The response was not delivered: ${escapeText(answer.undelivered)}`))
    return told
  })
}

function answerTold(call: CallFacts, answer: CallAnswer): Sentence {
  const { other } = sidesOf(call)
  const when = after(call.us === undefined ? undefined : call.us + call.heldUs, answer.us)
  const who = answer.isInjected
    ? {
        person: 'A person using wiretape',
        rule: `The rule ${quoted(answer.rule ?? '')}`,
        wiretape: 'wiretape',
      }[whoInjected(answer.kind, answer.rule, answer.text)]
    : `The ${other}`
  const where = numbersIn(answer)
  const text = answer.text === undefined ? '' : `: ${quoted(answer.text)}`
  const again = answer.isLate ? ' again' : ''
  const lost =
    answer.fate === 'passed'
      ? ''
      : isForWiretape(call, answer)
        ? '; only wiretape received the response, since it sent the request'
        : answer.fate === 'waiting'
          ? ', but the response was still held when the recording ended'
          : `, but the response was dropped${answer.rule === undefined ? '' : ` by the rule ${quoted(answer.rule)}`}`
  if (answer.kind === 'error') {
    const http =
      answer.httpStatus === undefined || answer.httpStatus < 400 ? '' : ` with HTTP ${answer.httpStatus}`
    return sentence(
      'refused',
      `${who} refused it${again}${when}${http === '' ? '' : `${http} and`}${http === '' ? ' with' : ''} error ${escapeText(answer.code ?? '?')}${text}${lost}`,
      where,
    )
  }
  if (answer.isToolError) return sentence('refused', `The tool failed${again}${when}${text}${lost}`, where)
  if (answer.needsInput)
    return sentence('answer', `${who} requested input before it continues${when}${lost}`, where)
  if (answer.task) return sentence('task', `${who} created a task for it${when}${lost}`, where)
  return sentence('answer', `${who} answered${again}${when}${lost}`, where)
}

function httpTold(call: CallFacts): Sentence[] {
  const refusal = refusalOf(call)
  if (!refusal) return []
  const { status, why, body, us, headers } = refusal
  const when = after(call.us, us)
  if (why !== undefined)
    return [sentence('refused', `The HTTP exchange ended${when} without a response: ${httpReason(why)}`)]
  const said = body === undefined ? '' : `: ${quoted(body)}`
  const told = [
    sentence('refused', `The server refused the HTTP request${when} with status ${status}${said}`),
  ]
  const challenge = headers?.find(([name]) => name.toLowerCase() === 'www-authenticate')
  if (challenge) told.push(sentence('refused', `Its challenge is ${quoted(challenge[1].slice(0, 300))}`))
  return told
}

function taskTold(call: CallFacts): Sentence[] {
  const { polls, rounds, taskEnd, us } = call
  const reason = taskEnd?.text ? `: ${quoted(taskEnd.text)}` : ''
  const told: Sentence[] = []
  if (polls) {
    const often = polls.count === 1 ? 'once' : `${polls.count} times`
    const status = polls.status === undefined ? '' : `; its last status was ${quoted(polls.status)}`
    const polled = polls.count === 0 ? 'never polled its task' : `polled its task ${often}`
    told.push(sentence('task', `The client ${polled}${status}`, numbersIn(polls.last)))
  }
  const { task } = answerOf(call) ?? {}
  if (taskEnd && task && task !== 'open') {
    const ended = {
      completed: sentence('task', `The task was completed${after(us, taskEnd.us)}`, numbersIn(taskEnd)),
      failed: sentence('refused', `The task failed${after(us, taskEnd.us)}${reason}`, numbersIn(taskEnd)),
      cancelled: sentence(
        'cancelled',
        `The task was cancelled${after(us, taskEnd.us)}${reason}`,
        numbersIn(taskEnd),
      ),
    }
    told.push(ended[task])
  }
  if (rounds.length > 0)
    told.push(
      sentence('task', `The client continued it in ${rounds.map(numberOf).join(', ')}`, numbersIn(...rounds)),
    )
  return told
}

function retryTold(call: CallFacts): Sentence[] {
  const { asker } = sidesOf(call)
  const { again, earlier, us } = call
  const answer = answerOf(call)
  const isGood = answer?.kind === 'result' && !answer.isToolError && answer.task !== 'failed'
  const told: Sentence[] = []
  if (earlier.length > 0)
    told.push(
      sentence(
        'retry',
        `The ${asker} had sent the same request before (${earlier.map(numberOf).join(', ')})`,
        numbersIn(...earlier),
      ),
    )
  const [first] = again
  if (!first || isGood) return told
  const good = again.find(({ answer }) => answer === 'good')
  const how = good
    ? ` and got a result${good === first ? '' : ` in ${numberOf(good)}`}`
    : again.every(({ answer }) => answer === 'none')
      ? ' and got no response'
      : ' and was refused again'
  const count = again.length === 1 ? '' : `, ${again.length} times in all`
  told.push(
    sentence(
      'retry',
      `The ${asker} sent the same request again ${later(us, first.us)} (${numberOf(first)}${count})${how}`,
      numbersIn(...again),
    ),
  )
  return told
}

function connectionTold(call: CallFacts): Sentence[] {
  const { other } = sidesOf(call)
  const { session, otherSide, noise, gaps, stderr, stderrCount } = call
  const answer = answerOf(call)
  const told: Sentence[] = []
  if (call.undelivered !== undefined)
    told.push(sentence('connection', `The request was not delivered: ${escapeText(call.undelivered)}`))
  if (call.isUnanswered && refusalOf(call) === undefined && call.fate === 'passed') {
    told.push(
      otherSide
        ? sentence(
            'connection',
            `The ${other} sent ${countOf(otherSide.count, 'other message')} after the request, the last one ${later(call.us, otherSide.last.us)}, so it was running`,
            numbersIn(otherSide.last),
          )
        : sentence('connection', `The ${other} sent nothing after the request`),
    )
    told.push(...endTold(call))
  }
  if (noise)
    told.push(
      sentence(
        'connection',
        `Meanwhile, the ${other} wrote ${countOf(noise.count, 'line')} that ${noise.count === 1 ? 'is' : 'are'} not JSON: ${quoted(noise.text)}`,
      ),
    )
  if (gaps)
    told.push(
      sentence(
        'connection',
        `Meanwhile, ${countOf(gaps.count, 'message')} ${gaps.count === 1 ? 'was' : 'were'} not recorded: ${escapeText(gaps.why)}`,
      ),
    )
  const isBad = !answer || answer.kind === 'error' || answer.isToolError || answer.task === 'failed'
  if (isBad && stderr.length > 0 && session) {
    const last = stderr.map(({ text }) => quoted(text)).join(', ')
    const count =
      stderrCount > stderr.length
        ? `${countOf(stderrCount, 'line')} to stderr, last`
        : `${countOf(stderrCount, 'line')} to stderr:`
    told.push(sentence('stderr', `Meanwhile, the server wrote ${count} ${last}`))
  }
  return told
}

function endTold({ session, us }: CallFacts): Sentence[] {
  if (!session) return []
  if (session.error !== undefined)
    return [sentence('connection', `The server could not be started: ${escapeText(session.error)}`)]
  if (session.recovered || !session.complete)
    return [sentence('connection', 'The recording is recovered, truncated or live: its end is unknown')]
  const end = session.durationMs === undefined ? undefined : session.durationMs * 1000
  const when = later(us, end)
  if (session.transport !== 'stdio') return [sentence('connection', `The recording ended ${when}`)]
  if (session.signal !== undefined)
    return [sentence('connection', `The server process was ended by ${session.signal} ${when}`)]
  if (session.exitCode === undefined) return [sentence('connection', `The session ended ${when}`)]
  return [sentence('connection', `The server process exited with status ${session.exitCode} ${when}`)]
}
