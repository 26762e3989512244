import {h} from './dom.js';

/**
 * Buttons that fold a question over a screen to one line, and unfold it. On a phone it is folded
 * while the person types, until it is opened.
 * @param {{element: HTMLElement, disarmButtons(): void}} question @param {boolean} owner
 */
export function makeFold(question, owner) {
  const setOpen = (/** @type {boolean} */ on) => {
    question.element.classList.toggle('open', on);
    question.element.classList.toggle('later', !on);
    question.disarmButtons();
  };
  /** @param {string} label @param {boolean} on */
  const make = (label, on) =>
    h(
      'button',
      {type: 'button', class: on ? 'unfold' : 'put-off', onclick: () => setOpen(on)},
      label,
    );
  return {open: make(owner ? 'Answer' : 'Show', true), close: make('Later', false)};
}
