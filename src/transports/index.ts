export { isForegroundGroup } from './stdio/foreground.js'
export { openOwnStdio, type ClientStreams } from './stdio/own-stdio.js'
export { runStdio, type StdioObserver, type StdioRun } from './stdio/run-stdio.js'
export { startServer, type NotStarted, type ServerExit, type ServerProcess } from './stdio/server-process.js'
