package protocol

// RecordsList asks for the recordings of the user's sessions. The server of the pages answers it
// and [RecordsRead], only for pages of owners: a gateway has no recordings.
type RecordsList struct {
	RequestID string `json:"requestId"`
}

// RecordsListResult lists the existing recordings, the newest first.
type RecordsListResult struct {
	RequestID string       `json:"requestId"`
	Records   []RecordInfo `json:"records"`
}

// RecordInfo is a recording. Its session is described as it was when the recording began.
type RecordInfo struct {
	RecordID  string   `json:"recordId"`
	SessionID string   `json:"sessionId,omitempty"` // "" without agents
	Command   string   `json:"command"`
	Args      []string `json:"args,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	StartedAt int64    `json:"startedAt"`
	// WrittenAt is when something was recorded last, and Running is set while its session
	// continues.
	WrittenAt int64 `json:"writtenAt"`
	Bytes     int64 `json:"bytes"`
	Running   bool  `json:"running,omitempty"`
}

// RecordsRead asks for a part of a recording as it is shown, or for the marks on its time line.
type RecordsRead struct {
	RequestID string `json:"requestId"`
	RecordID  string `json:"recordId"`
	// FromMs is the time of the first frame wanted, since the beginning, and EveryMs the least time
	// between two frames.
	FromMs  int64 `json:"fromMs,omitempty"`
	EveryMs int64 `json:"everyMs,omitempty"`
	// Marks asks for the marks and the length instead of frames.
	Marks bool `json:"marks,omitempty"`
}

// RecordsReadResult is a part of a recording.
type RecordsReadResult struct {
	RequestID string `json:"requestId"`
	RecordID  string `json:"recordId"`
	// Frames are screens, the first of them with all rows; together some 64 KiB unless one alone is
	// larger. NextMs is where to continue reading, and End is set if nothing more is recorded.
	Frames []RecordFrame `json:"frames,omitempty"`
	NextMs int64         `json:"nextMs,omitempty"`
	End    bool          `json:"end,omitempty"`
	// LengthMs and Marks answer a read with Marks.
	LengthMs int64  `json:"lengthMs,omitempty"`
	Marks    []Mark `json:"marks,omitempty"`
}

// RecordFrame is a screen of a recording, for a time since its beginning.
type RecordFrame struct {
	AtMs int64 `json:"atMs"`
	Rows *Rows `json:"rows"`
}

// Kinds of marks.
const (
	MarkInput = "input" // an agent typed: Name, Text
	MarkUser  = "user"  // the user typed, or Name elsewhere
	MarkEvent = "event" // anything else: Text describes it in a sentence
	MarkExit  = "exit"  // the program ended: Text is its status
)

// Mark is an event on the time line of a recording.
type Mark struct {
	AtMs int64  `json:"atMs"`
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
}

// MaxRecordMs bounds a time in a recording.
const MaxRecordMs = 1 << 50

func (m *RecordsList) check() error { return new(checks).id("requestId", m.RequestID).done() }

func (m *RecordsListResult) check() error { return nil }

func (m *RecordsRead) check() error {
	return new(checks).id("requestId", m.RequestID).id("recordId", m.RecordID).
		upTo("fromMs", m.FromMs, MaxRecordMs).upTo("everyMs", m.EveryMs, MaxWaitMs).
		done()
}

func (m *RecordsReadResult) check() error { return nil }
