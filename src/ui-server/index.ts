export type {
  Catalogue,
  FoundMessage,
  ListedRecording,
  RecordedServer,
  SearchFound,
  UiRecorder,
} from './catalogue.js'
export type { CallToKeep, SavedCalls, SavedRun } from './saved.js'
export { startUiServer, type UiServer, type UiServerOptions } from './start.js'
