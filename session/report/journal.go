package report

import (
	"errors"
	"strings"

	"handrail/evidence"
)

// Artifacts lists the stored files that the entries of a bundle name, in the order of the journal. A torn tail ends the
// list, as it ends the fold.
func Artifacts(r *evidence.Reader) ([]Artifact, error) {
	var out []Artifact
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return out, err
		}
		for _, blob := range e.Blobs {
			out = append(out, Artifact{
				SHA256: line(blob.SHA256), Role: line(blob.Role), Media: line(blob.Media), Size: blob.Size, Truncated: blob.Truncated,
				Redacted: line(strings.Join(blob.Rules, ", ")), Step: line(e.Step), Entry: e.Seq,
			})
		}
	}
	return out, nil
}
