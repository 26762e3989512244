package screen

import "sync"

// makeTables makes the tables of the parser, for the first terminal: a process without one does not
// pay for them.
var makeTables = sync.OnceFunc(func() {
	transitions, csiTable, escTable = makeTransitions(), makeCSI(), makeESC()
})

func makeCSI() *table { return newTable(controlSequences[:]) }

func makeESC() *table { return newTable(escapeSequences[:]).designators() }

// controlSequences are those of CSI. The linker lays out an array of functions; a map would be built
// by code, one key after the other.
var controlSequences = [...]sequence{
	// Cursor: motion.go.
	{"A", (*terminal).CUU},
	{"B", (*terminal).CUD},
	{"C", (*terminal).CUF},
	{"D", (*terminal).CUB},
	{"E", (*terminal).CNL},
	{"F", (*terminal).CPL},
	{"G", (*terminal).CHA},
	{"`", (*terminal).CHA}, // HPA
	{"H", (*terminal).CUP},
	{"f", (*terminal).CUP}, // HVP
	{"I", (*terminal).CHT},
	{"Z", (*terminal).CBT},
	{"a", (*terminal).HPR},
	{"j", (*terminal).HPB},
	{"d", (*terminal).VPA},
	{"e", (*terminal).VPR}, // VPB, k, is ignored by all terminals in use
	{"g", (*terminal).TBC},
	{"?W", (*terminal).DECST8C},
	{"s", (*terminal).DECSLRM},
	{"u", (*terminal).DECRC}, // also SCOSC and SCORC
	{"r", (*terminal).DECSTBM},

	// Editing: edit.go.
	{"@", (*terminal).ICH},
	{"P", (*terminal).DCH},
	{"L", (*terminal).IL},
	{"M", (*terminal).DL},
	{"S", (*terminal).SU},
	{"T", (*terminal).SD},
	{"^", (*terminal).SD},
	{" @", (*terminal).SL},
	{" A", (*terminal).SR},
	{"'}", (*terminal).DECIC},
	{"'~", (*terminal).DECDC},
	{"b", (*terminal).REP},

	// Erasing: erase.go.
	{"J", (*terminal).ED},
	{"K", (*terminal).EL},
	{"X", (*terminal).ECH},
	{"?J", (*terminal).DECSED},
	{"?K", (*terminal).DECSEL},
	{"\"q", (*terminal).DECSCA},

	// Rectangles: rect.go.
	{"$v", (*terminal).DECCRA},
	{"$x", (*terminal).DECFRA},
	{"$z", (*terminal).DECERA},
	{"${", (*terminal).DECSERA},
	{"$r", (*terminal).DECCARA},
	{"$t", (*terminal).DECRARA},
	{"*x", (*terminal).DECSACE},

	// Rendition: sgr.go.
	{"m", (*terminal).SGR},
	{"#{", (*terminal).XTPUSHSGR},
	{"#p", (*terminal).XTPUSHSGR},
	{"#}", (*terminal).XTPOPSGR},
	{"#q", (*terminal).XTPOPSGR},

	// Modes: mode.go and keyboard.go.
	{"h", (*terminal).SM},
	{"l", (*terminal).RM},
	{"?h", (*terminal).DECSET},
	{"?l", (*terminal).DECRST},
	{"?s", (*terminal).XTSAVE},
	{"?r", (*terminal).XTRESTORE},
	{" q", (*terminal).DECSCUSR},
	{"!p", (*terminal).DECSTR},
	{">u", (*terminal).KittyPush},
	{"<u", (*terminal).KittyPop},
	{"=u", (*terminal).KittySet},
	{"?u", (*terminal).KittyQuery},
	{">m", (*terminal).XTMODKEYS},
	{">n", (*terminal).XTUNMODKEYS},
	{">f", (*terminal).XTFMTKEYS},

	// Reports: report.go.
	{"c", answer(da1)},
	{">c", answer(da2)},
	{"=c", answer(da3)},
	{">q", answer(xtversion)},
	{"n", (*terminal).DSR},
	{"?n", (*terminal).DECDSR},
	{"$p", (*terminal).DECRQM},
	{"?$p", (*terminal).DECRQMPrivate},
	{"t", (*terminal).XTWINOPS},
	{"x", (*terminal).DECREQTPARM},
	{"?m", (*terminal).XTQMODKEYS},
}

// escapeSequences are those of ESC alone.
var escapeSequences = [...]sequence{
	{"7", (*terminal).DECSC},
	{"8", (*terminal).DECRC},
	{"D", (*terminal).IND},
	{"E", (*terminal).NEL},
	{"M", (*terminal).RI},
	{"H", (*terminal).HTS},
	{"6", (*terminal).DECBI},
	{"9", (*terminal).DECFI},
	{"=", (*terminal).DECKPAM},
	{">", (*terminal).DECKPNM},
	{"N", (*terminal).SS2},
	{"O", (*terminal).SS3},
	{"n", (*terminal).LS2},
	{"o", (*terminal).LS3},
	{"V", (*terminal).SPA},
	{"W", (*terminal).EPA},
	{"Z", answer(da1)},
	{"c", (*terminal).RIS},
	{"#8", (*terminal).DECALN},
	{" F", (*terminal).S7C1T},
	{" G", (*terminal).S8C1T},
}

// designators adds SCS for every set and every slot.
func (t *table) designators() *table {
	t.ops = append(t.ops, (*terminal).SCS)
	for _, inter := range []byte("()*+-./") {
		for final := byte(0x30); final < 0x7f; final++ {
			t.index[slot(0, inter, final)] = uint8(len(t.ops) - 1)
		}
	}
	return t
}
