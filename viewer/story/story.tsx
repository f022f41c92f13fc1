import { useEffect, useState } from 'preact/hooks'
import { countOf, formatBytes, formatDuration } from '../../src/render/index.js'
import { explainOf } from '../copying/copy-forms.js'
import { Blocks } from '../json/blocks.js'
import { blocksIn } from '../json/content.js'
import { nameOf } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { Arrow } from '../shell/icons.js'
import { reader, select } from '../store/actions.js'
import { detailTab, lanes, table, version } from '../store/state.js'
import type { Explanation, Story, StoryStep } from '../worker/protocol.js'
import { Asked, askedIn, isOfAsked } from './asked.js'
import { HttpStories } from './http-story.js'
import { holdOf, httpOf, messageOf, taskIn, type Hold, type TaskState } from './story-facts.js'

/** Delay before the story is read again after rows arrive. */
const pauseMs = 300

/** The course of a call, from top to bottom in time. */
export function StoryView({ row }: { readonly row: number }) {
  const [share, setShare] = useState(1)
  const story = useAnswer(() => reader().call<Story>('story', [row, share]), row, share)
  if (story === undefined) return <div class="message loading" aria-busy="true" />
  if (typeof story === 'string') return <p class="failure">{story}</p>
  return <Told story={story} row={row} onMore={() => setShare(share * 4)} />
}

/** The reader's response about a row, requested again when rows arrive; on failure, the reason. */
function useAnswer<T>(ask: () => Promise<T>, row: number, stamp = 0): T | string | undefined {
  const [answer, setAnswer] = useState<T | string>()
  version.value
  const isLive = lanes.value[table.lane(row)]?.state !== 'done'
  const known = isLive ? table.length : -1
  useEffect(() => {
    let gone = false
    const timer = setTimeout(
      () => {
        ask().then(
          (told) => !gone && setAnswer(() => told),
          (error: unknown) => !gone && setAnswer(error instanceof Error ? error.message : String(error)),
        )
      },
      answer === undefined ? 0 : pauseMs,
    )
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [row, known, stamp])
  return answer
}

/** The output of `wiretape explain` for the call. */
function Explained({ row }: { readonly row: number }) {
  const explanation = useAnswer(() => reader().call<Explanation>('explain', [row]), row)
  // The steps below contain the same in more detail.
  if (explanation === undefined || typeof explanation === 'string') return null
  const { sentences, limitBytes } = explanation
  if (limitBytes !== undefined) return <NotExplained row={row} limitBytes={limitBytes} />
  if (sentences.length === 0) return null
  const [because = '', ...rest] = sentences
  return (
    <p class="story-told">
      <b>{clean(because)}</b> {rest.map(clean).join(' ')}
    </p>
  )
}

function NotExplained({ row, limitBytes }: { readonly row: number; readonly limitBytes: number }) {
  const { name, path } = lanes.value[table.lane(row)]!.file
  return (
    <p class="story-told quiet">
      The page explains calls of recordings up to {formatBytes(limitBytes)}. For this call, run{' '}
      <code>{clean(explainOf(path ?? name, table.seq(row)))}</code>
    </p>
  )
}

function Told({
  story,
  row,
  onMore,
}: {
  readonly story: Story
  readonly row: number
  readonly onMore: () => void
}) {
  const { steps, left, end } = story
  const began = table.at(row)
  // A late cancellation or note does not shrink the bars of the call.
  const lastAt = end ?? Math.max(began, ...steps.map(({ at, answerAt }) => Math.max(at, answerAt ?? 0)))
  const span = began === 0 ? 0 : lastAt - began
  const isLoose = steps.some(({ loose }) => loose)
  return (
    <section class="story" aria-label="Story">
      <p class="story-sum">{summaryOf(story, row)}</p>
      <Explained key={row} row={row} />
      <HttpStories all={httpOf(steps)} />
      {isLoose && (
        <p class="quiet">
          Other requests were open. Steps marked <em class="tag">meanwhile</em> may belong to them.
        </p>
      )}
      <ol class="story-steps">
        {pollsJoined(steps).map(({ step, count }) => (
          <Step key={step.row} step={step} count={count} story={story} began={began} span={span} />
        ))}
      </ol>
      {left > 0 && (
        <button type="button" class="button small" onClick={onMore}>
          Show more ({countOf(left, 'further step')})
        </button>
      )}
    </section>
  )
}

function summaryOf({ end, isTask, steps }: Story, row: number): string {
  const began = table.at(row)
  if (began === 0) return 'The recording has no timestamps.'
  if (end !== undefined)
    return `The call took ${formatDuration(Math.max(0, end - began))}${isTask ? `, until its task ${endingOf(row)}` : ''}`
  if (isTask)
    return lanes.value[table.lane(row)]?.state === 'following'
      ? 'The task of the call is running.'
      : 'The recording ends before the task of the call.'
  return steps.some(({ kind }) => kind === 'cancel')
    ? 'Cancelled, without a response.'
    : 'The recording has no response.'
}

function endingOf(call: number): string {
  const answer = table.peer(call)
  if (table.has(answer, 'taskFailed')) return 'failed'
  return table.has(answer, 'taskCancelled') ? 'was cancelled' : 'ended'
}

/** Consecutive polls with equal responses are shown once. */
function pollsJoined(steps: readonly StoryStep[]): { step: StoryStep; count: number }[] {
  const joined: { step: StoryStep; count: number }[] = []
  for (const step of steps) {
    const last = joined.at(-1)
    const isSame =
      step.kind === 'poll' &&
      last?.step.kind === 'poll' &&
      table.method(last.step.row) === table.method(step.row) &&
      taskIn(last.step)?.status === taskIn(step)?.status &&
      step.answer !== undefined
    if (isSame) joined[joined.length - 1] = { step: { ...last.step, ...until(step) }, count: last.count + 1 }
    else joined.push({ step, count: 1 })
  }
  return joined
}

function until({ answerAt, answer }: StoryStep): Partial<StoryStep> {
  return { ...(answerAt !== undefined && { answerAt }), ...(answer && { answer }) }
}

interface StepProps {
  readonly step: StoryStep
  readonly count: number
  readonly story: Story
  readonly began: number
  readonly span: number
}

function Step({ step, count, story, began, span }: StepProps) {
  const { steps } = story
  const { row, kind, at, answerAt, loose } = step
  const { subject } = nameOf(row)
  const hold = holdOf(step)
  const task = taskIn(step)
  const isSide = kind === 'note' || kind === 'http' || kind === 'gap' || kind === 'stderr'
  const fromServer = table.has(row, 'fromServer')
  const isOutcome = isTaskOutcome(step)
  const isBad = kind === 'cancel' || kind === 'gap' || kind === 'noise'
  return (
    <li class={`tell-${kind} ${isSide ? '' : fromServer ? 'from-server' : 'from-client'}`}>
      <span class="story-time">
        {began === 0 || at === 0
          ? '–'
          : kind === 'request'
            ? '0'
            : `+${formatDuration(Math.max(0, at - began))}`}
      </span>
      <Bar from={at - began} to={barEnd(step, story, hold) - began} span={span} isBad={isBad} hold={hold} />
      <div class="story-body">
        <button type="button" class="bare story-name" onClick={() => look(row)}>
          {!isSide && <Arrow left={fromServer} />}
          <b>{clean(nameIn(step, task))}</b>{' '}
          {task === undefined && !isOutcome && kind !== 'poll' && <span>{clean(shortSubject(subject))}</span>}
          {answerAt !== undefined && at > 0 && (
            <span class="quiet">
              {count > 1 ? `${count} times in` : 'answered after'}{' '}
              {formatDuration(Math.max(0, answerAt - at))}
            </span>
          )}
          {loose && <em class="tag">meanwhile</em>}
        </button>
        {hold && <p class="story-hold">{hold.text}</p>}
        {task ? <Task task={task} /> : <Content step={step} steps={steps} />}
      </div>
    </li>
  )
}

/** The step is a response to a request about the call's task. */
function isTaskOutcome({ kind, row }: StoryStep): boolean {
  return kind === 'answer' && table.method(table.peer(row)).startsWith('tasks/')
}

function nameIn(step: StoryStep, task: TaskState | undefined): string {
  if (task?.isNew) return 'task created'
  if (!isTaskOutcome(step)) return nameOf(step.row).name
  return table.kind(step.row) === 'error' ? 'error of the task' : 'result of the task'
}

/** Shows the message itself. */
function look(row: number): void {
  if (table.kind(row) === 'request') detailTab.value = 'messages'
  select(row)
}

function shortSubject(subject: string): string {
  return subject.length > 300 ? `${subject.slice(0, 300)}…` : subject
}

/** End of a step's bar; the bar of the call ends with the call. */
function barEnd(step: StoryStep, { steps, end }: Story, hold: Hold | undefined): number {
  if (step.kind === 'request') return end ?? steps.find(({ kind }) => kind === 'answer')?.at ?? step.at
  return step.answerAt ?? step.at + (hold?.us ?? 0)
}

function Bar(props: {
  readonly from: number
  readonly to: number
  readonly span: number
  readonly isBad: boolean
  readonly hold: Hold | undefined
}) {
  const { from, to, span, isBad, hold } = props
  if (span <= 0) return <span class="story-bar" />
  const percent = (us: number): number => Math.max(0, Math.min(100, (us / span) * 100))
  const left = percent(from)
  return (
    <span class="story-bar" aria-hidden="true">
      <i class={isBad ? 'bad' : ''} style={{ left: `${left}%`, width: `${percent(to) - left}%` }} />
      {hold && hold.us > 0 && (
        <i class="held" style={{ left: `${left}%`, width: `${percent(from + hold.us) - left}%` }} />
      )}
    </span>
  )
}

/** The content of the step, in a form suited to its kind. */
function Content({ step, steps }: { readonly step: StoryStep; readonly steps: readonly StoryStep[] }) {
  const { kind, text, detail } = step
  const message = messageOf(detail)
  if (detail.leftOut !== undefined)
    return <p class="quiet">Too long to show here. Select the step to see the message.</p>
  switch (kind) {
    case 'request':
    case 'asked':
    case 'round':
    case 'answer': {
      // The response is shown with the request.
      if (kind === 'answer' && isOfAsked(steps)) return null
      const asked = askedIn(step, steps)
      if (asked.length > 0) return asked.map((one, i) => <Asked key={i} asked={one} />)
      if (kind !== 'answer') return <Words text={joined(step)} />
      if (table.kind(step.row) === 'error') return <p class="failure">{clean(table.note(step.row))}</p>
      const blocks = blocksIn(message?.['result'])
      return blocks.length > 0 ? <Blocks blocks={blocks} search="" /> : <Words text={text} />
    }
    case 'poll': {
      // The result of a task is that of the call.
      const blocks = blocksIn(step.answer && messageOf(step.answer)?.['result'])
      return blocks.length > 0 ? <Blocks blocks={blocks} search="" /> : <Words text={joined(step)} />
    }
    case 'progress':
      return <Progress params={message?.['params']} text={text} />
    case 'cancel': {
      const reason = membersIn(message?.['params'])['reason']
      return typeof reason === 'string' ? <Words text={reason.slice(0, 2_000)} /> : null
    }
    case 'stderr':
    case 'noise':
    case 'note':
    case 'gap':
      return null
    default:
      return <Words text={joined(step)} />
  }
}

const taskTones: Readonly<Record<string, string | undefined>> = {
  completed: 'is-ok',
  failed: 'is-error',
  cancelled: '',
}

function Task({ task: { status, message, result } }: { readonly task: TaskState }) {
  const tone = taskTones[status] ?? 'is-waiting'
  return (
    <>
      <p class="story-words">
        <span class={`pill ${tone}`}>{clean(status)}</span> {clean(message)}
      </p>
      {result !== undefined && <Blocks blocks={blocksIn(result)} search="" />}
    </>
  )
}

function joined({ text, answerText }: StoryStep): string {
  return [text, answerText ?? ''].filter((part) => part !== '').join(' → ')
}

function Words({ text }: { readonly text: string }) {
  return text === '' ? null : <p class="story-words">{clean(text)}</p>
}

function Progress({ params, text }: { readonly params: unknown; readonly text: string }) {
  const { progress, total } = membersIn(params)
  const isMeasured =
    typeof progress === 'number' &&
    typeof total === 'number' &&
    total > 0 &&
    progress >= 0 &&
    progress <= total
  return (
    <p class="story-words">
      {isMeasured && <progress value={progress} max={total} aria-label="Progress" />} {clean(text)}
    </p>
  )
}

function membersIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
