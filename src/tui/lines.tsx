import { Box, Text, type TextProps } from 'ink'
import { createContext, memo, useContext, type ReactElement } from 'react'
import type { Line, Tone } from './spans.js'

/** False where the user wants no colours: what matters is said by signs and weight too. */
export const Colours = createContext(true)

const looks: Readonly<Record<Tone, TextProps>> = {
  plain: {},
  dim: { dimColor: true },
  red: { color: 'red' },
  green: { color: 'green' },
  yellow: { color: 'yellow' },
  blue: { color: 'blue' },
  magenta: { color: 'magenta' },
  cyan: { color: 'cyan' },
  bold: { bold: true },
  inverse: { inverse: true },
}

/** One line, its pieces in their tones. */
export const LineText = memo(function LineText({
  line,
  selected = false,
}: {
  readonly line: Line
  readonly selected?: boolean
}): ReactElement {
  const colours = useContext(Colours)
  return (
    <Text wrap="truncate" inverse={selected}>
      {line.length === 0
        ? ' '
        : line.map(({ text, tone }, i) => (
            <Text key={i} {...lookOf(tone, colours && !selected)}>
              {text}
            </Text>
          ))}
    </Text>
  )
})

function lookOf(tone: Tone, colours: boolean): TextProps {
  if (colours || tone === 'bold' || tone === 'inverse') return looks[tone]
  return {}
}

/** Exactly `height` lines: what is too much is cut, what is missing is empty. */
export function Lines({
  lines,
  height,
  selected = -1,
}: {
  readonly lines: readonly Line[]
  readonly height: number
  /** The line that is marked. */
  readonly selected?: number
}): ReactElement {
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      {Array.from({ length: height }, (_, i) => (
        <LineText key={i} line={lines[i] ?? []} selected={i === selected} />
      ))}
    </Box>
  )
}
