// Shows an error of the page, which would otherwise look alive and do nothing. It imports nothing,
// so that it works if another script does not load.

/** Shows only the first error: the others mostly follow from it. @param {string} message */
function showFault(message) {
  if (document.querySelector('.fault')) return;
  const text = message.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200);
  const line = document.createElement('p');
  line.className = 'fault';
  line.setAttribute('role', 'alert');
  const button = document.createElement('button');
  button.className = 'plain';
  button.textContent = 'reload';
  button.addEventListener('click', () => location.reload());
  line.append(`This page has a fault: ${text}; `, button);
  document.body.prepend(line);
}

// A script that does not load raises an event at its own element only, so this listens in the
// capture phase.
addEventListener(
  'error',
  (/** @type {Event} */ e) => {
    if (e instanceof ErrorEvent) showFault(e.message);
    else if (e.target instanceof HTMLScriptElement) showFault('a script did not load');
  },
  true,
);
addEventListener('unhandledrejection', ({reason}) =>
  showFault(reason instanceof Error ? reason.message : String(reason)),
);
