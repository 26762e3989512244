//go:build !linux

package main

func parent(string, int) int { return 0 }

func (d *doctor) process(name string, _ int) {
	d.warn(name, "", "whether other processes of yours can read its memory is not known on this system")
}

func (d *doctor) machine() {
	d.warn("reclaim", "", "that what an agent typed and the program has not read is taken back was never tried on this system")
}
