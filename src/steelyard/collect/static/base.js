/** The address of a path of ours: the server may be below a path of its host, as this file is. */
export function at(path) {
  const { pathname, search } = new URL(`..${path}`, import.meta.url);
  return pathname + search;
}
