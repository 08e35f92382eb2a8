/** Which texts to compare have been in sight: on a phone the second stands below the first. */
export class Sight {
  #unseen = new Set();

  constructor(places) {
    this.places = [...places];
    this.watch = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.#unseen.delete(target);
    });
  }

  /** Begin with new texts: none has been seen yet. */
  begin() {
    this.watch.disconnect();
    this.#unseen = new Set(this.places);
    for (const place of this.places) this.watch.observe(place);
  }

  /** The first text, of those on the page, that was not in sight; null if all were. */
  unseen() {
    return this.places.find((place) => this.#unseen.has(place) && place.offsetParent) ?? null;
  }
}
