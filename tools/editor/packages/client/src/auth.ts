/** Where the token is kept between loads of the page: the session's storage of the tab, or memory where that is closed to us. */
const key = "weft.token";

/** What the address that the program printed carries in its fragment. */
export interface Access {
  token: string | null;
  /** A page to open: its path in the folder. */
  page: string | null;
}

/**
 * Takes the token out of the address (`#token=...&page=...`), keeps it for reloads of this tab, and removes it from the address, so that it
 * stands neither in the history nor in what people copy.
 */
export function takeAccess(location: Location = window.location, history: History = window.history): Access {
  const fragment = new URLSearchParams(location.hash.replace(/^#/, ""));
  const given = fragment.get("token");
  const page = fragment.get("page");
  if (given) {
    store(given);
    fragment.delete("token");
    const rest = fragment.toString();
    history.replaceState(history.state, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
  }
  return { token: given ?? load(), page };
}

/** Forgets the token: the server does not take it any more. */
export function forgetToken(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // no storage: nothing was kept
  }
}

function store(token: string): void {
  try {
    sessionStorage.setItem(key, token);
  } catch {
    // no storage: the token lives as long as the page
  }
}

function load(): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
