package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

type service struct {
	Metadata struct{ Name string }
	Spec     struct {
		ClusterIP string
		Ports     []struct{ Port int }
	}
}

func (s service) listens(port string) bool {
	for _, p := range s.Spec.Ports {
		if strconv.Itoa(p.Port) == port {
			return true
		}
	}
	return false
}

// reach does what a program in a Pod does to reach a Service, as far as the
// Services of the namespace tell: `reach redis:6379`. A name that no Service has
// does not resolve, and an address that none has does not answer.
func reach(ctx context.Context, in within, args []string) int {
	if len(args) != 1 {
		return 2
	}
	host, port, err := net.SplitHostPort(args[0])
	if err != nil {
		fmt.Fprintln(in.out, "dial tcp:", err)
		return 1
	}
	var list struct{ Items []service }
	if err := in.api.do(ctx, http.MethodGet, "/api/v1/namespaces/"+in.namespace+"/services", "", nil, &list); err != nil {
		fmt.Fprintln(in.out, err)
		return 1
	}
	address := net.ParseIP(host) != nil
	for _, s := range list.Items {
		if s.Spec.ClusterIP != host && s.Metadata.Name != strings.SplitN(host, ".", 2)[0] {
			continue
		}
		if !s.listens(port) {
			fmt.Fprintf(in.out, "dial tcp %s: connect: connection refused\n", net.JoinHostPort(s.Spec.ClusterIP, port))
			return 1
		}
		fmt.Fprintln(in.out, "connected to", args[0])
		return 0
	}
	if address {
		fmt.Fprintf(in.out, "dial tcp %s: i/o timeout\n", args[0])
	} else {
		fmt.Fprintf(in.out, "dial tcp: lookup %s on 10.43.0.10:53: no such host\n", host)
	}
	return 1
}
