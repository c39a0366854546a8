/** Return the current CSRF token, or nothing: signing in again in another tab changes it. */
export function csrfToken() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
}
