//go:build !linux

package place

func begin(_ string, changed func()) (end func()) { return poll(changed) }
