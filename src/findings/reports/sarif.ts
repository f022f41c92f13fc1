import type { OwaspCategory } from '../finding.js'
import type { Level } from '../levels.js'
import type { CheckedRecording, FindingsReport, ToldFinding } from './report.js'

/** The report as SARIF 2.1.0 (OASIS standard): one run, one result per finding. */
export function* sarifReport(report: FindingsReport): Generator<string, void, undefined> {
  const run = {
    tool: {
      driver: {
        name: 'wiretape',
        semanticVersion: report.version,
        rules: report.rules.map(({ id, title, help, level, source, certainty, pack, owasp }) => ({
          id,
          name: id.replaceAll(/(?:^|[/-])(\w)/g, (_, letter: string) => letter.toUpperCase()),
          shortDescription: { text: title },
          fullDescription: { text: `${title} ${help}` },
          help: { text: `${help} Source: ${source.name}.` },
          ...(source.url.startsWith('https:') && { helpUri: source.url }),
          defaultConfiguration: { level },
          properties: { certainty, tags: owasp === undefined ? [pack] : [pack, owasp] },
          ...(owasp !== undefined && {
            relationships: [{ target: referenceTo(owasp), kinds: ['relevant'] }],
          }),
        })),
        supportedTaxonomies: [{ name: owaspName, index: 0 }],
      },
    },
    columnKind: 'utf16CodeUnits',
    taxonomies: [
      {
        name: owaspName,
        version: '2025-beta',
        organization: 'OWASP',
        informationUri: 'https://owasp.org/www-project-mcp-top-10/',
        shortDescription: { text: 'Risks of the Model Context Protocol' },
        taxa: Object.entries(categories).map(([id, text]) => ({
          id,
          name: text,
          shortDescription: { text },
        })),
      },
    ],
    invocations: [{ executionSuccessful: report.recordings.every(({ isIncomplete }) => !isIncomplete) }],
  }
  const text = JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] })
  yield `${text.slice(0, -3)},"results":[`
  let separator = ''
  for (const recording of report.recordings) {
    for (const finding of recording.findings) {
      yield `${separator}\n${JSON.stringify(resultOf(finding, recording, report))}`
      separator = ','
    }
  }
  yield ']}]}\n'
}

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
const owaspName = 'OWASP MCP Top 10'

const categories: Readonly<Record<OwaspCategory, string>> = {
  MCP01: 'Token Mismanagement and Secret Exposure',
  MCP02: 'Privilege Escalation via Scope Creep',
  MCP03: 'Tool Poisoning',
  MCP04: 'Supply Chain and Dependency Tampering',
  MCP05: 'Command Injection and Execution',
  MCP06: 'Intent Flow Subversion',
  MCP07: 'Insufficient Authentication and Authorization',
  MCP08: 'Lack of Audit and Telemetry',
  MCP09: 'Shadow MCP Servers',
  MCP10: 'Context Injection and Over-Sharing',
}

function referenceTo(id: OwaspCategory): object {
  return { id, index: Object.keys(categories).indexOf(id), toolComponent: { name: owaspName, index: 0 } }
}

const sarifLevels: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'note' }

function resultOf(finding: ToldFinding, recording: CheckedRecording, { rules }: FindingsReport): object {
  const { rule, level, message, place, server, tool, hash, at, messages, suppressed } = finding
  const names = [server, tool].filter((name) => name !== undefined)
  return {
    ruleId: rule.id,
    ruleIndex: rules.findIndex(({ id }) => id === rule.id),
    level: sarifLevels[level],
    // A SARIF message is plain text in which brackets and braces denote links and arguments.
    message: { text: message.replaceAll(/[\\[\]]/g, String.raw`\$&`) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(place?.file ?? recording.files[0] ?? '') },
          region: { startLine: place?.line ?? 1 },
        },
        ...(names.length > 0 && {
          logicalLocations: [
            {
              name: names.at(-1),
              fullyQualifiedName: names.join('/'),
              kind: tool === undefined ? 'module' : 'function',
            },
          ],
        }),
      },
    ],
    partialFingerprints: { 'wiretape/v1': hash },
    properties: { session: recording.session, messages, ...(at !== undefined && { at }) },
    suppressions: suppressed ? [{ kind: 'external', justification: 'present in the baseline' }] : [],
  }
}

/** A relative reference, or a `file:` URI for an absolute path. */
function uriOf(file: string): string {
  const path = file
    .replaceAll('\\', '/')
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/')
  if (path.startsWith('/')) return `file://${path}`
  return /^[A-Za-z]%3A/.test(path) ? `file:///${path.replace('%3A', ':')}` : path
}
