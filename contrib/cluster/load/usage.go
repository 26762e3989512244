package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"terminalproxy/contrib/cluster/rig"
)

// usage is what processes have taken.
type usage struct {
	at              time.Time
	gateways, nodes taken
}

type taken struct {
	memory float64 // bytes that are resident
	cpu    seconds
}

type seconds float64

func (s seconds) sub(before seconds) float64 { return float64(s - before) }

func measure(r *rig.Rig) (u usage) {
	u.at = time.Now()
	for _, g := range r.Gateways {
		u.gateways.add(g.Pid())
	}
	for _, n := range r.Nodes {
		u.nodes.add(n.Pid())
	}
	return u
}

// add adds what the kernel says of a process; see proc(5).
func (t *taken) add(pid int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return
	}
	for _, f := range fields[11:13] {
		ticks, _ := strconv.ParseFloat(f, 64)
		t.cpu += seconds(ticks / 100)
	}
	pages, _ := strconv.ParseFloat(fields[21], 64)
	t.memory += pages * float64(os.Getpagesize())
}

func (u usage) String() string {
	return fmt.Sprintf("gateways %.0f MiB, servers %.0f MiB", u.gateways.memory/(1<<20), u.nodes.memory/(1<<20))
}

// more is what was added for each session.
func (u usage) more(before usage) string {
	one := func(now, then float64) float64 { return (now - then) / float64(*sessions) / 1024 }
	return fmt.Sprintf("%s: %.1f and %.1f KiB more for each session", u, one(u.gateways.memory, before.gateways.memory), one(u.nodes.memory, before.nodes.memory))
}

// busy is the part of a processor that was used since.
func (u usage) busy(from usage) string {
	took := u.at.Sub(from.at).Seconds()
	return fmt.Sprintf("%.1f and %.1f %% of a processor", u.gateways.cpu.sub(from.gateways.cpu)/took*100, u.nodes.cpu.sub(from.nodes.cpu)/took*100)
}
