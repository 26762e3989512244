package cluster

import (
	"context"
	"errors"
)

// Errors of the bus.
var (
	// errNoListener: the subject has no listener, so nothing has been done.
	errNoListener = errors.New("no answer from there")
	// errTaken: another gateway wrote that key meanwhile.
	errTaken = errors.New("the key has changed meanwhile")
	// errNoKey: the key does not exist.
	errNoKey = errors.New("no such key")
	// errOffline: the bus cannot be reached now.
	errOffline = errors.New("the cluster cannot be reached")
)

// bus is the part of NATS that a cluster needs. All methods may be called from any goroutine.
type bus interface {
	// request sends data to the listener of the subject, and waits for the answer until ctx ends.
	request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// publish sends data to all listeners without waiting.
	publish(subject string, data []byte) error
	// listen calls handle for each message on the subject, one after the other, in a goroutine of
	// the bus. answer may be called once, by any goroutine.
	listen(subject string, take func(data []byte, answer func([]byte))) error
	// read returns a key of the directory with its revision; errNoKey if it does not exist, with
	// the revision of its removal. It and the next two wait for callTime at most.
	read(key string) (value []byte, revision uint64, err error)
	// write writes a key if revision is still its newest, 0 for a key that never existed; else it
	// returns errTaken.
	write(key string, value []byte, revision uint64) (uint64, error)
	// removeKey is write with a removal in place of a value.
	removeKey(key string, revision uint64) error
	// directoryRecreated reports whether the directory was lost since the last call, and created
	// again without its keys.
	directoryRecreated() bool
	// isOnline reports whether the bus can be reached now.
	isOnline() bool
	// maxMessageBytes is the largest size of a message.
	maxMessageBytes() int
	// close ends all listening and requests.
	close()
}
