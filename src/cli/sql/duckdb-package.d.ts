/** The package is optional and not a development dependency. Its shape is `DuckDb`. */
declare module '@duckdb/node-api'
