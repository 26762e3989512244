// Package browser holds tests only: they open the page of gateway/page in headless Chromium and look at what stands there, with the
// terminal model on the one side and a scripted gateway on the other.
package browser
