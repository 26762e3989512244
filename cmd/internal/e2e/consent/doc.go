// Package consent holds the end-to-end tests of who may type and who may see: questions, grants,
// levels, take-backs, secrets, rules. It has no code of its own.
package consent
