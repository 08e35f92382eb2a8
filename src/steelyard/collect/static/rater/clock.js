const IDLE_MS = 60_000;
const SIGNS_OF_LIFE = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart", "input"];

/** Time spent working: it stands still while the page is hidden and after a minute without any input. */
export class ActiveClock {
  #total = 0;
  #running = false;
  #hidden = false;
  #from = 0;
  #lastInput = 0;

  constructor({ now = () => performance.now(), page = document } = {}) {
    this.now = now;
    this.page = page;
    const alive = () => this.#touch();
    for (const sign of SIGNS_OF_LIFE) page.addEventListener(sign, alive, { passive: true, capture: true });
    page.addEventListener("visibilitychange", () => this.#count());
  }

  start(milliseconds = 0) {
    this.#total = milliseconds;
    this.#running = true;
    this.#hidden = this.page.hidden;
    this.#from = this.#lastInput = this.now();
  }

  stop() {
    this.#count();
    this.#running = false;
  }

  get milliseconds() {
    this.#count();
    return Math.round(this.#total);
  }

  /** Whether somebody is at work: the page is in sight, and was used within the last minute. */
  get isActive() { return !this.page.hidden && this.now() - this.#lastInput < IDLE_MS; }

  #touch() {
    this.#count();
    this.#lastInput = this.now();
  }

  /** Add the time since the last count, as far as it was active. */
  #count() {
    const now = this.now();
    if (this.#running && !this.#hidden) {
      this.#total += Math.max(0, Math.min(now, this.#lastInput + IDLE_MS) - this.#from);
    }
    this.#from = now;
    if (this.#hidden && !this.page.hidden) this.#lastInput = now;
    this.#hidden = this.page.hidden;
  }
}
