export type { Catalogue, ListedRecording } from './catalogue.js'
export { startUiServer, type UiServer, type UiServerOptions } from './start.js'
