package main

import (
	"fmt"
	"strings"
	"time"
)

// box is one container of a running Pod. What is reported of it is guarded by the
// Pod.
type box struct {
	r         *running
	container container
	image     image
	init      bool

	imageID            string // as its registry had the image when it was pulled
	waiting, message   string // why it does not run
	runs               bool
	ended              bool // for good
	ready              bool
	code               int
	restarts           int
	started, finished  time.Time
	last               *past
	journal, beforeNow *journal
}

// past is how an earlier run ended.
type past struct {
	code              int
	started, finished time.Time
}

// backOff is how long a container waits that failed n times: shorter than that of
// a kubelet, since a drill does not take hours.
func backOff(n int) time.Duration { return min(time.Second<<min(n, 4), 10*time.Second) }

// untilDone runs the container as often as its Pod wants, and reports whether its
// last run ended well.
func (b *box) untilDone() bool {
	r := b.r
	if !b.pulled() || !b.configured() {
		return false
	}
	for {
		j := &journal{}
		r.set(func() {
			b.beforeNow, b.journal = b.journal, j
			b.runs, b.waiting, b.message, b.started = true, "", "", time.Now()
		})
		b.watchReady()
		code := b.once(within{namespace: r.n.Namespace, broker: r.n.Broker, out: j})
		if r.ctx.Err() != nil {
			return false
		}
		again := r.pod.Spec.RestartPolicy != "Never" && (code != 0 || r.pod.Spec.RestartPolicy != "OnFailure" && !b.init)
		r.set(func() {
			b.runs, b.ready, b.code, b.finished = false, b.init && code == 0, code, time.Now()
			b.ended = !again
			if again {
				b.last = &past{code, b.started, b.finished}
				b.restarts++
			}
		})
		if !again {
			return code == 0
		}
		pause := backOff(b.restarts)
		said := fmt.Sprintf("%s restarting failed container=%s pod=%s_%s(%s)", pause, b.container.Name, r.pod.Metadata.Name, r.n.Namespace, r.pod.Metadata.UID)
		r.set(func() { b.waiting, b.message = "CrashLoopBackOff", "back-off "+said })
		r.n.tell(r.ctx, r.pod, "kubelet", "BackOff", "Back-off restarting failed container "+b.container.Name)
		if wait(r.ctx, pause) != 0 {
			return false
		}
	}
}

// configured waits until the ConfigMaps and Secrets are there that it names.
func (b *box) configured() bool {
	r := b.r
	for r.ctx.Err() == nil {
		why := r.lacks(b.container)
		if why == "" {
			return true
		}
		if b.message != why {
			r.set(func() { b.waiting, b.message = "CreateContainerConfigError", why })
			r.n.tell(r.ctx, r.pod, "kubelet", "Failed", "Error: "+why)
		}
		wait(r.ctx, look)
	}
	return false
}

// once runs what the container is told to, one run.
func (b *box) once(in within) int {
	client, err := b.r.api()
	if err != nil {
		fmt.Fprintln(in.out, err)
		return 1
	}
	in.api = client
	switch argv := b.container.argv(); {
	case len(b.image.Run) > 0:
		for _, argv := range b.image.Run {
			if code := execute(b.r.ctx, in, argv); code != 0 {
				return code
			}
		}
		return 0
	case known(argv):
		return execute(b.r.ctx, in, argv)
	}
	fmt.Fprintln(in.out, strings.TrimSpace(b.container.Image+" "+strings.Join(b.container.argv(), " ")+": started"))
	<-b.r.ctx.Done()
	return killed
}

// watchReady says once what a readiness probe finds: a manifest does not change
// under a container.
func (b *box) watchReady() {
	if b.init {
		return
	}
	ok, why := b.image.answers(b.container)
	b.r.set(func() { b.ready = ok })
	if !ok {
		b.r.n.tell(b.r.ctx, b.r.pod, "kubelet", "Unhealthy", why)
	}
}

// imageName is that of an image without registry and tag.
func imageName(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, '/'); i >= 0 {
		ref = ref[i+1:]
	}
	ref, _, _ = strings.Cut(ref, ":")
	return ref
}
