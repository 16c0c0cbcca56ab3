package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"handrail/steps"
	"handrail/steps/joblog"
)

// mostFile bounds a file that is read.
const mostFile = 64 << 20

// document is a file of the operator, read once: digest and verdict are of the same bytes.
type document struct {
	text   []byte // decoded
	digest string
}

// read reads a regular file. A pipe, a device and what is larger than the bound are refused.
func read(ctx context.Context, name string, most int64) (document, error) {
	file, err := steps.OpenRegular(name)
	if errors.Is(err, fs.ErrPermission) {
		return document{}, fmt.Errorf("%w: %w", steps.ErrDenied, err)
	}
	if err != nil {
		return document{}, err
	}
	defer file.Close()
	raw, _, err := steps.ReadAll(file, most)
	if err != nil {
		return document{}, err
	}
	if err := ctx.Err(); err != nil {
		return document{}, err
	}
	sum := sha256.Sum256(raw)
	text, err := decoded(raw, most)
	if err != nil {
		return document{}, fmt.Errorf("%s: %w", name, err)
	}
	return document{text: text, digest: hex.EncodeToString(sum[:])}, nil
}

// decoded takes what a shell of Windows saves in UTF-16, and what is compressed.
func decoded(raw []byte, most int64) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	text, err := joblog.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(text, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(out)) > most:
		return nil, fmt.Errorf("it unpacks to more than the %d MiB that are read", most>>20)
	case text.Torn():
		return nil, errors.New("it breaks off in the middle of what it is packed in")
	}
	return out, nil
}

// redactor says a text as the bundle would hold it, so that a message with a secret in it is in no fact either.
func redactor(out steps.Sink) func(string) string {
	red, ok := out.(steps.RedactingSink)
	if !ok {
		return func(s string) string { return s }
	}
	return func(s string) string {
		if s == "" {
			return ""
		}
		clean, err := red.Redacted(steps.MediaText, []byte(s))
		if err != nil {
			return "[it could not be redacted]"
		}
		return steps.OneLine(string(clean), mostMessage)
	}
}

func redactedAll(clean func(string) string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}
