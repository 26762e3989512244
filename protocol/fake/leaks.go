package fake

import "go.uber.org/goleak"

// Lingering is what a server of net/http may still do when a test is over: it waits half a second after its answer to a request that
// nobody read to the end.
func Lingering() goleak.Option {
	return goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
}
