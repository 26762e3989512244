package screen

// TextSink receives the printed text of the stream in the order of the stream, so that a
// line-oriented view can be kept beside the screen with the same parser. All calls come from Feed,
// in its goroutine; slices are valid only during the call. A soft wrap at the right edge is not
// reported: the text simply goes on.
type TextSink interface {
	Print(run []byte)  // printable UTF-8, never empty; what was not valid is U+FFFD
	Control(c byte)    // BS, HT, LF (also for VT, FF, NEL and IND) or CR
	Column(col int)    // the cursor moved within its row
	Row(col int)       // the cursor moved to another row, into column col
	Erase(mode int)    // EL 0 (right of the cursor), 1 (left) or 2 (all) of the cursor's row
	EraseChars(n int)  // ECH
	InsertChars(n int) // ICH
	DeleteChars(n int) // DCH
	Clear()            // the whole screen was erased or switched
}

// noSink stands in where the caller wants no text.
type noSink struct{}

func (noSink) Print([]byte)    {}
func (noSink) Control(byte)    {}
func (noSink) Column(int)      {}
func (noSink) Row(int)         {}
func (noSink) Erase(int)       {}
func (noSink) EraseChars(int)  {}
func (noSink) InsertChars(int) {}
func (noSink) DeleteChars(int) {}
func (noSink) Clear()          {}
