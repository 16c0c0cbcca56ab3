package evidence

import (
	"bytes"
	"fmt"
	"io"
	"maps"
)

// unparsed is the rule name that says: the media type promised a structure that the bytes did not have. JSON then keeps
// its shape and keys from there on, and no value; of anything else no byte is stored.
const unparsed = "unparsed"

// Media types with redaction by structure. Everything else is text.
const (
	MediaKubernetes = "application/vnd.k8s+json"
	MediaTFState    = "application/vnd.tfstate+json"
	MediaTFPlan     = "application/vnd.tfplan+json"
	MediaKubeconfig = "application/vnd.kubeconfig+yaml"
	MediaJSON       = "application/json" // text, when it is not JSON after all
	MediaEnv        = "text/x-env"       // NAME=value lines
)

// artifact redacts one stream of bytes into its destination.
type artifact struct {
	r     *redactor
	text  *textStream
	out   io.Writer
	tree  func(*redactor, *node, counts)                 // for media types that are JSON
	whole func(*redactor, []byte, counts) ([]byte, bool) // for those that are read whole
	json  *jsonStream                                    // once it is too large to be held, or broken
	buf   bytes.Buffer
	n     counts
	media string
	lost  int64 // bytes that were withheld
}

func (r *redactor) artifact(media string, out io.Writer) artifact {
	n := counts{}
	a := artifact{r: r, out: out, n: n, media: media, text: &textStream{r: r, out: out, n: n, size: window, ahead: ahead}}
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

func (a *artifact) Write(p []byte) (int, error) {
	switch {
	case a.tree == nil && a.whole == nil:
		return a.text.Write(p)
	case a.json != nil:
		return a.json.Write(p)
	case a.lost > 0:
		a.lost += int64(len(p))
		return len(p), nil
	case a.buf.Len()+len(p) <= unitMost:
		return a.buf.Write(p)
	case a.media == MediaJSON:
		return len(p), a.asText(p)
	case a.tree != nil:
		return len(p), a.stream(p)
	}
	a.withhold()
	a.lost += int64(len(p))
	return len(p), nil
}

// stream goes over to redaction by path.
func (a *artifact) stream(p []byte) error {
	a.json = &jsonStream{r: a.r, out: a.out, n: a.n, shape: a.tree, unit: unitMost}
	held := a.buf.Bytes()
	a.buf = bytes.Buffer{}
	if _, err := a.json.Write(held); err != nil {
		return err
	}
	_, err := a.json.Write(p)
	return err
}

// asText gives up on structure where none was promised.
func (a *artifact) asText(p []byte) error {
	a.tree = nil
	held := a.buf.Bytes()
	a.buf = bytes.Buffer{}
	if _, err := a.text.Write(held); err != nil {
		return err
	}
	_, err := a.text.Write(p)
	return err
}

// withhold gives up on structure, and with it on the bytes.
func (a *artifact) withhold() {
	a.lost = int64(a.buf.Len())
	a.buf = bytes.Buffer{}
}

// Close writes what is left and returns the rules that fired.
func (a *artifact) Close() ([]string, error) {
	err := a.end()
	return a.n.list(), err
}

func (a *artifact) end() error {
	switch {
	case a.json != nil:
		return a.json.finish()
	case a.tree != nil:
		n := counts{}
		if out, ok := redactTree(a.buf.Bytes(), func(root *node) { a.tree(a.r, root, n) }); ok {
			maps.Copy(a.n, n)
			_, err := a.out.Write(out)
			return err
		}
		if a.media == MediaJSON {
			if err := a.asText(nil); err != nil {
				return err
			}
			return a.text.finish()
		}
		if err := a.stream(nil); err != nil {
			return err
		}
		return a.json.finish()
	case a.whole == nil:
		return a.text.finish()
	}
	if a.lost == 0 {
		n := counts{}
		if out, ok := a.whole(a.r, a.buf.Bytes(), n); ok {
			out, _ = a.r.knownValues().replace(nil, out, true, a.r, n) // in names, too
			maps.Copy(a.n, n)
			_, err := a.out.Write(out)
			return err
		}
		a.withhold()
	}
	a.n.add(unparsed)
	_, err := fmt.Fprintf(a.out, withheld, a.lost, a.media, unitMost>>20)
	return err
}

// withheld stands for bytes whose secrets could not be told apart.
const withheld = "not stored: %d bytes of %s that could not be read by structure (broken, cut, or over %d MiB), so the secrets in them could not be told apart\n"
