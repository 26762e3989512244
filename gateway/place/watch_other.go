//go:build !linux

package place

func watchNames(_ string, changed func()) (end func()) { return pollNames(changed) }
