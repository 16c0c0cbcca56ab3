package backend

import (
	"context"
	"crypto/md5" // it is what the header Content-MD5 holds
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// httpWrites are the requests of the protocol that change something.
type httpWrites struct {
	lock, unlock             string // addresses, "" for none
	locks, unlocks, replaces string // methods
}

// Repair implements Repairer. The protocol knows no condition, so that the lock is taken first,
// as a run takes it; what stands there is then read again, and written over only if it is what
// was found.
func (h *httpStore) Repair(ctx context.Context, w module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	switch {
	case !now.Broken:
		return Repair{}, errWhole
	case h.writes.lock == "" || h.writes.unlock == "":
		return Repair{}, errors.New("its settings have no lock_address and unlock_address, so that nothing would keep another run from writing at the same time")
	case serverOf(h.writes.lock) != serverOf(h.address) || serverOf(h.writes.unlock) != serverOf(h.address):
		return Repair{}, errors.New("its lock is on another server than its state")
	}
	if err := h.unchanged(ctx, now); err != nil {
		return Repair{}, err
	}
	at := steps.Quote(h.address)
	return Repair{
		Request: fmt.Sprintf("%s %s; GET %s, to see that it is what was found; %s it with the ID of that lock, %d bytes (SHA-256 %s); %s %s",
			h.writes.locks, h.writes.lock, h.address, h.writes.replaces, len(content), sumOfBytes(content), h.writes.unlocks, h.writes.unlock),
		Command: fmt.Sprintf(`curl -fsS -u "$TF_HTTP_USERNAME" -X %s --data @LOCK %s && curl -fsS -u "$TF_HTTP_USERNAME" -X %s --data-binary @FILE %s && curl -fsS -u "$TF_HTTP_USERNAME" -X %s --data @LOCK %s`,
			steps.Quote(h.writes.locks), steps.Quote(h.writes.lock), steps.Quote(h.writes.replaces), steps.Quote(h.address+"?ID=ID-OF-LOCK"), steps.Quote(h.writes.unlocks), steps.Quote(h.writes.unlock)),
		Do: func(ctx context.Context) (string, error) { return h.replace(ctx, now, content, at) },
	}, nil
}

// unchanged reads the state again.
func (h *httpStore) unchanged(ctx context.Context, now Found) error {
	resp, err := h.openState(ctx)
	switch {
	case err != nil:
		return err
	case resp == nil:
		return fmt.Errorf("the state at %s is gone", h.address)
	}
	defer resp.Body.Close()
	if err := still(resp.Body, now); err != nil {
		return fmt.Errorf("%s: %w", h.address, err)
	}
	return nil
}

// unlockWithin bounds the release of the lock, also where the person has turned away.
const unlockWithin = 30 * time.Second

func (h *httpStore) replace(ctx context.Context, now Found, content []byte, at string) (said string, err error) {
	id := rand.Text()
	info, err := json.Marshal(map[string]string{"ID": id, "Operation": "handrail restore-state", "Info": "", "Who": h.env.User + "@" + h.env.Host,
		"Version": h.env.Version, "Created": h.env.Now().UTC().Format(time.RFC3339Nano), "Path": ""})
	if err != nil {
		return "", err
	}
	ours := fmt.Sprintf("the lock %s of handrail may be held at %s: look there, and release it with the server's own means", id, h.writes.lock)
	code, answer, err := h.send(ctx, h.writes.locks, h.writes.lock, info)
	switch {
	case err != nil:
		return "", fmt.Errorf("taking the lock: %w; %s", err, ours)
	case code == http.StatusLocked || code == http.StatusConflict:
		return "", fmt.Errorf("another run holds the lock, and nothing was written: %q", steps.Clip(string(answer), 400))
	case code != http.StatusOK:
		return "", fmt.Errorf("taking the lock: %s answered %d, and nothing was written", h.writes.lock, code)
	}
	release := true
	defer func() {
		if !release {
			return
		}
		away, stop := context.WithTimeout(context.WithoutCancel(ctx), unlockWithin)
		defer stop()
		code, _, freed := h.send(away, h.writes.unlocks, h.writes.unlock, info)
		if freed == nil && code != http.StatusOK {
			freed = fmt.Errorf("%s answered %d", h.writes.unlock, code)
		}
		switch {
		case freed != nil && err != nil:
			err = fmt.Errorf("%w; the lock was not released: %w; %s", err, freed, ours)
		case freed != nil:
			said += fmt.Sprintf(" The lock was not released: %v; %s.", freed, ours)
		}
	}()
	if err := h.unchanged(ctx, now); err != nil {
		return "", fmt.Errorf("nothing was written: %w", err)
	}
	u, err := url.Parse(h.address)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set("ID", id)
	u.RawQuery = query.Encode()
	code, answer, err = h.send(ctx, h.writes.replaces, u.String(), content)
	switch {
	case err != nil:
		// It may still arrive, so that no other run may begin.
		release = false
		return "", fmt.Errorf("the write of %s: %w; %s", at, err, ours)
	case code != http.StatusOK && code != http.StatusCreated && code != http.StatusNoContent:
		return "", fmt.Errorf("the write of %s: the server answered %d: %q", at, code, steps.Clip(string(answer), 300))
	}
	return "The server holds a state again.", nil
}

// send sends one request of the act, as the backend does.
func (h *httpStore) send(ctx context.Context, method, address string, body []byte) (int, []byte, error) {
	header := http.Header{}
	maps.Copy(header, h.header)
	sum := md5.Sum(body)
	header.Set("Content-Type", "application/json")
	header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	return h.open.send(ctx, strings.ToUpper(method), address, header, body)
}
