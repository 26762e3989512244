package fake

import "go.uber.org/goleak"

// Lingering ignores a goroutine that a net/http server may still have after a test: it waits half a
// second after the answer to a request that was not read to its end.
func Lingering() goleak.Option {
	return goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
}
