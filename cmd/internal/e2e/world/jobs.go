package world

import (
	"os"
	"strings"
)

// InFront reports whether a program of that name runs in the foreground of its terminal (proc(5),
// stat).
func (w *World) InFront(name string) bool {
	for _, process := range w.Processes() {
		pid, _, _ := strings.Cut(process, " ")
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, rest, ok := strings.Cut(string(stat), "("+name+") ")
		if f := strings.Fields(rest); ok && len(f) > 5 && f[0] != "T" && f[2] == f[5] {
			return true
		}
	}
	return false
}
