package inject

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// nameNode is the account of the node of a drill.
const nameNode = "node"

// imageOf says what containers of an image do.
type imageOf struct {
	Run   [][]string `key:"run" of:"a program" json:"run,omitempty"`
	Port  int        `key:"port" range:"0 65535" json:"port,omitempty"`
	Paths []string   `key:"paths" json:"paths,omitempty"`
}

// runNode is the verb node.run.
type runNode struct {
	Images map[string]imageOf `key:"images" of:"an image"`
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
	plan := map[string]any{"name": st.NodeName(), "namespace": st.Rec.Namespace.Name, "kubeconfig": kubeconfig, "images": r.Images}
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
