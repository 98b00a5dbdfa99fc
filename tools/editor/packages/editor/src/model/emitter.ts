/** Subscriptions by key: a change of one block wakes only those who look at that block. */
export class Emitter<Key> {
  private readonly listeners = new Map<Key, Set<() => void>>();

  /** Calls `listener` whenever `key` is emitted; the answer ends that. */
  on(key: Key, listener: () => void): () => void {
    let set = this.listeners.get(key);
    if (!set) this.listeners.set(key, (set = new Set()));
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.listeners.get(key) === set) this.listeners.delete(key);
    };
  }

  emit(key: Key): void {
    const set = this.listeners.get(key);
    if (set) for (const listener of [...set]) listener();
  }

  /** Wakes everyone. */
  emitAll(): void {
    for (const key of [...this.listeners.keys()]) this.emit(key);
  }

  /** The keys that someone listens to. */
  keys(): Key[] {
    return [...this.listeners.keys()];
  }
}

/** A value that React components read with useSyncExternalStore. */
export class Cell<T> {
  private readonly listeners = new Set<() => void>();
  constructor(private current: T) {}

  get = (): T => this.current;

  set = (next: T): void => {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  };

  update(change: (now: T) => T): void {
    this.set(change(this.current));
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
