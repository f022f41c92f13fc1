export type { Catalogue, FoundMessage, ListedRecording, SearchFound } from './catalogue.js'
export { startUiServer, type UiServer, type UiServerOptions } from './start.js'
