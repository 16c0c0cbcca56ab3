package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// client speaks to the API as this provider does: badly.
type client struct {
	endpoint, token, retry string
	cached, heeds          bool
}

// What a 429 does.
const (
	retryForever = "forever"
	retryBounded = "bounded"
	retryNever   = "never"
)

var errGone = errors.New("NotFound: the entry does not exist")

// call sends one request. With retry forever nothing ends it but an answer.
func (c *client) call(ctx context.Context, method, name, query string, body any, header map[string]string) (*entry, error) {
	if !c.heeds {
		ctx = context.WithoutCancel(ctx)
	}
	for try := 1; ; try++ {
		e, status, err := c.once(ctx, method, name, query, body, header)
		if status != http.StatusTooManyRequests || c.retry == retryNever || c.retry == retryBounded && try == 5 {
			return e, err
		}
		if err := c.sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// sleep waits, past a cancellation where the provider does not heed them.
func (c *client) sleep(ctx context.Context, d time.Duration) error {
	if !c.heeds {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *client) once(ctx context.Context, method, name, query string, body any, header map[string]string) (*entry, int, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.endpoint+"/entries/"+url.PathEscape(name)+query, bytes.NewReader(raw))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, 0, err
	case res.StatusCode == http.StatusNotFound:
		return nil, res.StatusCode, errGone
	case res.StatusCode >= 400:
		var f fault
		_ = json.Unmarshal(answer, &f) // an answer that is none leaves the text empty
		return nil, res.StatusCode, fmt.Errorf("%s %s: StatusCode: %d, %s", method, name, res.StatusCode, f.Error)
	}
	e := &entry{}
	if len(answer) > 0 {
		err = json.Unmarshal(answer, e)
	}
	return e, res.StatusCode, err
}

func (c *client) get(ctx context.Context, name string) (*entry, error) {
	return c.call(ctx, http.MethodGet, name, "", nil, nil)
}

// create writes an entry in parts, one after the other.
func (c *client) create(ctx context.Context, name, value string, parts int64, pause time.Duration) (*entry, error) {
	var e *entry
	for part := int64(1); part <= parts; part++ {
		header := map[string]string{}
		if part == 1 {
			header["If-None-Match"] = "*"
		} else if err := c.sleep(ctx, pause); err != nil {
			return nil, err
		}
		var err error
		if e, err = c.call(ctx, http.MethodPut, name, "", map[string]any{"value": value, "part": part}, header); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (c *client) update(ctx context.Context, name, value string) (*entry, error) {
	return c.call(ctx, http.MethodPut, name, "", map[string]any{"value": value}, nil)
}

func (c *client) remove(ctx context.Context, name string, parts int64, pause time.Duration) error {
	for part := int64(1); part <= parts; part++ {
		if part > 1 {
			if err := c.sleep(ctx, pause); err != nil {
				return err
			}
		}
		_, err := c.call(ctx, http.MethodDelete, name, fmt.Sprintf("?part=%d", part), nil, nil)
		if errors.Is(err, errGone) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
