package screen

// sweep drops the styles and clusters without a use on the screens, and the hyperlinks without one
// on the screens or in the history, when one of their tables has grown to its limit. Each sweep at
// least doubles the room above what is in use, so its cost is spread over the output since the last
// one.
func (t *terminal) sweep() {
	if t.links.isFull() {
		t.sweepStyles()
		t.sweepLinks()
	}
	if t.styles.isFull() {
		t.sweepStyles()
	}
	if t.clusters.isFull() {
		t.sweepClusters()
	}
}

// eachGrid calls f for the main screen and, if there is one, the alternate screen.
func (t *terminal) eachGrid(f func(*grid)) {
	f(t.main)
	if t.alt != nil {
		f(t.alt)
	}
}

func (t *terminal) sweepStyles() {
	old := t.styles.list
	renumber := append(t.renumber[:0], make([]uint32, len(old))...) // 0: not in use
	t.renumber = renumber
	list := append(t.styles.spare[:0], style{})
	use := func(id uint32) uint32 {
		if id != 0 && renumber[id] == 0 {
			renumber[id] = uint32(len(list))
			list = append(list, old[id])
		}
		return renumber[id]
	}
	t.work += len(old)
	t.eachGrid(func(g *grid) {
		for _, r := range g.rows {
			r.returnPart()
			t.work += r.used
			r.rest = r.rest.withStyle(use(r.rest.styleID()))
			if d := &r.deferred; d.kind != noneDeferred {
				d.blank = d.blank.withStyle(use(d.blank.styleID()))
			}
			for x, c := range r.cells[:r.used] {
				r.cells[x] = c.withStyle(use(c.styleID()))
			}
		}
	})
	t.styles.spare = old
	t.styles.rebuildFrom(list)
	t.restyler.forget()
	t.penDirty = true
}

func (t *terminal) sweepClusters() {
	old := t.clusters.texts
	t.clusters = newClusterTable()
	t.eachGrid(func(g *grid) {
		for _, r := range g.rows {
			r.returnPart()
			for x, c := range r.cells[:r.used] {
				if c.isCluster() {
					r.cells[x] = c&^codeMask | t.clusters.internText([]byte(old[c.code()]))
				}
			}
		}
	})
	t.clusters.limit = max(firstClusterLimit, 2*len(t.clusters.texts))
}

// sweepLinks renumbers the links. It must follow sweepStyles: then every style in the table is in
// use.
func (t *terminal) sweepLinks() {
	old := t.links
	t.links = linkTable{}
	list := t.styles.list
	use := func(n uint16) uint16 { return t.links.internLink(old.at(n)) }
	keep := func(s *style) {
		if s.link != 0 {
			s.link = use(s.link)
		}
	}
	for i := range list {
		keep(&list[i])
	}
	keep(&t.pen)
	t.eachGrid(func(g *grid) { keep(&g.saved.pen) })
	for i := range t.pens {
		keep(&t.pens[i])
	}
	t.hist.relinkRows(use)
	t.links.limit = min(2*len(t.links.list), maxLinks)
	t.styles.rebuildFrom(list)
	t.restyler.forget()
	t.penDirty = true
}
