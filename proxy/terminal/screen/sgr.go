package screen

// SGR sets how the characters that follow look (ECMA-48 8.3.117; ctlseqs for colours and
// underlines).
func (t *terminal) SGR() {
	p := &t.parse.params
	for i := 0; i < p.count(); {
		i += t.sgr(p, i)
	}
	t.penDirty = true
}

// sgr performs the parameter at i and returns how many it took, with its sub-parameters.
func (t *terminal) sgr(p *params, i int) int {
	n := 1
	if p.subs != 0 {
		for i+n < p.count() && p.isSub(i+n) {
			n++
		}
	}
	switch v := p.at(i, 0); {
	case v == 4 && n > 1:
		if u := p.at(i+1, 0); u <= int(DashedUnderline) {
			t.pen.underline = Underline(u)
		}
	case v < 30:
		t.setAttr(v)
	case v == 38 || v == 48 || v == 58:
		c, took, ok := p.color(i, n)
		if ok {
			t.setColor(v, c)
		}
		return took
	case v >= 30 && v <= 37:
		t.pen.fg = Indexed(uint8(v - 30))
	case v >= 40 && v <= 47:
		t.pen.bg = Indexed(uint8(v - 40))
	case v >= 90 && v <= 97:
		t.pen.fg = Indexed(uint8(v - 90 + 8))
	case v >= 100 && v <= 107:
		t.pen.bg = Indexed(uint8(v - 100 + 8))
	default:
		t.setAttr(v)
	}
	return n
}

// attrCodes are the SGR codes that set and clear the attributes, in the order of these.
var attrCodes = [...]struct{ set, clear uint8 }{
	{1, 22},
	{2, 22},
	{3, 23},
	{5, 25},
	{6, 25},
	{7, 27},
	{8, 28},
	{9, 29},
	{53, 55},
}

// codeAttrs are the attributes that an SGR code sets or clears.
var codeAttrs = func() (t [64]struct{ set, clear Attr }) {
	for i, code := range attrCodes {
		t[code.set].set |= 1 << i
		t[code.clear].clear |= 1 << i
	}
	return t
}()

// setAttr performs the SGR codes that are not colours.
func (t *terminal) setAttr(v int) {
	s := &t.pen
	switch v {
	case 0: // neither protection nor the hyperlink are graphic rendition
		*s = style{attrs: s.attrs & Protected, link: s.link}
	case 4:
		s.underline = SingleUnderline
	case 21:
		s.underline = DoubleUnderline
	case 24:
		s.underline = NoUnderline
	case 39:
		s.fg = 0
	case 49:
		s.bg = 0
	case 59:
		s.ul = 0
	default:
		if v < len(codeAttrs) {
			s.attrs = s.attrs&^codeAttrs[v].clear | codeAttrs[v].set
		}
	}
}

func (t *terminal) setColor(v int, c Color) {
	switch v {
	case 38:
		t.pen.fg = c
	case 48:
		t.pen.bg = c
	default:
		t.pen.ul = c
	}
}

// color reads the extended colour that starts at parameter i (38, 48 or 58), which has n-1
// sub-parameters. Colons follow ITU T.416 (38:5:n, 38:2::r:g:b, and 38:2:r:g:b as many wrote it);
// semicolons are the older form.
func (p *params) color(i, n int) (c Color, took int, ok bool) {
	if n > 1 {
		switch p.at(i+1, 0) {
		case 5:
			c, ok = indexed(p.at(i+2, -1))
		case 2:
			at := i + 2
			if n >= 6 {
				at++ // the colour space
			}
			c, ok = direct(p.at(at, 0), p.at(at+1, 0), p.at(at+2, 0))
			ok = ok && n >= 5
		}
		return c, n, ok
	}
	switch p.at(i+1, 0) {
	case 5:
		c, ok = indexed(p.at(i+2, 0))
		return c, 3, ok
	case 2:
		c, ok = direct(p.at(i+2, 0), p.at(i+3, 0), p.at(i+4, 0))
		return c, 5, ok
	}
	return 0, 1, false
}

func indexed(i int) (Color, bool) {
	if i < 0 || i > 255 {
		return 0, false
	}
	return Indexed(uint8(i)), true
}

func direct(r, g, b int) (Color, bool) {
	if r > 255 || g > 255 || b > 255 {
		return 0, false
	}
	return RGB(uint8(r), uint8(g), uint8(b)), true
}

// maxPens bounds the stack of XTPUSHSGR, as in xterm.
const maxPens = 10

// XTPUSHSGR saves the pen on a stack (ctlseqs, CSI # {). The parameters that choose attributes are
// ignored: all are saved.
func (t *terminal) XTPUSHSGR() {
	if len(t.pens) < maxPens {
		t.pens = append(t.pens, t.pen)
	}
}

// XTPOPSGR takes the pen from the stack (ctlseqs, CSI # }).
func (t *terminal) XTPOPSGR() {
	if n := len(t.pens); n > 0 {
		t.setPen(t.pens[n-1])
		t.pens = t.pens[:n-1]
	}
}
