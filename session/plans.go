package session

import (
	"fmt"
	"os"
	"path/filepath"
)

// plansOf is where an incident keeps the plans that its gates apply, beside the
// bundles: they hold secrets in a form that nothing redacts.
func plansOf(incidents, incident string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(incidents)), "plans", incident)
}

// forgetPlans removes them when the incident is closed.
func (s *Session) forgetPlans() error {
	if s.cfg.Env.Private == "" {
		return nil
	}
	if err := os.RemoveAll(s.cfg.Env.Private); err != nil {
		return fmt.Errorf("the incident is closed, and its saved plans, which hold secrets, could not be removed: %w; remove %q by hand", err, s.cfg.Env.Private)
	}
	return nil
}
