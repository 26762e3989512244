package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"terminalproxy/contrib/cluster/rig"
)

// usage is the resources that the processes used until a moment.
type usage struct {
	at              time.Time
	gateways, nodes resources
}

type resources struct {
	memory float64 // resident bytes
	cpu    seconds
}

type seconds float64

func (s seconds) sub(before seconds) float64 { return float64(s - before) }

func measureUsage(r *rig.Rig) (u usage) {
	u.at = time.Now()
	for _, g := range r.Gateways {
		u.gateways.addProcess(g.Pid())
	}
	for _, n := range r.Nodes {
		u.nodes.addProcess(n.Pid())
	}
	return u
}

// addProcess adds the resources of a process; see proc(5).
func (t *resources) addProcess(pid int) {
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
	return fmt.Sprintf("gateways %.0f MiB, servers %.0f MiB",
		u.gateways.memory/(1<<20), u.nodes.memory/(1<<20))
}

// describeGrowth compares the memory of each session with an earlier usage.
func (u usage) describeGrowth(before usage) string {
	perSession := func(now, then float64) float64 { return (now - then) / float64(*sessions) / 1024 }
	return fmt.Sprintf("%s: %.1f and %.1f KiB more for each session", u,
		perSession(u.gateways.memory, before.gateways.memory),
		perSession(u.nodes.memory, before.nodes.memory))
}

// describeLoad returns the processor share used since from.
func (u usage) describeLoad(from usage) string {
	took := u.at.Sub(from.at).Seconds()
	return fmt.Sprintf("%.1f and %.1f %% of a processor",
		u.gateways.cpu.sub(from.gateways.cpu)/took*100, u.nodes.cpu.sub(from.nodes.cpu)/took*100)
}
