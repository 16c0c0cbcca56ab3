package main

import (
	"encoding/json"
	"strconv"
	"strings"
)

// pod is what a node needs to know of one.
type pod struct {
	Metadata struct {
		Name, Namespace, UID string
		DeletionTimestamp    *string
	}
	Spec struct {
		NodeName           string
		ServiceAccountName string
		RestartPolicy      string
		InitContainers     []container
		Containers         []container
		Volumes            []volume
	}
	Status struct{ Phase string }
}

type container struct {
	Name, Image   string
	Command, Args []string
	Ports         []struct {
		Name          string
		ContainerPort int
	}
	Env []struct {
		Name      string
		Value     string
		ValueFrom struct {
			SecretKeyRef, ConfigMapKeyRef *keyRef
		}
	}
	EnvFrom []struct {
		SecretRef, ConfigMapRef *keyRef
	}
	ReadinessProbe *struct {
		HTTPGet *struct {
			Path string
			Port json.RawMessage
		}
		TCPSocket *struct{ Port json.RawMessage }
	}
}

type keyRef struct {
	Name, Key string
	Optional  bool
}

type volume struct {
	Name                  string
	PersistentVolumeClaim *struct{ ClaimName string }
	ConfigMap             *keyRef
	Secret                *struct {
		SecretName string
		Optional   bool
	}
}

// argv is the command as the manifest gives it, with $(NAME) of a variable whose
// value stands there.
func (c container) argv() []string {
	out := append(append([]string{}, c.Command...), c.Args...)
	for i := range out {
		for _, e := range c.Env {
			out[i] = strings.ReplaceAll(out[i], "$("+e.Name+")", e.Value)
		}
	}
	return out
}

// port is what a number or the name of a port of the container means, 0 for none.
func (c container) port(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) == nil {
		return n
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return 0
	}
	for _, p := range c.Ports {
		if p.Name == s {
			return p.ContainerPort
		}
	}
	n, _ = strconv.Atoi(s)
	return n
}

// image says what containers of an image do, where their command does not say it.
type image struct {
	Run   [][]string `json:"run"`   // programs, one after the other; empty for a server
	Port  int        `json:"port"`  // on which a server answers; 0 for any
	Paths []string   `json:"paths"` // that it answers well; empty for any
}

// answers reports whether the readiness probe of a container finds what it looks
// for, and what a kubelet would say if not.
func (i image) answers(c container) (bool, string) {
	p := c.ReadinessProbe
	if p == nil || i.Port == 0 {
		return true, ""
	}
	var raw json.RawMessage
	path := ""
	switch {
	case p.HTTPGet != nil:
		raw, path = p.HTTPGet.Port, p.HTTPGet.Path
	case p.TCPSocket != nil:
		raw = p.TCPSocket.Port
	default:
		return true, ""
	}
	port := c.port(raw)
	if port != i.Port {
		return false, "Readiness probe failed: dial tcp 127.0.0.1:" + strconv.Itoa(port) + ": connect: connection refused"
	}
	if p.HTTPGet == nil || len(i.Paths) == 0 {
		return true, ""
	}
	for _, good := range i.Paths {
		if good == path {
			return true, ""
		}
	}
	return false, "Readiness probe failed: HTTP probe failed with statuscode: 404"
}
