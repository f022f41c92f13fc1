import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { SqlOptions } from '../run/sql.js'

export function registerSql(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('sql')
    .summary('query recordings with SQL')
    .description(
      'Runs a query over all recordings of your data folder with DuckDB, an optional package. The views are ' +
        'messages, exchanges, sessions, tools, findings and others (stderr, noise, gaps, HTTP); ' +
        '"describe messages" lists their columns (docs/sql.md).',
    )
    .argument('<query>', 'a query in the SQL of DuckDB')
    .option('--in <name...>', "only these recordings: a label, a recording's name, a folder, a file")
    .option('--since <time>', 'only recordings with messages since: 7d, 12h, 2026-11-20')
    .option(
      '--at <store>',
      'query the recordings of a fleet in this store: s3://BUCKET or a folder (docs/fleet.md)',
    )
    .option('--json', 'print JSON: an array of objects')
    .option('--jsonl', 'print JSON, one row per line')
    .addHelpText(
      'after',
      `
Examples:
  wiretape sql 'select tool, calls, errors, p99_ms from tools order by p99_ms'
  wiretape sql "select response from exchanges where tool = 'search'" --in shop
  wiretape sql "select payload->>'$.params.arguments.path' as path, count(*)
    from messages where tool = 'read_file' group by path"
  wiretape sql 'select level, rule, count(*) from findings group by all' --json
  wiretape sql --at s3://recordings 'select tool, calls from tools'`,
    )
    .action(async (query: string, options: SqlOptions) => {
      const { runSql } = await import('../run/sql.js')
      outcome.code = await runSql(query, options, io)
    })
}
