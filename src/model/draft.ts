/** What is put together member by member before it is given away: spreading costs more, and there are millions of them. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] }
