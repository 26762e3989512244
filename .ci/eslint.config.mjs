// Checks the page's scripts and their tests (make lint).
import js from '@eslint/js';
import globals from 'globals';

const rules = {
  ...js.configs.recommended.rules,
  'eqeqeq': 'error',
  'max-len': ['error', {code: 100}],
  'no-implicit-coercion': ['error', {boolean: false}],
  // The gateway serves the scripts without lines that look like comments: stripComments.
  'no-restricted-syntax': [
    'error',
    {selector: 'TemplateElement[value.raw=/\\n/]', message: 'Text must not go over lines.'},
  ],
  'no-multi-str': 'error',
  'no-shadow': 'error',
  'no-throw-literal': 'error', // tsconfig.json counts on it
  'no-unused-vars': ['error', {argsIgnorePattern: '^_'}],
  'no-var': 'error',
  'one-var': ['error', 'never'],
  'prefer-const': 'error',
  'prefer-promise-reject-errors': 'error', // tsconfig.json counts on it
  // Programs' escape sequences and control characters are what the page reads and writes.
  'no-control-regex': 'off',
};

export default [
  {
    files: ['gateway/doors/page/static/*.js'],
    languageOptions: {globals: globals.browser},
    rules,
  },
  {
    // Made by a test, one line for each table.
    files: ['gateway/doors/page/static/widths.js'],
    rules: {'max-len': 'off'},
  },
  {
    files: ['gateway/doors/page/static-tests/*.js'],
    languageOptions: {globals: globals.node},
    rules,
  },
];
