//go:build !linux

package doctor

func findParent(string, int) int { return 0 }

func (d *doctor) checkProcess(name string, _ int) {
	d.addWarning(name, "",
		"unknown on this system whether your other processes can read its memory")
}

func (d *doctor) checkKernel() {
	d.addWarning("reclaim", "",
		"taking back agent input that the program has not read is untested on this system")
}
