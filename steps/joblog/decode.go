package joblog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// UnreadableError says why a log cannot be read as text.
type UnreadableError struct{ Why string }

func (e *UnreadableError) Error() string { return e.Why }

// Text is a log as UTF-8 text without a byte order mark.
type Text struct {
	r    io.Reader
	torn bool
}

// sniffed is how much of a log tells what it is written in.
const sniffed = 4 << 10

// Decode reads a log that may be compressed with gzip, in UTF-16, or marked with
// a byte order mark. What is no text is an UnreadableError.
func Decode(r io.Reader) (*Text, error) {
	t := &Text{}
	br := bufio.NewReaderSize(r, 64<<10)
	head, _ := br.Peek(sniffed) // a shorter log is as good
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, &UnreadableError{"it is compressed with gzip, and damaged"}
		}
		br = bufio.NewReaderSize(&gunzip{z: z, t: t}, 64<<10)
		head, _ = br.Peek(sniffed)
	}
	if why := foreign(head); why != "" {
		return nil, &UnreadableError{why}
	}
	switch order := wide(head); {
	case order != nil:
		t.r = &narrow{r: br, order: order}
	case bytes.IndexByte(head, 0) >= 0:
		return nil, &UnreadableError{"it is not text"}
	default:
		t.r = br
		if bytes.HasPrefix(head, []byte("\ufeff")) {
			_, _ = br.Discard(3)
		}
	}
	return t, nil
}

// Read implements io.Reader.
func (t *Text) Read(p []byte) (int, error) { return t.r.Read(p) }

// Torn reports whether what was compressed ended before its end, or its checksum
// is wrong: what was read may lack its end.
func (t *Text) Torn() bool { return t.torn }

// gunzip ends where its input is damaged: what was read before is still a log.
type gunzip struct {
	z *gzip.Reader
	t *Text
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		g.t.torn, err = true, io.EOF
	}
	return n, err
}

// foreign names what a log is that is no text of a run.
func foreign(head []byte) string {
	for _, f := range []struct{ magic, why string }{
		{"PK\x03\x04", "it is a zip archive: unpack it, and give the log of the job in it"},
		{"\x28\xb5\x2f\xfd", "it is compressed with zstd: unpack it first"},
		{"\xfd7zXZ\x00", "it is compressed with xz: unpack it first"},
		{"BZh", "it is compressed with bzip2: unpack it first"},
		{"\x1f\x8b", "it is compressed twice: unpack it first"},
		{"%PDF-", "it is a PDF: save the raw log of the job"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.why
		}
	}
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"))
	if bytes.HasPrefix(text, []byte("<!doctype html")) || bytes.HasPrefix(text, []byte("<html")) {
		return "it is a page of a web site: save the raw log of the job"
	}
	return ""
}

// wide tells UTF-16 by its mark, or by the zero bytes of its ASCII part.
func wide(head []byte) binary.ByteOrder {
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) {
		return binary.LittleEndian
	}
	if bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return binary.BigEndian
	}
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i&1]++
		}
	}
	most := len(head) / 6
	switch {
	case zero[1] > most && zero[0] == 0:
		return binary.LittleEndian
	case zero[0] > most && zero[1] == 0:
		return binary.BigEndian
	}
	return nil
}

// narrow turns UTF-16 into UTF-8.
type narrow struct {
	r     io.Reader
	order binary.ByteOrder
	out   []byte
	high  rune // first half of a pair
	err   error
}

func (n *narrow) Read(p []byte) (int, error) {
	for len(n.out) == 0 {
		if n.err != nil {
			return 0, n.err
		}
		var buf [32 << 10]byte
		m, err := io.ReadFull(n.r, buf[:])
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		n.err = err
		for i := 0; i+1 < m; i += 2 {
			n.take(rune(n.order.Uint16(buf[i:])))
		}
	}
	m := copy(p, n.out)
	n.out = n.out[m:]
	return m, nil
}

func (n *narrow) take(r rune) {
	if n.high != 0 {
		pair := utf16.DecodeRune(n.high, r)
		n.high = 0
		n.out = utf8.AppendRune(n.out, pair)
		if pair != utf8.RuneError {
			return
		}
	}
	switch {
	case utf16.IsSurrogate(r) && r < 0xdc00:
		n.high = r
	case r == 0xfeff: // a mark, or a space of no width
	default:
		n.out = utf8.AppendRune(n.out, r)
	}
}
