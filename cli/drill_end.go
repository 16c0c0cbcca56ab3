package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"handrail/cli/process"
	"handrail/drills"
	"handrail/session"
	"handrail/session/debrief"
)

// drillVerdict is how a drill was judged. The screen asks for it at the close, and
// so does the end of the drill; it is judged once.
type drillVerdict struct {
	mu     sync.Mutex
	judged *drills.Judgement
}

// debriefing judges the drill of an incident that is closed and says what its
// debriefing needs; nil for a real incident, and for one that is still open.
func (w world) debriefing(ctx context.Context, s *session.Session) (*debrief.Drill, error) {
	if w.drill == nil || s.Snapshot().State.Outcome == "" {
		return nil, nil
	}
	w.ending.mu.Lock()
	defer w.ending.mu.Unlock()
	if w.ending.judged == nil {
		j, err := w.drill.Conclude(ctx, s)
		if err != nil && !errors.Is(err, session.ErrClosed) {
			return nil, err
		}
		w.ending.judged = &j
	}
	return w.drill.Scene().Debriefing(w.ending.judged)
}

// afterDrill tells how a drill whose incident is closed was walked, and stops it.
// One that is still open goes on.
func afterDrill(ctx context.Context, p *process.Program, w world, s *session.Session) error {
	st := s.Snapshot().State
	if st.Outcome == "" || ctx.Err() != nil {
		return w.close()
	}
	known, err := w.debriefing(ctx, s)
	if err != nil {
		return errors.Join(err, w.close())
	}
	for _, line := range debrief.Of(st, known).Lines() {
		process.Lines(p.Stderr, "", line)
	}
	return stopDrill(ctx, p, w)
}

// stopDrill stops a drill and lets go of its lab.
func stopDrill(ctx context.Context, p *process.Program, w world) error {
	o, err := drillOptions(p, w.lab, nil)
	if err != nil {
		return errors.Join(err, w.close())
	}
	return errors.Join(w.drill.Close(), drills.Stop(ctx, o, w.drill.ID()), leaveLab(w.lab))
}

// stopTime is how long the end of a drill may take that was opened from the home
// screen.
const stopTime = 2 * time.Minute

// drillSession is the incident of a drill that the screens have opened. Letting go of
// it judges and stops the drill when the incident is closed; else it goes on.
type drillSession struct {
	*session.Session
	program *process.Program
	world   world
}

func (x *drillSession) Close() error {
	closed := x.Snapshot().State.Outcome != ""
	if !closed {
		return errors.Join(x.Session.Close(), x.world.close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, err := x.world.debriefing(ctx, x.Session)
	if err != nil {
		err = fmt.Errorf("judging the drill: %w", err)
	}
	return errors.Join(err, x.Session.Close(), stopDrill(ctx, x.program, x.world))
}
