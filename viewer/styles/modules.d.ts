declare module '*.css'
declare module 'shared-by-page' {
  /** Modules that other scripts use from the page. */
  export const shared: unknown
}
