package overlay

// alert makes the terminal show a notification.
type alert struct {
	question uint64
	control  []byte
}

// ShowAlert makes the terminal show a notification for a question, unless the question has been
// answered by then. The control strings change nothing on the screen.
func (s *Status) ShowAlert(question uint64, control []byte) {
	s.mu.Lock()
	s.alert = alert{question, control}
	s.mu.Unlock()
	s.conf.Repaint()
}

// appendAlert appends the control string of [Status.ShowAlert], once. The goroutine that draws
// calls it, so that the string never lands inside a sequence of the program.
func (s *Status) appendAlert(dst []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.alert
	s.alert = alert{}
	if a.question == 0 || a.question != s.state.Question.Turn {
		return dst
	}
	return append(dst, a.control...)
}
