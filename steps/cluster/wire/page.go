package wire

import (
	"bytes"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Media is what a server is asked for, to answer in protobuf.
const Media = "application/vnd.kubernetes.protobuf"

// magic begins every answer in protobuf of an API server.
var magic = []byte("k8s\x00")

// Is reports whether an answer is in protobuf. A server that cannot answers in the
// next form that it was asked for.
func Is(raw []byte) bool { return bytes.HasPrefix(raw, magic) }

// Page is what a page says about its list.
type Page struct {
	Kind     string
	Continue string // where the next page begins, "" for the last one
}

// List reads a page of a list and shows each item as of asks for. An item is good
// until each returns; the texts in it stay. An error means
// that the page is not whole, or no list; each item that was shown until then was.
func List(raw []byte, of Shape, each func(map[string]any) error) (Page, error) {
	if !Is(raw) {
		return Page{}, errBroken
	}
	var p Page
	var list []byte
	err := fields(raw[len(magic):], func(n protowire.Number, f value) (err error) {
		switch n {
		case 1:
			p.Kind, err = kindOf(f)
		case 2:
			if list != nil {
				return fmt.Errorf("%w: it holds two answers", errBroken)
			}
			list, err = f.bytes()
		case 3:
			var encoding []byte
			if encoding, err = f.bytes(); err == nil && len(encoding) > 0 {
				err = fmt.Errorf("it is encoded as %q", encoding[:min(len(encoding), 40)])
			}
		}
		return err
	})
	if err == nil && (!strings.HasSuffix(p.Kind, "List") || list == nil) {
		err = fmt.Errorf("it is a %q that lists nothing", p.Kind[:min(len(p.Kind), 100)])
	}
	if err != nil {
		return p, err
	}
	about := false
	var r reader
	err = fields(list, func(n protowire.Number, f value) error {
		switch n {
		case 1:
			if about {
				return fmt.Errorf("%w: it tells twice what it lists", errBroken)
			}
			about = true
			return p.about(f)
		case 2:
			raw, err := f.bytes()
			if err != nil {
				return err
			}
			r.forget()
			item := r.mapping()
			if err := r.read(raw, of, item, 0); err != nil {
				return err
			}
			return each(item)
		}
		return nil
	})
	if err == nil && !about {
		err = fmt.Errorf("it is a %q that does not say what it lists", p.Kind)
	}
	return p, err
}

func kindOf(f value) (kind string, err error) {
	raw, err := f.bytes()
	if err != nil {
		return "", err
	}
	return kind, fields(raw, func(n protowire.Number, f value) error {
		if n != 2 {
			return nil
		}
		raw, err := f.bytes()
		kind = string(raw)
		return err
	})
}

func (p *Page) about(f value) error {
	raw, err := f.bytes()
	if err != nil {
		return err
	}
	return fields(raw, func(n protowire.Number, f value) error {
		if n != 3 {
			return nil
		}
		raw, err := f.bytes()
		p.Continue = string(raw)
		return err
	})
}
