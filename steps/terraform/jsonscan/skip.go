package jsonscan

// Skip consumes one value and keeps nothing of it.
func (s *Scanner) Skip() error {
	s.stack = s.stack[:0]
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		opened := false
		switch {
		case c == '"':
			s.pos++
			err = s.skipString()
		case c == '{' || c == '[':
			opened, err = s.open(c)
		case c == '-' || '0' <= c && c <= '9':
			err = s.number(nil)
		case c == 't':
			err = s.literal("true")
		case c == 'f':
			err = s.literal("false")
		case c == 'n':
			err = s.literal("null")
		default:
			err = s.fail("no value starts here")
		}
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if done, err := s.close(); done || err != nil {
			return err
		}
	}
}

// open consumes the start of an object or a list; false when it is empty, and so
// over.
func (s *Scanner) open(c byte) (bool, error) {
	s.pos++
	if s.depth+len(s.stack) >= Deepest {
		return false, s.fail("values lie too deep in each other")
	}
	next, err := s.next()
	if err != nil {
		return false, err
	}
	if next == c+2 { // the closing sign of either
		s.pos++
		return false, nil
	}
	s.stack = append(s.stack, c == '{')
	if c == '{' {
		return true, s.skipKey()
	}
	return true, nil
}

// close consumes what follows a value, up to the next one; done at the end of
// the outermost.
func (s *Scanner) close() (done bool, err error) {
	for len(s.stack) > 0 {
		top := len(s.stack) - 1
		c, err := s.next()
		if err != nil {
			return false, err
		}
		switch {
		case c == ',':
			s.pos++
			if s.stack[top] {
				return false, s.skipKey()
			}
			return false, nil
		case c == '}' && s.stack[top], c == ']' && !s.stack[top]:
			s.pos++
			s.stack = s.stack[:top]
		default:
			return false, s.fail("a comma or an end should be here")
		}
	}
	return true, nil
}

func (s *Scanner) skipKey() error {
	if err := s.expect('"', "a key should be here"); err != nil {
		return err
	}
	if err := s.skipString(); err != nil {
		return err
	}
	return s.expect(':', "a colon should follow the key")
}

// skipString consumes a string whose opening quote was consumed.
func (s *Scanner) skipString() error {
	for {
		b := s.buf[s.pos:s.end]
		i := 0
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		s.pos += i
		if i == len(b) {
			if !s.fill() {
				return s.fail("")
			}
			continue
		}
		switch b[i] {
		case '"':
			s.pos++
			return nil
		case '\\':
			s.pos++
			if _, err := s.escape(); err != nil {
				return err
			}
		default:
			return s.fail("a control character stands in a string")
		}
	}
}

// escape consumes what follows a backslash, and returns the code unit.
func (s *Scanner) escape() (rune, error) {
	if !s.more() {
		return 0, s.fail("")
	}
	c := s.buf[s.pos]
	plain := rune(-1)
	switch c {
	case '"', '\\', '/':
		plain = rune(c)
	case 'b':
		plain = '\b'
	case 'f':
		plain = '\f'
	case 'n':
		plain = '\n'
	case 'r':
		plain = '\r'
	case 't':
		plain = '\t'
	case 'u':
	default:
		return 0, s.fail("an escape is not known")
	}
	s.pos++
	if plain >= 0 {
		return plain, nil
	}
	var u rune
	for range 4 {
		if !s.more() {
			return 0, s.fail("")
		}
		d := hex(s.buf[s.pos])
		if d < 0 {
			return 0, s.fail("an escape is not hexadecimal")
		}
		u = u<<4 | d
		s.pos++
	}
	return u, nil
}

func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

func (s *Scanner) literal(word string) error {
	for i := range len(word) {
		if !s.more() || s.buf[s.pos] != word[i] {
			return s.fail("a word that is no value")
		}
		s.pos++
	}
	return nil
}

// number consumes a number by the grammar of JSON.
func (s *Scanner) number(keep *[]byte) error {
	take := func() {
		if keep != nil && len(*keep) < 64 {
			*keep = append(*keep, s.buf[s.pos])
		}
		s.pos++
	}
	is := func(set string) bool {
		if !s.more() {
			return false
		}
		for i := range len(set) {
			if s.buf[s.pos] == set[i] {
				return true
			}
		}
		return false
	}
	digits := func() error {
		if !s.more() || s.buf[s.pos] < '0' || s.buf[s.pos] > '9' {
			return s.fail("a digit should be here")
		}
		for s.more() && '0' <= s.buf[s.pos] && s.buf[s.pos] <= '9' {
			take()
		}
		return nil
	}
	if is("-") {
		take()
	}
	if is("0") {
		take()
	} else if err := digits(); err != nil {
		return err
	}
	if is(".") {
		take()
		if err := digits(); err != nil {
			return err
		}
	}
	if is("eE") {
		take()
		if is("+-") {
			take()
		}
		if err := digits(); err != nil {
			return err
		}
	}
	if s.pos == s.end && !s.more() && s.readErr != nil && !endOf(s.readErr) {
		return s.readErr
	}
	return nil
}
