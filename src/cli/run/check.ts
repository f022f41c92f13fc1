import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  contractRules,
  countFindings,
  createFindings,
  definitionDrift,
  findingReports,
  hashOf,
  levels,
  numbersOf,
  rules as allRules,
  wantedRules,
  whereOf,
  type CheckedRecording,
  type FindingsReport,
  type Level,
  type RecordingFindings,
  type Rule,
  type ToldFinding,
} from '../../findings/index.js'
import { WiretapeError, type Fold } from '../../model/index.js'
import { countOf, createStyle, escapeText, pad, type Style } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { contractOf, type ContractOptions } from '../check/contract.js'
import { readLock } from '../pin/lock-file.js'
import { printPieces, wantedReports, writeReports } from '../report-files.js'
import { recordingPaths } from '../recording-name.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'
import { readVersion } from '../version.js'

export interface CheckOptions extends ContractOptions {
  readonly rules?: readonly string[]
  readonly failOn?: readonly string[]
  readonly baseline?: string
  readonly pin?: string
  readonly listRules?: boolean
  readonly report?: readonly string[]
  readonly json?: boolean
}

export async function runCheck(named: readonly string[], options: CheckOptions, io: Io): Promise<number> {
  const files = await recordingPaths(named, io)
  const { contract, from } = await contractOf(options, io)
  const own = [...(await pinRules(options.pin, io)), ...(contract ? contractRules(contract) : [])]
  const known = [...allRules, ...own]
  const { rules, unknown } = wantedRules(allRules, options.rules)
  if (unknown !== undefined)
    throw new WiretapeError('usage', `unknown rule or pack ${JSON.stringify(unknown)}`, {
      hint: `packs are protocol, schemas, safety; wiretape check --list-rules prints the rules`,
    })
  if (options.listRules) return listRules(known, io)
  const isFailure = failureTest(options.failOn ?? ['error'], known)
  const wanted = await wantedReports(options.report, findingReports, files, io)
  const baseline = await readBaseline(options.baseline, io)
  const checks = createChecks([...rules, ...own])
  const loaded = await loadRecordings(files, io.cwd, (fold) => checks.watch(fold))
  try {
    const recordings = loaded.recordings.map((recording, i) => checks.told(recording, i, baseline))
    const report = { version: readVersion(), rules: [...rules, ...own].map(({ info }) => info), recordings }
    if (options.json) await printPieces(findingReports['json']!(report), io)
    else if (!wanted.some(({ file }) => file === '-')) await printText(report, from, io)
    await writeReports(wanted, report, io)
    const failed = recordings.some(({ findings }) =>
      findings.some((told) => !told.suppressed && isFailure(told)),
    )
    return failed ? exitCode.found : exitCode.done
  } finally {
    await loaded.close()
  }
}

async function pinRules(file: string | undefined, io: Io): Promise<readonly Rule[]> {
  if (file === undefined) return []
  const pins = await readLock(file, io)
  if (pins) return [definitionDrift(pins)]
  throw new WiretapeError('usage', `there is no ${escapeText(file)}`, {
    hint: 'create one with wiretape pin RECORDING',
  })
}

/** One run of rules over recordings during loading. */
function createChecks(rules: readonly Rule[]): {
  watch(
    fold: Fold,
  ): (
    record: Parameters<RecordingFindings['take']>[0],
    rows: Parameters<RecordingFindings['take']>[1],
  ) => void
  told(recording: LoadedRecording, index: number, baseline: ReadonlySet<string>): CheckedRecording
} {
  const engine = createFindings(rules)
  const runs: { readonly findings: RecordingFindings; readonly starts: number[] }[] = []
  return {
    watch(fold) {
      const findings = engine.begin(fold)
      /** Number of the first record of each file. */
      const starts: number[] = []
      runs.push({ findings, starts })
      let number = 0
      return (record, rows) => {
        if (record.type === 'meta' && !record.made) starts.push(number)
        number += 1
        findings.take(record, rows)
      }
    },
    told(recording, index, baseline) {
      const { findings, starts } = runs[index]!
      findings.finish()
      const { fold, files, problemCount } = recording
      const isTape = files.every(({ file }) => file.format.id === 'trace-v1') && problemCount === 0
      const session = fold.sessions.at(-1)
      return {
        files: files.map(({ name }) => name),
        label: session?.label ?? '',
        session: session?.id ?? '',
        isIncomplete: fold.counts().gaps > 0 || fold.sessions.some(({ complete }) => !complete),
        left: findings.left,
        findings: findings.found
          .map((finding): ToldFinding => {
            const hash = hashOf(finding.fingerprint)
            const messages = finding.rows.map((row) => fold.entries.seq(row)).filter((seq) => seq >= 0)
            const place = isTape ? placeOf(finding.record, starts, files) : undefined
            return {
              ...finding,
              hash,
              messages,
              ...(place && { place }),
              ...(baseline.has(hash) && { suppressed: true }),
            }
          })
          .toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level)),
      }
    },
  }
}

function placeOf(
  record: number | undefined,
  starts: readonly number[],
  files: LoadedRecording['files'],
): { file: string; line?: number } | undefined {
  if (record === undefined || starts.length !== files.length) return undefined
  const file = starts.findLastIndex((start) => start <= record)
  return file < 0 ? undefined : { file: files[file]!.name, line: record - starts[file]! + 1 }
}

function failureTest(names: readonly string[], known: readonly Rule[]): (finding: ToldFinding) => boolean {
  const wrong = names.find(
    (name) => !levels.includes(name as Level) && !known.some(({ info }) => info.id === name),
  )
  if (wrong !== undefined)
    throw new WiretapeError('usage', `--fail-on ${JSON.stringify(wrong)} is not a level or a rule`, {
      hint: 'levels are error, warning, note',
    })
  const worst = Math.max(-1, ...names.map((name) => levels.indexOf(name as Level)))
  return ({ level, rule }) => levels.indexOf(level) <= worst || names.includes(rule.id)
}

async function readBaseline(file: string | undefined, io: Io): Promise<ReadonlySet<string>> {
  if (file === undefined) return new Set()
  const path = resolve(io.cwd, file)
  const unusable = (why: string): WiretapeError =>
    new WiretapeError('usage', `${escapeText(file)} is not a baseline: ${why}`, {
      hint: 'create one with wiretape check RECORDING --report json=FILE',
    })
  let text
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw unusable((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : 'it cannot be read')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw unusable('it is not JSON')
  }
  const { recordings } = (value ?? {}) as { recordings?: { findings?: { fingerprint?: unknown }[] }[] }
  if (!Array.isArray(recordings)) throw unusable('it has no recordings')
  return new Set(
    recordings.flatMap(({ findings }) =>
      (Array.isArray(findings) ? findings : []).flatMap(({ fingerprint }) =>
        typeof fingerprint === 'string' ? [fingerprint] : [],
      ),
    ),
  )
}

const tones: Readonly<Record<Level, 'red' | 'yellow' | 'dim'>> = {
  error: 'red',
  warning: 'yellow',
  note: 'dim',
}

async function printText(report: FindingsReport, from: string | undefined, io: Io): Promise<void> {
  const style = createStyle(io.colours)
  if (from !== undefined) await io.write(style.dim(`expectations of ${escapeText(from)}\n`))
  for (const recording of report.recordings) {
    if (report.recordings.length > 1)
      await io.write(`${style.bold(escapeText(recording.files.join(', ')))}\n`)
    for (const finding of recording.findings) {
      if (!finding.suppressed) await io.write(findingLines(finding, recording, style))
    }
    if (recording.left > 0)
      await io.write(`  and ${countOf(recording.left, 'more finding')} of the same kinds\n`)
    if (recording.isIncomplete)
      await io.write(`  ${style.yellow('the recording is incomplete')}: missing messages were not checked\n`)
  }
  const { error, warning, note } = countFindings(report)
  const told = report.recordings.flatMap(({ findings }) => findings)
  const suppressed = told.filter((finding) => finding.suppressed).length
  const tail = suppressed === 0 ? '' : `, ${suppressed} in the baseline`
  const rules = countOf(report.rules.length, 'rule')
  await io.write(
    told.length === 0
      ? `no findings: ${rules}, ${countOf(report.recordings.length, 'recording')}\n`
      : `${countOf(error, 'error')}, ${countOf(warning, 'warning')}, ${countOf(note, 'note')}${tail}\n`,
  )
}

function findingLines(finding: ToldFinding, recording: CheckedRecording, style: Style): string {
  const { level, rule, tool, message } = finding
  const head = `${style[tones[level]](pad(level, 7))}  ${rule.id}`
  const about = [numbersOf(finding), tool === undefined ? '' : escapeText(tool)].filter(Boolean).join('  ')
  const where = finding.place ? `  ${style.dim(escapeText(whereOf(finding, recording)))}` : ''
  return `${head}  ${about}${where}\n         ${escapeText(message)}\n`
}

async function listRules(rules: readonly Rule[], io: Io): Promise<number> {
  for (const { info } of rules) {
    const { id, level, certainty, title, source } = info
    await io.write(`${pad(id, 30)}  ${pad(level, 7)}  ${pad(certainty, 7)}  ${title}  (${source.name})\n`)
  }
  return exitCode.done
}
