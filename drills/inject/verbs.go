package inject

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// verb is one kind of injection. The table is closed: a document can only ask
// for what stands here.
type verb struct {
	doc    string
	module bool // it works in a root module, with tofu
	read   func(p Parser, args *yaml.Node) action
}

// action is a verb with its arguments. It changes the lab or the drill's own
// directory as robot, and returns when what it injected can be seen.
type action interface {
	apply(ctx context.Context, st *stage.Stage) error
}

// step is one injection of a scene.
type step struct {
	verb string
	act  action
}

// Steps are the injections of a scene, in their order.
type Steps []step

func verbs() map[string]verb {
	return map[string]verb{
		"broker.fill":     {doc: "waits until the broker answers, gives it its definitions and the operator an account that may only look", read: readFill},
		"broker.run":      {doc: "starts a RabbitMQ on loopback behind a Service of the drill's namespace", read: readBroker},
		"file.place":      {doc: "puts a file beside the drill", read: readPlace},
		"git.commit":      {doc: "commits the files of the module", module: true, read: readCommit},
		"log.stall":       {doc: "lets the log go on with progress lines, as if nothing had ended for so long", module: true, read: readStall},
		"mirror.alter":    {doc: "puts another content under the name of the mirrored provider, or the right one again", module: true, read: readAlter},
		"records.api":     {doc: "starts the API of the bad provider on loopback, and mirrors the provider", module: true, read: readAPI},
		"records.control": {doc: "turns the knobs of that API", module: true, read: readControl},
		"records.delete":  {doc: "deletes an entry from that API behind the back of tofu", module: true, read: readEntry(http.MethodDelete)},
		"records.put":     {doc: "writes an entry into that API behind the back of tofu", module: true, read: readEntry(http.MethodPut)},
		"tofu.init":       {doc: "initialises the module again, or on a new runner where it must fail", module: true, read: readInit},
		"tofu.orphans":    {doc: "ends the plugins and children of provisioners that an apply left behind", module: true, read: readOrphans},
		"tofu.signal":     {doc: "sends a signal to the apply that runs", module: true, read: readSignal},
		"kube.account":    {doc: "makes an account, or gives one of the lab's own more rights, in the drill's namespace", read: readAccount},
		"kube.await":      {doc: "waits until a field has a value that somebody else gives it", read: readAwait},
		"webhook.serve":   {doc: "starts a webhook on loopback that rewrites objects of the drill's namespace as they are stored", read: readHook},
		"node.mask":       {doc: "masks a program on the node, as somebody does there", read: readMask},
		"node.run":        {doc: "starts a node on loopback for the Pods of the drill's namespace", read: readNode},
		"node.unit":       {doc: "puts a program on the node that writes the same fields again and again", read: readUnit},
		"space.doom":      {doc: "makes a second namespace with the objects of a file, and asks for its deletion", read: readDoom},
		"kube.create":     {doc: "creates the objects of a file beside the drill", read: readCreate},
		"kube.delete":     {doc: "asks for the deletion of one object", read: readDelete},
		"kube.ready":      {doc: "lets a Deployment have one Pod that is ready", read: readReady},
		"kube.recreate":   {doc: "deletes one object and creates it again as the file has it, under a new UID", read: readRecreate},
		"kube.signals":    {doc: "puts a file beside the drill that says what an in-house reconciler waits for", read: readSignals},
		"lease.backdate":  {doc: "makes the lock of the state look older", module: true, read: readBackdate},
		"module.edit":     {doc: "changes the configuration of the module", module: true, read: readEdit},
		"module.paste":    {doc: "pastes into the module what a step of the incident gives", module: true, read: readPaste},
		"state.copy":      {doc: "keeps a copy of the state in the module, as old as it should be", module: true, read: readKeepState},
		"state.renumber":  {doc: "writes the state again under another serial, as a copy put back by hand has it", module: true, read: readRenumber},
		"state.tear":      {doc: "cuts the end off the state in the backend", module: true, read: readTear},
		"tofu.adopt":      {doc: "records one object of the drill's namespace under an address", module: true, read: readAdopt},
		"tofu.apply":      {doc: "starts an apply in an embedded workspace, and may kill it", module: true, read: readApply},
		"tofu.finish":     {doc: "lets the apply go on that its module held back, and waits for its end", module: true, read: readFinish},
		"tofu.forget":     {doc: "takes one address out of the state, and leaves the object", module: true, read: readForget},
		"tofu.module":     {doc: "writes an embedded workspace and initialises it", module: true, read: readModule},
		"tofu.plan":       {doc: "makes a saved plan and the JSON of it, as a pipeline does", module: true, read: readPlan},
		"tofu.run":        {doc: "applies to the end, or until it fails as it should", module: true, read: readRun},
		"tofu.unlock":     {doc: "breaks the lock of the state, whoever holds it", module: true, read: readUnlock},
		"tofu.begin":      {doc: "starts an apply that its module holds back", module: true, read: readBegin},
	}
}

func verbNames() []string { return slices.Sorted(maps.Keys(verbs())) }

// Apply makes the injections, one after the other.
func (in Steps) Apply(ctx context.Context, st *stage.Stage) error {
	for _, s := range in {
		if err := s.act.apply(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", s.verb, err)
		}
	}
	return nil
}

// Steps reads a list of injections, nil when n is nil.
func (p Parser) Steps(n *yaml.Node) Steps {
	if n == nil {
		return nil
	}
	var out Steps
	for _, item := range p.Items(n, "inject") {
		if s, ok := p.step(item); ok {
			out = append(out, s)
		}
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.Fail(n, "", "a drill injects something")
	}
	return out
}

// step reads one injection: a mapping of one verb to its arguments.
func (p Parser) step(n *yaml.Node) (step, bool) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		p.Fail(n, "as `- tofu.apply: {dir: six-slow}`", "an injection is one verb with its arguments")
		return step{}, false
	}
	name := p.OneOf(n.Content[0], "verb", verbNames())
	v, ok := verbs()[name]
	if !ok {
		return step{}, false
	}
	return step{verb: name, act: v.read(p, n.Content[1])}, true
}
