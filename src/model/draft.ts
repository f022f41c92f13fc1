/** A value filled member by member before it is published: spreading costs more for millions of values. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] }
