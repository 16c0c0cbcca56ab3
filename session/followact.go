package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"handrail/evidence"
	"handrail/session/claim"
	"handrail/steps/fault"
	"handrail/triage"
)

// followEvery is how often the directory of an act is looked at: its executor is
// another process, which may have been ordered by another session.
const followEvery = 100 * time.Millisecond

// launch hands an act that is recorded to its executor, for a caller that holds
// the session open.
func (s *Session) launch(o Order) error {
	o.Bundle, o.Seq, o.Learned = s.path, s.state.Seq, s.bundle.Learned()
	f := &flight{step: o.Step, kind: "act", started: s.cfg.Now(), log: s.live.Begin(), act: true}
	s.flight[o.Step] = f
	if s.cfg.Execute == nil {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		f.cancel = cancel
		go func() { // ends with the act; Close waits for who follows it
			defer close(ended)
			defer cancel()
			defer fault.To(func(error) {}) // it leaves no outcome then, which is said
			_ = Carry(ctx, s.cfg, o)       // the same
		}()
		s.touch()
		s.beside(o, ended, nil)
		return nil
	}
	f.cancel = func() { s.interruptAct(o) }
	ended, err := s.cfg.Execute(s.cfg.Env, o)
	if err != nil {
		s.work.Done()
		return s.finishAct(s.neverBegan(o, "the executor could not be started: "+s.bundle.Redact(err.Error())), nil, nil)
	}
	s.touch()
	s.beside(o, ended, s.ctx.Done())
	return nil
}

// beside follows an act beside the owner, for a caller that holds the session open.
func (s *Session) beside(o Order, ended, left <-chan struct{}) {
	go func() { // ends with the act, or with left
		defer s.work.Done()
		defer fault.To(func(err error) { s.landAct(o, err) })
		s.followAct(o, ended, left)
	}()
}

// interruptAct sends the executor one interrupt. The owner calls it.
func (s *Session) interruptAct(o Order) {
	pid, held, err := claim.Carried(o.dir(s.cfg.Acts))
	if err == nil && held {
		var p *os.Process
		if p, err = os.FindProcess(pid); err == nil {
			err = p.Signal(os.Interrupt)
		}
	}
	if f := s.flight[o.Step]; err != nil && f != nil {
		f.lines = append(f.lines, "it could not be interrupted: "+err.Error())
		s.touch()
	}
}

// followAct shows what an act says and records how it ended. ended is closed with
// its executor, nil where only the claim can tell; left ends the following and
// nothing else.
func (s *Session) followAct(o Order, ended, left <-chan struct{}) {
	dir := o.dir(s.cfg.Acts)
	news := &tail{name: filepath.Join(dir, claim.LinesFile)}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-left:
			return
		case <-ended:
			s.progress(o.Step, news.next()...)
			s.landAct(o, nil)
			return
		case <-tick.C:
		}
		if lines := news.next(); len(lines) > 0 {
			s.progress(o.Step, lines...)
		}
		if ended != nil {
			continue
		}
		if _, held, err := claim.Carried(dir); !held && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			s.progress(o.Step, news.next()...)
			s.landAct(o, nil)
			return
		}
	}
}

// tail reads what is appended to a file of lines.
type tail struct {
	name string
	at   int64
	part []byte
}

func (t *tail) next() []string {
	f, err := os.Open(t.name)
	if err != nil {
		return nil // the executor has not begun
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, t.at, claim.MaxLines))
	t.at += int64(len(b))
	if err != nil || len(b) == 0 {
		return nil
	}
	t.part = append(t.part, b...)
	var out []string
	for {
		i := bytes.IndexByte(t.part, '\n')
		if i < 0 {
			return out
		}
		out = append(out, string(t.part[:i]))
		t.part = t.part[i+1:]
	}
}

// landAct records the outcome that an executor left, or that it left none.
func (s *Session) landAct(o Order, fell error) {
	dir := o.dir(s.cfg.Acts)
	out, err := claim.ReadOutcome(dir)
	if fell != nil {
		err = fell
	}
	if err == nil && out.End.Digest != o.Digest {
		err = errors.New("its outcome is of another act")
	}
	var blobs []evidence.Blob
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out = claim.Outcome{End: s.neverBegan(o, "the executor ended before it began")}
	case err != nil:
		out = claim.Outcome{End: o.unsent("its outcome cannot be read: " + s.bundle.Redact(err.Error()))}
		out.End.Outcome = triage.Unknown
	default:
		var gaps error
		if blobs, gaps = s.takeIn(dir, o, out.Blobs); gaps != nil {
			out.End.Response += "\nNot all of its artifacts could be added to the bundle: " + s.bundle.Redact(gaps.Error())
		}
	}
	_ = s.call(context.Background(), func() error {
		defer s.landed(o.Step)
		if err := s.recordEnd(out.End, out.Owes, blobs); err != nil {
			return err
		}
		s.putAway(dir, o)
		return nil
	})
}

// putAway removes what an executor kept, once the incident has it.
func (s *Session) putAway(dir string, o Order) {
	_ = os.RemoveAll(filepath.Join(dir, o.incident()+".hrb")) // what stays costs room and nothing else
}

// takeIn copies what an executor kept, which is redacted already.
func (s *Session) takeIn(dir string, o Order, kept []evidence.Blob) ([]evidence.Blob, error) {
	for _, v := range s.bundle.TakeIn(o.part()) {
		s.secret(v)
	}
	if len(kept) == 0 {
		return nil, nil
	}
	r, err := evidence.OpenReadOnly(filepath.Join(dir, o.incident()+".hrb"))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []evidence.Blob
	var lost error
	for _, b := range kept {
		got, err := s.takeBlob(r, b)
		if err != nil {
			lost = errors.Join(lost, fmt.Errorf("%s: %w", b.Role, err))
			continue
		}
		out = append(out, got)
	}
	return out, lost
}

func (s *Session) takeBlob(r *evidence.Reader, b evidence.Blob) (evidence.Blob, error) {
	from, err := r.OpenBlob(b.SHA256)
	if err != nil {
		return b, err
	}
	defer from.Close()
	w, err := s.bundle.Blob(b.Role, b.Media)
	if err != nil {
		return b, err
	}
	defer w.Abort()
	if b.Truncated {
		w.Truncated()
	}
	if _, err := io.Copy(w, from); err != nil {
		return b, err
	}
	return w.Commit()
}

// neverBegan ends an act that no executor carries out. Where its very slot is
// unclaimed nothing was sent: the slot is taken, so that none can begin any
// more. In every other case the outcome is unknown.
func (s *Session) neverBegan(o Order, why string) triage.ActEnd {
	dir := o.dir(s.cfg.Acts)
	end := o.unsent("nothing was sent: " + why)
	unknown := func(lack string) triage.ActEnd {
		end.Outcome, end.Response = triage.Unknown, why+"; "+lack
		return end
	}
	if lack := s.unproven(dir, o.slot); lack != "" {
		return unknown(lack)
	}
	c, err := claim.Take(s.cfg.Acts, dir)
	if err != nil {
		return unknown("its slot could not be taken: " + s.bundle.Redact(err.Error()))
	}
	defer c.Close() // the lock ends with the process
	// A copy of this incident that is resumed beside finds the same.
	if err := c.Leave(claim.Outcome{End: end}); err != nil {
		return unknown("it could not be saved: " + s.bundle.Redact(err.Error()))
	}
	return end
}

// recoverAct finds out what is known of an act that an earlier session ordered:
// it is still carried out, it left an outcome or none, or its slot proves that it
// never began, and then it cannot any more.
func (s *Session) recoverAct(step string) error {
	gate := s.state.Gates[step]
	o := Order{Bundle: s.path, Seq: gate.StartSeq, Step: step, Digest: gate.Digest, slot: gate.Slot}
	if gate.Slot != nil {
		o.Nonce = gate.Slot.Nonce
	}
	dir := o.dir(s.cfg.Acts)
	if s.unproven(dir, gate.Slot) == "" {
		if end := s.neverBegan(o, "handrail ended before the act began"); end.Outcome != triage.Unknown {
			return s.finishAct(end, nil, nil)
		}
		// Another session was quicker.
	}
	if _, held, _ := claim.Carried(dir); held { // its holder may not have said so yet
		s.flight[step] = &flight{step: step, kind: "act", started: s.cfg.Now(), log: s.live.Begin(), act: true, cancel: func() { s.interruptAct(o) }}
		s.hold()
		s.adopted = append(s.adopted, func() { s.beside(o, nil, s.ctx.Done()) })
		return nil
	}
	out, err := claim.ReadOutcome(dir)
	if err == nil && out.End.Digest == gate.Digest {
		blobs, gaps := s.takeIn(dir, o, out.Blobs)
		if gaps != nil {
			out.End.Response += "\nNot all of its artifacts could be added to the bundle: " + s.bundle.Redact(gaps.Error())
		}
		if err := s.finishAct(out.End, out.Owes, blobs); err != nil {
			return err
		}
		s.putAway(dir, o)
		return nil
	}
	end := triage.ActEnd{Step: step, Digest: gate.Digest, Outcome: triage.Unknown, Response: "handrail ended during the act"}
	if why := s.stillToCome(gate); why != "" {
		end.Response += "; " + why
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		end.Response += "; its outcome cannot be read: " + err.Error()
	}
	return s.record(end, nil)
}
