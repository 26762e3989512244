package world

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
)

// Overheard records every frame of the wire that reaches an agent that subscribes and reads.
type Overheard struct {
	W   *World
	C   *client.Client
	ID  string
	Seq uint64 // of the last read while a secret was typed

	mu    sync.Mutex
	heard strings.Builder
}

func (w *World) Overhear(id string) *Overheard {
	w.T.Helper()
	ep, err := endpoint.Parse("unix:" + filepath.Join(w.Run(), "gateway.sock"))
	require.NoError(w.T, err)
	o := &Overheard{W: w, ID: id, C: client.New(client.Config{
		Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "listener", Key: strings.Repeat("k", 32),
	})}
	stream, err := o.C.Subscribe(w.Ctx, id, 0)
	require.NoError(w.T, err)
	ended := make(chan struct{})
	go func() { // ends with the client
		defer close(ended)
		for m := range stream {
			o.Note(m)
		}
	}()
	w.T.Cleanup(func() { _ = o.C.Close(); <-ended })
	return o
}

func (o *Overheard) Note(m protocol.Message) {
	frame, err := json.Marshal(m)
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(&o.heard, "%s %s %v\n", protocol.KindOf(m), frame, err)
}

func (o *Overheard) All() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heard.String()
}
