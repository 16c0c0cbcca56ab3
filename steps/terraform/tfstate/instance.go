package tfstate

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"

	"handrail/steps/terraform/jsonscan"
)

// instance reads one instance into a copy of its resource; Address holds the key
// alone for now.
func (w *walker) instance(i Instance) (Instance, error) {
	if w.o.Sums {
		w.sum, w.rest = sha256.New(), sha256.New()
	}
	w.raw, w.sure = w.raw[:0], w.sure[:0]
	ok, err := w.s.ObjectOr(func(key string) (err error) {
		switch key {
		case "index_key":
			i.Address, err = w.index()
		case "status":
			if i.Status, _, err = w.s.TextOr(maxWord); w.o.Sums {
				w.sum.Write([]byte("\x00status\x00" + i.Status + "\x00"))
			}
		case "deposed":
			i.Deposed, _, err = w.s.TextOr(maxWord)
		case "provider":
			var p string
			p, _, err = w.s.TextOr(8 * maxWord)
			i.Provider = providerOf(p)
		case "attributes", "attributes_flat":
			err = w.attributes(&i)
		case "sensitive_attributes":
			w.sure, _, err = w.capture(w.sure, maxAttributes)
		default:
			err = w.bookkeeping(key)
		}
		return err
	})
	if err != nil || !ok {
		return i, err
	}
	if w.o.Sums {
		i.Sum, i.Rest = Sum(w.sum.Sum(nil)), Sum(w.rest.Sum(nil))
	}
	if len(w.sure) > 2 && !i.Cut {
		i.Attributes = w.raw
		w.sensitive(&i)
	} else if len(w.sure) > 2 {
		w.d.Unread++
	}
	return i, nil
}

func (w *walker) attributes(i *Instance) (err error) {
	if !w.o.Sums {
		w.raw, i.Cut, err = w.capture(w.raw, maxAttributes)
		i.Attributes = w.raw
		return err
	}
	c := jsonscan.Compactor{To: w.sum}
	w.raw = w.raw[:0]
	w.s.Tap(func(b []byte) {
		c.Write(b)
		if i.Cut = i.Cut || len(w.raw)+len(b) > maxAttributes; !i.Cut {
			w.raw = append(w.raw, b...)
		}
	})
	err = w.s.Skip()
	w.s.Untap()
	if i.Attributes = w.raw; i.Cut {
		i.Attributes = nil
	}
	return err
}

func (w *walker) bookkeeping(key string) error {
	if !w.o.Sums {
		return w.s.Skip()
	}
	w.rest.Write([]byte("\x00" + key + "\x00"))
	c := jsonscan.Compactor{To: w.rest}
	w.s.Tap(c.Write)
	err := w.s.Skip()
	w.s.Untap()
	return err
}

// index reads the key of an instance as it stands in its address.
func (w *walker) index() (string, error) {
	k, err := w.s.Kind()
	if err != nil {
		return "", err
	}
	switch k {
	case '"':
		text, _, err := w.s.Text(8 * maxWord)
		return "[" + Quote(text) + "]", err
	case '0':
		n, err := w.s.Number()
		return "[" + n + "]", err
	case 'n':
		return "", w.s.Skip()
	}
	w.d.fault(Invalid, "The key of an instance is neither text nor a number.")
	return "[?]", w.s.Skip()
}

// Quote writes a key as the tools do inside an address: quotes, templates and what
// cannot be seen are escaped, as HCL does it and not as Go does.
func Quote(key string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range key {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '"', r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '$' || r == '%') && strings.HasPrefix(key[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 1<<16:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
