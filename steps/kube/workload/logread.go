package workload

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	// logLines and logBytes bound what is read of one log.
	logLines = 200
	logBytes = 1 << 20
	mostLog  = 5000 // lines that may be asked for
)

// logTail is the end of the log of one container, each line with its time.
type logTail struct {
	lines    []string
	cut      bool // the server stopped at logBytes: the newest lines may be missing
	previous bool
}

// logOf reads the end of the log of one container; previous is the instance that
// ended before this one.
func logOf(ctx context.Context, c *cluster.Client, namespace, pod, container string, previous bool, lines int64) (logTail, error) {
	query := url.Values{"container": {container}, "timestamps": {"true"},
		"tailLines": {strconv.FormatInt(lines, 10)}, "limitBytes": {strconv.Itoa(logBytes)}}
	if previous {
		query.Set("previous", "true")
	}
	raw, err := c.Read(ctx, cluster.Pods().Path(namespace, pod)+"/log", "*/*", query)
	if err != nil {
		return logTail{}, fmt.Errorf("log of container %s of pod %s/%s: %w", container, namespace, pod, err)
	}
	t := logTail{cut: len(raw) >= logBytes, previous: previous}
	if text := strings.TrimRight(string(raw), "\n"); text != "" {
		t.lines = strings.Split(text, "\n")
	}
	return t, nil
}

// logUntimed takes the time off the beginning of a line.
func logUntimed(line string) string {
	stamp, rest, ok := strings.Cut(line, " ")
	if ok && len(stamp) >= len("2006-01-02T15:04:05Z") && stamp[4] == '-' && stamp[10] == 'T' {
		return rest
	}
	return line
}

func (t logTail) untimed() []string {
	out := make([]string, len(t.lines))
	for i, line := range t.lines {
		out[i] = logUntimed(line)
	}
	return out
}

func (t logTail) keep(out steps.Sink) string {
	return steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(t.lines, "\n")+"\n")
		return err
	})
}

// logCommand is how a person would read it.
func logCommand(c *cluster.Client, namespace, pod, container string, previous bool, lines int64) string {
	args := []string{"logs", pod, "-c", container, "--timestamps", "--tail", strconv.FormatInt(lines, 10)}
	if previous {
		args = append(args, "--previous")
	}
	return c.Kubectl(namespace, args...)
}
