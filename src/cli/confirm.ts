import { createInterface } from 'node:readline/promises'
import { hasAudience } from './io.js'

/** Whether a person can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && hasAudience()
}

/** Asks on the terminal. Ctrl-C and Ctrl-D mean no. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await prompt.question(`${question} [y/N] `)
    return /^y(es)?$/i.test(answer.trim())
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    process.stderr.write('\n')
    return false
  } finally {
    prompt.close()
  }
}
