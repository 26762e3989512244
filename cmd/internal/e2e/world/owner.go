package world

// Owner opens a separate window for an owner.
func (w *World) Owner(cols, rows int) *Terminal {
	w.T.Helper()
	o := w.Terminal(cols, rows)
	o.RunToEnd("gateway token create owner --role owner --save")
	o.Wait("saved in ")
	return o
}
