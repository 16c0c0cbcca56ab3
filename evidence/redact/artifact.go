package redact

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"

	"handrail/evidence/jsontree"
)

// Unparsed is the rule name that says: the media type promised a structure that the bytes did not have. JSON then keeps
// its shape and keys from there on, and no value; of anything else no byte is stored.
const Unparsed = "unparsed"

// Media types with redaction by structure. Everything else is text.
const (
	MediaKubernetes = "application/vnd.k8s+json"
	MediaTFState    = "application/vnd.tfstate+json"
	MediaTFPlan     = "application/vnd.tfplan+json"
	MediaKubeconfig = "application/vnd.kubeconfig+yaml"
	MediaJSON       = "application/json" // text, when it is not JSON after all
	MediaEnv        = "text/x-env"       // NAME=value lines
)

// Artifact redacts one stream of bytes into its destination.
type Artifact struct {
	r     *Redactor
	text  *textStream
	marks *markedLines // before text
	wide  *fromWide    // before marks, where text came in UTF-16
	plain bool         // it is text and goes on as such
	inner bool         // it was unpacked
	out   io.Writer
	tree  func(*Redactor, *jsontree.Node, Counts)        // for media types that are JSON
	whole func(*Redactor, []byte, Counts) ([]byte, bool) // for those that are read whole
	json  *jsonStream                                    // once it is too large to be held, or broken
	buf   bytes.Buffer
	n     Counts
	media string
	lost  int64 // bytes that were withheld
}

// Artifact redacts what is written to it, of a media type, into out.
func (r *Redactor) Artifact(media string, out io.Writer) Artifact {
	n := Counts{}
	text := out
	if r.Doubting() != nil {
		text = &lineRecall{r: r, out: out, n: n}
	}
	a := Artifact{r: r, out: out, n: n, media: media, text: &textStream{r: r, out: text, n: n, size: window, ahead: ahead}}
	a.marks = &markedLines{r: r, out: a.text, n: n}
	switch media {
	case MediaKubernetes:
		a.tree = kubernetesTree
	case MediaTFState, MediaTFPlan:
		a.tree = terraformTree
	case MediaJSON:
		a.tree = anyTree
	case MediaKubeconfig:
		a.whole = redactKubeconfig
	case MediaEnv:
		a.whole = redactEnv
	}
	return a
}

// Structured reports whether the media type promises a structure that redaction goes by.
func (a *Artifact) Structured() bool { return a.tree != nil || a.whole != nil }

// Write takes the next bytes. What comes out of them may wait for more.
func (a *Artifact) Write(p []byte) (int, error) {
	switch {
	case a.plain:
		return a.write(p)
	case a.json != nil:
		return a.json.Write(p)
	case a.lost > 0:
		a.lost += int64(len(p))
		return len(p), nil
	case a.buf.Len()+len(p) <= unitMost:
		return a.buf.Write(p)
	case a.packed(p), a.whole != nil:
		a.withhold()
		a.lost += int64(len(p))
		return len(p), nil
	case a.tree != nil && a.media != MediaJSON:
		return len(p), a.stream(p)
	}
	// As much is held, however it came.
	first := unitMost - a.buf.Len()
	a.buf.Write(p[:first])
	if err := a.asText(); err != nil {
		return 0, err
	}
	if _, err := a.write(p[first:]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// packed reports whether what was held, or what follows when that is nothing, begins as gzip does.
func (a *Artifact) packed(p []byte) bool {
	if a.buf.Len() > 0 {
		p = a.buf.Bytes()
	}
	return bytes.HasPrefix(p, gzipMagic) && !a.inner
}

// stream goes over to redaction by path.
func (a *Artifact) stream(p []byte) error {
	a.json = &jsonStream{r: a.r, out: a.out, n: a.n, shape: a.tree, unit: unitMost}
	held := a.buf.Bytes()
	a.buf = bytes.Buffer{}
	if _, err := a.json.Write(held); err != nil {
		return err
	}
	_, err := a.json.Write(p)
	return err
}

// asText takes what was held as text, and all that follows. What it marks is known before any of it is written.
func (a *Artifact) asText() error {
	a.tree, a.plain = nil, true
	held := a.buf.Bytes()
	a.buf = bytes.Buffer{}
	if big, ok := wideOrder(held); ok {
		a.wide = &fromWide{out: a.marks, big: big}
		a.r.learnText(unwrapped(held))
		held = held[2:]
	} else {
		a.r.learnText(held)
	}
	_, err := a.write(held)
	return err
}

func (a *Artifact) write(p []byte) (int, error) {
	if a.wide != nil {
		return a.wide.Write(p)
	}
	return a.marks.Write(p)
}

// finishText writes what is left of text.
func (a *Artifact) finishText() error {
	if a.wide != nil {
		if err := a.wide.finish(); err != nil {
			return err
		}
	}
	if err := a.marks.finish(); err != nil {
		return err
	}
	return a.text.finish()
}

// withhold gives up on structure, and with it on the bytes.
func (a *Artifact) withhold() {
	a.lost = int64(a.buf.Len())
	a.buf = bytes.Buffer{}
}

// Close writes what is left and returns the rules that fired.
func (a *Artifact) Close() ([]string, error) {
	err := a.end()
	return a.n.List(), err
}

func (a *Artifact) end() error {
	switch {
	case a.plain:
		return a.finishText()
	case a.json != nil:
		return a.json.finish()
	case a.lost == 0 && a.packed(nil):
		return a.gunzip(a.buf.Bytes())
	case a.tree != nil:
		n := Counts{}
		if out, ok := redactTree(unwrapped(a.buf.Bytes()), func(root *jsontree.Node) { a.tree(a.r, root, n) }); ok {
			maps.Copy(a.n, n)
			_, err := a.out.Write(out)
			return err
		}
		if a.media != MediaJSON {
			if err := a.stream(nil); err != nil {
				return err
			}
			return a.json.finish()
		}
		fallthrough
	case a.whole == nil && a.lost == 0:
		if err := a.asText(); err != nil {
			return err
		}
		return a.finishText()
	}
	if a.lost == 0 {
		n := Counts{}
		if out, ok := a.whole(a.r, unwrapped(a.buf.Bytes()), n); ok {
			out, _ = a.r.knownValues().replace(nil, out, true, a.r, n) // in names, too
			maps.Copy(a.n, n)
			_, err := a.out.Write(out)
			return err
		}
		a.withhold()
	}
	a.n.add(Unparsed)
	_, err := fmt.Fprintf(a.out, withheld, a.lost, a.media, unitMost>>20)
	return err
}

// withheld stands for bytes whose secrets could not be told apart.
const withheld = "not stored: %d bytes of %s that could not be read by structure (broken, cut, or over %d MiB), so the secrets in them could not be told apart\n"

// gunzipMost is how much of a packed artifact is unpacked.
const gunzipMost = 256 << 20

// gunzip unpacks into what takes the artifact as if it had come so. What cannot be unpacked is withheld.
func (a *Artifact) gunzip(packed []byte) error {
	inner := a.r.Artifact(a.media, a.out)
	inner.n, inner.text.n, inner.marks.n, inner.inner = a.n, a.n, a.n, true
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		_, err = io.Copy(&inner, io.LimitReader(z, gunzipMost))
		if n, more := z.Read(make([]byte, 1)); err == nil && (n > 0 || more == nil) {
			err = fmt.Errorf("more than %d MiB", gunzipMost>>20)
		}
	}
	if werr := inner.end(); werr != nil {
		return werr
	}
	if err != nil {
		a.n.add(Unparsed)
		_, err = fmt.Fprintf(a.out, "\n(the rest of %d packed bytes is not stored: %v)\n", len(packed), err)
	}
	return err
}
