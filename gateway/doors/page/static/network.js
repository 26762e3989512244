/**
 * Checks the connection when it is quiet, and when the network or the person comes back.
 * @param {Connection} connection
 */
export function watchNetwork(connection) {
  addEventListener('online', () => connection.tryAgain());
  document.addEventListener('visibilitychange', () => document.hidden || connection.tryAgain());
  setInterval(() => document.hidden || connection.probeWhenQuiet(), 1000);
}
