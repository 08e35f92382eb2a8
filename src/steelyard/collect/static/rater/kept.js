/** Small things kept in the browser; without storage (a frame may have none) they live with the page. */
const memory = new Map();

export function keep(name, value) {
  memory.set(name, value);
  stored((storage) => storage.setItem(`steelyard.${name}`, JSON.stringify(value)));
}

export function kept(name) {
  const text = stored((storage) => storage.getItem(`steelyard.${name}`));
  return text ? JSON.parse(text) : memory.get(name) ?? null;
}

export function forget(name) {
  memory.delete(name);
  stored((storage) => storage.removeItem(`steelyard.${name}`));
}

/** Do something with the storage, if there is one with room. */
function stored(action) {
  try {
    return action(localStorage);
  } catch {
    return null;
  }
}
