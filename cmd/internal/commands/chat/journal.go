package chat

import (
	"errors"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/record"
)

// keepJournal writes a conversation to a new file, if name is not "". done closes the file and
// reports gaps.
func keepJournal(s *chat.Session, name string) (done func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := record.Create(name)
	if err != nil {
		return nil, cli.Fail(cli.StatusRefused, "--record-json: %w", err)
	}
	s.KeepJournal(chat.NewJournal(file))
	return func() error {
		if err := errors.Join(s.CloseJournal(), file.Close()); err != nil {
			return cli.Fail(cli.StatusRefused, "--record-json %s: %w", name, err)
		}
		return nil
	}, nil
}
