package page

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// TestTheScriptsKnowTheMessages compares the types that make lint checks the scripts with to those
// of package protocol: each field exists there, and one that the wire may leave out is optional.
func TestTheScriptsKnowTheMessages(t *testing.T) {
	declared, err := os.ReadFile("messages.d.ts")
	require.NoError(t, err)
	fields := regexp.MustCompile(`(?m)^  (\w+)(\??): `)
	for name, message := range map[string]any{
		"KeyboardState":      protocol.Keyboard{},
		"Hidden":             protocol.Hidden{},
		"Decision":           protocol.Decision{},
		"SessionInfo":        protocol.SessionInfo{},
		"Incomplete":         protocol.Incomplete{},
		"Color":              protocol.Color{},
		"Wrap":               protocol.Wrap{},
		"Link":               protocol.Link{},
		"Found":              protocol.Found{},
		"FoundRow":           protocol.FoundRow{},
		"Cursor":             protocol.Cursor{},
		"ChangedRow":         protocol.Row{},
		"AgentTyped":         protocol.AgentTyped{},
		"ViewState":          protocol.ViewState{},
		"Rows":               protocol.Rows{},
		"SessionsChanged":    protocol.SessionsChanged{},
		"ChatState":          protocol.ChatState{},
		"ChatItem":           protocol.ChatItem{},
		"ChatPiece":          protocol.ChatPiece{},
		"ChatChoice":         protocol.ChatChoice{},
		"ChatOption":         protocol.ChatOption{},
		"ChatQuestion":       protocol.ChatQuestion{},
		"ChatRequest":        protocol.ChatRequest{},
		"ChatReply":          protocol.ChatReply{},
		"ChatClosed":         protocol.ChatClosed{},
		"ChatTurn":           protocol.ChatTurn{},
		"ChatRecord":         protocol.ChatRecord{},
		"ChatRecords":        protocol.ChatRecords{},
		"ChatSend":           protocol.ChatSend{},
		"ChatAnswer":         protocol.ChatAnswer{},
		"RecordInfo":         protocol.RecordInfo{},
		"RecordFrame":        protocol.RecordFrame{},
		"Mark":               protocol.Mark{},
		"ControlDecide":      protocol.ControlDecide{},
		"Keys":               protocol.Keys{},
		"Read":               protocol.Read{},
		"ReadResult":         protocol.ReadResult{},
		"RecordsRead":        protocol.RecordsRead{},
		"RecordsReadResult":  protocol.RecordsReadResult{},
		"SessionsListResult": protocol.SessionsListResult{},
		"SecretAsker":        protocol.SecretAsker{},
		"SecretAsk":          protocol.SecretAsk{},
		"SecretEnded":        protocol.SecretEnded{},
		"SecretReply":        protocol.SecretReply{},
	} {
		_, body, ok := strings.Cut(string(declared), "\ninterface "+name+" {\n")
		require.True(t, ok, name)
		body, _, _ = strings.Cut(body, "\n}")
		found := fields.FindAllStringSubmatch(body, -1)
		require.NotEmpty(t, found, name)
		tags := jsonTags(reflect.TypeOf(message))
		for _, field := range found {
			tag, ok := tags[field[1]]
			require.True(t, ok, "%s.%s: the message has no such field", name, field[1])
			sent := name == "ChatSend" || name == "ChatAnswer" // the page leaves out less
			if strings.Contains(tag, ",omitempty") && !sent {
				require.Equal(t, "?", field[2], "%s.%s may be left out", name, field[1])
			}
		}
	}
}

// jsonTags returns the tags of a struct's fields by the name on the wire.
func jsonTags(message reflect.Type) map[string]string {
	tags := make(map[string]string)
	for _, field := range reflect.VisibleFields(message) {
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		tags[name] = tag
	}
	return tags
}
