package index

import (
	"fmt"
	"strings"
)

// result collects the hits of one bundle.
type result struct {
	*found
	w *wants
	j job
}

func (r *result) hit(seq int64, kind string, line string) Hit {
	row := &r.j.g.row
	return Hit{Incident: row.ID, Path: row.Path, Title: row.Title, Runbook: row.Runbook, Severity: string(row.Severity), Outcome: row.Outcome,
		Seq: seq, Type: kind, Line: r.w.around(line)}
}

// fits counts a line, and reports whether it is to be shown.
func (r *result) fits() bool {
	r.Lines++
	return r.w.Lines == 0 || r.Lines <= r.w.Lines
}

func (r *result) entry(e *entry, line string, fp Fingerprint) {
	h := r.hit(e.seq, e.kind, line)
	h.At, h.Step, h.Who, h.Fingerprint = e.at, e.step, e.actor, fp
	r.hits = append(r.hits, h)
}

func (r *result) lines(p *page) {
	if !r.j.document(0) {
		return
	}
	folded := fold(p.raw)
	if !r.w.text(folded) {
		return
	}
	for i := range p.entries {
		e := &p.entries[i]
		if !r.w.when(e.at) || !r.w.kind(e.kind) {
			continue
		}
		for _, l := range e.lines {
			if r.w.line(folded[l.at:l.at+len(l.text)], l.val()) && r.fits() {
				r.entry(e, l.text, FingerprintOf(l.val()))
			}
		}
	}
}

// artifacts reads each artifact that can have a hit, at its first mention.
func (r *result) artifacts(p *page, bundle string) {
	if !r.w.kind(Artifacts) {
		return
	}
	who := map[int64]string{}
	for i := range p.entries {
		who[p.entries[i].seq] = p.entries[i].actor
	}
	var blobs *blobReader
	seen := map[string]bool{}
	for i, ref := range p.blobs {
		if seen[ref.sha] {
			continue
		}
		seen[ref.sha] = true
		if !r.j.document(1+i) || !r.w.when(ref.at) {
			continue
		}
		if blobs == nil {
			blobs = openBlobs(bundle)
			defer blobs.close()
		}
		text, err := blobs.read(ref.sha, maxBlob)
		if err != nil {
			r.problems = append(r.problems, Problem{r.j.g.row.Path, fmt.Sprintf("artifact %s of entry %d was not searched: %v", ref.sha, ref.seq, err)})
			continue
		}
		r.artifact(ref, who[ref.seq], text)
	}
}

func (r *result) artifact(ref blobRef, who, text string) {
	folded := fold(text)
	if !r.w.text(folded) {
		return
	}
	for off := 0; off < len(text); {
		if len(r.w.folded) > 0 { // on to the next line that has the longest part
			i := strings.Index(folded[off:], r.w.folded[0])
			if i < 0 {
				return
			}
			off += strings.LastIndexByte(folded[off:off+i], '\n') + 1
		}
		end := len(text)
		if i := strings.IndexByte(text[off:], '\n'); i >= 0 {
			end = off + i + 1
		}
		bare := strings.TrimRight(text[off:end], "\r\n")
		if r.w.line(folded[off:off+len(bare)], bare) && r.fits() {
			h := r.hit(ref.seq, "artifact", bare)
			h.At, h.Who, h.Artifact, h.Role, h.Fingerprint = ref.at, who, ref.sha, ref.role, FingerprintOf(bare)
			r.hits = append(r.hits, h)
		}
		off = end
	}
}

// keys gives, for each key that was asked for, the first line that answers.
func (r *result) keys(p *page) {
	for _, k := range Keys() {
		ps := r.w.keys[k]
		if len(ps) == 0 {
			continue
		}
		for i := range p.entries {
			e := &p.entries[i]
			if !r.w.when(e.at) || !r.w.kind(e.kind) {
				continue
			}
			if line, ok := e.keyLine(k, ps); ok && r.fits() {
				r.entry(e, line, "")
				break
			}
		}
	}
}

// opening gives the line that began the incident.
func (r *result) opening() {
	row := &r.j.g.row
	if row.Title == "" {
		return
	}
	r.Lines++
	h := r.hit(row.OpenSeq, "open", "title: "+row.Title)
	h.At, h.Who = row.Opened, row.Opener
	r.hits = append(r.hits, h)
}

// acts gives each act that fits, whole.
func (r *result) acts() {
	for _, a := range r.j.g.row.Acts {
		if !r.w.when(a.At) || !r.w.line(fold(a.searched()), a.Line()) || !r.fits() {
			continue
		}
		h := r.hit(a.Seq, Acts, "")
		h.Line, h.At, h.Step, h.Who, h.Evidence = a.Line(), a.At, a.Step, a.Who(), a.Grounds
		r.hits = append(r.hits, h)
	}
}

// longLine is how much of a long line is shown.
const longLine = 240

// around cuts a long line to what stands around the first fit.
func (w *wants) around(line string) string {
	if len(line) <= longLine {
		return line
	}
	from, longest := 0, 0
	if len(w.folded) > 0 {
		longest = len(w.folded[0])
		from = max(0, strings.Index(fold(line), w.folded[0])-longLine/4)
	}
	to := min(len(line), max(from+longLine, from+longLine/2+longest))
	out := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		out = "…" + out
	}
	if to < len(line) {
		out += "…"
	}
	return out
}
