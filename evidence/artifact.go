package evidence

import (
	"bytes"
	"fmt"
	"io"
)

// unparsed is the rule name that says: the media type promised a structure that the bytes did not have. What may be
// secret in them cannot be told, so none of them is stored.
const unparsed = "unparsed"

// Media types with redaction by structure. Everything else is text.
const (
	MediaKubernetes = "application/vnd.k8s+json"
	MediaTFState    = "application/vnd.tfstate+json"
	MediaTFPlan     = "application/vnd.tfplan+json"
	MediaKubeconfig = "application/vnd.kubeconfig+yaml"
)

const maxStructured = 32 << 20

// artifact redacts one stream of bytes into its destination.
type artifact struct {
	r     *redactor
	text  *textStream
	out   io.Writer
	shape func(*redactor, []byte, counts) ([]byte, bool) // nil for text
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
		a.shape = redactKubernetes
	case MediaTFState, MediaTFPlan:
		a.shape = redactTerraform
	case MediaKubeconfig:
		a.shape = redactKubeconfig
	}
	return a
}

func (a *artifact) Write(p []byte) (int, error) {
	switch {
	case a.shape == nil:
		return a.text.Write(p)
	case a.lost > 0:
		a.lost += int64(len(p))
		return len(p), nil
	case a.buf.Len()+len(p) > maxStructured:
		a.withhold()
		a.lost += int64(len(p))
		return len(p), nil
	}
	return a.buf.Write(p)
}

// withhold gives up on structure, and with it on the bytes.
func (a *artifact) withhold() {
	a.lost = int64(a.buf.Len())
	a.buf = bytes.Buffer{}
}

// Close writes what is left and returns the rules that fired.
func (a *artifact) Close() ([]string, error) {
	if a.shape == nil {
		err := a.text.finish()
		return a.n.list(), err
	}
	if a.lost == 0 {
		n := counts{}
		out, ok := a.shape(a.r, a.buf.Bytes(), n)
		if ok {
			_, err := a.out.Write(out)
			return n.list(), err
		}
		a.withhold()
	}
	a.n.add(unparsed)
	_, err := fmt.Fprintf(a.out, withheld, a.lost, a.media, maxStructured>>20)
	return a.n.list(), err
}

// withheld stands for bytes whose secrets could not be told apart.
const withheld = "not stored: %d bytes of %s that could not be read by structure (broken, cut, or over %d MiB), so the secrets in them could not be told apart\n"
