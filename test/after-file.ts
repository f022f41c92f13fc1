/**
 * Steps that end servers and remove folders after the tests of a file, for modules that several files import. Files
 * share a process, so a module runs once, and a hook of vitest in it would belong to the first file only.
 */
const undoings: (() => void)[] = []

export function afterFile(undo: () => void): void {
  undoings.push(undo)
}

/** Called by `test/setup.ts`. */
export function undoAll(): void {
  for (const undo of undoings.splice(0)) undo()
}
