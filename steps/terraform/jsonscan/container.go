package jsonscan

// Object calls member with each key of an object; member must consume the value.
// A key is kept up to 1024 bytes.
func (s *Scanner) Object(member func(key string) error) error {
	if err := s.enter('{', "an object should start here"); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	c, err := s.next()
	if err != nil {
		return err
	}
	if c == '}' {
		s.pos++
		return nil
	}
	for {
		key, _, err := s.Text(maxKey)
		if err != nil {
			return err
		}
		if err := s.expect(':', "a colon should follow the key"); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return err
		}
		switch c {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.fail("a comma or the end of the object should be here")
		}
	}
}

// Array calls element before each element of a list; element must consume it.
func (s *Scanner) Array(element func() error) error {
	if err := s.enter('[', "a list should start here"); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	c, err := s.next()
	if err != nil {
		return err
	}
	if c == ']' {
		s.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return err
		}
		switch c {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.fail("a comma or the end of the list should be here")
		}
	}
}

func (s *Scanner) enter(c byte, what string) error {
	if err := s.expect(c, what); err != nil {
		return err
	}
	if s.depth++; s.depth > Deepest {
		return s.fail("values lie too deep in each other")
	}
	return nil
}

// ObjectOr is Object that skips any other value; ok says whether it was one.
func (s *Scanner) ObjectOr(member func(key string) error) (ok bool, err error) {
	k, err := s.Kind()
	if err != nil {
		return false, err
	}
	if k != '{' {
		return false, s.Skip()
	}
	return true, s.Object(member)
}

// ArrayOr is Array that skips any other value; ok says whether it was one.
func (s *Scanner) ArrayOr(element func() error) (ok bool, err error) {
	k, err := s.Kind()
	if err != nil {
		return false, err
	}
	if k != '[' {
		return false, s.Skip()
	}
	return true, s.Array(element)
}
