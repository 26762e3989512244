package fake

import "go.uber.org/goleak"

// Lingering ignores a goroutine that a net/http server may still have after a test: the server
// waits half a second after the answer to a request that it did not read completely.
func Lingering() goleak.Option {
	return goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
}
