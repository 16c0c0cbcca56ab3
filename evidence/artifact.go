package evidence

import (
	"bytes"
	"io"
)

// unparsed is the rule name that says: the media type promised a structure that the bytes did not have, so only the
// text rules were applied.
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
	shape func(*redactor, []byte, counts) ([]byte, bool) // nil once the stream is treated as text
	buf   bytes.Buffer
	n     counts
}

func (r *redactor) artifact(media string, out io.Writer) artifact {
	n := counts{}
	a := artifact{r: r, out: out, n: n, text: &textStream{r: r, out: out, n: n}}
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
	if a.shape == nil {
		return a.text.Write(p)
	}
	if a.buf.Len()+len(p) <= maxStructured {
		return a.buf.Write(p)
	}
	if err := a.asText(); err != nil {
		return 0, err
	}
	return a.text.Write(p)
}

// asText gives up on structure.
func (a *artifact) asText() error {
	a.n.add(unparsed)
	a.shape = nil
	_, err := a.text.Write(a.buf.Bytes())
	a.buf = bytes.Buffer{}
	return err
}

// Close writes what is left and returns the rules that fired.
func (a *artifact) Close() ([]string, error) {
	if a.shape != nil {
		n := counts{}
		if out, ok := a.shape(a.r, a.buf.Bytes(), n); ok {
			_, err := a.out.Write(out)
			return n.list(), err
		}
		if err := a.asText(); err != nil {
			return nil, err
		}
	}
	err := a.text.finish()
	return a.n.list(), err
}
