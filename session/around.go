package session

import (
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// aroundPlan looks once at the directory and the workspace of a plan.
func (s *Session) aroundPlan(p triage.Plan) []steps.KV {
	text := func(name string) string {
		v := p.Params[name]
		if !v.Known() {
			return ""
		}
		return v.Text()
	}
	dir, space := text("dir"), text("workspace")
	if dir == "" && space == "" || s.cfg.Around == nil || s.state.Drill != "" {
		return nil
	}
	key := dir + "\x00" + space
	got, ok := s.around[key]
	if !ok {
		got = policy.Resolve(s.cfg.Around(s.cfg.Env, dir, space))
		if s.around == nil {
			s.around = map[string][]steps.KV{}
		}
		s.around[key] = got
	}
	return got
}
