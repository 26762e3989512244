package cluster

import (
	"context"
	"errors"
)

// Why the bus did not do what it was asked.
var (
	// errNobody: nobody listens to that subject, so that nothing has been done.
	errNobody = errors.New("nobody answers there")
	// errTaken: somebody else wrote that key meanwhile.
	errTaken = errors.New("the key was changed meanwhile")
	// errNoKey: there is no such key.
	errNoKey = errors.New("no such key")
	// errOffline: the bus is not reached now.
	errOffline = errors.New("the cluster is not reached")
)

// bus is what a cluster needs of NATS. All methods may be called from any goroutine.
type bus interface {
	// request sends data to whoever listens to the subject, and waits for the answer until ctx ends.
	request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// publish sends data to all who listen, and waits for nobody.
	publish(subject string, data []byte) error
	// listen calls take with what comes to the subject, one after the other, in a goroutine of the bus. answer may be called once, by
	// any goroutine.
	listen(subject string, take func(data []byte, answer func([]byte))) error
	// read is a key of the directory with its revision; errNoKey if there is none, with the revision of its removal. It and the next two wait for callTime at most.
	read(key string) (value []byte, revision uint64, err error)
	// write writes a key whose newest revision is still the one that is named, 0 for a key that never was there; else errTaken.
	write(key string, value []byte, revision uint64) (uint64, error)
	// remove is write, of a key that is no longer there.
	remove(key string, revision uint64) error
	// renewed reports whether the directory was lost since it was asked last, and made anew without its keys.
	renewed() bool
	// online reports whether the bus is reached now.
	online() bool
	// largest is how many bytes a message may have.
	largest() int
	// close ends everything.
	close()
}
