package place

import (
	"sync"
	"time"
)

// pollEvery is how often names are checked if the system does not report changes.
const pollEvery = 2 * time.Second

// pollNames calls changed at regular intervals.
func pollNames(changed func()) (end func()) {
	done := make(chan struct{})
	var once sync.Once
	go func() { // ends with end
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				changed()
			}
		}
	}()
	return func() { once.Do(func() { close(done) }) }
}
