package screen

// op performs a control function; its parameters are in t.parse.
type op func(t *terminal)

// csiTable has the control sequences: CSI, the private marker if any, the parameters, the
// intermediate if any, and the final byte. A key is all of these but the parameters.
var csiTable *table

// escTable has the escape sequences: ESC, the intermediate if any, and the final byte.
var escTable *table

// table finds an operation by marker, intermediate and final byte. It is two small steps instead of
// a map, because programs send millions of these.
type table struct {
	ops   []op
	index [5 * 17 * 128]uint8 // 0 means no operation; ops[0] is unused
}

// sequence is an operation and its key, such as "m", "?h", " q" or "?$p".
type sequence struct {
	key string
	op  op
}

func newTable(entries []sequence) *table {
	t := &table{ops: make([]op, 1, len(entries)+2)}
	for _, e := range entries {
		t.add(e.key, e.op)
	}
	return t
}

// add enters o under a key.
func (t *table) add(key string, o op) {
	var marker, inter byte
	if key[0] >= '<' && key[0] <= '?' && len(key) > 1 {
		marker, key = key[0], key[1:]
	}
	if len(key) > 1 {
		inter, key = key[0], key[1:]
	}
	t.ops = append(t.ops, o)
	t.index[slot(marker, inter, key[0])] = uint8(len(t.ops) - 1)
}

func slot(marker, inter, final byte) int {
	i := 0
	if marker != 0 {
		i = int(marker-'<') + 1
	}
	i *= 17
	if inter != 0 {
		i += int(inter-0x20) + 1
	}
	return i*128 + int(final&0x7f)
}

// find returns the operation, or nil. A sequence with several intermediates is unknown.
func (t *table) find(marker, inter byte, inters int, final byte) op {
	if inters > 1 {
		return nil
	}
	if n := t.index[slot(marker, inter, final)]; n != 0 {
		return t.ops[n]
	}
	return nil
}
