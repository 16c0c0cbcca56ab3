package inject

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// nameNode is the account of the node of a drill.
const nameNode = "node"

// imageOf says what containers of an image do.
type imageOf struct {
	Run   [][]string `json:"run,omitempty"`
	Port  int        `json:"port,omitempty"`
	Paths []string   `json:"paths,omitempty"`
}

// runNode is the verb node.run.
type runNode struct{ images map[string]imageOf }

func readNode(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "node.run", "images")
	r := runNode{images: map[string]imageOf{}}
	p.Each(f["images"], "images", func(key, value *yaml.Node) {
		g := p.Fields(value, "an image", "run", "port", "paths")
		i := imageOf{Port: p.Number(g["port"], "port", 0, 65535)}
		for _, line := range p.Items(g["run"], "run") {
			i.Run = append(i.Run, p.words(line, "a program"))
		}
		i.Paths = p.words(g["paths"], "paths")
		r.images[key.Value] = i
	})
	return r
}

// words reads a list of texts.
func (p Parser) words(n *yaml.Node, what string) []string {
	var out []string
	for _, item := range p.Items(n, what) {
		out = append(out, p.Text(item, what))
	}
	return out
}

// apply starts a node for the Pods of the drill's namespace, and waits until it is
// registered.
func (r runNode) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a node %s", st.NodeName())
	if err := st.Admit(ctx, nameNode, []lab.Rule{
		{Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "delete"}},
		{Resources: []string{"pods/binding"}, Verbs: []string{"create"}},
		{Resources: []string{"pods/status"}, Verbs: []string{"patch"}},
		{Resources: []string{"events"}, Verbs: []string{"create"}},
		{Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}},
		{Resources: []string{"configmaps", "secrets", "persistentvolumeclaims"}, Verbs: []string{"get"}},
	}, []lab.Rule{
		{Resources: []string{"nodes/status"}, Names: []string{st.NodeName()}, Verbs: []string{"patch"}},
	}); err != nil {
		return err
	}
	kubeconfig, err := st.Account(nameNode)
	if err != nil {
		return err
	}
	plan := map[string]any{"name": st.NodeName(), "namespace": st.Rec.Namespace.Name, "kubeconfig": kubeconfig, "images": r.images}
	if broker, err := st.BrokerForNode(); err != nil {
		return err
	} else if broker != nil {
		plan["broker"] = broker
	}
	dir, err := st.Place("node", "node.json", plan)
	if err != nil {
		return err
	}
	addr, _, err := st.Serve(ctx, "node", dir)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("port of the node: %w", err)
	}
	return st.World.Node(ctx, st.Rec.Namespace.Name, st.NodeName(), number)
}
