import { segments, wholeWords } from "./text.js";
import { t } from "./texts.js";

/**
 * A text in which words can be marked: drag over them; tap the first and the last; or with the keys,
 * arrows to move, Space on the first word and on the last. A click or Space on a mark removes it.
 *
 * It holds no marks of its own: it asks by the events `mark-add` (`detail.start`, `.end`) and
 * `mark-remove` (`detail.index`), and draws the `ranges` that it is given, in UTF-16 units.
 */
export class Marker extends HTMLElement {
  #text = "";
  #ranges = [];
  #cursor = null;
  #anchor = null;
  #pressed = false;
  #dragged = false;
  #touch = false;

  connectedCallback() {
    if (this.ready) return;
    this.ready = true;
    this.setAttribute("dir", "auto");
    this.setAttribute("role", "application");
    this.addEventListener("pointerdown", (event) => { this.#touch = event.pointerType === "touch"; });
    this.addEventListener("mousedown", () => {
      this.#pressed = true;
      this.#dragged = false;
      // a drag may end outside the text
      this.ownerDocument.addEventListener("mouseup", () => this.#released(), { once: true });
    });
    this.addEventListener("click", (event) => this.#clicked(event));
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("focus", () => this.#showCursor());
    this.addEventListener("blur", () => this.#hideCursor());
    this.#draw();
  }

  get text() { return this.#text; }

  set text(text) {
    this.#text = text;
    this.#ranges = [];
    this.#cursor = this.#anchor = null;
    this.#draw();
  }

  set ranges(ranges) {
    this.#ranges = ranges;
    this.#draw();
  }

  /** Off: the text is only there to be read. */
  set active(on) {
    this.toggleAttribute("data-active", on);
    if (on) this.setAttribute("tabindex", "0");
    else this.removeAttribute("tabindex");
    this.setAttribute("role", on ? "application" : "group");
    this.#anchor = null;
    this.#draw();
  }

  get active() { return this.hasAttribute("data-active") && this.closest("fieldset:disabled") === null; }

  #draw() {
    this.replaceChildren();
    const cuts = new Set(this.#ranges.flatMap(([start, end]) => [start, end]));
    const marks = this.#ranges.map(([, , kind, rank], index) => {
      const mark = document.createElement("mark");
      mark.dataset.index = String(index);
      if (kind) mark.dataset.kind = kind;
      if (rank > 0) mark.dataset.rank = String(rank);
      return mark;
    });
    for (const part of segments(this.#text).flatMap((each) => divided(each, cuts))) {
      const piece = document.createElement("span");
      piece.textContent = this.#text.slice(part.start, part.end);
      piece.dataset.start = String(part.start);
      piece.dataset.end = String(part.end);
      if (part.word || (this.hasAttribute("punctuation") && !part.space)) piece.dataset.word = "";
      const index = this.#ranges.findIndex(([start, end]) => start <= part.start && part.end <= end);
      if (index < 0) this.append(piece);
      else {
        if (!marks[index].isConnected) this.append(marks[index]);
        marks[index].append(piece);
      }
    }
    this.#showCursor();
  }

  get #words() { return [...this.querySelectorAll("[data-word]")]; }

  #released() {
    if (!this.#pressed) return;
    this.#pressed = false;
    const selection = this.ownerDocument.getSelection();
    if (!this.active || selection.isCollapsed || selection.rangeCount === 0) return;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(this)) return;
    const start = this.contains(range.startContainer) ? this.#offset(range.startContainer, range.startOffset) : 0;
    const end = this.contains(range.endContainer) ? this.#offset(range.endContainer, range.endOffset) : this.#text.length;
    this.#dragged = true;
    selection.removeAllRanges();
    this.#add(start, end);
  }

  #offset(node, offset) {
    const before = this.ownerDocument.createRange();
    before.selectNodeContents(this);
    before.setEnd(node, offset);
    return before.toString().length;
  }

  #clicked(event) {
    if (!this.active || this.#dragged) return;
    const mark = event.target.closest("mark");
    if (mark && this.#anchor === null) this.#remove(Number(mark.dataset.index));
    else if (this.#touch) {
      const word = event.target.closest("[data-word]") ?? this.#nearest(event.clientX, event.clientY);
      if (word) this.#pick(Number(word.dataset.start));
    }
  }

  /** The word nearest to where a finger touched, which may be the space beside it; null if there is none within a line. */
  #nearest(x, y) {
    const gap = (low, value, high) => Math.max(low - value, 0, value - high);
    const far = (box) => Math.hypot(gap(box.left, x, box.right), gap(box.top, y, box.bottom));
    let [found, least] = [null, Infinity];
    for (const word of this.#words) {
      for (const box of word.getClientRects()) {
        if (far(box) < Math.min(least, box.height)) [found, least] = [word, far(box)];
      }
    }
    return found;
  }

  #add(start, end) {
    const words = wholeWords(this.#text, start, end);
    if (words === null) return;
    this.#tell("mark-add", { start: words[0], end: words[1] });
  }

  #remove(index) {
    this.#tell("mark-remove", { index });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  /** Choose a word: the first call begins a mark, the second ends it. */
  #pick(start) {
    this.#cursor = start;
    if (this.#anchor === null) {
      this.#anchor = start;
      this.#showCursor();
      this.#tell("mark-say", { text: t("mark-begins") });
      return;
    }
    const [low, high] = [Math.min(this.#anchor, start), Math.max(this.#anchor, start)];
    this.#anchor = null;
    this.#add(low, this.#wordAt(high).end);
  }

  #wordAt(start) {
    const piece = this.#words.find((word) => Number(word.dataset.end) > start) ?? this.#words.at(-1);
    return { piece, start: Number(piece.dataset.start), end: Number(piece.dataset.end) };
  }

  #key(event) {
    if (!this.active || event.ctrlKey || event.metaKey || event.altKey || this.#words.length === 0) return;
    const forward = getComputedStyle(this).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const moves = { Home: "first", End: "last", ArrowUp: "above", ArrowDown: "below" };
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.#move(event.key === forward ? "next" : "before");
    else if (event.key in moves) this.#move(moves[event.key]);
    else if (event.key === " ") this.#space();
    else if (event.key === "Enter" && this.#anchor !== null) this.#pick(this.#cursor);
    else if ((event.key === "Delete" || event.key === "Backspace") && this.#markAtCursor() !== null) this.#remove(this.#markAtCursor());
    else if (event.key === "Escape" && this.#anchor !== null) {
      this.#anchor = null;
      this.#showCursor();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #markAtCursor() {
    const mark = this.#wordAt(this.#cursor ?? 0).piece.closest("mark");
    return mark ? Number(mark.dataset.index) : null;
  }

  #space() {
    const { start } = this.#wordAt(this.#cursor ?? 0);
    if (this.#anchor === null && this.#markAtCursor() !== null) this.#remove(this.#markAtCursor());
    else this.#pick(start);
  }

  #move(where) {
    const words = this.#words;
    const at = words.indexOf(this.#wordAt(this.#cursor ?? 0).piece);
    const places = { next: at + 1, before: at - 1, first: 0, last: words.length - 1 };
    const target = where in places ? places[where] : this.#vertical(words, at, where === "below" ? 1 : -1);
    this.#cursor = Number(words[Math.max(0, Math.min(target, words.length - 1))].dataset.start);
    this.#showCursor();
    const { piece } = this.#wordAt(this.#cursor);
    piece.scrollIntoView({ block: "nearest" });
    this.#tell("mark-say", { text: piece.closest("mark") ? t("word-marked", { word: piece.textContent }) : piece.textContent });
  }

  /** The word of the line above or below that stands nearest. */
  #vertical(words, at, sign) {
    const boxes = words.map((word) => word.getBoundingClientRect());
    const here = boxes[at];
    const height = here.height || 1;
    const lines = boxes.map((box) => sign * (box.top - here.top)).map((gap) => (gap > height / 2 ? gap : Infinity));
    const nearest = Math.min(...lines);
    if (nearest === Infinity) return at;
    const middle = (box) => (box.left + box.right) / 2;
    const far = (index) => (lines[index] < nearest + height / 2 ? Math.abs(middle(boxes[index]) - middle(here)) : Infinity);
    return words.reduce((best, _, index) => (far(index) < far(best) ? index : best), lines.indexOf(nearest));
  }

  #hideCursor() {
    for (const piece of this.querySelectorAll(".cursor")) piece.classList.remove("cursor");
  }

  #showCursor() {
    this.#hideCursor();
    for (const piece of this.querySelectorAll(".pending")) piece.classList.remove("pending");
    if (!this.active || this.#words.length === 0) return;
    const here = this.#wordAt(this.#cursor ?? 0);
    if (this.#anchor !== null) {
      const [low, high] = [Math.min(this.#anchor, here.start), Math.max(this.#anchor, here.start)];
      for (const piece of this.querySelectorAll("[data-start]")) {
        const start = Number(piece.dataset.start);
        piece.classList.toggle("pending", low <= start && start <= high);
      }
    }
    if (this.ownerDocument.activeElement === this) here.piece.classList.add("cursor");
  }
}

/** Cut a segment where a range begins or ends inside it. */
function divided(part, cuts) {
  const inside = [...cuts].filter((cut) => part.start < cut && cut < part.end).sort((a, b) => a - b);
  const ends = [...inside, part.end];
  return ends.map((end, index) => ({ ...part, start: index ? ends[index - 1] : part.start, end }));
}

customElements.define("sy-marker", Marker);
