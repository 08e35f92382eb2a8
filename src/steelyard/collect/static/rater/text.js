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

/** Words that may differ before they are no longer counted. */
const MOST_CHANGES = 256;

/** How many words differ: the edit distance between the words of two texts; Infinity if they are too many to count. */
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
  // Within a band of so many words, widened until the distance fits: the cost grows with the changes, not the text.
  for (let band = 8; band <= MOST_CHANGES; band *= 2) {
    const found = within(a, b, band);
    if (found <= band) return found;
  }
  return Infinity;
}

/** The edit distance of two lists if it is at most `band`; else something greater. */
function within(a, b, band) {
  if (Math.abs(a.length - b.length) > band) return Infinity;
  let row = new Array(b.length + 1).fill(Infinity);
  for (let j = 0; j <= Math.min(band, b.length); j += 1) row[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    const from = Math.max(1, i - band);
    const to = Math.min(b.length, i + band);
    let diagonal = row[from - 1];
    row[from - 1] = from === 1 && i <= band ? i : Infinity;
    for (let j = from; j <= to; j += 1) {
      const above = j === i + band ? Infinity : row[j];
      row[j] = Math.min(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1));
      diagonal = above;
    }
  }
  return row[b.length];
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
