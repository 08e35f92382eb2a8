/**
 * Offsets in texts. The page counts UTF-16 units, as the browser does;
 * answers count Unicode code points, as the server does.
 */

export function codePoints(text, unit) {
  let count = 0;
  for (const character of text) {
    if (unit <= 0) break;
    unit -= character.length;
    count += 1;
  }
  return count;
}

export function units(text, codePoint) {
  let count = 0;
  for (const character of text) {
    if (codePoint <= 0) break;
    codePoint -= 1;
    count += character.length;
  }
  return count;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Words, marks of punctuation and spaces, in order: `{start, end, word, space}`. */
export function segments(text) {
  return Array.from(segmenter.segment(text), ({ segment, index, isWordLike }) => ({
    start: index,
    end: index + segment.length,
    word: Boolean(isWordLike),
    space: segment.trim() === "",
  }));
}

/** Widen a range to whole words and drop spaces at its ends; null when nothing is left. */
export function wholeWords(text, start, end) {
  const touched = segments(text).filter((part) => part.start < end && part.end > start && !part.space);
  if (touched.length === 0) return null;
  return [touched[0].start, touched[touched.length - 1].end];
}

/** Sort ranges and merge those that overlap or touch. */
export function merged(ranges) {
  const result = [];
  for (const [start, end] of ranges.map((range) => [...range]).sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

/** How many words differ: the edit distance between the words of two texts. */
export function wordsChanged(before, after) {
  const words = (text) => segments(text).filter((part) => !part.space).map((part) => text.slice(part.start, part.end));
  let [a, b] = [words(before), words(after)];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  [a, b] = [a.slice(same), b.slice(same)];
  while (a.length && b.length && a[a.length - 1] === b[b.length - 1]) {
    a.pop();
    b.pop();
  }
  let row = b.map((_, j) => j + 1);
  a.forEach((word, i) => {
    let [diagonal, left] = [i, i + 1];
    row = row.map((above, j) => {
      const best = Math.min(above + 1, left + 1, diagonal + (word === b[j] ? 0 : 1));
      [diagonal, left] = [above, best];
      return best;
    });
  });
  return b.length ? row[b.length - 1] : a.length;
}

/** The pieces of a template such as `{fluency}`: names in braces are looked up, `{{` is a brace. */
export function filled(template, lookup) {
  return template.split(/(\{\{|\}\}|\{[\w-]+\})/).map((piece) => {
    if (piece === "{{" || piece === "}}") return piece[0];
    if (!/^\{[\w-]+\}$/.test(piece)) return piece;
    const isolated = document.createElement("bdi");
    isolated.textContent = lookup(piece.slice(1, -1));
    return isolated;
  });
}
