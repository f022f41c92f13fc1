/** The package is optional, and not among those that developers install. Its shape is `DuckDb`. */
declare module '@duckdb/node-api'
