package screen

// maxParams is the number of parameters kept of a sequence, as in xterm; maxParam is the largest
// value. What goes beyond is ignored, or stays at the limit.
const (
	maxParams = 32
	maxParam  = 65535
	// missing stands for a parameter that was left out, which some sequences tell from 0.
	missing = -1
)

// params are the numeric parameters of a control sequence.
type params struct {
	v [maxParams]int32
	// index of the parameter being read; number of parameters is n+1 once anything was read
	n    int
	subs uint32 // bit i: v[i] is a sub-parameter of the one before it (a colon stood between them)
}

// add takes a digit, a semicolon or a colon.
func (p *params) add(c byte) {
	switch {
	case c < ':':
		if p.n < maxParams {
			p.v[p.n] = min(max(p.v[p.n], 0)*10+int32(c-'0'), maxParam)
		}
	case p.n < maxParams:
		p.n++
		if p.n < maxParams {
			p.v[p.n] = missing
			if c == ':' {
				p.subs |= 1 << p.n
			}
		}
	}
}

// read takes the digits and semicolons at the front of b and returns their number.
func (p *params) read(b []byte) int {
	i := 0
	for n := 0; ; n++ {
		start, v := i, uint32(0)
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			v = v*10 + uint32(b[i]-'0')
		}
		if i == len(b) {
			return i
		}
		p.v[n] = number(v, b[start:i])
		if b[i] != ';' || n == maxParams-1 {
			p.n = n
			return i
		}
		i++
	}
}

// number returns the value of a parameter from v, that of its digits in 32 bits.
func number(v uint32, digits []byte) int32 {
	switch {
	case len(digits) == 0:
		return missing
	case len(digits) > 9: // v may have wrapped around
		v = 0
		for _, c := range digits {
			v = min(v*10+uint32(c-'0'), maxParam)
		}
	}
	return int32(min(v, maxParam))
}

// count returns the number of parameters; an empty list counts as one missing parameter.
func (p *params) count() int { return min(p.n+1, maxParams) }

// at returns parameter i, or def if it is missing.
func (p *params) at(i, def int) int {
	if i >= p.count() || p.v[i] < 0 {
		return def
	}
	return int(p.v[i])
}

// num returns parameter i for the functions where 0 means the default, 1 (ECMA-48 counts and
// positions).
func (p *params) num(i int) int { return max(p.at(i, 1), 1) }

// isSub says whether parameter i is a sub-parameter.
func (p *params) isSub(i int) bool { return p.subs&(1<<i) != 0 }
