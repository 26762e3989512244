package place

import (
	"sync"
	"time"
)

// pollEvery is how often names are looked at where the system does not tell.
const pollEvery = 2 * time.Second

// poll calls changed in a rhythm.
func poll(changed func()) (end func()) {
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
