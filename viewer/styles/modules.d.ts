declare module '*.css'
declare module 'shared-with-views' {
  /** Modules that the third script uses from the page. */
  export const shared: unknown
}
