package overlay

// alert is what has the terminal show a notification.
type alert struct {
	question uint64
	control  []byte
}

// Alert has the terminal show a notification for a question, by control strings that change nothing on the screen, unless that has
// its answer by then.
func (s *Status) Alert(question uint64, control []byte) {
	s.mu.Lock()
	s.alert = alert{question, control}
	s.mu.Unlock()
	s.conf.Repaint()
}

// appendAlert appends what [Status.Alert] left, once. It belongs to the goroutine that draws: nothing is inserted into a sequence
// of the program's.
func (s *Status) appendAlert(dst []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.alert
	s.alert = alert{}
	if a.question != s.state.Question || !s.state.Asks() {
		return dst
	}
	return append(dst, a.control...)
}
